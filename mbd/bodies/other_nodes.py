"""Bodies in other coordinates: which node each shall have instead of its own, and how it comes to have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..elements.making import is_made_of_values, record_of, remember_making
from ..errors import ModelError
from ..nodes import Node
from .body import Body, Ground, RigidBody


def chosen_nodes(model: Any, nodes: Any) -> dict[str, Node]:
    """The new nodes by names of bodies, for what ``Model.with_nodes`` is given; bodies do not move."""
    chosen: dict[str, Any] = {}
    if isinstance(nodes, Mapping):
        for key, target in nodes.items():
            body = model[key.name if isinstance(key, Body) else key]
            if not isinstance(body, Body) or isinstance(body, Ground):
                raise ModelError(f"{model}: with_nodes names {body}, which has no node; expected names of bodies")
            chosen[body.name] = target
    else:
        chosen = {body.name: nodes for body in model.bodies if isinstance(body, RigidBody)}
    found: dict[str, Node] = {}
    for name, target in chosen.items():
        try:
            node = model[name].node.with_parametrisation(target)
        except ModelError as error:
            raise ModelError(f"{model}: node of body '{name}': {error}") from None
        node.check(name)
        found[name] = node
    return found


def in_parameters_of(node: Node, template: Node) -> Node:
    """The pose and velocity of a node in the parametrisation of another one."""
    return node.with_parametrisation(template)


def take_node(body: Any, node: Any) -> None:
    """Give a body its own node in another parametrisation, as if it had always been so: it does not move."""
    old, record = body.node, record_of(body)
    when = 0.0 if record is None else record.changes.get("node", (record.number, None))[0]
    if is_made_of_values(old):
        made, kept = remember_making(node, in_parameters_of, (old, node._blank()), {}), record_of(old)
        made.number = when + 0.25
        made.changes.update(kept.changes if kept is not None else {})
    body.node = node
    record = record_of(body)
    assert record is not None
    record.changes["node"] = when + 0.5, node

"""The graph of bodies and joints: loops, and a tree that reaches every body."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..bodies import Body, Ground
from .joint import Joint

if TYPE_CHECKING:
    import networkx  # type: ignore[import-untyped]


def joint_graph(name: str, ground: Ground, bodies: Iterable[Body], joints: Iterable[Joint]) -> networkx.MultiGraph:
    """Bodies and the ground as vertices by name, one edge per joint with the joint's name as key."""
    import networkx

    graph = networkx.MultiGraph(name=name)
    graph.add_node("ground", body=ground)
    graph.add_nodes_from((body.name, {"body": body}) for body in bodies)
    graph.add_edges_from((*(body.name for body in j.bodies[:2]), j.name, {"joint": j}) for j in joints)
    return graph


def count_loops(bodies: Iterable[Body], joints: Iterable[Joint]) -> int:
    """Number of independent closed loops, by disjoint sets with path halving."""
    root = {"ground": "ground"} | {body.name: body.name for body in bodies}
    loops = 0
    for joint in joints:
        a, b = (body.name for body in joint.bodies[:2])
        while root[a] != a:
            root[a] = a = root[root[a]]
        while root[b] != b:
            root[b] = b = root[root[b]]
        if a == b:
            loops += 1
        root[a] = b
    return loops


def spanning_tree(graph: networkx.MultiGraph) -> networkx.MultiGraph:
    """The part of a graph that reaches each body once, breadth first from the ground, which is its first vertex."""
    tree = graph.__class__(name=graph.name)
    tree.add_nodes_from(graph.nodes(data=True))
    reached: set[str] = set()
    for root in graph:
        if root in reached:
            continue
        reached.add(root)
        queue = deque([root])
        while queue:
            name = queue.popleft()
            for _, other, key, data in graph.edges(name, keys=True, data=True):
                if other not in reached:
                    reached.add(other)
                    tree.add_edge(name, other, key, **data)
                    queue.append(other)
    return tree

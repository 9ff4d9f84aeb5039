"""Checks of the attributes of bodies; each takes (value, owner, argument) and returns what is stored."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary, ref

import numpy as np

from mbd.bodies.shapes import Shape
from mbd.elements.making import KNOWN_AS
from mbd.errors import (
    Array,
    ModelError,
    ModelWarning,
    bad_value,
    check_matrix,
    check_number,
    check_vector,
    plain,
    read_only,
)
from mbd.nodes import Generalized as GeneralizedNode
from mbd.nodes import Node, Point, RigidNode

BELONGS = "an element belongs to the model that it was added to; use copy() of that model"
INERTIA_TOLERANCE = 1e-9
"""Relative tolerance of the triangle inequality of principal moments of inertia."""


def check_name(name: Any, owner: Any, argument: str = "name") -> str:
    """A name, or "" for one that is generated when the element is added; after that it cannot be changed."""
    if owner.__dict__.get("model") is not None:
        raise ModelError(
            f"{owner}: its name cannot be changed, because {owner.model} finds it by this name; give name= to a new one"
        )
    if name is None:
        return str(owner.__dict__.get(KNOWN_AS, ""))
    if not isinstance(name, str) or not name.strip():
        raise bad_value(owner.label, argument, name, "a text that is not empty")
    return str(plain(name))


def shape(value: Any, owner: Any, argument: str) -> Shape | None:
    if value is not None and not isinstance(value, Shape):
        raise bad_value(owner, argument, value, "a shape from mbd.shapes, e.g. mbd.shapes.Box((1, 2, 3))")
    return value


N = TypeVar("N", bound=Node)
_owners: WeakKeyDictionary[Node, ref[Any]] = WeakKeyDictionary()


def own(node: N, body: Any) -> N:
    """The node, or a copy of it if another body has it: what is set in one body must not move the other."""
    other = _owners.get(node)
    if other is not None and other() not in (None, body):
        node = copy.copy(node)
    _owners[node] = ref(body)
    return node


def rigid_node(node: Any, owner: Any, argument: str) -> RigidNode:
    if not isinstance(node, RigidNode):
        advice = "; use mbd.PointMass for a point" if isinstance(node, Point) else ""
        if isinstance(node, type) and issubclass(node, RigidNode):
            advice = f"; write mbd.nodes.{node.__name__}() to make one"
        raise bad_value(owner, argument, node, f"a Quaternion, Directors, RotationVector or EulerAngles node{advice}")
    node.check(owner.name)
    return own(node, owner)


def point_node(node: Any, owner: Any, argument: str) -> Point:
    if not isinstance(node, Point):
        raise bad_value(owner, argument, node, "a Point node: mbd.nodes.Point(position, velocity)")
    return own(node, owner)


def generalized_node(node: Any, owner: Any, argument: str) -> GeneralizedNode:
    """A node with as many coordinates as before."""
    if not isinstance(node, GeneralizedNode):
        raise bad_value(owner, argument, node, "a Generalized node: mbd.nodes.Generalized(coordinates, velocities)")
    before = owner.__dict__.get("node")
    if before is not None and before.n_coordinates != node.n_coordinates:
        raise bad_value(owner, argument, node, f"{before.n_coordinates} coordinates, the number that the body has")
    return node


def rigid_mass(value: Any, owner: Any, argument: str) -> float:
    """A mass; zero for a link without inertia, which joints connect with bodies that have some."""
    number = check_number(value, owner, argument, nonnegative=True)
    moments = owner.__dict__.get("inertia")
    if number == 0.0 and moments is not None and moments.any():
        raise bad_value(owner, argument, value, "a positive number, because the body has an inertia")
    return number


def inertia(value: Any, owner: Any, argument: str) -> Array:
    """Inertia matrix; principal moments must be such that a distribution of mass can have them."""
    if value is None:
        raise bad_value(owner, argument, None, "three principal moments or a symmetric 3x3 matrix")
    plain = type(value) is tuple and len(value) == 3 and type(value[0]) in (float, int)  # np.ndim is slow for these
    if not plain and np.ndim(value) == 2:
        matrix = check_matrix(value, owner, argument, 3, symmetric=True)
        a, b, c = np.linalg.eigvalsh(matrix).tolist()
    else:
        x, y, z = check_vector(value, owner, argument).tolist()
        matrix = read_only(np.array(((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))))
        a, b, c = sorted((x, y, z))
    if matrix.any() and owner.__dict__.get("mass") == 0.0:
        raise bad_value(owner, argument, value, "zero, because mass = 0; or a positive mass")
    if a < -1e-12 * abs(c):
        raise bad_value(
            owner,
            argument,
            value,
            f"a positive definite inertia about the centre of mass; its smallest principal moment is {a:.6g}",
        )
    if a + b < c * (1.0 - INERTIA_TOLERANCE):
        error = bad_value(
            owner,
            argument,
            value,
            f"principal moments that obey the triangle inequality, but {a:.6g} + {b:.6g} < {c:.6g}: no distribution "
            "of mass has them. Is it about the centre of mass? RigidBody(..., check_inertia=False) accepts it with a "
            "warning [MBD-E13]",
        )
        if owner.__dict__.get("check_inertia", True):
            raise error
        warnings.warn(str(error), ModelWarning, stacklevel=4)
    return matrix


# --- functions of generalized coordinates -----------------------------------------------------------------------------


def mass(value: Any, owner: Any, argument: str) -> Array | Callable[[Array], Any]:
    """Constant (n, n) matrix, or the function itself after one probing call."""
    q = owner.node.coordinates()
    n = q.size
    given, name = (_call(value, q, owner, argument), f"{argument}(q)") if callable(value) else (value, argument)
    if np.ndim(given) == 0:
        if callable(value) and n > 1:
            raise bad_value(owner, name, given, f"a matrix of shape ({n}, {n})")
        matrix = read_only(check_number(given, owner, name) * np.eye(n))
    elif np.ndim(given) == 1 and not callable(value):
        matrix = read_only(np.diag(check_vector(given, owner, name, n)))
    else:
        matrix = check_matrix(given, owner, name, n, symmetric=True)
    eigenvalues = np.linalg.eigvalsh(matrix)
    if eigenvalues[0] < -1e-12 * abs(eigenvalues[-1]):
        raise bad_value(
            owner, name, given, f"a mass matrix without negative eigenvalues; the smallest is {eigenvalues[0]:.6g}"
        )
    return value if callable(value) else matrix


def potential(value: Any, owner: Any, argument: str) -> Callable[[Array], Any] | None:
    """A function that returns a number."""
    if (function := _function(value, owner, argument)) is not None:
        check_number(_call(function, owner.node.coordinates(), owner, argument), owner, f"{argument}(q)")
    return function


def constraints(value: Any, owner: Any, argument: str) -> Callable[[Array], Any] | None:
    """A function that returns as many numbers as ``owner.n_constraints`` then says."""
    function, size = _function(value, owner, argument), 0
    if function is not None:
        values = np.atleast_1d(_call(function, owner.node.coordinates(), owner, argument))
        size = check_vector(values, owner, f"{argument}(q)", None).size
    owner.__dict__["n_constraints"] = size
    return function


def coordinate_force(value: Any, owner: Any, argument: str) -> Callable[[float, Array, Array], Any] | None:
    """A function of time, coordinates and velocities that returns a number per coordinate."""
    if value is None:
        return None
    if not callable(value):
        raise bad_value(owner, argument, value, "a function of time, coordinates and velocities, or None")
    q, v = owner.node.coordinates(), owner.node.coordinate_velocities()
    try:
        found = value(0.0, q, v)
    except Exception as error:
        raise ModelError(
            f"{owner}: {argument}(t, q, v) failed at t = 0, q = {q.tolist()}, v = {v.tolist()} with "
            f"{type(error).__name__}: {error}; expected a function of the time and of two arrays of {q.size} numbers"
        ) from error
    check_vector(np.atleast_1d(found), owner, f"{argument}(t, q, v)", q.size)
    return value  # type: ignore[no-any-return]


def _function(value: Any, owner: Any, argument: str) -> Callable[[Array], Any] | None:
    if value is not None and not callable(value):
        raise bad_value(owner, argument, value, "a function of the coordinates, or None")
    return value


def _call(function: Callable[[Array], Any], q: Array, owner: Any, argument: str) -> Any:
    """Value at the initial coordinates, with a clear error if the function fails."""
    try:
        return function(q.copy())
    except Exception as error:
        raise ModelError(
            f"{owner}: {argument}(q) failed at the initial coordinates {q.tolist()} with "
            f"{type(error).__name__}: {error}; expected a function of one array of {q.size} coordinates"
        ) from error

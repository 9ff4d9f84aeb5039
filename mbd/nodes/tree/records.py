"""The record of a body that is carried by a joint, and the buffers of a tree."""

from __future__ import annotations

import functools

import numpy as np

from ...compiled.kinds import addresses, as_records, integer_matrix, integers, matrix, records, vector
from ...compiled.record import Plan, Record

F8, I8 = "f8", "i8"

# --- elementary motions of the frame of a joint, each about or along one of its axes (n1, n2, axis)
TURN = 0  # about the axis
SLIDE_1 = 1  # along n1, n2, and the axis
SLIDE_2 = 2
SLIDE_3 = 3
SCREW = 4  # about the axis, and along it by pitch times the angle

NOT_CARRIED = -1  # parent of a body in absolute coordinates

_AXES = [f"{name}{i}{k}" for name in ("a", "b", "c") for k in (1, 2, 3) for i in (1, 2, 3)]
CARRIED = np.dtype(
    # motions of the joint in the order from the parent to the child: their number, kinds, and columns of velocities;
    # ball: the three rotations of the node follow them
    [(name, I8) for name in ("parent", "motions", "kind1", "kind2", "kind3", "column1", "column2", "column3", "ball")]
    + [(name, F8) for name in ("sign", "pitch")]  # sign: -1 where the tree runs against the joint
    + [(name, F8) for name in ("pa1", "pa2", "pa3", "pb1", "pb2", "pb3")]  # point of the joint on parent and child
    # a: frame of the joint on the parent, b: on the child, c: constant rotation after the first motion; columns first
    + [(name, F8) for name in _AXES]
    + [("turned", I8)]  # whether c is not the identity
)

# --- blocks of elements, made for bodies with velocities (r_dot, omega) of their own, and where they go in the matrix
BETWEEN_BODIES = 0  # stiffness and damping
TO_CONSTRAINT = 1  # columns of a constraint's equations
FROM_CONSTRAINT = 2  # its forces
PROJECTION = np.dtype(
    [(name, I8) for name in ("kind", "row_body", "column_body")]  # bodies of the tree, 0: a block of its own size
    + [(name, I8) for name in ("rows", "columns", "block", "ld")]  # the block of the element
    # places in the matrix. The first ones: joints of the path of row_body above the common ancestor of both bodies (0:
    # they have none), each with all ``path`` joints of column_body; the second ones: joints that carry both, each with
    # the ``branch`` joints of column_body above the common ancestor
    + [(name, I8) for name in ("first", "path", "common", "second", "branch")]
)


class TreeTables(Record):
    """Bodies that joints carry; all empty for models in absolute coordinates."""

    carried = records(CARRIED)  # by node
    order = integers  # nodes of carried bodies, parents first
    free = integers  # nodes in absolute coordinates
    inner = addresses  # the tables of the elements, for bodies with velocities of their own
    projections = records(PROJECTION)
    places = integer_matrix  # (offset, stride) in the matrix
    paths = integer_matrix  # by node: its first ancestor in ``places`` of blocks along its path, how many it has
    loads = integer_matrix  # (force, velocity, coordinate) of elements along the coordinate of a joint that carries
    inertia = vector  # of the rotors of motors, by velocity


@functools.cache
def no_tree() -> TreeTables:
    """The tables of a model in absolute coordinates: empty, so that all of them may share them."""
    return TreeTables(
        carried=as_records(np.zeros(0, CARRIED)), order=np.zeros(0, np.int64), free=np.zeros(0, np.int64),
        inner=np.zeros(0, np.int64), projections=as_records(np.zeros(0, PROJECTION)),
        places=np.zeros((0, 2), np.int64), paths=np.zeros((0, 2), np.int64), loads=np.zeros((0, 3), np.int64),
        inertia=np.zeros(0),
    )  # fmt: skip


class TreeWork(Record):
    """Buffers of the bodies (by node) and velocities of a tree."""

    columns = matrix  # (velocities, 6) motion of the child per unit of velocity, at its reference point
    balls = matrix  # (nodes, 18) the same for the angular velocity of a ball, in axes of its frame on the child
    twist = matrix  # (nodes, 6) velocity
    acceleration = matrix  # (nodes, 6) spatial acceleration
    bias = matrix  # (nodes, 6) acceleration that velocities alone give to a child beside its parent
    inertial = matrix  # (nodes, 6) wrench of the inertia of a body
    applied = matrix  # (nodes, 6) wrench of the elements on a body, with the sign of the residual
    wrench = matrix  # (nodes, 6) what the joint of a body carries: of the body and all that it carries
    articulated = matrix  # (nodes, 21) articulated inertia
    projected = matrix  # (velocities, 6) articulated inertia times columns
    pivots = matrix  # (velocities, 2) 1/D, and u/D
    jets = matrix  # (velocities, 18)
    body_jets = matrix  # (nodes, 108)
    q = vector  # coordinates and velocities (r_dot, omega) of bodies, as elements see them
    v = vector
    t = matrix  # (nodes, 9) T_exp^-1 of bodies in absolute coordinates, the identity elsewhere
    stiffness = vector  # blocks of elements
    damping = vector
    diagonal = vector  # (velocities) of springs, dampers and rotors on joints
    scratch = matrix  # (16, 36)


@functools.cache
def no_tree_work() -> TreeWork:
    """Buffers of models in absolute coordinates: none, so that all of them may share them."""
    return tree_work(0, 0, 0, 0, 0)


def tree_work(nodes: int, velocities: int, inner_q: int, inner_v: int, blocks: int) -> TreeWork:
    """Buffers for so many nodes and velocities, none for models in absolute coordinates."""
    return TreeWork.zeros(_plan_of_tree_work(nodes, velocities, inner_q, inner_v, blocks))


@functools.lru_cache(maxsize=64)
def _plan_of_tree_work(nodes: int, velocities: int, inner_q: int, inner_v: int, blocks: int) -> Plan:
    """Where they lie; t, which does not begin with zeros, first."""
    plan = TreeWork.plan(
        {
            "t": (nodes, 9), "columns": (velocities, 6), "balls": (nodes, 18), "twist": (nodes, 6),
            "acceleration": (nodes, 6), "bias": (nodes, 6), "inertial": (nodes, 6), "applied": (nodes, 6),
            "wrench": (nodes, 6), "articulated": (nodes, 21), "projected": (velocities, 6), "pivots": (velocities, 2),
            "jets": (velocities, 18), "body_jets": (nodes, 108), "q": inner_q, "v": inner_v,
            "stiffness": blocks, "damping": blocks, "diagonal": velocities, "scratch": (16, 36),
        }
    )  # fmt: skip
    return plan.filled_with(t=np.tile(np.eye(3).ravel(), (nodes, 1)))

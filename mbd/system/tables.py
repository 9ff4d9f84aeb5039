"""The system record: a fixed set of tables, the same type for every model.

A finished model is nothing but these arrays. Because their types never change, one set of compiled kernels serves
every model and no model ever triggers a compilation. Tables of elements that a model does not have are empty.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

F8, I8 = "f8", "i8"

_MARKERS = [f"{name}{i}" for name in ("pa", "pb", "aa", "ab") for i in (1, 2, 3)]
PRIMITIVE = np.dtype(
    [(name, I8) for name in ("kind", "a", "b", "joint", "l0", "x0", "function", "turn", "shared")]
    + [(name, I8) for name in ("block_ja", "ld_ja", "block_aj", "ld_aj", "block_jb", "ld_jb", "block_bj", "ld_bj")]
    + [(name, I8) for name in ("block_ab", "ld_ab", "block_ba", "ld_ba")]
    + [(name, F8) for name in [*_MARKERS, *(f"{n}{i}" for n in ("na", "nb") for i in (1, 2, 3)), "value", "factor"]]
)

FORCE = np.dtype(
    [(name, I8) for name in ("kind", "a", "b", "function", "turn")]
    + [(name, I8) for name in ("block_ab", "ld_ab", "block_ba", "ld_ba")]
    + [(name, F8) for name in [*_MARKERS, *(f"{n}{i}" for n in ("na", "nb") for i in (1, 2, 3))]]
    + [(name, F8) for name in ("p1", "p2", "p3", "p4", "p5", "p6")]
)

# uses: of a user force what it looks at; of potentials and constraints how many entries of frames (listed behind the
# places of the blocks)
GENERAL = np.dtype(
    [(name, I8) for name in ("kind", "count", "first", "blocks", "joint_blocks", "p0", "function", "complex_function")]
    + [(name, I8) for name in ("exact", "joint", "owner", "l0", "x0", "rows", "uses")]
)

FUNCTION = np.dtype([("address", I8), ("block", I8), ("size", I8), ("offset", I8)])


FLAG_VELOCITY = 0  # some force needs the velocities of the frames
FLAG_CHARTS = 1  # some node has a chart with a singularity
FLAG_DENSE = 2  # the matrix is one small dense front
FLAG_ANGLES = 3  # some element counts turns
FLAG_REDUNDANT = 4  # constraints are redundant, multipliers are regularised: 1 + number of the first rows left alone
FLAG_SIMPLE = 5  # unconstrained Lie and point nodes: accelerations node by node, with the constant inverse inertia
FLAG_EXTRA = 7  # there are couplings or general elements
FLAGS = 8

PARAMETER_LENGTH = 0  # characteristic length
PARAMETER_ARM = 2  # typical distance of joints from the reference points of bodies
PARAMETER_REGULARISATION = 1  # subtracted from the diagonal of the multipliers if the constraints are redundant
PARAMETER_TIME = 3  # of the last evaluation, for messages
PARAMETERS = 4


(
    ENTRY_MOTION,
    ENTRY_UPDATE,
    ENTRY_DYNAMICS,
    ENTRY_CONSTRAINTS,
    ENTRY_TANGENT,
    ENTRY_FACTOR,
    ENTRY_SOLVE,
    ENTRY_FORCES,
    ENTRY_FORCE_TANGENT,
    ENTRY_SPIN_TANGENT,
    ENTRY_GENERALIZED,
    ENTRY_GENERALIZED_TANGENT,
    ENTRY_CHARTS,
    ENTRY_ACCELERATIONS,
    ENTRY_ANGLES,
) = range(15)
ENTRY_REACTIONS, ENTRY_STIFFNESS, ENTRY_SECANT_BLOCKS, ENTRY_SECANT_TANGENT = range(20, 24)
ENTRY_EXTRA_FORCES, ENTRY_EXTRA_CONSTRAINTS, ENTRY_EXTRA_TANGENT, ENTRY_EXTRA_OBSERVE = range(24, 28)
ENTRY_RIGID_BLOCKS, ENTRY_RIGID_SOLVE = 28, 29
ENTRIES = 32


class Tables(NamedTuple):
    """What a model is made of; constant during a run."""

    place: Any  # address of the packed form of this record
    entries: Any  # addresses of compiled pieces, see ENTRY_*

    nodes: Any  # NODE records, the ground first
    primitives: Any  # PRIMITIVE records, joint by joint
    forces: Any  # FORCE records
    couplings: Any  # PRIMITIVE records, several of which may add up to one equation
    general: Any  # GENERAL records: elements on the frames of several bodies
    members: Any  # their nodes and blocks
    functions: Any  # FUNCTION records: user functions of time
    xv: Any  # velocity index -> index in the permuted vector of unknowns
    xl: Any  # multiplier index -> index in the permuted vector of unknowns
    vclass: Any  # velocity index -> 0 translation, 1 rotation, 2 generalized
    lclass: Any  # multiplier index -> 0 length, 1 direction
    qv: Any  # velocity index -> index of the coordinate that it is the rate of, -1 for rotations
    nonholonomic: Any  # multiplier indices of equations that exist on the velocity level only
    diagonal: Any  # multiplier index -> its diagonal entry in the matrix
    parameters: Any  # see PARAMETER_*
    gravity: Any  # (3,)
    constants: Any  # constant mass matrices of Generalized nodes
    flags: Any  # see FLAG_*
    fronts: Any  # the factorisation's program (mbd.linalg)


class Work(NamedTuple):
    """Buffers of one run; allocated once, contents have no meaning between calls."""

    place: Any  # address of the packed form of this record

    z: Any  # (nodes, 12) frames
    zd: Any  # (nodes, 12) their velocities
    zb: Any  # (nodes, 12) their accelerations at zero coordinate acceleration
    f: Any  # (nodes, 12) frame forces
    spin: Any  # (nodes, 9) G(rho) of three-parameter nodes
    base: Any  # (nodes, 7) rotation vectors that increments started from last, and their quaternions
    t: Any  # (nodes, 9) T_exp^-1 of the increment
    eye: Any  # (nodes, 9) identities
    values: Any  # values of the functions of time
    turns: Any  # last accepted angle of every torsion spring, for counting turns
    signs: Any  # sign of det G of every Euler node at the last accepted step
    jac: Any  # (8, 3, 12) Jacobians of markers
    small: Any  # (8, 16) scratch for node kernels
    user: Any  # scratch for user functions
    time: Any  # (2,) time of the functions' values; step of a discrete gradient, zero at an instant
    general: Any  # buffers of general elements
    complex: Any  # the same, complex
    buffers: Any  # (9, ...) scratch for generalized nodes
    matrix: Any  # the fronts of the iteration matrix
    matrix2: Any  # a second one (index 2)
    pivots: Any
    pivots2: Any
    dinv: Any
    dinv2: Any
    scale: Any
    x: Any  # permuted right-hand side and solution
    x2: Any  # a second one
    scales: Any  # largest force and torque of the elements at the last residual
    info: Any  # numbers reported by the factorisation

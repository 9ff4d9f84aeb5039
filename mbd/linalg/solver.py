"""The careful interface to the block solver, for everything that is not inside a compiled time step.

`BlockSolver` keeps the assembled matrix, refines every solution against it and, when a solution is not good enough,
tries in turn: a regularised factorization (which yields the multipliers of minimum norm if constraints are redundant),
SuperLU in the block order, SuperLU in its own order. If all fail, the error names the vertex of the weakest pivot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from mbd.linalg import numeric
from mbd.linalg.front import FAILED, REPLACED, SMALLEST_RATIO, THRESHOLD, WEAKEST
from mbd.linalg.refined import refined_solution
from mbd.linalg.symbolic import Layout, _spread

NOTHING = np.zeros(0)
SINGULAR = 1e-11  # pivots with a smaller ratio are taken for zero
BACKWARD_ERROR = 1e-12  # normwise, after refinement; regular matrices reach 1e-15
CONSISTENT = 1e-8  # residual relative to the right-hand side that a (nearly) singular system must reach
EPSILON = 1e-8  # regularisation, for a matrix scaled to order one


class SingularMatrixError(np.linalg.LinAlgError):
    """No method solved the system; ``vertex`` owns the weakest pivot (-1 if unknown)."""

    def __init__(self, vertex: int, ratio: float) -> None:
        super().__init__(f"the matrix is singular at vertex {vertex} (pivot ratio {ratio:.1e})")
        self.vertex = vertex
        self.ratio = ratio


def joint_scale(layout: Layout, F: np.ndarray) -> np.ndarray:
    """A-priori size of the pivots of joints: per row the sum of |B_jb|^2 / max diag K_b over its bodies.

    It makes redundant constraints visible that cancel before any other term has told the size of the pivot. The
    largest entry of the body's diagonal is used, not that of the same coordinate: a flat body may have a zero there.
    """
    scale = np.zeros(layout.n)
    numeric.joint_scale(*layout.diagonal_entries, *layout.joint_entries, F, np.zeros(len(layout.sizes)), scale)
    return scale


class BlockSolver:
    """Factor and solve with one layout; add the element blocks into ``F`` (see `Layout.blocks`) first.

    All vectors are in permuted order; ``layout.permutation()`` leads to the order of the vertices.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        n = layout.n
        self.F = np.zeros(layout.size_F)
        self.pivots = np.zeros(n, np.int64)
        self.dinv = np.zeros(n)
        self.weights = np.ones(n)
        self.scale = np.zeros(n)
        self.report = np.zeros(5)
        self.ratio = np.inf  # smallest pivot ratio
        self.weakest = -1  # the vertex where it occurred
        self.redundant = 0  # number of pivots that were taken for zero
        self.method = ""  # how the last solution was found
        self.backward_error = np.nan  # of the last solution
        self._factors = np.zeros(layout.size_F)
        self._failed = True
        self._norm: float | None = None  # of the matrix, when it is asked for
        self._regularised = False  # the present factors are

    @cached_property
    def _joint_diagonal(self) -> np.ndarray:
        """Places of the diagonal entries of joints in F."""
        vertices = np.flatnonzero(self.layout.is_joint & (self.layout.sizes > 0))
        offset, stride = self.layout.blocks(vertices, vertices)
        size = self.layout.sizes[vertices]
        step = _spread(np.zeros(len(vertices), np.int64), size)
        return np.repeat(offset, size) + step * np.repeat(stride + 1, size)

    def factor(self) -> BlockSolver:
        """Factor a copy of ``F``. Never raises; ``ratio``, ``weakest`` and ``redundant`` tell what was found."""
        layout = self.layout
        self.scale[:] = joint_scale(layout, self.F)
        self._norm = None
        self._refactor(regularised=False)
        self.ratio, self.redundant = float(self.report[SMALLEST_RATIO]), int(self.report[REPLACED])
        self.weakest = layout.vertex_of(int(self.report[WEAKEST])) if self.report[WEAKEST] >= 0 else -1
        return self

    def _refactor(self, regularised: bool) -> None:
        self._factors[:] = self.F
        if regularised:
            self._factors[self._joint_diagonal] -= EPSILON
        self._regularised = regularised
        self.report[THRESHOLD] = SINGULAR
        run = numeric.factor_dense if self.layout.dense else numeric.factor_tree
        run(self.layout.fronts, self._factors, self.pivots, self.dinv, self.weights, self.scale, self.report, NOTHING)
        self._failed = bool(self.report[FAILED])

    def multiply(self, x: np.ndarray) -> np.ndarray:
        """A x with the assembled matrix."""
        y = np.zeros(self.layout.n)
        numeric.multiply(self.layout.fronts, self.F, self._vector(x, "x"), y)
        return y

    def _vector(self, x: np.ndarray, name: str) -> np.ndarray:
        x = np.ascontiguousarray(x, float)
        if x.shape != (self.layout.n,):
            raise ValueError(f"{name} has shape {x.shape}; expected ({self.layout.n},)")
        return x

    def sizes(self, x: np.ndarray) -> np.ndarray:
        """|A| |x|: how large the terms of A x are."""
        y = np.zeros(self.layout.n)
        numeric.multiply(self.layout.fronts, np.abs(self.F), np.abs(self._vector(x, "x")), y)
        return y

    def _own(self, b: np.ndarray) -> np.ndarray:
        x = np.array(b, float)
        run = numeric.solve_dense if self.layout.dense else numeric.solve_tree
        run(self.layout.fronts, self._factors, self.pivots, self.dinv, x, 0)
        return x

    def _refined(self, run: Callable[[np.ndarray], np.ndarray], b: np.ndarray, steps: int) -> np.ndarray:
        x = run(b)
        for _ in range(steps):
            x = x + run(b - self.multiply(x))
        return x

    def _accept(self, x: np.ndarray, b: np.ndarray, suspect: bool) -> bool:
        """Whether the solution can be trusted; a comparison with NaN has to fail.

        Where the matrix may be singular the backward error alone proves nothing, because a huge x makes any residual
        look small: there the residual has to be small against the right-hand side.
        """
        residual = np.abs(b - self.multiply(x)).max(initial=0.0)
        right = np.abs(b).max(initial=0.0)
        if self._norm is None:
            self._norm = float(self.sizes(np.ones(self.layout.n)).max(initial=0.0))
        bound = self._norm * np.abs(x).max(initial=0.0) + right
        self.backward_error = float(residual / bound) if bound > 0.0 else 0.0 if residual == 0.0 else np.nan
        return bool(self.backward_error <= BACKWARD_ERROR) and (not suspect or bool(residual <= CONSISTENT * right))

    def solve(self, b: np.ndarray, refine: int = 1) -> np.ndarray:
        """Solve A x = b with ``refine`` steps of refinement and, if need be, the fallbacks of the module's text."""
        b = self._vector(b, "b")
        suspect = self.redundant > 0 or self._failed or not (self.ratio >= SINGULAR)
        for self.method, run, steps in self._methods(suspect):  # noqa: B020
            with np.errstate(all="ignore"):
                x = self._refined(run, b, max(refine, steps))
                good = self._accept(x, b, suspect or self.method != "direct")
            if good:
                return x
        self.method = ""
        raise SingularMatrixError(self.weakest, self.ratio)

    def nearest(self, b: np.ndarray, refine: int = 2) -> np.ndarray:
        """The solution with regularised joints, whatever is left of the equations; refined, one if there is one."""
        layout, right, x = self.layout, self._vector(b, "b").copy(), np.zeros(self.layout.n)
        factors = self.regularised_factors()
        refined_solution(layout.fronts, layout.dense, self.F, *factors, refine, right, np.zeros_like(right), x)
        return x

    def regularised_factors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Factors of the matrix with regularised joints, their pivots and the inverses of these."""
        if not self._regularised:
            self._refactor(regularised=True)
        return self._factors, self.pivots, self.dinv

    def _methods(self, suspect: bool) -> Iterator[tuple[str, Callable[[np.ndarray], np.ndarray], int]]:
        """Name, solver and least number of refinement steps of each method, in the order to try them."""
        if not self._regularised:
            if not suspect:
                yield "direct", self._own, 0
            if self.layout.is_joint.any():  # these factors then stay, until the matrix is factored anew
                self._refactor(regularised=True)
        if self._regularised and not self._failed:
            yield "regularised", self._own, 2
        from scipy.sparse.linalg import splu

        options: list[dict[str, Any]] = [
            {"permc_spec": "NATURAL", "diag_pivot_thresh": 0.01, "options": {"SymmetricMode": True}},
            {"permc_spec": "COLAMD"},
        ]
        if np.all(np.isfinite(self.F)):
            matrix = self.layout.to_scipy(self.F)
            for choice in options:
                try:
                    factors = splu(matrix, **choice)
                except RuntimeError:  # exactly singular
                    continue
                yield "SuperLU " + choice["permc_spec"], factors.solve, 1

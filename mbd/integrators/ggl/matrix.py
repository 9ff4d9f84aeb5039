"""The matrix of all unknowns of a GGL step, for small systems and wherever the matrix of rigid bodies does not do."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ...math.arrays import clear
from ..directors.linear_frames import gradient_blocks, hessian_blocks, mass_blocks
from .equations import (
    C_CURVATURE,
    C_D_CURVATURE,
    C_D_GRADIENT,
    C_D_RATE,
    C_D_VALUE,
    C_EXPLICIT,
    C_FOLLOWS,
    C_GRADIENT,
    C_THETA,
)


@kernel
def all_blocks(s11, s12, s13, s21, s22, s23, s31, s33, w, x):
    """Derivative of ``ggl_kernels.equations`` without that of applied forces; the third group is that of w (EULER)."""
    m = w.matrix
    clear(m)
    curvature, follows = x.c[C_CURVATURE], x.c[C_FOLLOWS]
    mass_blocks(s11, w, x.q, 1.0, m)
    hessian_blocks(s11, w, x.at_t, x.q, x.gams, curvature * x.c[C_D_CURVATURE], m)
    gradient_blocks(s11, w, x.at_l, x.zl, True, 0.0, x.c[C_GRADIENT], m)
    gradient_blocks(s11, w, x.at_v, x.zv, True, 1.0, 0.0, m)
    hessian_blocks(s12, w, x.at_l, x.q, x.lams, x.c[C_GRADIENT] * x.c[C_D_GRADIENT], m)
    gradient_blocks(s12, w, x.at_t, x.zh, False, 0.0, curvature, m)
    gradient_blocks(s12, w, x.at_v, x.zu, False, x.c[C_D_RATE], 0.0, m)
    mass_blocks(s22, w, x.q, 1.0, m)
    gradient_blocks(s22, w, x.at_t, x.zt, True, 0.0, -1.0, m)
    gradient_blocks(s22, w, x.at_p, x.zp, True, x.c[C_D_VALUE], 0.0, m)
    if x.c[C_EXPLICIT] == 0.0:
        mass_blocks(s21, w, x.q, -follows, m)
        hessian_blocks(s22, w, x.at_t, x.q, x.gams, -x.c[C_THETA], m)
        return
    gradient_blocks(s13, w, x.at_v, x.zu, False, 1.0, 0.0, m)
    mass_blocks(s23, w, x.q, -1.0, m)
    hessian_blocks(s23, w, x.at_t, x.q, x.gams, -1.0, m)
    gradient_blocks(s31, w, x.at_l, x.zl, True, 0.0, 1.0, m)
    mass_blocks(s33, w, x.q, 1.0, m)
    last = s33.diagonal.shape[0] - x.lams.shape[0]
    for k in range(x.lams.shape[0]):
        m[s33.diagonal[last + k]] = 1.0

"""First guesses of generalized-alpha."""

from __future__ import annotations

from ...compiled.kernel import kernel
from ..nearest_root import AT_REST, UNIFORM
from .state import AF, AM, BETA, GAMMA, MEMORY_HISTORY, OPTION_PREDICTOR


@kernel
def predict(x, p, h, guess):
    """First guess of v_dot and lambda, and a, v, w that follow from it; or of w: none, or that of uniform motion."""
    am, af, beta, gamma = p.method[AM], p.method[AF], p.method[BETA], p.method[GAMMA]
    order = p.options[OPTION_PREDICTOR]
    if order == 2 and (p.memory[MEMORY_HISTORY] < 1.0 or guess == AT_REST or guess == UNIFORM):
        order = 1
    c0 = 0.0 if order == 0 else (1.0 if order == 1 else 2.0)
    c1 = 1.0 if order == 2 else 0.0
    for k in range(x.lam.shape[0]):
        x.lamn[k] = c0 * x.lam[k] - c1 * x.lam1[k]
    for k in range(x.v.shape[0]):
        vd = c0 * x.vd[k] - c1 * x.vd1[k]
        a = ((1.0 - af) * vd + af * x.vd[k] - am * x.a[k]) / (1.0 - am)
        if guess == AT_REST or guess == UNIFORM:
            a = ((beta - 0.5) * x.a[k] - (x.v[k] / h if guess == AT_REST else 0.0)) / beta
            vd = ((1.0 - am) * a + am * x.a[k] - af * x.vd[k]) / (1.0 - af)
        x.vdn[k] = vd
        x.vn[k] = x.v[k] + h * ((1.0 - gamma) * x.a[k] + gamma * a)
        x.dw[k] = h * x.v[k] + h * h * ((0.5 - beta) * x.a[k] + beta * a)
        x.dq[k] = x.dw[k]

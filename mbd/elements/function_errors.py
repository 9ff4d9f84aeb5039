"""What went wrong in a user function: the plain function is evaluated once more at the arguments of the first error."""

from __future__ import annotations

import os
import traceback
import warnings
from typing import Any

import numpy as np

from ..compiled.functions.data_block import INDEFINITE, NO_DERIVATIVE, RAISED, STATUS
from ..errors import UserFunctionError

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep


def explain(callback: Any) -> UserFunctionError:
    """The error of a callback that has noted one; its cause is what the function raised."""
    x, t, status = callback.arguments, callback.time, int(callback.code.block[STATUS])
    who, when = f"{callback.name}: its function", f"at t = {t:.6g}"
    cause, value = callback.error, None
    if cause is None:
        cause, value = _evaluated(callback, x, "ignore")
    if cause is not None:
        said = f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
        text = f"{who} raised {said} {when}{place_of(cause)}"
    elif status == NO_DERIVATIVE:
        text = f"{who} has no finite derivative {when}, where it returned {_shown(value)}"
    elif status == INDEFINITE and value is not None:
        lowest = np.linalg.eigvalsh(value.reshape(len(x), len(x)))[0]
        text = f"{who} returned a matrix with the negative eigenvalue {lowest:.6g} {when}, for q = {_shown(x)}"
    elif value is not None and not np.isfinite(value).all():
        word = "NaN" if np.isnan(value).any() else "an infinite number"
        why, _ = _evaluated(callback, x, "raise")
        text = f"{who} returned {word} {when}"
        text += "" if why is None else f", {str(why) or type(why).__name__}{place_of(why)}"
        text += f": {_shown(value)}" if value.size > 1 else ""
    elif callback.call.style == "motion":
        text = f"{who} or its derivatives fail near t = {t:.6g}, where it returned {_shown(value)}"
    else:
        what = "raised an error" if status == RAISED else "returned a number that is not finite"
        text = f"{who} {what} {when} when compiled, but as plain Python it returns {_shown(value)}"
    error = UserFunctionError(text, element=callback.name, time=t)
    error.__cause__ = cause
    return error


def _evaluated(callback: Any, x: np.ndarray, numpy_errors: Any) -> tuple[BaseException | None, np.ndarray | None]:
    """(what the plain function raises, what it returns) at these arguments."""
    try:
        with np.errstate(all=numpy_errors), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return None, np.asarray(callback.call(callback.functions, x.copy()), dtype=float)
    except Exception as error:
        return error, None


def _shown(value: np.ndarray | None) -> str:
    return "nothing" if value is None else np.array2string(value, threshold=24, precision=6)


def place_of(error: BaseException) -> str:
    """File and line of the user's code from which an error came."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith((_HERE, _NUMPY))]
    return f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""

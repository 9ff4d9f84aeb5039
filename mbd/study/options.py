"""Arguments that are handed on to scipy: what is wrong with them is told as what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..errors import MbdError, ModelError


def named_values(who: str, argument: str, given: Any, example: str) -> dict[str, Any]:
    """Values by name, none of them where nothing is given."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ModelError(f"{who}: {argument} = {given!r}; expected a dictionary such as {example}")
    return dict(given)


@contextmanager
def options_of(who: str, method: str, options: Mapping[str, Any]) -> Iterator[None]:
    """Errors that scipy raises because of options name them."""
    try:
        yield
    except MbdError:
        raise
    except (TypeError, ValueError) as error:
        if not options:
            raise
        raise ModelError(
            f"{who}: options = {dict(options)!r}: {error}; expected options of {method}, see scipy.optimize"
        ) from error

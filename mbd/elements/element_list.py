"""The lists of a model: they are read like any list, and extended by ``model.add`` only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ModelError
from .settling import UNKNOWN, before_change


class Elements(list[Any]):
    """The bodies, joints or forces of a model.

    Elements can be taken out (``remove``, ``pop``, ``del``, ``model.joints[:] = some_of_them``) or put into another
    order; the model then forgets those that are gone. New ones are added with ``model.add``, which checks them.
    """

    def __init__(self, items: Any = (), forget: Callable[[list[Any]], None] | None = None) -> None:
        super().__init__(items)
        self.forget = forget

    def _become(self, after: list[Any]) -> None:
        before_change(getattr(self.forget, "__self__", UNKNOWN))
        before = {id(x) for x in self}
        new = [x for x in after if id(x) not in before]
        if new or len({id(x) for x in after}) < len(after):
            raise ModelError(f"cannot put {new[0] if new else 'an element twice'} into this list; use model.add(...)")
        kept = {id(x) for x in after}
        gone = [x for x in self if id(x) not in kept]
        if gone and self.forget is not None:
            self.forget(gone)
        list.__setitem__(self, slice(None), after)

    def __reduce__(self) -> Any:  # copies and pickles would extend an empty list
        return _restored, (list(self),), vars(self)


def _restored(items: list[Any]) -> Elements:
    return Elements(items)


def _through_the_model(name: str) -> Any:
    def change(self: Elements, *arguments: Any, **options: Any) -> Any:
        after = list(self)
        result = getattr(after, name)(*arguments, **options)
        self._become(after)
        return self if result is after else result

    change.__name__ = name
    return change


for _name in ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "__setitem__", "__delitem__",
              "__iadd__", "__imul__"):  # fmt: skip
    setattr(Elements, _name, _through_the_model(_name))

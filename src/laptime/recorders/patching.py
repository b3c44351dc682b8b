"""Attributes of a framework replaced while a window is open."""

from __future__ import annotations

from collections.abc import Callable

_ABSENT = object()


class Patches:
    """Replacements; `undo` puts back what was there, unless someone else has replaced it since."""

    def __init__(self) -> None:
        self._made: list[tuple[object, str, object, object]] = []

    def replace(self, owner: object, name: str, make: Callable[[object], object]) -> None:
        """Puts `make(what is there)` in place of an attribute; a class's own is taken as its `__dict__` holds it."""
        own = vars(owner).get(name, _ABSENT)
        value = make(getattr(owner, name) if own is _ABSENT else own)
        setattr(owner, name, value)
        self._made.append((owner, name, own, value))

    def undo(self) -> None:
        """Puts everything back."""
        while self._made:
            owner, name, own, value = self._made.pop()
            if vars(owner).get(name, _ABSENT) is not value:
                continue
            if own is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, own)

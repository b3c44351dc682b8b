"""A recorder of a framework that fails where it is told to."""

from __future__ import annotations

from laptime.recorders.options import Options
from laptime.recorders.plain import PlainBackend

fails_in: set[str] = set()
"""Names of methods that raise."""
calls: list[str] = []


class FailingBackend(PlainBackend):
    """Notes each call."""

    name = "failing"

    def __getattribute__(self, name: str) -> object:
        if name in ("prepare", "start", "stop", "begin_step", "end_step", "watch"):
            calls.append(name)
            if name in fails_in:
                raise RuntimeError(f"no {name} today")
        return super().__getattribute__(name)


def backend(options: Options) -> FailingBackend:
    """As every recorder's module offers it."""
    if "backend" in fails_in:
        raise ImportError("not installed")
    return FailingBackend()

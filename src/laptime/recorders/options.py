"""What to record, as the user asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

FORMATS = ("chrome_timeline.json", "memory_flow.svg")
"""Names of MegEngine's profiler for what a recording holds; laptime exports both from any recording."""


@dataclass(frozen=True)
class Options:
    """Arguments of a Profiler that its backend reads."""

    formats: tuple[str, ...] = (FORMATS[0],)
    sample_rate: int = 0
    """Every how many operators the device memory is looked at; 0 is never."""
    profile_device: bool = True
    with_scopes: bool = False
    """Ranges for functions and tensor methods too, not only for modules and optimizer steps."""
    with_backtrace: bool = False
    """Python call stacks of operators, waits and scopes."""
    record_shapes: bool = True
    profile_memory: bool = False
    activities: tuple[str, ...] | None = None
    """What to record, in lower case (`cpu`, `cuda`, `xpu`, …); None is all there is."""
    extra: dict[str, object] = field(default_factory=dict)
    """Arguments of the framework's own profiler, handed on to it."""

    @property
    def records_memory(self) -> bool:
        """Whether lives of tensors or blocks are wanted."""
        return self.profile_memory or "memory_flow.svg" in self.formats


def formats_of(chosen: str | None, several: Sequence[str] | None) -> tuple[str, ...]:
    """`format` and `formats` together. Raises ValueError for names that are no format."""
    listed = [several] if isinstance(several, str) else list(several or ())
    names = tuple(dict.fromkeys(([chosen] if chosen else []) + listed)) or (FORMATS[0],)
    for name in names:
        if name not in FORMATS:
            raise ValueError(f"unknown format {name!r}: choose from {', '.join(FORMATS)}")
    return names


def activities_of(chosen: Sequence[object] | None) -> tuple[str, ...] | None:
    """Activities by name: `ProfilerActivity.CUDA`, `"CUDA"` and `"cuda"` are the same."""
    if chosen is None:
        return None
    return tuple(str(getattr(each, "name", each)).rsplit(".", 1)[-1].lower() for each in chosen)

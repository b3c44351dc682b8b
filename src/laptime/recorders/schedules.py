"""Which steps are recorded: skip, wait, warm up, record, repeat, as torch.profiler.schedule counts them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

NONE, WARMUP, RECORD, SAVE = "none", "warmup", "record", "record_and_save"
"""What happens in a step; SAVE records it and ends the window."""
ScheduleFunction = Callable[[int], object]
"""From a step, counted from 0, to one of the four, or to a torch.profiler.ProfilerAction of the same name."""


@dataclass(frozen=True)
class Schedule:
    """A schedule; calling it with a step counted from 0 says what happens in it."""

    wait: int
    warmup: int
    active: int
    repeat: int
    skip_first: int

    def __call__(self, step: int) -> str:
        """The action of a step."""
        if step < self.skip_first:
            return NONE
        cycle = self.wait + self.warmup + self.active
        turn, place = divmod(step - self.skip_first, cycle)
        if (self.repeat and turn >= self.repeat) or place < self.wait:
            return NONE
        if place < self.wait + self.warmup:
            return WARMUP
        return SAVE if place == cycle - 1 else RECORD


def schedule(*, wait: int = 0, warmup: int = 0, active: int, repeat: int = 0, skip_first: int = 0) -> Schedule:
    """Records `active` steps of each cycle, after `wait` and `warmup` ones; `repeat` 0 goes on until the end.

    Raises ValueError for numbers that leave nothing to record.
    """
    for name, value in {"wait": wait, "warmup": warmup, "repeat": repeat, "skip_first": skip_first}.items():
        if value < 0:
            raise ValueError(f"{name} must not be negative: {value}")
    if active < 1:
        raise ValueError(f"active must be 1 or more: {active}")
    return Schedule(wait, warmup, active, repeat, skip_first)


def always(step: int) -> str:
    """Records all steps in one window."""
    return RECORD


def action_name(action: object) -> str:
    """One of the four names, also for torch's enumeration. Raises ValueError for anything else."""
    name = str(getattr(action, "name", action)).lower()
    if name not in (NONE, WARMUP, RECORD, SAVE):
        raise ValueError(f"a schedule must return none, warmup, record or record_and_save, not {action!r}")
    return name

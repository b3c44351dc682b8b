"""What the prompt remembers between commands: the profile that is open, its device, the tables already made."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from laptime.analyses.device_operators import Timed, timed_operators
from laptime.analyses.selection import Row
from laptime.analyses.step_trace import StepTrace, step_trace
from laptime.cli.options import open_path, open_workspace, say
from laptime.cli.shell_tables import TABLES
from laptime.cli.units import shortened
from laptime.errors import LaptimeError

if TYPE_CHECKING:
    from laptime.model.trace import Run, Trace


_PATH_WIDTH = 28
"""So that what stands beside it still fits a line."""


class Session:
    """A conversation at the prompt."""

    def __init__(self, op_type: str, workspace: Path | None) -> None:
        self.op_type = op_type
        self.workspace = workspace
        self.trace: Trace | None = None
        self.device: int | None = None
        self.done = False
        self._path = ""
        self._profile: Profile | None = None

    def open(self, path: str, device_id: int | None) -> None:
        """Opens a path and picks a device of it; what was open stays where that fails."""
        run = open_path(path, self.workspace)
        self.trace, self.device = device_of(run, device_id)
        self._path = path
        self._profile = Profile(self.trace)

    @property
    def profile(self) -> Profile:
        """What is open. Raises LaptimeError where nothing is."""
        if self._profile is None:
            raise LaptimeError(
                "no profile is open",
                where="data/profiler, data",
                remedy="start with --op-path DIR, or parse a job with `prof`",
            )
        return self._profile

    @property
    def title(self) -> str:
        """What is open, for people."""
        if self.trace is None:
            return "No profile is open"
        device = "" if self.device is None else f", device {self.device}"
        return f"{shortened(self._path, _PATH_WIDTH)}{device}"

    @property
    def history(self) -> Path:
        """Where the lines typed are kept."""
        return open_workspace(self.workspace).root / "shell_history"


class Profile:
    """One device of what is open, with the tables made of it so far."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._rows: dict[str, list[Row]] = {}

    def rows(self, op_type: str) -> list[Row]:
        """All rows of an operator table."""
        if op_type not in self._rows:
            self._rows[op_type] = TABLES[op_type].rows(self.trace)
        return self._rows[op_type]

    @cached_property
    def steps(self) -> StepTrace:
        """The step trace."""
        return step_trace(self.trace)

    @cached_property
    def ops(self) -> list[Row]:
        """All operators, as rows of the `ops` table."""
        return list(self.trace.ops.arrow().to_pylist())

    @cached_property
    def timed(self) -> dict[object, Timed]:
        """Operators with executions on the AI Cores, by number."""
        return {timed.op["op_id"]: timed for timed in timed_operators(self.trace)}


def device_of(run: Run, wanted: int | None) -> tuple[Trace, int | None]:
    """The recording of a device and its number; without a number that of device 0, or the only one there is."""
    exact = [trace for trace in run.traces if _own_device(trace) == (wanted or 0)]
    told = [trace for trace in run.traces if (wanted or 0) in _told_devices(trace)]
    numbers = sorted({number for trace in run.traces if (number := _own_device(trace)) is not None})
    found = exact or ([] if wanted is None and len(numbers) == 1 else told)
    if not found and wanted is None and len(numbers) <= 1:
        found = run.traces
    if not found:
        known = ", ".join(map(str, numbers)) or "none is named"
        raise LaptimeError(f"no device {wanted or 0}", where=run.path, remedy=f"devices here: {known}")
    trace = found[0]
    own = _own_device(trace)
    _remark(trace, found, wanted, own)
    return trace, own if wanted is None else wanted


def _remark(trace: Trace, found: list[Trace], wanted: int | None, own: int | None) -> None:
    told = _told_devices(trace)
    if len(told) > 1:
        names = " and ".join(map(str, told))
        say(f"files of {trace.source} name devices {names}; it is taken as device {own if wanted is None else wanted}")
    elif wanted is None and own:
        say(f"showing device {own}, the only one")
    if len(found) > 1:
        more = "entry" if len(found) == 2 else "entries"
        say(f"{len(found) - 1} more {more} of {'the same' if own is None else f'device {own}'}; showing {trace.source}")


def _told_devices(trace: Trace) -> list[int]:
    """Devices that the files of a recording name, where they do not agree."""
    told = trace.meta.get("devices_told")
    return [number for number in told if isinstance(number, int)] if isinstance(told, list) else []


def _own_device(trace: Trace) -> int | None:
    """Device in the recording's name, `profiler[4]`; else the one it holds; else its rank."""
    name, bracket, number = trace.source.rpartition("[")
    if name and bracket and number[:-1].isdecimal() and number.endswith("]"):
        return int(number[:-1])
    held = {device for device in trace.tracks.objects("device") if isinstance(device, int)}
    return held.pop() if len(held) == 1 else trace.rank

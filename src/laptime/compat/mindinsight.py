"""`from laptime.compat.mindinsight import Profiler`: the MindInsight Profiler's own arguments, for scripts that use it.

profiler = Profiler(output_path="./data", is_detail=True, is_show_op_path=False, subgraph="all")
...                      # the network, the training
profiler.analyse()       # ends recording; prints operator types, operators and steps
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from laptime.recorders import analysing
from laptime.recorders.profiler import Profiler as _Profiler

SUBGRAPHS = ("all", "Default", "Gradients")
_FOLDER = "profiler"


class Profiler:
    """Records from construction, after `set_context` and before the network is made, until `analyse`.

    `job_id` names a job that was recorded before (`/var/log/npu/profiling/JOB*`): then nothing is recorded, and
    `analyse` shows that one.

    Raises ValueError for an unknown subgraph and TypeError for arguments of another type.
    """

    def __init__(
        self,
        subgraph: str = "all",
        is_detail: bool = True,
        is_show_op_path: bool = False,
        output_path: str | os.PathLike[str] = "./data",
        optypes_to_deal: str | Sequence[str] = "",
        optypes_not_deal: str | Sequence[str] = ("Variable",),
        job_id: str = "",
    ) -> None:
        if subgraph not in SUBGRAPHS:
            raise ValueError(f"subgraph must be one of {', '.join(SUBGRAPHS)}, not {subgraph!r}")
        for name, value in {"is_detail": is_detail, "is_show_op_path": is_show_op_path}.items():
            if not isinstance(value, bool):
                raise TypeError(f"{name} must be True or False, not {value!r}")
        if not isinstance(job_id, str):
            raise TypeError(f"job_id must be a text, not {job_id!r}")
        self._subgraph, self._is_detail, self._shows_path = subgraph, is_detail, is_show_op_path
        self._only = _op_types("optypes_to_deal", optypes_to_deal)
        self._without = _op_types("optypes_not_deal", optypes_not_deal)
        self._output, self._job_id = Path(output_path), job_id
        self._profiler: _Profiler | None = None
        if not job_id:
            self._profiler = _Profiler(self._output / _FOLDER)
            self._profiler.start()

    def step(self) -> None:
        """Ends a training step, for loops that laptime does not see by itself."""
        if self._profiler is not None:
            self._profiler.step()

    def analyse(self) -> None:
        """Ends recording and prints the operator types, with `is_detail` the operators as well, and the steps."""
        if self._profiler is None:
            print(analysing.run(["prof", f"--job-id={self._job_id}", *_device(), f"--output-path={self._output}"]))
        else:
            self._profiler.stop()
        place = self._place()
        if self._job_id and not place.exists():  # the reason is printed already
            return
        for command in self._commands():
            print(analysing.analyse(place, command=command), end="\n\n")

    def _place(self) -> Path:
        """The recording of this process; others of the folder are of other ranks or of earlier runs."""
        log = None if self._profiler is None else self._profiler.log_path
        return log or self._output / _FOLDER

    def _commands(self) -> Iterator[tuple[str, ...]]:
        chosen = [f"--subgraph={self._subgraph}"]
        chosen += [f"--in=op_type={','.join(self._only)}"] if self._only else []
        chosen += [f"--not-in=op_type={','.join(self._without)}"] if self._without else []
        yield ("op", "--by=op-type", *chosen)
        if self._is_detail:
            yield ("op", f"--by={'full-name' if self._shows_path else 'name'}", *chosen)
        yield ("step",)


def _op_types(name: str, value: str | Sequence[str]) -> tuple[str, ...]:
    """Operator types, given as a list or as one text with commas."""
    if isinstance(value, str):
        return tuple(part for each in value.split(",") if (part := each.strip()))
    if not isinstance(value, (list, tuple, set)) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{name} must be a text or a list of texts, not {value!r}")
    return tuple(value)


def _device() -> list[str]:
    device = os.environ.get("DEVICE_ID", "").strip()
    return [f"--device-id={device}"] if device.isdigit() else []

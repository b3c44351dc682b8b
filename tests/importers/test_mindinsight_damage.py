"""Damaged processed MindSpore folders: whatever the bytes, the only failure is the one that is worded for people."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from laptime.analyses.operators import operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import step_trace
from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.fuzz.mutations import mutated
from tests.importers.test_mindinsight import ascend_folder, gpu_folder

_CASES = 150


@pytest.mark.parametrize("seed", range(_CASES))
def test_damaged_folders(tmp_path: Path, workspace: Workspace, seed: int) -> None:
    rng = Random(seed)
    files = {name: text.encode() for name, text in rng.choice((ascend_folder(), gpu_folder())).items()}
    others = list(files.values())
    folder = tmp_path / "profiler"
    folder.mkdir()
    for name, data in files.items():
        damaged = mutated(data, others, rng) if rng.random() < 0.5 else data
        (folder / name).write_bytes(damaged)
    with suppress(LaptimeError):
        run = open_run(folder, workspace=workspace)
        report(run)
        for trace in run.traces:
            step_trace(trace)
            for grouping in ("op-type", "full-name"):
                operator_table(trace, by=grouping)

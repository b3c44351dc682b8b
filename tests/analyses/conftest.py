"""Traces made of a few events written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.analyses.events import Event


@pytest.fixture
def open_events(tmp_path: Path, workspace: Workspace) -> Callable[..., Run]:
    """Imports events as a file of torch.profiler; `tail` replaces the end of the file's text."""

    def opened(*events: Event, tail: str = "]}") -> Run:
        path = tmp_path / "made.pt.trace.json"
        listed = ",\n".join(map(json.dumps, events))
        path.write_text(f'{{"schemaVersion": 1, "traceEvents": [\n{listed}{tail}')
        return open_run(path, workspace=workspace)

    return opened

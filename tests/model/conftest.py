"""Traces made of a few events written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from laptime.importers.opening import open_run
from laptime.model.trace import Trace
from laptime.model.workspace import Workspace


@pytest.fixture
def open_text(tmp_path: Path, workspace: Workspace) -> Callable[..., Trace]:
    """Imports the text of a trace file."""

    def opened(text: str, name: str = "trace.json") -> Trace:
        path = tmp_path / name
        path.write_text(text)
        return open_run(path, workspace=workspace).traces[0]

    return opened


@pytest.fixture
def open_events(open_text: Callable[..., Trace]) -> Callable[..., Trace]:
    """Imports a list of Chrome trace events as a file of PyTorch's profiler."""

    def opened(*events: dict[str, object], **header: object) -> Trace:
        return open_text(json.dumps({"schemaVersion": 1, **header, "traceEvents": list(events)}))

    return opened

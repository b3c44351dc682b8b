"""Findings of traces made of a few events written by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laptime.advice.advising import advise
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.analyses.events import Event

Json = dict[str, Any]
Advise = Callable[..., list[Json]]


@pytest.fixture
def advise_events(tmp_path: Path, workspace: Workspace) -> Advise:
    """Findings on events as a file of torch.profiler."""

    def advised(*events: Event, language: str = "en") -> list[Json]:
        path = tmp_path / "made.pt.trace.json"
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": list(events)}))
        result: Json = advise(open_run(path, workspace=workspace), language)
        return list(result["findings"])

    return advised

"""The report of a run kept beside its traces, so that a second one loads no table, whatever the size.

Imports nothing heavy: reading a stored report takes the same time whatever the size of the recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from laptime._version import __version__
from laptime.analyses import REPORT_VERSION
from laptime.model.workspace import Workspace

if TYPE_CHECKING:
    from laptime.model.trace import Run

REPORT_NAME = f"report-{__version__}-{REPORT_VERSION}"


def advice_in(report: Mapping[str, object]) -> dict[str, object]:
    """`laptime advise` as JSON, out of a report, in its language."""
    return {key: report[key] for key in ("schema_version", "findings", "not_recorded")}


def read_report(place: Workspace, key: str) -> dict[str, object] | None:
    """The stored report of a run; None where the import is not whole or no report was made."""
    return place.read_result(key, REPORT_NAME) if place.is_whole(key) else None


def store_report(run: Run) -> dict[str, object]:
    """Computes the report and keeps it beside the imported traces."""
    from laptime.advice.advising import report

    result = report(run)
    if run.folder is not None:
        Workspace(run.folder.parent.parent).write_result(run.folder.name, REPORT_NAME, result)
    return result

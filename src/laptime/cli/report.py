"""`laptime report`: where each step's time goes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from laptime.cli.options import JsonOption, PathArgument, WorkspaceOption, open_path, open_workspace, print_json
from laptime.cli.ranges import FromOption, StepsOption, ToOption, part_of, part_text
from laptime.model.workspace import Workspace

if TYPE_CHECKING:
    from laptime.model.trace import Run


def command(
    path: PathArgument,
    from_time: FromOption = None,
    to_time: ToOption = None,
    steps: StepsOption = None,
    as_json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Say where each training step's time goes: compute, exposed communication, copies, and idle by cause.

    \b
    Examples:
      laptime report trace.json.gz
      laptime report runs/ddp --json
      laptime report runs/ddp --steps 3-7
    """
    part = part_of(from_time, to_time, steps)
    if part.is_whole:
        result = stored_report(path, workspace) or store_report(open_path(path, workspace))
    else:
        from laptime.advice.advising import report

        result = report(open_path(path, workspace), part)
    if as_json:
        print_json(result)
        return
    from laptime.cli.report_page import show

    show(result, part=part_text(part))


def stored_report(path: str, folder: Path | None) -> dict[str, object] | None:
    """The report kept beside the imported traces; loads no table, so it takes the same time whatever the size."""
    from laptime.importers.keys import run_key
    from laptime.importers.sources import discover

    place = open_workspace(folder)
    known = None if Path(path).exists() else place.find(path)
    key = known.key if known else run_key(path, discover(path))
    stored = place.read_result(key, _result_name()) if place.is_whole(key) else None
    if stored is not None and isinstance(run := stored.get("run"), dict):
        run["path"] = path
    return stored


def store_report(run: Run) -> dict[str, object]:
    """Computes the report and keeps it beside the imported traces."""
    from laptime.advice.advising import report

    result = report(run)
    if run.folder is not None:
        Workspace(run.folder.parent.parent).write_result(run.folder.name, _result_name(), result)
    return result


def _result_name() -> str:
    from laptime._version import __version__
    from laptime.analyses import REPORT_VERSION

    return f"report-{__version__}-{REPORT_VERSION}"

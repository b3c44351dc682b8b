"""`laptime report`: where each step's time goes."""

from __future__ import annotations

from pathlib import Path

from laptime.advice.stored import read_report, store_report
from laptime.cli.options import JsonOption, PathArgument, WorkspaceOption, open_path, open_workspace, print_json
from laptime.cli.ranges import FromOption, StepsOption, ToOption, part_of, part_text


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
    stored = read_report(place, key)
    if stored is not None and isinstance(run := stored.get("run"), dict):
        run["path"] = path
    return stored

"""`laptime import`: read a recording into the workspace."""

from __future__ import annotations

from laptime.advice.stored import store_report
from laptime.cli.options import JsonOption, PathArgument, WorkspaceOption, open_path, print_json
from laptime.cli.report import stored_report


def command(path: PathArgument, as_json: JsonOption = False, workspace: WorkspaceOption = None) -> None:
    """Read a recording into the workspace, so that later commands open it at once.

    \b
    Examples:
      laptime import runs/ddp --workspace /tmp/laptime
    """
    run = open_path(path, workspace)
    if stored_report(path, workspace) is None:
        store_report(run)
    rows = [
        {"rank": trace.rank, "source": trace.source, "format": trace.meta["format"], "events": trace.meta["events"]}
        for trace in run.traces
    ]
    if as_json:
        print_json({"schema_version": 1, "path": run.path, "ranks": rows, "warnings": run.notes})
        return
    for trace in run.traces:
        events = trace.meta["events"]
        assert isinstance(events, dict)
        rank = "" if trace.rank is None else f"rank {trace.rank}, "
        print(f"{trace.source}: {rank}{events['kept']:,} of {events['read']:,} events kept")
    for note in run.notes:
        print(f"skipped {note['message']}")

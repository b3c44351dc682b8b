"""`laptime memory`: how much memory lives over time, when it is most, and what lives then."""

from __future__ import annotations

from laptime.cli.options import (
    JsonOption,
    PathArgument,
    RankOption,
    WorkspaceOption,
    open_trace,
    print_json,
    rank_text,
)
from laptime.cli.ranges import FromOption, StepsOption, ToOption, part_of, part_text


def command(
    path: PathArgument,
    from_time: FromOption = None,
    to_time: ToOption = None,
    steps: StepsOption = None,
    rank: RankOption = None,
    as_json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Say how much memory lives over time, when it is most, and which blocks live then.

    \b
    Examples:
      laptime memory trace.json.gz
      laptime memory profile/20574.memory_flow.svg --json
      laptime memory trace.json.gz --steps 3-7
    """
    from laptime.analyses.memory import memory

    part = part_of(from_time, to_time, steps)
    run, trace = open_trace(path, workspace, rank)
    result = memory(trace, part)
    if as_json:
        print_json(result.as_json)
        return
    from laptime.analyses.recorded import not_recorded
    from laptime.cli.memory_page import show

    how = next((row["how_to_record"] for row in not_recorded(run) if row["what"] == "memory"), None)
    show(result, path=run.path, rank=rank_text(run, trace) + part_text(part), how_to_record=how)

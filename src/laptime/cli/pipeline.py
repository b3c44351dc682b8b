"""`laptime pipeline`: does training wait for data, and which part of the pipeline is slow?"""

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
    """Say whether training waits for data: waits, queues between the stages, the slowest pipeline operator.

    \b
    Examples:
      laptime pipeline DIR
      laptime pipeline DIR --rank 1 --json
      laptime pipeline DIR --steps 3-7
    """
    from laptime.analyses.pipeline import pipeline

    part = part_of(from_time, to_time, steps)
    run, trace = open_trace(path, workspace, rank)
    result = pipeline(trace, part)
    if as_json:
        print_json(result)
        return
    from laptime.cli.pipeline_page import show

    show(result, path=run.path, rank=rank_text(run, trace) + part_text(part))

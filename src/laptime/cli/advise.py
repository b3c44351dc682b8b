"""`laptime advise`: what to change, the largest saving first."""

from __future__ import annotations

from laptime.cli.options import (
    JsonOption,
    Language,
    LanguageOption,
    OneOfAllRanksOption,
    PathArgument,
    WorkspaceOption,
    open_path,
    print_json,
)
from laptime.cli.report import stored_report


def command(
    path: PathArgument,
    rank: OneOfAllRanksOption = None,
    lang: LanguageOption = Language.en,
    as_json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Say what to change: findings with their evidence, the time each step would save at most, and the remedy.

    \b
    Examples:
      laptime advise trace.json.gz
      laptime advise runs/ddp --rank 1
      laptime advise runs/ddp --lang zh --json
    """
    from laptime.advice.stored import advice_in, store_report

    known = stored_report(path, workspace) if rank is None else None
    if rank is None and lang is Language.en:
        result = advice_in(known or store_report(open_path(path, workspace)))
    else:
        from laptime.advice.advising import advise

        result = advise(open_path(path, workspace), lang.value, rank=rank, known=known)
    if as_json:
        print_json(result)
        return
    from laptime.cli.advise_page import show

    show(result, path=path, language=lang.value)

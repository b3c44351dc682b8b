"""What all commands share: their common options, the workspace, opening a path with a progress bar."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laptime.cli.units import clean
from laptime.model.workspace import ENVIRONMENT, Workspace

if TYPE_CHECKING:
    from laptime.importers.progress import Progress
    from laptime.model.trace import Run, Trace

PathArgument = Annotated[
    str, typer.Argument(metavar="PATH", help="A file, folder, glob, archive or imported run.", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON on stdout and nothing else.")]
RankOption = Annotated[
    int | None, typer.Option("--rank", help="Rank to look at; default: the first.", show_default=False)
]
OneOfAllRanksOption = Annotated[
    int | None, typer.Option("--rank", help="Only this rank; default: all.", show_default=False)
]
ExportRankOption = Annotated[
    int | None,
    typer.Option("--rank", help="Rank to write; default: the first, for a table all.", show_default=False),
]


class Language(str, Enum):
    """Languages of texts."""

    en = "en"
    zh = "zh"


LanguageOption = Annotated[Language, typer.Option("--lang", help="Language of the texts: English or Chinese.")]
WorkspaceOption = Annotated[
    Path | None,
    typer.Option("--workspace", help="Folder for imported traces.", envvar=ENVIRONMENT, show_default=False),
]


def say(message: str) -> None:
    """A remark to the person, on stderr."""
    print(f"laptime: {clean(message)}", file=sys.stderr)


def open_workspace(folder: Path | None) -> Workspace:
    """The workspace asked for; a temporary one, with a remark, where it cannot be written."""
    return Workspace.choose(folder, say=_say_once)


@cache
def _say_once(message: str) -> None:
    """A command may open the workspace twice; the remark is for once."""
    say(message)


def print_json(result: object) -> None:
    """The result as one line of JSON."""
    print(json.dumps(result, allow_nan=False, separators=(",", ":")))


def open_path(path: str, folder: Path | None) -> Run:
    """Opens a path, with a progress bar on a terminal when the import takes over a second."""
    from laptime.importers.opening import open_run

    with progress_bars() as start:
        return open_run(path, workspace=open_workspace(folder), progress=start)


def open_trace(path: str, folder: Path | None, rank: int | None) -> tuple[Run, Trace]:
    """Opens a path and picks one rank; says on stderr when there are more entries of it."""
    run = open_path(path, folder)
    trace = run.trace_of(rank)
    others = sum(other.rank == trace.rank for other in run.traces) - 1
    if others and (rank is not None or trace.rank is not None):
        say(f"{others} more {'entry' if others == 1 else 'entries'} of rank {trace.rank}; showing {trace.source}")
    elif rank is None and len(run.traces) > 1:
        say(f"showing {trace.source}, the first of {len(run.traces)} entries; choose with --rank")
    return run, trace


def rank_text(run: Run, trace: Trace) -> str:
    """Which of several entries a page is about; nothing where there is only one."""
    if len(run.traces) == 1:
        return ""
    return f", {trace.source}" if trace.rank is None else f", rank {trace.rank}"


def progress_bars() -> AbstractContextManager[Callable[[str], Progress] | None]:
    """Bars on stderr, only on a terminal."""
    if not sys.stderr.isatty():
        return nullcontext(None)
    from laptime.cli.bars import Bars

    return Bars()

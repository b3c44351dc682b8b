"""`laptime report`: where each step's time goes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from laptime.advice.stored import read_report, store_report
from laptime.cli.options import (
    JsonOption,
    Language,
    PathArgument,
    WorkspaceOption,
    open_path,
    open_workspace,
    print_json,
    say,
)
from laptime.cli.ranges import FromOption, StepsOption, ToOption, part_of, part_text

HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write the charts into one file for any browser.", show_default=False),
]
HtmlLanguageOption = Annotated[
    Language | None,
    typer.Option("--lang", help="Language of the HTML file, English or Chinese; default: en.", show_default=False),
]


def command(
    path: PathArgument,
    from_time: FromOption = None,
    to_time: ToOption = None,
    steps: StepsOption = None,
    as_json: JsonOption = False,
    html: HtmlOption = None,
    lang: HtmlLanguageOption = None,
    workspace: WorkspaceOption = None,
) -> None:
    """Say where each training step's time goes: compute, exposed communication, copies, and idle by cause.

    \b
    Examples:
      laptime report trace.json.gz
      laptime report runs/ddp --json
      laptime report runs/ddp --steps 3-7
      laptime report runs/ddp --html report.html --lang zh
    """
    if html is not None:
        if as_json or from_time is not None or to_time is not None:
            raise typer.BadParameter("goes with --steps and --lang alone", param_hint="--html")
        part_of(None, None, steps)
        _write_html(path, html, steps=steps, language=lang or Language.en, workspace=workspace)
        return
    if lang is not None:
        raise typer.BadParameter("is the language of the file that --html writes", param_hint="--lang")
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


def _write_html(path: str, target: Path, *, steps: str | None, language: Language, workspace: Path | None) -> None:
    from laptime.exports.html import bundle_of, write_html
    from laptime.web.saved import saved_answers, saved_title

    page = bundle_of()  # before the work of reading
    run = open_path(path, workspace)
    store_report(run)
    answers = saved_answers(run, language=language.value, steps=steps)
    write_html(answers, target, title=saved_title(run), language=language.value, page=page)
    say(f"wrote {target} ({target.stat().st_size:,} bytes)")

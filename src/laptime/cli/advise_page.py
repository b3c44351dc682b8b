"""Findings as text for a terminal of 80 columns."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from laptime.advice.texts.wording import Text as Key
from laptime.advice.texts.wording import Wording
from laptime.cli.report_page import console
from laptime.cli.units import clean, clean_lines, count_text, glued, share_text, shortened, time_text

Json = dict[str, Any]

_STYLES = {"high": "red", "medium": "yellow", "low": "cyan", "info": "bright_black"}
_INDENT = 4
_TOP = 3


def show(result: Json, *, path: str, language: str) -> None:
    """Prints all findings, the largest saving first."""
    page, wording = console(), Wording(language)
    page.print(wording.say(Key("page.title", {"path": shortened(path, 50)})), style="bold")
    if not result["findings"]:
        missing = {row["what"] for row in result["not_recorded"]}
        without_steps = wording.recorded("step markers") in missing
        page.print(wording.say(Key("page.nothing_without_steps" if without_steps else "page.nothing")))
    for finding in result["findings"]:
        page.print()
        _show_finding(page, finding, wording)
    if result["findings"]:
        page.print()
        page.print(Text(wording.say(Key("page.note"))))
    if result["not_recorded"]:
        page.print()
        page.print(wording.say(Key("page.not_recorded")), style="bold")
        for part in result["not_recorded"]:
            page.print(Text(clean(part["what"])))
            page.print(_indented(clean_lines(part["how_to_record"])))


def _show_finding(page: Console, finding: Json, wording: Wording) -> None:
    level = finding["severity"]
    severity = Text(f"[{wording.say(Key(f'page.{level}'))}] ", style=_STYLES[level])
    title = glued(f"{severity.plain}{clean(finding['title'])}", page.width)
    page.print(severity + Text(title.removeprefix(severity.plain), style="bold"))
    facts = [_evidence_text(each) for each in finding["evidence"]]
    place = _place_text(finding["where"])
    if place:
        page.print(_indented(clean(place)))
    if facts:
        page.print(_indented(glued(clean("; ".join(facts)), page.width - _INDENT)))
    page.print(_indented(f"→ {clean(finding['fix'])}"))
    if finding["slices"]:
        numbers = ", ".join(str(each["slice_id"]) for each in finding["slices"])
        rank = "" if finding["rank"] is None else f" --rank {finding['rank']}"
        page.print(_indented(f"laptime slice PATH N{rank}: {numbers}"))


def _indented(text: str) -> Padding:
    return Padding(Text(text), (0, 0, 0, _INDENT))


def _evidence_text(each: Json) -> str:
    return f"{each['name']}: {_value_text(each['value'], each['unit'])}"


def _value_text(value: Any, unit: str) -> str:
    if value is None:
        return "-"
    if unit == "ns":
        return time_text(value)
    if unit == "share":
        return share_text(value, 1)
    number = (
        count_text(value) if isinstance(value, int) else f"{value:,.1f}" if isinstance(value, float) else str(value)
    )
    return number if unit == "count" else f"{number} %" if unit == "percent" else f"{number} {unit}"


def _place_text(where: Json | None) -> str:
    if where is None:
        return ""
    line = f"{where['file']}:{where['line']}" if where["file"] else ""
    function = f" in {where['function']}" if line and where["function"] else ""
    return " · ".join(part for part in (line + function, where["module"] or "") if part)


def show_top(page: Console, findings: list[Json]) -> None:
    """The findings above info that save most, each of another part of the step."""
    chosen: list[Json] = []
    for finding in findings:
        parts = {part for other in chosen for part in other["budget_parts"]}
        if finding["severity"] != "info" and not parts & set(finding["budget_parts"]):
            chosen.append(finding)
    if not chosen:
        return
    page.print("What to change", style="bold")
    for finding in chosen[:_TOP]:
        page.print(Text(glued(clean(finding["title"]), page.width)))
        page.print(_indented(f"→ {clean(finding['fix'])}"))
    page.print(Text("All findings with their evidence: laptime advise"))
    page.print()

"""One slice as text for a terminal of 80 columns."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from laptime.analyses.slice_details import Found, SliceDetails
from laptime.cli.report_page import console
from laptime.cli.units import clean, count_text, shortened, size_text, time_text

Json = dict[str, Any]  # the command's JSON

_LABEL_WIDTH = 12
_NAME_WIDTH = 26
_TRACK_WIDTH = 14
_ROUNDED = 1000
"""Nanoseconds from which on times are shown rounded."""
_MOST_TENSORS = 6
_MOST_FRAMES = 12
_MOST_ARGUMENTS = 24
_LINKS = {
    "launch": "launch",
    "data": "data",
    "async": "call",
    "forward_backward": "forward",
    "queue": "queue",
    "wait": "device end",
}


def show(details: SliceDetails, *, path: str, rank: str) -> None:
    """Prints all about a slice."""
    page, about = console(), details.slice
    title = f"Slice {about['slice_id']} of {shortened(path, 40)}{rank}"
    page.print(title, style="bold")
    for label, text in _facts(about):
        _line(page, label, text)
    _show_stack(page, about)
    _show_arguments(page, about["arguments"])
    _show_elsewhere(page, about)
    left = details.left_out
    _show_links(page, "Waited for", details.waited_for, left["waited_for"])
    _show_links(page, "Waited for it", details.waited_by, left["waited_by"])


def show_candidates(found: Found, *, name: str, path: str, rank: str) -> None:
    """Prints the slices that a name may mean."""
    page = console()
    page.print(f"Slices {shortened(name, 24)} of {shortened(path, 40)}{rank}, longest first", style="bold")
    grid = _grid("slice", "name", "track", "step", "start", "duration")
    rows: list[Json] = found.candidates
    for row in rows:
        grid.add_row(*_cells(row), _or_dash(row["step"]), time_text(row["start_ns"]), time_text(row["dur_ns"]))
    page.print(grid)
    if found.left_out:
        page.print(f"{found.left_out:,} more; laptime sql lists all. Choose one by its number.")


def _facts(about: Json) -> list[tuple[str, str]]:
    kind = about["kind"] + (f" ({about['category']})" if about["category"] not in (None, about["kind"]) else "")
    place = f"{about['track']}" + (f" of device {about['device']}" if about["device"] is not None else "")
    step = [f"step {about['step']}"] if about["step"] is not None else []
    phase = [about["phase"]] if about["phase"] else []
    operator = about["operator"] or {}
    count = about["device_slices"]
    device = f"{time_text(about['device_ns'])} in {count_text(count)} slice{'' if count == 1 else 's'}"
    module = f" in {operator['module']}" if operator.get("module") else ""
    facts = [
        ("name", about["name"]),
        ("kind", ", ".join([kind, *step, *phase])),
        ("track", place),
        ("start", f"{time_text(about['start_ns'])} ({about['start_ns']:,} ns)"),
        ("duration", _duration(about)),
        ("host", "" if about["host_ns"] in (None, about["dur_ns"]) else time_text(about["host_ns"])),
        ("device", device if count else ""),
        ("size", "" if about["bytes"] is None else size_text(about["bytes"])),
        ("operator", f"{operator['op_type'] or operator['name']}{module}" if operator else ""),
        ("inputs", _tensors(about["inputs"])),
        ("outputs", _tensors(about["outputs"])),
        ("inside", " < ".join(shortened(parent["name"], 40) for parent in about["parents"] if not _is_frame(parent))),
        ("source", about["source"] or ""),
    ]
    return [(label, text) for label, text in facts if text]


def _is_frame(parent: Json) -> bool:
    """Whether it is a Python function, which the call stack holds too."""
    return bool(parent["kind"] == "python")


def _duration(about: Json) -> str:
    if about["dur_ns"] is None:
        return "not recorded"
    own = f", {time_text(about['self_ns'])} by itself" if about["self_ns"] != about["dur_ns"] else ""
    exact = f" ({about['dur_ns']:,} ns)" if about["dur_ns"] >= _ROUNDED else ""
    return f"{time_text(about['dur_ns'])}{exact}{own}"


def _tensors(tensors: list[Json]) -> str:
    more = [f"and {len(tensors) - _MOST_TENSORS} more"] if len(tensors) > _MOST_TENSORS else []
    return "; ".join([*map(_tensor, tensors[:_MOST_TENSORS]), *more])


def _tensor(tensor: Json) -> str:
    """`FLOAT32[64,784] NHWC`; a dash where nothing is known."""
    shape = "" if tensor["shape"] is None else f"[{tensor['shape'].replace(' ', '')}]"
    text = f"{tensor['data_type'] or ''}{shape}" or "-"
    return f"{text} {tensor['format']}" if tensor["format"] else text


def _line(page: Console, label: str, text: str) -> None:
    """A label and its text, which goes on below itself."""
    grid = Table(box=None, show_header=False, padding=(0, 0, 0, 0))
    grid.add_column(width=_LABEL_WIDTH)
    grid.add_column(overflow="fold")
    grid.add_row(label, Text(clean(text)))
    page.print(grid)


def _show_stack(page: Console, about: Json) -> None:
    frames = about["stack"]
    for place, frame in enumerate(frames[:_MOST_FRAMES]):
        line = f":{frame['line']}" if frame["line"] is not None else ""
        where = f" {frame['file']}{line}" if frame["file"] else ""
        text = shortened(f"{frame['function'] or '?'}{where}", page.width - _LABEL_WIDTH)
        _line(page, "" if place else "called from", text)
    if len(frames) > _MOST_FRAMES:
        _line(page, "", f"{len(frames) - _MOST_FRAMES} more frames; all with --json")


def _show_arguments(page: Console, arguments: object) -> None:
    if not isinstance(arguments, dict):
        _line(page, "arguments", "none recorded" if arguments is None else json.dumps(arguments, ensure_ascii=False))
        return
    width = page.width - _LABEL_WIDTH
    texts = [f"{key}: {_value(value)}" for key, value in arguments.items()]
    for place, text in enumerate(texts[:_MOST_ARGUMENTS]):
        _line(page, "" if place else "arguments", shortened(text, width))
    if len(texts) > _MOST_ARGUMENTS:
        _line(page, "", f"{len(texts) - _MOST_ARGUMENTS} more; all with --json")


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _show_elsewhere(page: Console, about: Json) -> None:
    rows = about["elsewhere"]
    if not rows:
        return
    page.print()
    page.print("The same work on other tracks", style="bold")
    grid = _grid("slice", "name", "track", "start", "duration")
    for row in rows:
        grid.add_row(*_cells(row), time_text(row["start_ns"]), time_text(row["dur_ns"]))
    page.print(grid)
    _show_left_out(page, about["elsewhere_left_out"])


def _show_links(page: Console, title: str, rows: list[Json], left_out: int) -> None:
    page.print()
    if not rows:
        page.print(f"{title}: nothing that was recorded", style="bold")
        return
    page.print(title, style="bold")
    deep = any(row["depth"] > 1 for row in rows)
    grid = _grid("slice", "name", "track", "link", "from" if deep else "", "duration", "gap")
    for row in rows:
        via = str(row["via"]) if deep else ""
        grid.add_row(*_cells(row), _LINKS[row["link"]], via, time_text(row["dur_ns"]), time_text(row["gap_ns"]))
    page.print(grid)
    _show_left_out(page, left_out)


def _show_left_out(page: Console, count: int) -> None:
    if count:
        page.print(f"{count:,} more; show them with --limit")


def _grid(*titles: str) -> Table:
    grid = Table(box=None, padding=(0, 1, 0, 0), header_style="")
    for title in titles:
        right = title in ("slice", "step", "from", "start", "duration", "gap")
        grid.add_column(title, justify="right" if right else "left", no_wrap=True)
    return grid


def _cells(row: Json) -> tuple[str, Text, Text]:
    track = str(row["track"]).split(" (")[0]
    return (
        str(row["slice_id"]),
        Text(shortened(row["name"], _NAME_WIDTH)),
        Text(shortened(track, _TRACK_WIDTH)),
    )


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)

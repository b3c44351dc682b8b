"""Options as people type them, the same for the command line and the web: times, steps, conditions on columns.

Imports nothing heavy, since every command takes some of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from laptime.analyses.parts import Bounds, Part

_UNITS = {"": 1, "ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_TIME = re.compile(r"(?P<number>\d{1,18}(?:\.\d{1,9})?)\s*(?P<unit>[a-zµμ]*)\Z")
_STEPS = re.compile(r"(?P<first>\d{1,18})?\s*(?P<dash>-)?\s*(?P<last>\d{1,18})?\Z")

TORCH_SORTS = {
    "cuda_time_total": ("device", "total_ns"),
    "device_time_total": ("device", "total_ns"),
    "xpu_time_total": ("device", "total_ns"),
    "self_cuda_time_total": ("device", "self_ns"),
    "self_device_time_total": ("device", "self_ns"),
    "self_xpu_time_total": ("device", "self_ns"),
    "cpu_time_total": ("host", "total_ns"),
    "self_cpu_time_total": ("host", "self_ns"),
    "cpu_time": ("host", "mean_ns"),
    "cuda_time": ("device", "mean_ns"),
}
"""Names that torch's key_averages().table(sort_by=...) takes: where, and our column."""
MEGENGINE_SORTS = {
    "time": (None, "self_ns"),
    "computation": (None, "computation_flo"),
    "flops": (None, "flo_per_s"),
    "memory": (None, "memory_bytes"),
    "bandwidth": (None, "bytes_per_s"),
}
"""Names that MegEngine's profile_analyze --order-by takes."""
SORTS: dict[str, tuple[str | None, str]] = {**TORCH_SORTS, **MEGENGINE_SORTS}
"""Names of other tools that operators can be sorted by: which side they mean, and our column."""


class BadOption(ValueError):
    """A value that an option cannot have."""

    def __init__(self, what: str, option: str) -> None:
        self.option = option
        super().__init__(what)


def part_of(from_time: str | None, to_time: str | None, steps: str | None) -> Part:
    """The part that --from, --to and --steps name."""
    begin, end = nanoseconds(from_time, "--from"), nanoseconds(to_time, "--to")
    if end is not None and end <= (begin or 0):
        raise BadOption(f"{to_time!r} is not after {from_time or 0!r}", "--to")
    return Part(begin, end, None if steps is None else step_bounds(steps))


def nanoseconds(text: str | None, option: str) -> int | None:
    """`12.5ms` as nanoseconds; a number without a unit is nanoseconds."""
    if text is None:
        return None
    match = _TIME.match(text.strip())
    if match is None or match["unit"] not in _UNITS:
        raise BadOption(f"{text!r} is no time such as 12.5ms, 3s, 800us or 120ns", option)
    exact = Decimal(match["number"]) * _UNITS[match["unit"]]
    if exact != int(exact):
        raise BadOption(f"{text!r} is no whole number of nanoseconds", option)
    if exact >= 1 << 62:
        raise BadOption(f"{text!r} is longer than any recording", option)
    return int(exact)


def step_bounds(text: str) -> tuple[Bounds, ...]:
    """`3-7,9` as first and last numbers."""
    found: list[Bounds] = []
    for part in text.split(","):
        match = _STEPS.match(part.strip())
        if match is None or (match["first"] is None and match["last"] is None):
            raise BadOption(f"{text!r} is not like 3, 3-7, 3-, -7 or 3,5", "--steps")
        first, last = (None if match[end] is None else int(match[end]) for end in ("first", "last"))
        if match["dash"] is None:
            last = first
        if first is not None and last is not None and last < first:
            raise BadOption(f"{part.strip()!r} ends before it begins", "--steps")
        found.append((first, last))
    return tuple(found)


def one_of_these(value: str | None, known: Sequence[str | None], option: str, also: Sequence[str] = ()) -> None:
    """Refuses a value that is none of the known ones, naming them."""
    if value not in known:
        names = ", ".join(str(name) for name in (*known, *also) if name)
        raise BadOption(f"{value!r} is none of: {names}", option)


def sort_column(text: str, columns: Sequence[str]) -> tuple[str | None, str]:
    """Which side a sort means, if any, and the column; other tools' names are known too."""
    where, column = SORTS.get(text.replace("-", "_"), (None, text.replace("-", "_")))
    one_of_these(column, columns, "--sort", also=tuple(SORTS))
    return where, column


def conditions(texts: Sequence[str] | None, option: str, columns: Sequence[str]) -> dict[str, list[str]]:
    """`COL=TEXT` options by column: of `--in` and `--not-in` the texts between commas, of `--filter` the text whole."""
    wanted: dict[str, list[str]] = {}
    for text in texts or []:
        column, equals, part = text.partition("=")
        if not equals:
            raise BadOption(f"{text!r} is not COL=TEXT", option)
        column = column.strip().replace("-", "_")
        one_of_these(column, columns, option)
        parts = [part] if option == "--filter" else part.split(",")
        wanted.setdefault(column, []).extend(each.strip() for each in parts)
    return wanted


def number_bounds(texts: Sequence[str] | None, option: str, columns: Sequence[str]) -> dict[str, float]:
    """`COL=N` options by column."""
    bounds = {}
    for column, parts in conditions(texts, option, columns).items():
        try:
            bounds[column] = float(parts[-1])
        except ValueError as error:
            raise BadOption(f"{parts[-1]!r} is no number", option) from error
    return bounds

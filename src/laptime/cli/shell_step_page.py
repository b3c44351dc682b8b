"""The step-trace picture of the prompt, to scale: total, its parts, a row for each communication stream, exact ms."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from laptime.analyses.average_step import Region, Step, average_regions, by_stream, regions_of
from laptime.analyses.step_trace import StepTrace
from laptime.cli.report_page import console
from laptime.cli.step_page import PARTS, drawn_ns, stream_label
from laptime.cli.units import clean, shortened

_LABEL_WIDTH, _TIME_WIDTH, _SHARE_WIDTH = 20, 11, 8
_LEAST_BAR = 20
_MOST_REGIONS = 8
"""Regions of one stream that are told one by one."""
_NAMES = {"interval_ns": "interval", "forward_backward_ns": "forward+backward", "tail_ns": "tail"}


def show_average(result: StepTrace, *, title: str) -> None:
    """Draws the average step with its communication."""
    page = console()
    if not result.steps:
        page.print("No step is recorded.")
        return
    if result.average is None:
        page.print("No complete step, so there is no average.")
        return
    used = result.average["steps_used"]
    first = "the first included" if result.average["first_step_included"] else "without the first"
    page.print(Text(f"{title}, average of {used} {'step' if used == 1 else 'steps'}, {first}"), style="bold")
    _Picture(page, result.average).draw(average_regions(result.steps))
    _show_points(page, result)


def show_step(result: StepTrace, place: int, *, title: str) -> None:
    """Draws one step, and says what the average is."""
    page = console()
    step = result.steps[place]
    number = "" if step["step"] == place + 1 else f" (number {step['step']} in the recording)"
    note = "" if step["complete"] else ", incomplete"
    page.print(Text(f"{title}, step {place + 1} of {len(result.steps)}{number}{note}"), style="bold")
    _Picture(page, step).draw(regions_of(step))
    _show_points(page, result)
    if result.average is not None:
        page.print(Text(f"average: {_sentence(result.average)}"))
    for entry in result.skipped:
        if entry["step"] == step["step"]:
            page.print(Text(f"this step: {entry['reason']}"))


class _Picture:
    """Rows of one step, all to the same scale."""

    def __init__(self, page: Console, step: Step) -> None:
        self._page = page
        self._step = step
        self._total = _ns(step["total_ns"]) or 0
        self._width = max(_LEAST_BAR, page.width - _LABEL_WIDTH - 2 * _TIME_WIDTH - _SHARE_WIDTH)

    def draw(self, regions: Sequence[Region]) -> None:
        """Prints the rows."""
        heads = f"{'start (ms)':>{_TIME_WIDTH}}{'time (ms)':>{_TIME_WIDTH}}{'share':>{_SHARE_WIDTH}}"
        self._page.print(Text(f"{'':<{_LABEL_WIDTH}}{'':<{self._width}}{heads}"), style="dim")
        self._row("total", Text("─" * self._width), 0, self._total)
        self._draw_parts()
        for stream, own in by_stream(regions).items():
            self._draw_stream(stream, own)

    def _draw_parts(self) -> None:
        if _ns(self._step["tail_ns"]) is None:
            self._page.print(Text(f"{'parts':<{_LABEL_WIDTH}}unknown: no points of forward and backward"))
            return
        bar, used, spent = Text(), 0, 0
        starts = []
        for key, block, style in PARTS:
            starts.append(spent)
            spent += drawn_ns(self._step, key, self._total)
            size = self._cell(spent) - used
            bar.append(block * size, style=style)
            used += size
        self._page.print(Text(f"{'parts':<{_LABEL_WIDTH}}").append_text(bar))
        for (key, block, style), start in zip(PARTS, starts, strict=True):
            self._row(Text("  ").append(block, style=style).append(f" {_NAMES[key]}"), Text(), start, self._step[key])

    def _draw_stream(self, stream: str, regions: Sequence[Region]) -> None:
        cells = [" "] * self._width
        for region in regions:
            first = min(self._cell(region.start_ns), self._width - 1)
            last = max(first + 1, self._cell(region.start_ns + region.dur_ns))
            cells[max(first, 0) : last] = "▬" * (min(last, self._width) - max(first, 0))
        bar = Text("".join(cells), style="magenta")
        label = stream_label(stream)
        if len(regions) == 1:
            self._row(label, bar, regions[0].start_ns, regions[0].dur_ns)
            return
        self._row(label, bar, None, sum(region.dur_ns for region in regions))
        for region in regions[:_MOST_REGIONS]:
            self._row(f"  {shortened(region.name, _LABEL_WIDTH - 3)}", Text(), region.start_ns, region.dur_ns)
        if len(regions) > _MOST_REGIONS:
            self._page.print(f"  {len(regions) - _MOST_REGIONS} more collectives")

    def _row(self, label: str | Text, bar: Text, start: object, spent: object) -> None:
        line = Text(label) if isinstance(label, str) else label
        line.pad_right(_LABEL_WIDTH - len(line))
        line.append_text(bar).pad_right(self._width - len(bar))
        share = f"{100 * spent / self._total:.2f}%" if isinstance(spent, int) and self._total else "-"
        line.append(f"{_ms(start) if start is not None else '':>{_TIME_WIDTH}}{_ms(spent):>{_TIME_WIDTH}}")
        self._page.print(line.append(f"{share:>{_SHARE_WIDTH}}"))

    def _cell(self, ns: int) -> int:
        return round(self._width * ns / self._total) if self._total else 0


def _show_points(page: Console, result: StepTrace) -> None:
    page.print()
    for what, name in (("forward starts at", result.forward_start_op), ("backward ends at", result.backward_end_op)):
        page.print(Text(f"{what} {clean(name) if name else 'an operator that is not named'}"))
    names = {
        f"{stream_label(region.stream)} {clean(region.name)}"
        for region in average_regions(result.steps)
        if not region.name.startswith("stream_")
    }
    if names:
        page.print(Text(f"collectives: {', '.join(sorted(names))}"))


def _sentence(average: Step) -> str:
    total = _ns(average["total_ns"]) or 0
    parts = [f"total {_ms(total)} ms"]
    for key, name in _NAMES.items():
        spent = _ns(average[key])
        share = "" if spent is None or not total else f" ({100 * spent / total:.2f}%)"
        parts.append(f"{name} {_ms(spent)} ms{share}")
    return ", ".join(parts)


def _ms(ns: object) -> str:
    return f"{ns / 1e6:.4f}" if isinstance(ns, int) else "-"


def _ns(value: object) -> int | None:
    return value if isinstance(value, int) else None

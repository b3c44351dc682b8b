"""Steps drawn to scale for a terminal of 80 columns."""

from __future__ import annotations

from collections import defaultdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from laptime.analyses.step_trace import StepTrace
from laptime.cli.report_page import console
from laptime.cli.units import shortened, time_text

_LABEL_WIDTH = 18
PARTS = (("interval_ns", "░", "yellow"), ("forward_backward_ns", "█", "green"), ("tail_ns", "▒", "blue"))
_MOST_ROWS = 40

Step = dict[str, object]


def show(result: StepTrace, *, only: int | None, path: str, rank: str, how_to_mark: str) -> None:
    """Prints the average and all steps, or one step with its communication."""
    page = console()
    page.print(f"Steps of {shortened(path, 60)}{rank}", style="bold")
    if not result.steps:
        page.print(f"No step was found. To have steps, record again: {how_to_mark}.")
        return
    if only is not None:
        _draw(page, result.steps[only], title=f"step {result.steps[only]['step']}")
    else:
        _show_average(page, result)
        _show_all(page, result)
    _show_points(page, result, only=None if only is None else result.steps[only]["step"])


def _show_average(page: Console, result: StepTrace) -> None:
    if result.average is None:
        page.print("No complete step, so there is no average.")
        return
    used = result.average["steps_used"]
    steps = "1 step" if used == 1 else f"{used} steps"
    first = "the first included" if result.average["first_step_included"] else "without the first"
    _draw(page, {**result.average, "communication": []}, title=f"average of {steps}, {first}")


def _draw(page: Console, step: Step, *, title: str) -> None:
    """Total; interval | forward+backward | tail; one row per communication stream, all to the same scale."""
    total = _ns(step["total_ns"]) or 0
    width = max(20, page.width - _LABEL_WIDTH - 2)
    page.print(Text(f"{title}: {time_text(total)}"))
    page.print(Text(f"{'total':<{_LABEL_WIDTH}}").append("─" * width))
    if _ns(step["tail_ns"]) is None:
        page.print(Text(f"{'parts':<{_LABEL_WIDTH}}unknown (see below)"))
    else:
        bar, used, shown = Text(f"{'parts':<{_LABEL_WIDTH}}"), 0, 0
        for key, block, style in PARTS:
            shown += drawn_ns(step, key, total)
            size = round(width * shown / total) - used if total else 0
            bar.append(block * size, style=style)
            used += size
        page.print(bar)
        legend = Text(" " * _LABEL_WIDTH)
        for (key, block, style), name in zip(PARTS, ("interval", "forward+backward", "tail"), strict=True):
            legend.append(block, style=style).append(
                f" {name} {time_text(_ns(step[key])) if _ns(step[key]) is not None else 'unknown'}  "
            )
        page.print(legend)
    _draw_communication(page, step, width=width, total=total)
    page.print()


def drawn_ns(step: Step, key: str, total: int) -> int:
    """Time a part takes in the drawing; where the interval is unknown, what is left of the step before forward."""
    known = _ns(step[key])
    if known is None and key == "interval_ns":
        return total - (_ns(step["forward_backward_ns"]) or 0) - (_ns(step["tail_ns"]) or 0)
    return known or 0


def _draw_communication(page: Console, step: Step, *, width: int, total: int) -> None:
    found = step["communication"]
    streams: dict[str, list[Step]] = defaultdict(list)
    for entry in found if isinstance(found, list) else []:
        streams[entry["stream"]].append(entry)
    begins = (_ns(step.get("start_ns")) or 0) - (_ns(step.get("gap_before_ns")) or 0)
    for stream, entries in streams.items():
        cells = [" "] * width
        for entry in entries:
            start, dur = _ns(entry["start_ns"]) or 0, _ns(entry["dur_ns"]) or 0
            first = int(width * (start - begins) / total) if total else 0
            last = max(first + 1, round(width * (start + dur - begins) / total)) if total else 1
            for cell in range(max(first, 0), min(last, width)):
                cells[cell] = "▬"
        page.print(Text(f"{stream_label(stream):<{_LABEL_WIDTH}}").append("".join(cells), style="magenta"))
        time = sum(_ns(entry["dur_ns"]) or 0 for entry in entries)
        count = "1 collective" if len(entries) == 1 else f"{len(entries)} collectives"
        page.print(Text(f"{'':<{_LABEL_WIDTH}}{count}, {time_text(time)}"))


def stream_label(name: str) -> str:
    """`thread 18322` of `thread 18322 (pt_gloo_runloop)`: the number tells threads apart."""
    return shortened(name.split(" (")[0], _LABEL_WIDTH - 1)


def _show_all(page: Console, result: StepTrace) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    for title in ("step", "interval", "forward+backward", "tail", "total", "collectives", ""):
        table.add_column(title, justify="left" if not title else "right")
    for step in result.steps[:_MOST_ROWS]:
        communication = step["communication"]
        count = len(communication) if isinstance(communication, list) else 0
        times = [time_text(_ns(step[key])) for key in ("interval_ns", "forward_backward_ns", "tail_ns", "total_ns")]
        note = "" if step["complete"] else "incomplete"
        inferred = "inferred" if step["source"] == "inferred" else ""
        table.add_row(str(step["step"]), *times, str(count), ", ".join(filter(None, (note, inferred))))
    page.print(table)
    if len(result.steps) > _MOST_ROWS:
        page.print(f"{len(result.steps) - _MOST_ROWS} more steps; all with --json")


def _show_points(page: Console, result: StepTrace, *, only: object) -> None:
    if only is None:
        page.print()
    if result.forward_start_op or result.backward_end_op:
        page.print(
            Text(
                f"forward starts at {result.forward_start_op or '?'}; backward ends at {result.backward_end_op or '?'}"
            )
        )
    reasons: dict[str, list[str]] = defaultdict(list)
    for entry in result.skipped:
        if only is not None and entry["step"] != only:
            continue
        reasons[str(entry["reason"])].append(str(entry["step"]))
    for reason, steps in reasons.items():
        shown = ", ".join(steps[:8]) + (", ..." if len(steps) > 8 else "")
        page.print(Text(f"step {shown}: {reason}"))


def _ns(value: object) -> int | None:
    return value if isinstance(value, int) else None

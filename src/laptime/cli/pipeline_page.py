"""The data pipeline as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from laptime.cli.report_page import console
from laptime.cli.units import glued, share_text, shortened, time_text

Json = dict[str, Any]

_BAR_WIDTH = 20


def show(result: Json, *, path: str, rank: str) -> None:
    """Prints waits, queues, the operator tree and the verdicts."""
    page = console()
    page.print(f"Data pipeline of {shortened(path, 50)}{rank}", style="bold")
    bound = result["data_bound"]
    if bound is None and not result["queues"] and not result["operators"]:
        part = "" if result["range"] is None else " in this part"
        page.print(f"Nothing about loading data was recorded{part}.")
        return
    if bound is not None:
        page.print(glued(_waits(bound), page.width))
    elif result["range"] is not None:
        page.print("How long training waited for data in this part was not recorded.")
    if result["start_up_ns"]:
        page.print(glued(_start_ups(result["start_up_ns"]), page.width))
    _show_queues(page, result["queues"])
    _show_operators(page, result["operators"])
    for line in _unknown(result):
        page.print(glued(line, page.width))
    if result["bottleneck"]:
        found = result["bottleneck"]
        page.print(glued(f"Slowest operator: {found['name']}: {found['reason']}.", page.width))
        page.print(f"Try: {found['advice']}.")
    if result["stage_verdict"]:
        stage = {"process": "data processing", "send": "sending to the device", "none": "none"}
        verdict = result["stage_verdict"]
        page.print(f"Slow stage: {stage[verdict['stage']]}: {verdict['reason']}.")


def _waits(bound: Json) -> str:
    if bound["mean_wait_ns"] is None and bound["first_wait_ns"] is not None:
        waited = time_text(bound["first_wait_ns"])
        return f"1 batch, the first: {waited}, for which the loader starts; not counted as waiting."
    empty = "" if bound["waits"] is None else f", {bound['waits']} found the queue empty"
    share = "" if bound["share_of_step"] is None else f" ({share_text(bound['share_of_step'], 1)} of the steps)"
    batches = "1 batch" if bound["batches"] == 1 else f"{bound['batches']} batches"
    return f"{batches}{empty}; training waited {time_text(bound['wait_ns'])} for data{share}."


def _unknown(result: Json) -> Iterator[str]:
    """What the recording tells only of all its steps together."""
    if result["range"] is None:
        return
    names = [queue["queue"] for queue in result["queues"] if queue["samples"] is None]
    outputs = [op["output_queue"] for op in result["operators"] if op["output_queue"] is not None]
    whole = "recorded over the whole run only; leave out --steps, --from and --to to see"
    if names:
        yield f"Sizes of the queue{'s' if len(names) > 1 else ''} {' and '.join(names)} were {whole} them."
    if any(queue["samples"] is None for queue in outputs):
        yield f"Queues between operators were {whole} them."


def _start_ups(spans: list[int]) -> str:
    times = "once" if len(spans) == 1 else f"{len(spans)} times"
    return f"The loader started {times}, {time_text(sum(spans))} until its first batch; not counted as waiting."


def _show_queues(page: Console, queues: list[Json]) -> None:
    if not queues:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    for title in ("queue", "samples", "capacity", "mean size", "empty", "full"):
        table.add_column(title, justify="left" if title == "queue" else "right")
    for queue in queues:
        mean = "-" if queue["mean_size"] is None else f"{queue['mean_size']:.2f}"
        samples, capacity, empty, full = (
            "-" if queue[name] is None else str(queue[name])
            for name in ("samples", "capacity", "empty_count", "full_count")
        )
        table.add_row(queue["queue"], samples, capacity, mean, empty, full)
    page.print(table)


def _show_operators(page: Console, operators: list[Json]) -> None:
    """The tree from the root down; each line shows how full the queue after the operator is."""
    if not operators:
        return
    page.print("Operators, each feeding the one above; the bar is how full its output queue is", style="bold")
    for op, depth in _in_tree_order(operators):
        queue = op["output_queue"]
        line = Text(f"{'  ' * min(depth, 10)}{shortened(op['name'], 30)}".ljust(44))
        if queue is None:
            line.append("no queue")
        elif queue["usage_share"] is None:
            line.append("not known" if queue["samples"] is None else "no sample")
        else:
            filled = round(_BAR_WIDTH * min(queue["usage_share"], 1))
            line.append("█" * filled + "·" * (_BAR_WIDTH - filled)).append(f" {share_text(queue['usage_share'], 1)}")
        if op["count"]:
            line.append(f"  {time_text(op['total_ns'] / op['count'])} a batch")
        page.print(line)


def _in_tree_order(operators: list[Json]) -> list[tuple[Json, int]]:
    children: dict[object, list[Json]] = {}
    known = {op["op_id"] for op in operators}
    for op in operators:
        children.setdefault(op["parent_id"] if op["parent_id"] in known else None, []).append(op)
    ordered: list[tuple[Json, int]] = []
    waiting = [(op, 0) for op in reversed(children.get(None, []))]
    while waiting:
        op, depth = waiting.pop()
        ordered.append((op, depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(op["op_id"], []))]
    return ordered

"""The report as text for a terminal of 80 columns."""

from __future__ import annotations

import sys
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from laptime.cli.units import clean, clean_lines, count_text, glued, share_text, shortened, time_text

Json = dict[str, Any]  # the report's JSON

_BAR_WIDTH = 72
_FORMAT_NAMES = {
    "laptime": "laptime recording",
    "pytorch_kineto": "PyTorch profiler",
    "megengine": "MegEngine profiler",
    "chrome_trace": "Chrome trace",
    "ascend_job": "raw Ascend job",
    "ascend_output": "Ascend profiler output",
    "mindinsight": "MindInsight profiler files",
    "mindspore_cpu": "MindSpore CPU profile",
    "msprof": "msprof export",
    "xplane": "XPlane profile",
}
_NAME_WIDTH = 44
_WAIT_WIDTH = 56
_WORTH_SHOWING = 0.01
_CLEARLY = 0.1
"""Share of a step by which ranks must differ to be called early or late."""
_PARTS = (
    ("compute_ns", "compute", "█", "green"),
    ("communication_exposed_ns", "exposed communication", "▓", "magenta"),
    ("copy_exposed_ns", "exposed copies", "▚", "blue"),
    ("idle_data_wait_ns", "idle: waiting for data", "░", "red"),
    ("idle_sync_ns", "idle: after a host sync", "╳", "yellow"),
    ("idle_launch_ns", "idle: launched late by the host", "▒", "bright_yellow"),
    ("idle_other_ns", "idle: other", "·", "bright_black"),
)
"""Key of the budget, its name, and how it is drawn: the block tells the parts apart where there is no colour."""
_OF_THE_HOST = {"data_wait": "idle_data_wait_ns", "sync": "idle_sync_ns", "launch": "idle_launch_ns"}
"""Causes of gaps that the host has, and their time in a budget."""
_ENDS = {"data_wait": "wait for data", "sync": "follow a host sync", "launch": "end with a late launch"}
_HOST_NAMES = {
    "compute_ns": "inside operators",
    "communication_exposed_ns": "communication",
    "idle_sync_ns": "host sync",
    "idle_data_wait_ns": "waiting for data",
    "idle_other_ns": "outside operators",
}


_TOP_TITLES = {
    "device": "Operators by device time",
    "host": "Operators by own host time",
    "scopes": "Scopes by own time",
}
"""What the report lists; scopes where a recording has no operators."""


def console(*, width: int | None = None) -> Console:
    """Prints text as it is, never as markup: names come from files. 80 columns where the terminal tells no width."""
    wide = width or (None if sys.stdout.isatty() else 80)
    return Console(width=wide, highlight=False, markup=False, emoji=False)


def show(report: Json, out: Console | None = None, *, part: str = "") -> None:
    """Prints the report; `part` says of which part of the recording."""
    page = out or console()
    ranks = report["ranks"]
    chosen = _most_telling(ranks)
    page.print(_title(report) + part, style="bold")
    page.print(glued(headline(chosen, many=len(ranks) > 1), page.width))
    page.print()
    span = chosen["range"]
    if span and span["budget"]:
        _show_budget(page, span["budget"], f"of {time_text(span['dur_ns'])}", chosen)
    elif chosen["step_summary"]:
        budget = chosen["step_summary"]["budget"]
        _show_budget(page, budget, f"mean {time_text(budget['total_ns'])}", chosen)
        _show_queueing(page, budget, chosen["queueing"])
    if len(ranks) > 1 and any(rank["step_summary"] for rank in ranks):
        _show_ranks(page, ranks)
    if report["run"]["pipeline_stages"]:
        _show_stages(page, report["run"]["pipeline_stages"])
    if report["findings"]:
        from laptime.cli.advise_page import show_top

        show_top(page, report["findings"])
    _show_top(page, chosen)
    _show_syncs(page, chosen)
    _show_notes(page, report)


def _most_telling(ranks: list[Json]) -> Json:
    """The rank whose steps take longest; without steps the first."""
    with_steps = [rank for rank in ranks if rank["step_summary"]]
    return max(with_steps, key=lambda rank: rank["step_summary"]["mean_ns"], default=ranks[0])


def _title(report: Json) -> str:
    run = report["run"]
    count = len(report["ranks"])
    world = f" of {run['world_size']}" if run["world_size"] and run["world_size"] > count else ""
    what = _FORMAT_NAMES.get(run["format"], run["format"])
    ranks = f"{count} ranks{world}" if count > 1 else f"rank {run['ranks'][0]}{world}" if world else ""
    return " · ".join(part for part in (shortened(run["path"], 48), what, ranks) if part)


def headline(rank: Json, *, many: bool) -> str:
    """One sentence: how long a step takes and what most of it is."""
    where = f" on rank {rank['rank']}" if many and rank["rank"] is not None else ""
    summary, span = rank["step_summary"], rank["range"]
    if span and span["budget"]:
        return f"Of {time_text(span['dur_ns'])}{where}: {_largest_parts(span['budget'], rank)}."
    if summary is None:
        return _headline_without_steps(rank, where)
    steps = f"{summary['steps_used']} step{'s' if summary['steps_used'] != 1 else ''}"
    inferred = "" if rank["steps"][0]["source"] == "marked" else ", inferred since none was marked"
    time = time_text(summary["mean_ns"])
    return f"A step takes {time}{where} (mean of {steps}{inferred}): {_largest_parts(summary['budget'], rank)}."


def _largest_parts(budget: Json, rank: Json) -> str:
    names = {key: _part_name(key, name, budget["basis"], rank) for key, name, _, _ in _PARTS}
    parts = sorted(((budget[key] or 0, key) for key, _, _, _ in _PARTS), reverse=True)
    shares = [f"{share_text(ns, budget['total_ns'])} {names[key]}" for ns, key in parts[:3] if ns > 0]
    compiling = budget["compile_ns"] or 0
    if compiling > _CLEARLY * budget["total_ns"]:
        shares[-1] += f"; compilation fills {share_text(compiling, budget['total_ns'])} of the step"
    return ", ".join(shares)


def _headline_without_steps(rank: Json, where: str) -> str:
    device, count = rank["device_total"], len(rank["steps"])
    whole = [step["dur_ns"] for step in rank["steps"] if step["complete"]]
    if whole:
        time, steps = time_text(sum(whole) // len(whole)), "1 step" if len(whole) == 1 else f"{len(whole)} steps"
        return f"A step takes {time}{where} (mean of {steps}); what the device did in them was not recorded."
    found = "No step was found" if not count else "No step is whole" if count > 1 else "The only step is not whole"
    if device is None:
        return f"{found}{where}, and no device work was recorded; {rank['events']['read']:,} events were read."
    if device["busy_ns"] is None:
        some = "1 slice" if device["ops"] == 1 else f"{device['ops']:,} slices"
        return f"{found}{where}, and of the device's work only {some} were recorded, not the kernels of its cores."
    busy = share_text(device["busy_ns"], device["span_ns"])
    return f"{found}{where}; the device is busy {busy} of {time_text(device['span_ns'])}."


def _part_name(key: str, name: str, basis: str, rank: Json) -> str:
    if basis != "host":
        return name
    own = _HOST_NAMES.get(key, name)
    return own if rank["host"]["ops"] else own.replace("operators", "scopes")


def _show_budget(page: Console, budget: Json, of: str, rank: Json) -> None:
    """The parts of the mean step, or of the range asked for."""
    what = "Step" if of.startswith("mean") else "Range"
    total = budget["total_ns"]
    basis = "device" if budget["basis"] == "device" else "main thread (no device was recorded)"
    page.print(f"{what} budget on the {basis}, {of}", style="bold")
    page.print(_bar([(budget[key] or 0, block, style) for key, _, block, style in _PARTS], total))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(justify="right")
    for key, name, block, style in _PARTS:
        if budget[key] is None or (budget["basis"] == "host" and key == "copy_exposed_ns"):
            continue
        label = Text(f"{block} ", style=style).append(_part_name(key, name, budget["basis"], rank), style="default")
        table.add_row(label, time_text(budget[key]), share_text(budget[key], total))
    if budget["compile_ns"]:
        table.add_row(
            "  of all that, compiling", time_text(budget["compile_ns"]), share_text(budget["compile_ns"], total)
        )
    page.print(table)
    page.print()


def _show_queueing(page: Console, budget: Json, queueing: Json | None) -> None:
    """What ends the gaps, and how far the device is behind its launches, where the host holds the device up."""
    late = sum(budget[key] or 0 for key in _OF_THE_HOST.values())
    if not queueing or late < _CLEARLY * budget["total_ns"]:
        return
    counts = queueing["gaps_per_step"]
    texts = [
        f"{counts[cause]:,.1f} {_ENDS[cause]} ({time_text(budget[key])})"
        for cause, key in _OF_THE_HOST.items()
        if counts[cause]
    ]
    if texts:
        page.print(glued(f"Gaps of the device per step: {', '.join(texts)}.", page.width))
    launches = queueing["launches"]
    if launches:
        page.print(glued(_ahead(launches["p50_ns"]), page.width))
    page.print()


def _ahead(p50_ns: int) -> str:
    if p50_ns < 0:  # the device is that fast, or its clock is not the host's
        return "Half of its slices start before their launch returns."
    return f"Half of its slices start within {time_text(p50_ns)} of their launch."


def _bar(parts: list[tuple[int, str, str]], total: int) -> Text:
    """The parts to scale; each part that is there has at least its rounded share."""
    bar, shown, used = Text(), 0, 0
    for ns, block, style in parts:
        shown += ns
        width = round(_BAR_WIDTH * shown / total) - used if total else 0
        bar.append(block * width, style=style)
        used += width
    return bar


def _show_ranks(page: Console, ranks: list[Json]) -> None:
    page.print("Ranks, mean per step (▲ most, ▼ least)", style="bold")
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    table.add_column("rank")
    for title in ("step", "compute", "exposed comm", "copies", "idle", "data wait"):
        table.add_column(title, justify="right")
    keys = ("total_ns", "compute_ns", "communication_exposed_ns", "copy_exposed_ns", "idle_ns", "idle_data_wait_ns")
    budgets = [rank["step_summary"]["budget"] if rank["step_summary"] else None for rank in ranks]
    columns = {key: [budget[key] for budget in budgets if budget] for key in keys}
    same_rank = len({rank["rank"] for rank in ranks}) < len(ranks)
    for rank, budget in zip(ranks, budgets, strict=True):
        name = shortened(rank["source"], 24) if same_rank or rank["rank"] is None else str(rank["rank"])
        table.add_row(name, *(_extreme(budget[key], columns[key]) if budget else "-" for key in keys))
    page.print(table)
    late = _latest_arrival(ranks)
    if late:
        page.print(Text(glued(late, page.width)))
    page.print()


def _latest_arrival(ranks: list[Json]) -> str | None:
    """Who the others wait for: the rank that spends clearly the least time in communication comes to it last."""
    known = [(rank["step_summary"]["budget"], rank["rank"]) for rank in ranks if rank["step_summary"]]
    if len(known) < 2 or any(rank is None for _, rank in known):
        return None
    times = sorted((budget["communication_exposed_ns"], rank) for budget, rank in known)
    (least, rank), middle = times[0], times[len(times) // 2][0]
    step = known[0][0]["total_ns"]
    if middle - least < _CLEARLY * step:
        return None
    return f"Rank {rank} communicates least ({time_text(least)} against {time_text(middle)}): the others wait for it."


def _show_stages(page: Console, stages: Json) -> None:
    page.print("Pipeline stages, share of the time", style="bold")
    page.print(f"receiving from another stage, nothing else  {share_text(stages['between_stages_share'], 1)}")
    for number, share in enumerate(stages["within_stages_shares"], start=1):
        page.print(f"collectives of stage {number}, nothing else        {share_text(share, 1)}")
    page.print()


def _extreme(value: int, column: list[int]) -> str:
    mark = " "
    if len(column) > 1 and max(column) > min(column):
        mark = "▲" if value == max(column) else "▼" if value == min(column) else " "
    return f"{time_text(value)} {mark}"


def _show_top(page: Console, rank: Json) -> None:
    for title, rows, share in (
        (
            _TOP_TITLES[rank["top_ops_on"] if rank["top_ops_on"] == "device" or rank["host"]["ops"] else "scopes"],
            rank["top_ops"],
            "share",
        ),
        ("Kernels", rank["top_kernels"], "share"),
    ):
        if not rows:
            continue
        page.print(title, style="bold")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, width=_NAME_WIDTH)
        for _ in range(3):
            table.add_column(justify="right")
        for row in rows:
            table.add_row(
                Text(shortened(row["name"], _NAME_WIDTH)),
                f"{count_text(row['count'])} x",
                time_text(row["self_ns"]),
                share_text(row[share], 1),
            )
        page.print(table)
        page.print()


def _show_syncs(page: Console, rank: Json) -> None:
    """Waits that matter: together over a hundredth of the steps they lie in."""
    summary = rank["step_summary"]
    rows = [row for row in rank["top_syncs"] if summary and row["total_ns"] > _WORTH_SHOWING * _steps_ns(summary)]
    if not rows:
        return
    page.print("Host waits for the device", style="bold")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, width=_WAIT_WIDTH)
    table.add_column(justify="right")
    table.add_column(justify="right")
    for row in rows:
        cause = " in ".join(part for part in (row["name"], row["op"]) if part)
        place = f" at {row['source']}" if row["source"] else ""
        table.add_row(
            Text(shortened(cause + place, _WAIT_WIDTH)), f"{count_text(row['count'])} x", time_text(row["total_ns"])
        )
    page.print(table)
    page.print()


def _steps_ns(summary: Json) -> int:
    return int(summary["mean_ns"]) * int(summary["steps_used"])


def _show_notes(page: Console, report: Json) -> None:
    warnings, missing = report["warnings"], report["not_recorded"]
    if warnings:
        page.print("About the data", style="bold")
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column()
        for warning in warnings:
            table.add_row(f"{warning['count']:,}", Text(clean(f"{warning['message']} ({warning['code']})")))
        page.print(table)
        page.print()
    if missing:
        page.print("Not recorded, and what records it", style="bold")
        for part in missing:
            page.print(Text(clean(part["what"])))
            page.print(Padding(Text(clean_lines(part["how_to_record"])), (0, 0, 0, 4)))

"""What the list of runs says of each: the numbers of a run's card, taken from its report and kept beside it."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from typing_extensions import TypedDict

from laptime.advice.stored import REPORT_NAME, read_report
from laptime.analyses.averages import mean
from laptime.errors import WorkspaceError
from laptime.model.workspace import Workspace

_CARD_NAME = f"card-2-{REPORT_NAME}"
_SPARKS = 50
"""Steps of a run's sparkline at most."""
_PARTS = {
    "compute": "compute_ns",
    "communication": "communication_exposed_ns",
    "copy": "copy_exposed_ns",
    "idle_data_wait": "idle_data_wait_ns",
    "idle_sync": "idle_sync_ns",
    "idle_launch": "idle_launch_ns",
    "idle_other": "idle_other_ns",
}


class Cause(TypedDict):
    """The part of the mean step that is largest, and its share of the step."""

    part: str
    share: float


class Card(TypedDict):
    """Numbers of an imported run."""

    format: str | None
    framework: str | None
    world_size: int | None
    ranks: list[int | None]
    device: str | None
    steps: int | None
    step_mean_ns: int | None
    step_ns: list[int]
    biggest_cause: Cause | None


EMPTY: Card = {
    "format": None,
    "framework": None,
    "world_size": None,
    "ranks": [],
    "device": None,
    "steps": None,
    "step_mean_ns": None,
    "step_ns": [],
    "biggest_cause": None,
}


def card_of(place: Workspace, key: str) -> Card | None:
    """The card of an imported run; None where the run is not whole or has no report."""
    stored = place.read_result(key, _CARD_NAME) if place.is_whole(key) else None
    if stored is not None:
        return cast(Card, stored)
    report = read_report(place, key)
    if report is None:
        return None
    card = _card(report)
    with suppress(WorkspaceError):  # a full disk: it is computed anew each time
        place.write_result(key, _CARD_NAME, card)
    return card


def _card(report: dict[str, object]) -> Card:
    run, ranks = cast(dict[str, object], report["run"]), cast(list[dict[str, object]], report["ranks"])
    first = ranks[0]
    steps = cast(list[dict[str, int]], first["steps"])
    summary = cast("dict[str, object] | None", first["step_summary"])
    devices = cast(list[dict[str, object]], first["devices"])
    names = [name for device in devices if isinstance(name := device["name"], str)]
    return {
        "format": cast("str | None", run["format"]),
        "framework": cast("str | None", run["framework"]),
        "world_size": cast("int | None", run["world_size"]),
        "ranks": cast("list[int | None]", run["ranks"]),
        "device": names[0] if names else None,
        "steps": len(steps) or None,
        "step_mean_ns": cast(int, summary["mean_ns"]) if summary else _mean_of_complete(steps),
        "step_ns": _thinned([step["dur_ns"] for step in steps]),
        "biggest_cause": _biggest(cast(dict[str, int], summary["budget"])) if summary else None,
    }


def _mean_of_complete(steps: list[dict[str, int]]) -> int | None:
    durations = [step["dur_ns"] for step in steps if step["complete"]]
    return mean(durations) if durations else None


def _thinned(durations: list[int]) -> list[int]:
    """At most so many of the durations, evenly spread."""
    count = len(durations)
    if count <= _SPARKS:
        return durations
    return [durations[place * (count - 1) // (_SPARKS - 1)] for place in range(_SPARKS)]


def _biggest(budget: dict[str, int]) -> Cause | None:
    parts = {part: value for part, key in _PARTS.items() if (value := budget[key]) is not None}
    part = max(parts, key=lambda each: parts[each])
    return {"part": part, "share": parts[part] / budget["total_ns"]} if budget["total_ns"] else None

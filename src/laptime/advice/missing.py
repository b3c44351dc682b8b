"""What rules would have needed, beyond what the report lists as not recorded anyhow."""

from __future__ import annotations

from collections.abc import Iterator

from laptime.advice.communication import EXPOSED
from laptime.advice.data import waiting_for_data
from laptime.advice.results import Results
from laptime.advice.texts.wording import Text, Wording, variant
from laptime.advice.weight import WORTH_TELLING

Row = dict[str, str]


def missing(results: Results, wording: Wording) -> list[Row]:
    """`{what, how_to_record}` of the report, and what would tell more of the findings, in a language."""
    told = results.report["not_recorded"]
    listed = told if isinstance(told, list) else []
    rows = [{key: wording.recorded(str(text)) for key, text in row.items()} for row in listed]
    known = {row["what"] for row in rows}
    return rows + [row for row in (_row(*pair, wording) for pair in _asked(results)) if row["what"] not in known]


def _row(what: str, framework: str, wording: Wording) -> Row:
    how = Text(variant(f"missing.{what}.how", framework))
    return {"what": wording.say(Text(f"missing.{what}")), "how_to_record": wording.say(how)}


def _asked(results: Results) -> Iterator[tuple[str, str]]:
    """What is missing, and the framework that could record it."""
    framework = results.ranks[0].framework if results.ranks else "other"
    if any(rank.share(*EXPOSED) >= WORTH_TELLING for rank in results.ranks) and _ranks_missing(results):
        yield "other_ranks", framework
    waiting = [rank for rank in results.ranks if (weight := waiting_for_data(rank)[0]) is not None and weight.counts]
    if waiting and not any(rank.trace.table("queue_samples").row_count for rank in waiting):
        yield "data_queues", framework


def _ranks_missing(results: Results) -> bool:
    sizes = [size for rank in results.ranks if isinstance(size := rank.trace.meta.get("world_size"), int)]
    return bool(sizes) and max(sizes) > len({trace.rank for trace in results.whole.traces})

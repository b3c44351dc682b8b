"""Rules on the supply of data: waiting for batches, empty queues, slow operators of the pipeline, loaded processors."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from laptime.advice.draft import Draft, on_each_rank
from laptime.advice.finding import Finding, Value
from laptime.advice.results import Json, RankResults, Results
from laptime.advice.texts.wording import Text, variant
from laptime.advice.weight import Weight, weigh
from laptime.analyses.pipeline_remedies import remedy_of
from laptime.model.arrays import IntArray
from laptime.model.quantities import share_text
from laptime.model.vocabulary import KIND_CODE

COPIES = ("copy_exposed_ns",)
DATA_WAIT = ("idle_data_wait_ns",)
_BUSY_PROCESSORS = 80.0
"""Per cent of the processors' time from which loading data has none left."""
_ALL_PARTS = 50.0
"""Per cent that the parts of the processors' time must add up to, to be believed."""
_WITHIN = re.compile(r"DtoD|Device -> Device|Memset")
"""Names of copies that stay on their device."""
_NO_WORKERS = "_SingleProcessDataLoaderIter"


def data_wait(results: Results) -> Iterator[Finding]:
    """Training waits for batches."""
    return on_each_rank(results, _data_wait)


def _data_wait(rank: RankResults) -> Iterator[Draft]:
    weight, parts = waiting_for_data(rank)
    if weight is None or not weight.counts:
        return
    rows = _waits(rank)
    bound = _object(rank.pipeline["data_bound"])
    mean = bound.get("mean_wait_ns")
    evidence = [Value("data_wait_per_step", weight.saving_ns, "ns")]
    evidence += [Value("wait_per_batch", mean, "ns")] if isinstance(mean, int) else []
    evidence += [Value("longest_data_wait", int(rank.trace.slices["dur_ns"][rows[0]]), "ns")] if len(rows) else []
    no_workers = len(rows) and _NO_WORKERS in rank.name_of(int(rows[0]))
    yield Draft(
        rank,
        "data_wait",
        "data_loading",
        weight,
        parts,
        fix_kinds=("no_workers",) if no_workers else (),
        evidence=tuple(evidence),
        rows=rows,
    )


def waiting_for_data(rank: RankResults) -> tuple[Weight | None, tuple[str, ...]]:
    """What waiting for data costs, and the parts of the budget it lies in.

    Where the waits have no place in time (MindSpore 2.10 on the CPU) their mean, as far as nothing else is known of it.
    """
    parts, saved = DATA_WAIT, rank.part(*DATA_WAIT)
    bound = _object(rank.pipeline["data_bound"]) if rank.budget else {}
    mean = bound.get("mean_wait_ns")
    if isinstance(mean, int) and not saved.any() and rank.basis == "device" and not len(_waits(rank)):
        parts = ("idle_other_ns",)
        saved = np.minimum(rank.part(*parts), mean)
    return weigh(saved, rank.totals, most_ns=rank.mean_part(*parts)), parts


def _waits(rank: RankResults) -> IntArray:
    """The longest waits for data of the main thread, or of any where none is known."""
    return rank.longest(rank.rows_in_steps("data", thread=rank.trace.main_thread))


# ---- queues and operators of the pipeline ----


def empty_queues(results: Results) -> Iterator[Finding]:
    """Batches find the queue empty: processing is slow, or sending to the device."""
    return on_each_rank(results, _empty_queues)


def _empty_queues(rank: RankResults) -> Iterator[Draft]:
    verdict = _object(rank.pipeline["stage_verdict"])
    if verdict.get("stage") not in ("process", "send"):
        return
    weight, parts = _known_wait(rank)
    queues = [_object(queue) for queue in _list(rank.pipeline["queues"])]
    share = max((_empty_share(queue) for queue in queues), default=0.0)
    stage = str(verdict["stage"])
    yield Draft(
        rank,
        f"slow_{stage}",
        "data_loading" if stage == "process" else "data_transfer",
        weight,
        parts,
        values={"empty": share_text(share, 1)},
        evidence=tuple(Value(f"{queue['queue']}_queue_empty", _empty_share(queue), "share") for queue in queues),
        rows=_waits(rank) if weight else np.empty(0, np.int64),
    )


def _empty_share(queue: Json) -> float:
    return int(str(queue["empty_count"])) / int(str(queue["samples"]))


def pipeline_operator(results: Results) -> Iterator[Finding]:
    """One operator of the data pipeline holds it up."""
    return on_each_rank(results, _pipeline_operator)


def _pipeline_operator(rank: RankResults) -> Iterator[Draft]:
    found = _object(rank.pipeline["bottleneck"])
    operators = [_object(each) for each in _list(rank.pipeline["operators"])]
    slow = next((each for each in operators if each["op_id"] == found.get("op_id")), None)
    if slow is None or _root_of_full_queues(slow, operators):
        return
    weight, parts = _known_wait(rank)
    framework, kind = remedy_of(rank.framework, str(slow["op_type"]))
    yield Draft(
        rank,
        "pipeline_operator",
        "data_loading",
        weight,
        parts,
        values={
            "operator": str(slow["name"] or slow["op_type"]),
            "remedy": Text(variant("pipeline_operator.remedy", framework, kind or "any")),
        },
        evidence=tuple(_evidence_of(slow, operators)),
        subject=str(slow["op_type"]),
    )


def _root_of_full_queues(slow: Json, operators: list[Json]) -> bool:
    """Whether the operator is named only because all queues are full: then what follows the pipeline is slower."""
    usages = [_usage(each) for each in operators]
    known = [usage for usage in usages if usage is not None]
    return slow["parent_id"] is None and _usage(slow) is None and bool(known) and min(known) >= 0.8


def _evidence_of(slow: Json, operators: list[Json]) -> Iterator[Value]:
    inputs = [_usage(each) for each in operators if each["parent_id"] == slow["op_id"]]
    known = [usage for usage in inputs if usage is not None]
    if known:
        yield Value("input_queue_usage", min(known), "share")
    if (usage := _usage(slow)) is not None:
        yield Value("output_queue_usage", usage, "share")
    count, total = slow["count"], slow["total_ns"]
    if isinstance(count, int) and isinstance(total, int) and count:
        yield Value("work_per_batch", total // count, "ns")
    if isinstance(slow["workers"], int):
        yield Value("workers", slow["workers"], "count")


def _usage(operator: Json) -> float | None:
    usage = _object(operator["output_queue"]).get("usage_share")
    return float(usage) if isinstance(usage, (int, float)) else None


def _known_wait(rank: RankResults) -> tuple[Weight | None, tuple[str, ...]]:
    """What waiting for data costs; None where steps are not known, or where training does not wait for it."""
    weight, parts = waiting_for_data(rank)
    return (weight, parts) if weight is not None and weight.counts else (None, ())


# ---- copies ----


def exposed_copies(results: Results) -> Iterator[Finding]:
    """Copies during which the device does nothing else."""
    return on_each_rank(results, _exposed_copies)


def _exposed_copies(rank: RankResults) -> Iterator[Draft]:
    weight = weigh(rank.part(*COPIES), rank.totals, most_ns=rank.mean_part(*COPIES))
    if weight is None or not weight.counts:
        return
    slices = rank.trace.slices
    rows = rank.device_rows[rank.step_of(rank.device_rows) >= 0]
    rows = rows[np.isin(slices["kind"][rows], [KIND_CODE["copy"], KIND_CODE["memset"]])]
    copying = rank.work.copy.within(rank.spans.start, rank.spans.end)
    by_name: Counter[str] = Counter()
    for code in np.unique(slices["name"][rows]).tolist():
        by_name[slices.texts("name")[code]] = int(slices["dur_ns"][rows[slices["name"][rows] == code]].sum())
    yield Draft(
        rank,
        "exposed_copies",
        "data_transfer",
        weight,
        COPIES,
        values={"names": ", ".join(name for name, _ in by_name.most_common(2))},
        evidence=(
            Value("copies_per_step", len(rows) / len(rank.steps), "count"),
            Value("copy_time_per_step", int(copying.sum()) // len(rank.steps), "ns"),
        ),
        rows=rank.longest(rows),
        fix_kinds=("within",) if by_name and _WITHIN.search(by_name.most_common(1)[0][0]) else (),
        at_most="info" if rank.runs_on_cpu else None,
    )


# ---- processors ----


def processor_load(results: Results) -> Iterator[Finding]:
    """Loading data leaves the processors no time."""
    return on_each_rank(results, _processor_load)


def _processor_load(rank: RankResults) -> Iterator[Draft]:
    cpu = _object(_object(rank.trace.meta.get("minddata")).get("cpu"))
    idle = _idle_percent(cpu)
    if idle is None or 100 - idle <= _BUSY_PROCESSORS:
        return
    weight, parts = _known_wait(rank)
    evidence = [Value("processor_load", 100.0 - idle, "percent")]
    if isinstance(cpu.get("processors"), int):
        evidence.append(Value("processors", int(str(cpu["processors"])), "count"))
    yield Draft(
        rank,
        "processor_load",
        "data_loading",
        weight,
        parts,
        values={"load": share_text(100 - idle, 100)},
        evidence=tuple(evidence),
        sure=False,
    )


def _idle_percent(cpu: Json) -> float | None:
    """Idle time of the processors; None where the parts add up to little: sampled faster than the system counts."""
    parts = [cpu.get(f"{part}_percent") for part in ("user", "sys", "io", "idle")]
    known = [float(part) for part in parts if isinstance(part, (int, float))]
    return known[-1] if len(known) == len(parts) and sum(known) >= _ALL_PARTS else None


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []

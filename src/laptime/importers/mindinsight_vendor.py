"""Figures of a processed MindSpore folder that have no table of their own: kept as facts of the trace (`meta`).

`hccl_raw_{id}.csv`: step_num, communication_cost and wait_cost (ms), link_info {"src-dst": {type: [ms, kB, kB/s]}},
communication_operator_cost {operator: [step, ms, wait ms, links]}; last row `-`, a stored average.
`ascend_cluster_analyse_{mode}-parallel_{stages}_{ranks}_{rank}.csv`: ms per step, last row a stored average (data
parallel: iteration_interval, fp_and_bp, tail of 10 ns). `flops*`, `memory_usage_summary`, `parallel_strategy`,
`profiler_info`: JSON, and text with commas.
"""

from __future__ import annotations

import json
import re

from laptime.importers.mindinsight_reading import (
    NS_OF_CYCLE,
    NS_OF_MS,
    Columns,
    Folder,
    mean_of,
    ns,
    ns_of,
    number,
    parsed_json,
    whole,
)
from laptime.model.vocabulary import NULL

_CLUSTER_NAME = re.compile(r"(?:ascend|gpu)_cluster_analyse_([a-z]+)-parallel_(\d+)_(\d+)_(\d+)\.csv\Z")
_ROUNDING_NS = 150
"""Stored milliseconds have four digits after the point."""
_BY_RANK = ("flops_summary", "flops_scope", "hccl", "memory", "strategy")
_INFO_KEYS = ("context_mode", "parallel_mode", "stage_num", "pipelines", "graph_ids", "diff_time")


def note_vendor_figures(folder: Folder, device: int) -> None:
    """Reads all of them into the builder's `meta`."""
    meta = folder.builder.meta
    found = {
        "flops_summary": folder.json_object("flops_summary"),
        "flops": _flops(folder),
        "memory_usage": folder.json_object("memory"),
        "hccl": _hccl(folder),
        "cluster": _cluster(folder),
        "parallel_strategy": _strategy(folder),
        "profiler_info": _info(folder),
    }
    meta.update({key: value for key, value in found.items() if value is not None})
    _note_rank(folder, device)


def _flops(folder: Folder) -> dict[str, object] | None:
    """Columns and, by operator, numbers."""
    lines = [line.split(",") for line in (folder.text("flops") or "").splitlines() if line.strip()]
    if not lines:
        return None
    width = len(lines[0])
    rows = {
        parts[0].strip(): [None if (value := number(part)) != value else value for part in parts[1:]]
        for parts in lines[1:]
        if len(parts) == width
    }
    folder.drop_rows("flops", sum(len(parts) != width for parts in lines[1:]))
    return {"columns": [name.strip() for name in lines[0][1:]], "operators": rows}


# ---- communication ----


def _hccl(folder: Folder) -> dict[str, object] | None:
    table = folder.table("hccl")
    if table is None:
        return None
    labels = [text.strip() for text in table.texts("step_num") or [""] * table.count]
    cost, wait = (ns_of(table.numbers(name), NS_OF_MS).tolist() for name in ("communication_cost", "wait_cost"))
    links, operators = (
        table.texts(name) or [""] * table.count for name in ("link_info", "communication_operator_cost")
    )
    rows = [
        {
            "step": whole(label),
            "communication_ns": _known(cost[row]),
            "wait_ns": _known(wait[row]),
            "links": _object(links[row]),
            "operators": _operator_costs(operators[row]),
        }
        for row, label in enumerate(labels)
    ]
    steps = [row for row in rows if row["step"] is not None]
    stored = next((row for row, label in zip(rows, labels, strict=True) if label == "-"), None)
    own = {key: mean_of([_int(row[key]) for row in steps]) for key in ("communication_ns", "wait_ns")}
    if stored is not None:
        _warn_if_apart(folder, "hccl", {key: _int(stored[key]) for key in own}, own)
    return {"steps": steps, "stored_average": stored, "mean": own}


def _operator_costs(text: str) -> dict[str, list[int | None]]:
    """Per operator, communication and wait in ns."""
    return {
        name: [ns(cost[1], NS_OF_MS), ns(cost[2], NS_OF_MS)]
        for name, cost in _object(text).items()
        if isinstance(cost, list) and len(cost) > 2
    }


def _object(text: str) -> dict[str, object]:
    content = parsed_json(text) if text.strip() else None
    return content if isinstance(content, dict) else {}


# ---- cluster ----


def _cluster(folder: Folder) -> dict[str, object] | None:
    path, table = folder.path("cluster"), folder.table("cluster")
    match = _CLUSTER_NAME.match(path.name) if path else None
    if table is None or match is None or not table.count:
        return None
    factor = NS_OF_CYCLE if table.texts("fp_and_bp") else NS_OF_MS
    rows = _cluster_rows(table, factor)
    steps, stored = rows[:-1], rows[-1]
    own = {key: mean_of([row[key] for row in steps[1:] or steps]) for key in stored}
    if steps:
        _warn_if_apart(folder, "cluster", stored, own)
    mode, stages, ranks, rank = match.groups()
    place = {"mode": mode, "stages": int(stages), "ranks": int(ranks), "rank": int(rank)}
    return {**place, "steps": steps, "stored_average": stored, "mean": own if steps else None}


def _cluster_rows(table: Columns, factor: int) -> list[dict[str, int | None]]:
    columns = {
        name.removesuffix("_time") + "_ns": ns_of(table.numbers(name), factor).tolist() for name in table.names if name
    }
    return [{key: _known(values[row]) for key, values in columns.items()} for row in range(table.count)]


def _warn_if_apart(folder: Folder, kind: str, stored: dict[str, int | None], own: dict[str, int | None]) -> None:
    apart = {
        key: abs(value - mean)
        for key, value in stored.items()
        if value is not None and (mean := own[key]) is not None and abs(value - mean) > _ROUNDING_NS
    }
    if apart:
        shown = max(apart, key=lambda key: apart[key])
        values = [f"{(each[shown] or 0) / NS_OF_MS:.4f}" for each in (stored, own)]
        folder.note_bad(
            kind,
            f"stores averages that are not the means of its steps, which count "
            f"({shown.removesuffix('_ns')}: stored {values[0]}, recomputed {values[1]} ms)",
            code="mismatch",
        )


# ---- which rank this is ----


def _strategy(folder: Folder) -> dict[str, object] | None:
    content = folder.json_object("strategy")
    config = content.get("config") if content else None
    if not isinstance(config, dict):
        return None
    graph = content.get("graph") if content else None
    nodes = graph.get("node") if isinstance(graph, dict) else None
    stages = config.get("stageDevices")
    return {
        "parallel_type": config.get("parallelType"),
        "rank": whole(config.get("rankId")),
        "stage": whole(config.get("stageId")),
        "stage_devices": {str(place): _sizes(stage) for place, stage in enumerate(stages)}
        if isinstance(stages, list)
        else None,
        "nodes": len(nodes) if isinstance(nodes, list) else None,
    }


def _sizes(stage: object) -> list[int | None]:
    dimensions = stage.get("dim") if isinstance(stage, dict) else None
    if not isinstance(dimensions, list):
        return []
    return [whole(each.get("size")) for each in dimensions if isinstance(each, dict)]


def _info(folder: Folder) -> dict[str, object] | None:
    content = folder.json_object("profiler_info")
    if content is None:
        return None
    kept: dict[str, object] = {key: content[key] for key in _INFO_KEYS if key in content}
    kept["rank"], kept["rank_size"] = whole(content.get("rank_id")), whole(content.get("rank_size"))
    version = content.get("ms_version") or content.get("version")
    kept["version"] = version if isinstance(version, str) else None
    return json.loads(json.dumps(kept))  # type: ignore[no-any-return]  # an object in, an object out


def _note_rank(folder: Folder, device: int) -> None:
    """Rank and world size as the files tell them; a rank beyond the number of ranks is a device number.

    Versions that write certain files number all of them by rank.
    """
    meta = folder.builder.meta
    info, strategy, cluster = (_facts(meta.get(key)) for key in ("profiler_info", "parallel_strategy", "cluster"))
    size = _first(info.get("rank_size"), cluster.get("ranks"))
    told = [info.get("rank"), strategy.get("rank"), cluster.get("rank")]
    if any(folder.path(kind) for kind in _BY_RANK):
        told.append(device)
    meta["rank"] = _first(*(rank for rank in told if size is None or (isinstance(rank, int) and rank < size)))
    meta["world_size"] = size
    meta["stage"] = _first(strategy.get("stage"))
    meta["framework_version"] = info.get("version")


def _facts(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _first(*values: object) -> int | None:
    return next((value for value in values if isinstance(value, int)), None)


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _known(value: int) -> int | None:
    return None if value == NULL else value

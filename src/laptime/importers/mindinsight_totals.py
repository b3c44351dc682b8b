"""Sums by operator in a processed MindSpore folder, for operators whose executions are not there one by one.

`aicore_intermediate_{id}_detail.csv`: full_op_name, execution_time (mean, ms); later also execution_frequency, and
full_kernel_name, task_duration, task_type. `..._type.csv`: op_type, execution_time (sum of the means of its operators),
execution_frequency (how many operators); since MindSpore 2.0 kernel_type, total_time, execution_frequency (executions).
`output_op_compute_time_{id}.txt`: name, mean in ms, stream. `gpu_op_detail_info`, `gpu_activity_data` (us).
`dynamic_shape_info_{id}.json`: {"operator": {step: [{op_type, op_name, dur (us), shape_info}]}, "kernel": ...}.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from laptime.importers.mindinsight_operators import OperatorBook
from laptime.importers.mindinsight_reading import NS_OF_MS, NS_OF_US, Columns, Folder, ns, ns_of
from laptime.importers.mindinsight_timeline import Executions
from laptime.model.arrays import IntArray
from laptime.model.builder import Op
from laptime.model.vocabulary import NULL

_NAMES = ("full_kernel_name", "full_op_name", "full_kernel_time", "full_op_time", "op_full_name", "op_name")
_MEANS = ("execution_time", "task_duration", "avg_execution_time", "avg_time")
_RELATIVE_TOLERANCE = 1e-4
_ROUNDING_NS = 10


def add_totals(folder: Folder, book: OperatorBook) -> None:
    """Adds the sums of all files, each operator once: from the first file that has it."""
    _add_detail(folder, book, "aicore_detail")
    _add_compute_times(folder, book)
    _add_detail(folder, book, "pynative_detail")
    _add_gpu(folder, book)
    _add_dynamic(folder, book)
    _note_types(folder, book)


def compare_means(folder: Folder, executions: Executions | None) -> None:
    """Warns where stored means of operators are not those of their executions."""
    table = folder.table("aicore_detail") if executions is not None else None
    if executions is None or table is None:
        return
    stored = ns_of(table.numbers(*_MEANS), NS_OF_MS)
    sums: dict[str, list[int]] = {}
    for name, spent in zip(executions.full_names, executions.dur_ns.tolist(), strict=True):
        if spent != NULL:
            entry = sums.setdefault(name, [0, 0])
            entry[0], entry[1] = entry[0] + 1, entry[1] + spent
    wrong = 0
    for name, mean in zip(_names(table), stored.tolist(), strict=True):
        if name in sums and mean != NULL:
            own = sums[name][1] / sums[name][0]
            wrong += abs(mean - own) > max(_ROUNDING_NS, _RELATIVE_TOLERANCE * own)
    folder.builder.warnings.add(
        "mismatch", "operators whose stored mean is not the mean of their executions, which is shown", wrong
    )


def _names(table: Columns) -> list[str]:
    return table.texts(*_NAMES) or table.by_name[table.names[0]]


def _add(book: OperatorBook, folder: Folder, name: str, op: int, numbers: tuple[int, int, int]) -> None:
    """One row of sums: count, total and mean, NULL where unknown; what follows from two of them is filled in."""
    count, total, mean = (None if value == NULL or value < 0 else value for value in numbers)
    if total is None and count is not None and mean is not None and count * mean < 3 * 10**18:
        total = count * mean
    if mean is None and total is not None and count:
        mean = (2 * total + count) // (2 * count)
    if total is not None or mean is not None:
        folder.builder.op_totals["device"].append((op, count, total, mean))
        book.timed.add(name)


def _add_detail(folder: Folder, book: OperatorBook, kind: str) -> None:
    table = folder.table(kind)
    if table is None:
        return
    doubles = table.numbers(*_MEANS)
    mean, count = ns_of(doubles, NS_OF_MS), table.integers("execution_frequency")
    with np.errstate(over="ignore"):  # what does not fit is no number
        products = doubles * np.maximum(count, 0)
    total = np.where(count == NULL, np.int64(NULL), ns_of(products, NS_OF_MS))
    engines = table.texts("task_type") or ["ai_core"] * table.count
    known = set(book.timed)
    for row, name in enumerate(_names(table)):
        if name not in known:
            op = book.code(name, engines[row].strip().lower() or "ai_core")
            _add(book, folder, name, op, (int(count[row]), int(total[row]), int(mean[row])))


def _add_compute_times(folder: Folder, book: OperatorBook) -> None:
    known = set(book.timed)
    for line in (folder.text("compute_time") or "").splitlines():
        parts = line.split()
        if len(parts) != 3 or parts[0] in known or parts[0] == "total":
            continue
        mean = ns(parts[1], NS_OF_MS)
        if mean is not None:
            _add(book, folder, parts[0], book.code(parts[0], "ai_core"), (NULL, NULL, mean))


def _add_gpu(folder: Folder, book: OperatorBook) -> None:
    detail, activities = folder.table("gpu_detail"), folder.table("gpu_activity")
    if detail is not None:
        names = detail.texts("op_full_name", "op_name") or detail.by_name[detail.names[0]]
        types = detail.texts("op_type") or [""] * detail.count
        sides = detail.texts("op_side") or ["gpu"] * detail.count
        numbers = _gpu_numbers(detail, "op_occurrences", "op_total_time", "op_avg_time")
        known = set(book.timed)
        for row, name in enumerate(names):
            if name not in known:
                op = book.code(name, sides[row].strip().lower() or "gpu", op_type=types[row] or None)
                _add(book, folder, name, op, (numbers[0][row], numbers[1][row], numbers[2][row]))
    if activities is not None:
        _add_activities(folder, book, activities, as_rows=detail is None)


def _gpu_numbers(table: Columns, count: str, total: str, mean: str) -> tuple[list[int], list[int], list[int]]:
    totals, means = ns_of(table.numbers(total), NS_OF_US), ns_of(table.numbers(mean), NS_OF_US)
    return table.integers(count).tolist(), totals.tolist(), means.tolist()


def _add_activities(folder: Folder, book: OperatorBook, table: Columns, *, as_rows: bool) -> None:
    """CUDA activities: noted; rows of sums only where the operators they belong to are not told."""
    names = table.texts("name") or table.by_name[table.names[0]]
    types, owners = (table.texts(name) or [""] * table.count for name in ("type", "op_full_name"))
    numbers = _gpu_numbers(table, "occurrences", "total_duration", "avg_duration")
    keys = ("name", "type", "op", "count", "total_ns", "mean_ns")
    folder.builder.meta["gpu_activities"] = [
        {key: None if value == NULL else value for key, value in zip(keys, row, strict=True)}
        for row in zip(names, types, owners, *numbers, strict=True)
    ]
    for row, name in enumerate(names if as_rows else []):
        if name not in book.timed:
            op = folder.builder.add_op(Op(name, types[row] or None, owners[row] or None, device_kind="gpu"))
            _add(book, folder, name, op, (numbers[0][row], numbers[1][row], numbers[2][row]))


# ---- operators whose shapes change ----


def _add_dynamic(folder: Folder, book: OperatorBook) -> None:
    content = folder.json_object("dynamic_shape")
    if content is None:
        return
    operators, kernels = content.get("operator"), content.get("kernel")
    rows = _rows_by_step(operators)
    sums: dict[tuple[str, str, str, str], list[int]] = {}
    for _, row in rows:
        spent = ns(row.get("dur"), NS_OF_US)
        texts = [str(row.get(key) or "") for key in ("op_name", "op_type", "op_side")]
        if spent is not None and spent >= 0 and texts[0] not in book.timed:
            entry = sums.setdefault((texts[0], texts[1], texts[2] or "gpu", _shapes(row.get("shape_info"))), [0, 0])
            entry[0], entry[1] = entry[0] + 1, entry[1] + spent
    for (name, op_type, side, shapes), (count, total) in sums.items():
        op = folder.builder.add_op(Op(name, op_type or None, name, device_kind=side, input_shapes=shapes or None))
        _add(book, folder, name, op, (count, total, NULL))
    folder.builder.meta["dynamic_shape"] = {
        "operators": _means_by_step(rows, "op_type"),
        "kernels": _means_by_step(_rows_by_step(kernels), "op_name"),
    }


def _rows_by_step(content: object) -> list[tuple[str, dict[str, object]]]:
    steps: Mapping[str, object] = content if isinstance(content, dict) else {}
    return [
        (step, row) for step, rows in steps.items() if isinstance(rows, list) for row in rows if isinstance(row, dict)
    ]


def _shapes(value: object) -> str:
    """`["[32, 1]", "[32, 1]"]` as JSON of lists."""
    if not isinstance(value, list) or not value:
        return ""
    return json.dumps([_list(each) for each in value])


def _list(value: object) -> object:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _means_by_step(rows: Sequence[tuple[str, dict[str, object]]], key: str) -> dict[str, object]:
    """Per name, for each step the mean in ns; null where the step has none."""
    steps = list(dict.fromkeys(step for step, _ in rows))
    spent: dict[str, dict[str, list[int]]] = {}
    for step, row in rows:
        value = ns(row.get("dur"), NS_OF_US)
        if value is not None:
            spent.setdefault(str(row.get(key) or ""), {}).setdefault(step, []).append(value)
    return {
        "steps": steps,
        "mean_ns": {
            name: [_mean(by_step[step]) if step in by_step else None for step in steps]
            for name, by_step in spent.items()
        },
    }


def _mean(values: list[int]) -> int:
    return (2 * sum(values) + len(values)) // (2 * len(values))


# ---- sums by type ----


def _note_types(folder: Folder, book: OperatorBook) -> None:
    """Sums by type: noted, for they follow from the operators; rows of sums only where there are no operators."""
    alone = not book.timed
    found = []
    for kind in ("aicore_type", "pynative_type", "gpu_type"):
        table = folder.table(kind)
        if table is None:
            continue
        names = table.texts("kernel_type", "op_type") or table.by_name[table.names[0]]
        time = _type_times(table, kind)
        count = table.integers("execution_frequency", "type_occurrences")
        of_means = kind == "aicore_type" and table.texts("kernel_type") is None
        for name, spent, number in zip(names, time.tolist(), count.tolist(), strict=True):
            known = [None if value == NULL else value for value in (spent, number)]
            key = "sum_of_means_ns" if of_means else "total_ns"
            found.append({"op_type": name, key: known[0], "operators" if of_means else "count": known[1]})
            if alone and not of_means and None not in known:
                op = folder.builder.add_op(Op(name, name, name, device_kind=kind.split("_")[0]))
                _add(book, folder, name, op, (number, spent, NULL))
    if found:
        folder.builder.meta["op_types"] = found


def _type_times(table: Columns, kind: str) -> IntArray:
    factor = NS_OF_US if kind == "gpu_type" else NS_OF_MS
    return ns_of(table.numbers("total_time", "task_time", "execution_time"), factor)

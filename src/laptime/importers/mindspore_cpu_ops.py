"""Operators of MindSpore on CPU: type and name from `cpu_op_detail_info`, input shapes from `cpu_framework`.

The column `subgraph` of the table says Default for gradients too; the first part of the full name tells better.
`cpu_framework` has a line per execution in the same order, `type;name;graph;input_1:[32, 1, 28, 28];input_2:NoShape;`.
"""

from __future__ import annotations

import csv
import json
import math
import re

from laptime.importers.mindspore_cpu_executions import Executions
from laptime.model.builder import Op, Warnings

_NUMBER = re.compile(r"-op\d+$")
_SIZE = re.compile(r"-?\d{1,18}", re.ASCII)
_SHAPE = re.compile(r"input_\d+:(\[[\d, -]*\]|[^;]*)")
SUBGRAPHS = ("Default", "Gradients")


def operators(executions: Executions, detail: str, framework: str, warnings: Warnings) -> list[Op]:
    """The operator of each of the full names."""
    known = _detail_rows(detail, warnings)
    shapes = _shapes(executions, framework, warnings)
    found = []
    for full_name in executions.names:
        row = known.get(full_name, {})
        short = full_name.rpartition("/")[2]
        first = full_name.partition("/")[0]
        found.append(
            Op(
                name=row.get("op_name") or short,
                op_type=row.get("op_type") or _NUMBER.sub("", short) or None,
                full_name=full_name,
                subgraph=first if first in SUBGRAPHS else None,
                device_kind="HOST_CPU",
                input_shapes=shapes.get(full_name),
            )
        )
    return found


def stored_sums(type_table: str) -> float | None:
    """Sum of `total_compute_time` (ms) over the types, where the table has it."""
    try:
        times = [float(row["total_compute_time"]) for row in csv.DictReader(type_table.splitlines())]
    except (KeyError, ValueError, TypeError, csv.Error):
        return None
    total = sum(times)
    return total if times and math.isfinite(total) else None


def _detail_rows(detail: str, warnings: Warnings) -> dict[str, dict[str, str]]:
    try:
        return {
            row["full_op_name"]: {key: row.get(key) or "" for key in ("op_name", "op_type")}
            for row in csv.DictReader(detail.splitlines())
            if row.get("full_op_name")
        }
    except csv.Error:
        warnings.add("other", "cpu_op_detail_info cannot be read; operator types come from names")
        return {}


def _shapes(executions: Executions, framework: str, warnings: Warnings) -> dict[str, str]:
    """Input shapes by full name, as JSON: those of its first execution whose line names the same operator."""
    lines = [line for line in framework.splitlines() if line.strip()]
    if not lines:
        return {}
    if len(lines) != len(executions.name):
        warnings.add("other", "cpu_framework and the executions differ in number; input shapes are left out")
        return {}
    shapes: dict[str, str] = {}
    for code, line in zip(executions.name.tolist(), lines, strict=True):
        full_name = executions.names[code]
        fields = line.split(";", 3)
        if full_name not in shapes and len(fields) == 4 and fields[1] == full_name.rpartition("/")[2]:
            shapes[full_name] = json.dumps([_shape(text) for text in _SHAPE.findall(fields[3])])
    return shapes


def _shape(text: str) -> list[int] | None:
    """Sizes; None for what is no tensor."""
    if not text.startswith("["):
        return None
    sizes = [part.strip() for part in text.strip("[]").split(",")]
    return [int(size) for size in sizes if _SIZE.fullmatch(size)]

"""The stored overlap analysis of msprof against our own unions: where they differ, ours are shown and it is said."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from laptime.importers.msprof_exports import Exports, Key, Row
from laptime.model.builder import Warnings
from laptime.model.vocabulary import NULL

_COMPUTE_TASK = re.compile(r"^(?:KERNEL_)?(?:AI_?CORE|AI_?CPU|AI_?VEC|AI_VECTOR_CORE|AIV|AIC\b|AIC_|MIX_AI)")
"""Task types that compute: AI_CORE, AI_CPU, AI_VECTOR_CORE, MIX_AIC, KERNEL_AICORE, KERNEL_AICPU, AIV_SQE, ..."""
_NO_COMPUTE = re.compile(r"^(?:[A-Z0-9_]+|HostCpu.*|\d*)$")
"""Names of tasks that are no operators, such as EVENT_WAIT, for rows without a task type."""
_TOLERANCE_NS = 1000
_COMPUTING, _COMMUNICATION = "Computing", "Communication"


def is_compute(row: Row) -> bool:
    """Whether a task computes: by its type, or where none is told because it has an operator's name."""
    kind = row.args.get("Task Type")
    return bool(_COMPUTE_TASK.search(kind)) if isinstance(kind, str) else not _NO_COMPUTE.match(row.name)


def compare_overlap(exports: Exports, warnings: Warnings) -> None:
    """Warns of iterations whose stored sums contradict the tasks."""
    stored = _by_key(exports.rows["overlap"])
    tasks = _by_key(row for row in exports.rows["task"] if is_compute(row))
    collectives = _by_key(row for row in exports.rows["collective"] if "Communication" in row.thread)
    for key, rows in stored.items():
        for name, own in ((_COMPUTING, tasks.get(key, [])), (_COMMUNICATION, collectives.get(key, []))):
            told = _union_ns(row for row in rows if row.name == name)
            found = _union_ns(own)
            if own and abs(told - found) > _TOLERANCE_NS:
                place = "" if key.iteration is None else f"iteration {key.iteration}: "
                warnings.add(
                    "mismatch",
                    f"{place}the overlap analysis says {told / 1000:.2f} us {name.lower()}, the tasks"
                    f" {found / 1000:.2f} us; the latter is shown",
                )


def _by_key(rows: Iterable[Row]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.key].append(row)
    return found


def _union_ns(rows: Iterable[Row]) -> int:
    """Time covered by at least one of the rows."""
    total, covered = 0, NULL
    for start, end in sorted((row.start, row.start + row.dur) for row in rows if row.start != NULL and row.dur > 0):
        total += max(end - max(start, covered), 0)
        covered = max(covered, end)
    return total

"""analysis.db (torch_npu) and communication_analyzer.db (MindSpore): the vendor's sums per step and collective."""

from __future__ import annotations

from laptime.importers.ascend_output_checks import StoredStep
from laptime.importers.ascend_output_communication import Collective, collective_in_database, scaled
from laptime.importers.ascend_output_sqlite import Database

NAMES = ("analysis.db", "communication_analyzer.db")


def stored_steps(database: Database) -> list[StoredStep]:
    """The vendor's sums of each step, in analysis.db."""
    columns = ("step", "computing", "communication", "communication_not_overlapped")
    return [
        StoredStep(str(row[0]), {part: scaled(value, 1000) for part, value in zip(columns[1:], row[1:], strict=True)})
        for row in database.rows("StepTraceTime", *columns)
    ]


def stored_collectives(database: Database) -> list[Collective]:
    """Times of collectives, in analysis.db."""
    times = [f"{part}_time" for part in ("elapse", "transit", "wait", "synchronization", "idle")]
    columns = ("hccl_op_name", "group_name", "step", "start_timestamp", *times)
    rows = database.rows("CommAnalyzerTime", *columns)
    return [collective_in_database(dict(zip(columns, row, strict=True))) for row in rows]

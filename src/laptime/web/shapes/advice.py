"""Findings and what was not recorded."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict


class Evidence(TypedDict):
    """A number behind a finding."""

    name: str
    value: int | float | str | None
    unit: str


class SliceOfRun(TypedDict):
    """A slice of a run: `rank_index` is the place of its rank in the report."""

    rank_index: int
    slice_id: int


class Where(TypedDict):
    """Where in the program a finding is about."""

    module: str | None
    file: str | None
    line: int | None
    function: str | None


class Finding(TypedDict):
    """What to change, what it would save at most, and why."""

    rule: str
    cause: str
    severity: Literal["high", "medium", "low", "info"]
    title: str
    saving_ns_per_step: int | None
    saving_share: float | None
    confidence: Literal["high", "medium", "low"]
    evidence: list[Evidence]
    slices: list[SliceOfRun]
    where: Where | None
    fix: str
    rank: int | None
    budget_parts: list[str]


class NotRecorded(TypedDict):
    """What the recording does not tell, and how to have it recorded."""

    what: str
    how_to_record: str


class Advice(TypedDict):
    """The JSON of `laptime advise`."""

    schema_version: int
    findings: list[Finding]
    not_recorded: list[NotRecorded]

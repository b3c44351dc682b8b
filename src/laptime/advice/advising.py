"""`laptime advise` and the findings of the report."""

from __future__ import annotations

from laptime.advice.results import Results
from laptime.advice.rules import findings
from laptime.advice.texts.wording import Wording
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.report import SCHEMA_VERSION
from laptime.analyses.report import report as report_of
from laptime.model.trace import Run

Json = dict[str, object]


def report(run: Run, part: Part = WHOLE, *, language: str = "en") -> Json:
    """`laptime report` as JSON: the analyses' report with its findings."""
    result = report_of(run, part)
    result["findings"] = _findings(Results(run, result), language)
    return result


def advise(run: Run, language: str = "en") -> Json:
    """`laptime advise` as JSON: what to change in a run, the largest saving first, and what was not recorded."""
    result = report(run, language=language)
    return {
        "schema_version": SCHEMA_VERSION,
        "findings": result["findings"],
        "not_recorded": result["not_recorded"],
    }


def _findings(results: Results, language: str) -> list[Json]:
    wording = Wording(language)
    return [finding.as_json(wording) for finding in findings(results)]

"""`laptime advise` and the findings of the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from laptime.advice.missing import missing
from laptime.advice.results import Results
from laptime.advice.rules import findings
from laptime.advice.stored import advice_in
from laptime.advice.texts.wording import Wording
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.report import report as report_of
from laptime.model.trace import Run

Json = dict[str, object]
REPORT_LANGUAGE = "en"
"""Language of the findings in reports."""


def report(run: Run, part: Part = WHOLE) -> Json:
    """`laptime report` as JSON: the analyses' report with its findings, in English."""
    result = report_of(run, part)
    return {**result, **_advice(Results(run, result), REPORT_LANGUAGE)}


def advise(
    run: Run, language: str = "en", *, rank: int | None = None, known: Mapping[str, object] | None = None
) -> Json:
    """`laptime advise` as JSON: what to change, the largest saving first, and what was not recorded.

    Of one rank alone where it is given. `known` is the report of the whole run, which need not be made again then.
    """
    whole = run
    if rank is not None:
        run.trace_of(rank)
        run, known = replace(run, traces=[trace for trace in run.traces if trace.rank == rank]), None
    if known is not None and language == REPORT_LANGUAGE:
        return advice_in(known)
    told = known or report_of(run)
    return advice_in({**told, **_advice(Results(run, told, whole=whole), language)})


def _advice(results: Results, language: str) -> Json:
    wording = Wording(language)
    return {
        "findings": [finding.as_json(wording) for finding in findings(results)],
        "not_recorded": missing(results, wording),
    }

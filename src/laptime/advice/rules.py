"""All rules in order, and what they find in a run."""

from __future__ import annotations

from laptime.advice.communication import exposed_communication, serial_communication
from laptime.advice.compilation import recompilation
from laptime.advice.data import data_wait, empty_queues, exposed_copies, pipeline_operator, processor_load
from laptime.advice.draft import Rule
from laptime.advice.finding import Finding
from laptime.advice.host import host_busy, host_sync, launch_bound
from laptime.advice.intervals import step_interval
from laptime.advice.operators import ai_cpu_operators, not_tuned, slow_operator, useless_operators
from laptime.advice.ranks import slow_link, slow_rank, stage_imbalance
from laptime.advice.results import Results

RULES: tuple[Rule, ...] = (
    recompilation,
    slow_rank,
    stage_imbalance,
    pipeline_operator,
    empty_queues,
    processor_load,
    data_wait,
    exposed_copies,
    step_interval,
    useless_operators,
    host_sync,
    host_busy,
    launch_bound,
    serial_communication,
    exposed_communication,
    ai_cpu_operators,
    slow_link,
    not_tuned,
    slow_operator,
)
"""Of findings that would save the same the rule named first comes first: the more special one."""


def findings(results: Results) -> list[Finding]:
    """What all rules find, the largest saving first; unknown savings last."""
    found = [finding for rule in RULES for finding in rule(results)]
    return sorted(
        found,
        key=lambda finding: -1 if finding.saving_ns_per_step is None else finding.saving_ns_per_step,
        reverse=True,
    )

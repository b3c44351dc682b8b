"""What a recording of Ascend's profilers lacks, and how it is recorded or exported."""

from __future__ import annotations

from dataclasses import dataclass

from laptime.importers.ascend_output_facts import Facts

_LEVEL = {
    "pytorch": "experimental_config=torch_npu.profiler._ExperimentalConfig("
    "profiler_level=torch_npu.profiler.ProfilerLevel.Level1)",
    "mindspore": "experimental_config=mindspore.profiler._ExperimentalConfig(profiler_level=ProfilerLevel.Level1)",
}


@dataclass(frozen=True)
class Present:
    """Which parts a recording has."""

    host: bool
    kernels: bool
    types: bool
    collectives: bool


def not_recorded(facts: Facts, present: Present) -> list[dict[str, str]]:
    """`{what, how_to_record}` of all that is missing."""
    module = "mindspore" if facts.framework == "mindspore" else "torch_npu"
    export = f"from {module}.profiler.profiler import analyse; analyse(DIR)"
    level = _LEVEL[facts.framework]
    rank = "" if facts.rank is None else f" of rank {facts.rank}"
    if not present.kernels:
        return [{"what": f"kernels{rank}", "how_to_record": f"keep kernel_details.csv or trace_view.json: {export}"}]
    parts = (
        (present.host, "operators and calls of the host", f"keep trace_view.json: {export}"),
        (present.types, "types and shapes of kernels", level),
        (present.collectives, "what collectives waited for", level),
    )
    return [{"what": what, "how_to_record": how} for is_there, what, how in parts if not is_there]

"""Facts about a recording of Ascend's profilers: rank, framework, versions, groups of ranks.

profiler_info_{rank}.json (without a number where there is one rank), profiler_metadata.json and the folder's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import msgspec

from laptime.importers.ascend_output_sqlite import whole_number
from laptime.importers.ascend_output_tables import bytes_of
from laptime.importers.events import FAULTS
from laptime.importers.sources import Source
from laptime.model.builder import Warnings
from laptime.model.vocabulary import NULL

_RANK_IN_FILE = re.compile(r"^(?:profiler_info|ascend_\w+?_profiler)_(\d{1,6})\.")
_RANK_IN_FOLDER = re.compile(r"(?:^|[^a-z])rank[-_]?(\d{1,6})(?!\d)", re.IGNORECASE)
_SWITCHES = ("record_shapes", "with_stack", "profile_memory", "with_modules", "with_flops")


@dataclass(frozen=True)
class Facts:
    """What the small files say; None is unknown."""

    framework: str
    framework_version: str | None
    rank: int | None
    world_size: int | None
    parallel_groups: dict[str, object] | None
    switches: dict[str, object]


def facts_of(source: Source, files: dict[str, Path], warnings: Warnings) -> Facts:
    """Reads the facts of a folder."""
    info: dict[str, object] = {}
    for file in source.files:
        if file.name.startswith("profiler_info"):
            info = _json(file, warnings)
    metadata_file = next((file for file in source.files if file.name == "profiler_metadata.json"), None)
    metadata = {} if metadata_file is None else _json(metadata_file, warnings)
    distributed = _dict(metadata.get("distributed_args"))
    framework = _framework(source, files, info)
    version = info.get("ms_version" if framework == "mindspore" else "torch_npu_version")
    return Facts(
        framework,
        version if isinstance(version, str) else None,
        _rank(source, info, distributed),
        _number(distributed.get("world_size"), info.get("rank_size")),
        _dict(metadata.get("parallel_group_info")) or None,
        _switches(info),
    )


def _json(path: Path, warnings: Warnings) -> dict[str, object]:
    try:
        return msgspec.json.decode(bytes_of(path, warnings), type=dict[str, object])
    except FAULTS as error:
        warnings.add("invalid_json", f"{path.name}: {error}; not used")
        return {}


def _dict(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _framework(source: Source, files: dict[str, Path], info: dict[str, object]) -> str:
    folder = source.path.parent if source.path.name == "ASCEND_PROFILER_OUTPUT" else source.path
    if folder.name.endswith("_ascend_pt") or "torch_npu_version" in info:
        return "pytorch"
    tells = folder.name.endswith("_ascend_ms") or "ms_version" in info or "mindspore_version" in info
    return "mindspore" if tells or any(name.startswith("ascend_mindspore") for name in files) else "pytorch"


def _rank(source: Source, info: dict[str, object], distributed: dict[str, object]) -> int | None:
    known = _number(info.get("rank_id"), distributed.get("rank"))
    if known is not None:
        return known
    matches = [_RANK_IN_FILE.match(file.name) for file in source.files]
    folders = (
        (source.path.name, source.path.parent.name)
        if source.path.name == "ASCEND_PROFILER_OUTPUT"
        else (source.path.name,)
    )
    matches += [_RANK_IN_FOLDER.search(name) for name in folders]
    return next((int(match[1]) for match in matches if match), None)


def _number(*values: object) -> int | None:
    """The first of the values that is a rank or a count of ranks."""
    numbers = [whole_number(value) for value in values if not isinstance(value, bool)]
    return next((number for number in numbers if number != NULL and 0 <= number < 10**6), None)


def _switches(info: dict[str, object]) -> dict[str, object]:
    common = _dict(_dict(info.get("config")).get("common_config"))
    return {name: common[name] for name in _SWITCHES if name in common}

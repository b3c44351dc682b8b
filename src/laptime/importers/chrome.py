"""Chrome trace events of any origin, and PyTorch's profiler (Kineto), which writes the same form.

Format: the Trace Event Format of Chromium's tracing. PyTorch adds to the object: schemaVersion, deviceProperties,
distributedInfo (backend, rank, world_size), baseTimeNanoseconds (times are relative to it since torch 2.3), recording
switches (record_shapes, with_stack, profile_memory). All event phases are read; see `feeding`.
"""

from __future__ import annotations

import re

from laptime.importers.categories import chrome_meaning, kineto_meaning
from laptime.importers.decoders import Decoders
from laptime.importers.event_cap import warn_of_cap
from laptime.importers.event_lists import read_events
from laptime.importers.feeding import Feeder
from laptime.importers.kineto_modules import add_backward_ranges
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.model.builder import TraceBuilder

_EVENTS = re.compile(rb'"traceEvents"\s*:|"ph"\s*:\s*"')
_KINETO = re.compile(
    rb'"(?:schemaVersion|deviceProperties|computeProperties|baseTimeNanoseconds|distributedInfo)"\s*:'
    rb'|"cat"\s*:\s*"(?:cpu_op|Operator|user_annotation|python_function|kernel|\w+_runtime|gpu_mem\w+)"'
    rb"|PyTorch Profiler|ProfilerStep#"
)
_OWN_CHROME = re.compile(rb'"laptimeFormat"\s*:\s*"chrome_trace"')
"""laptime's own export of a trace whose writer is unknown."""
_JSON_START = re.compile(rb"^(?:\xef\xbb\xbf)?\s*[\[{]")
_RANK_IN_NAME = re.compile(r"(?:^|[^a-z])rank[-_]?(\d{1,6})(?!\d)", re.IGNORECASE)


class ChromeJson:
    """Chrome trace events whose writer is unknown."""

    name = "chrome_trace"
    framework: str | None = None
    meaning_of = staticmethod(chrome_meaning)

    def matches(self, head: bytes, source: Source) -> bool:
        """Whether the first MiB holds trace events."""
        return bool(_JSON_START.match(head) and (_EVENTS.search(head) or head.strip() in (b"[", b"[]")))

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads all events of the source."""
        feeder = Feeder(builder, self.meaning_of)
        fields = read_events(source, builder, progress, decoders, feeder.feed)
        builder.warnings.add("unknown_events", "slices of unknown categories; shown as other host work", feeder.unknown)
        self._mend(builder)
        self._take_header(fields, builder)
        warn_of_cap(builder)
        builder.meta.update({"format": self.name, "framework": self.framework, "framework_version": None})
        if builder.meta.get("rank") is None:
            builder.meta["rank"] = rank_in_name(source)

    def _mend(self, builder: TraceBuilder) -> None:
        """Nothing to mend."""

    def _take_header(self, fields: dict[str, object], builder: TraceBuilder) -> None:
        distributed = fields.get("distributedInfo")
        info = distributed if isinstance(distributed, dict) else {}
        base = fields.get("baseTimeNanoseconds")
        properties = fields.get("deviceProperties") or fields.get("computeProperties")
        builder.meta.update(
            {
                "rank": _int_or_none(info.get("rank")),
                "world_size": _int_or_none(info.get("world_size")),
                "backend": info.get("backend"),
                "base_unix_ns": _int_or_none(base),
                "device_names": _device_names(properties),
                "device_memory_bytes": _device_memory(properties),
                "switches": {key: fields.get(key) for key in _SWITCHES if key in fields},
            }
        )


class TorchKineto(ChromeJson):
    """Traces of torch.profiler."""

    name = "pytorch_kineto"
    framework = "pytorch"
    meaning_of = staticmethod(kineto_meaning)

    def matches(self, head: bytes, source: Source) -> bool:
        """Whether the first MiB holds trace events and something only PyTorch writes."""
        if _OWN_CHROME.search(head, 0, 4096):
            return False
        return bool(
            _JSON_START.match(head) and _KINETO.search(head) and (_EVENTS.search(head) or b"schemaVersion" in head)
        )

    def _mend(self, builder: TraceBuilder) -> None:
        add_backward_ranges(builder)


_SWITCHES = ("record_shapes", "with_stack", "profile_memory", "with_modules", "with_flops")


def rank_in_name(source: Source) -> int | None:
    """Rank that the file's name tells."""
    match = _RANK_IN_NAME.search(source.base_name)
    return int(match[1]) if match else None


def _int_or_none(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _device_names(properties: object) -> dict[str, str]:
    if not isinstance(properties, list):
        return {}
    found = {}
    for entry in properties:
        if isinstance(entry, dict) and isinstance(entry.get("id"), int):
            found[str(entry["id"])] = str(entry.get("name") or "")
    return found


def _device_memory(properties: object) -> dict[str, int]:
    """Memory of each device, where it is told."""
    entries = [entry for entry in properties if isinstance(entry, dict)] if isinstance(properties, list) else []
    told = [(entry.get("id"), _int_or_none(entry.get("totalGlobalMem"))) for entry in entries]
    return {str(number): size for number, size in told if isinstance(number, int) and size is not None and size > 0}

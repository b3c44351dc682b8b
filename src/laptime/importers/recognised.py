"""Formats that laptime knows by sight but does not read: what they are, and what to export instead."""

from __future__ import annotations

from dataclasses import dataclass

from laptime.importers.sources import Source


@dataclass(frozen=True)
class Recognised:
    """One line for the user."""

    what: str
    remedy: str


def recognise(head: bytes, source: Source) -> Recognised | None:
    """What a file is when no importer reads it; None where it is unknown too."""
    name = source.base_name.lower()
    start = head[:65536]
    for test, answer in _FORMATS:
        if test(start, name):
            return answer
    return None


def _is_nsys(head: bytes, name: str) -> bool:
    return name.endswith((".nsys-rep", ".qdrep", ".qdstrm"))


def _is_database(head: bytes, name: str) -> bool:
    return head.startswith(b"SQLite format 3")


def _is_nsys_sqlite(head: bytes, name: str) -> bool:
    return _is_database(head, name) and (b"CUPTI_ACTIVITY" in head or b"NVTX_EVENTS" in head)


def _is_rocpd(head: bytes, name: str) -> bool:
    return _is_database(head, name) and (b"rocpd_" in head or name.endswith((".rocpd", ".rpd")))


def _is_rocprofv3(head: bytes, name: str) -> bool:
    return b'"rocprofiler-sdk-tool"' in head[:4096]


def _is_perfetto(head: bytes, name: str) -> bool:
    return name.endswith((".pftrace", ".perfetto-trace", ".pfw")) or (
        head[:1] == b"\x0a" and b"\x08\x01" in head[:64] and name.endswith(".pb")
    )


def _is_memory_snapshot(head: bytes, name: str) -> bool:
    return head[:2] in (b"\x80\x02", b"\x80\x04", b"\x80\x05") and b"device_traces" in head


def _is_pickle(head: bytes, name: str) -> bool:
    return head[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def _is_memory_timeline(head: bytes, name: str) -> bool:
    return "memory_timeline" in name or (name.endswith((".raw.json.gz", ".raw.gz")) and head.lstrip().startswith(b"[["))


def _is_execution_trace(head: bytes, name: str) -> bool:
    return (
        head.lstrip().startswith(b"{") and b'"schema"' in head[:4096] and b'"nodes"' in head and b'"ctrl_deps"' in head
    ) or (b'"schema"' in head[:4096] and b'"nodes"' in head[:65536] and b'"start_ts"' in head[:4096])


_CHROME = "export_chrome_trace(...) of torch.profiler"

_FORMATS = (
    (
        _is_nsys,
        Recognised(
            "an Nsight Systems report, which laptime does not read yet",
            "record with torch.profiler and open its Chrome trace",
        ),
    ),
    (
        _is_rocprofv3,
        Recognised(
            "JSON of rocprofv3 (rocprofiler-sdk), which laptime does not read yet",
            f"open the trace of {_CHROME} instead",
        ),
    ),
    (
        _is_nsys_sqlite,
        Recognised(
            "an SQLite export of Nsight Systems, which laptime does not read yet",
            f"open the trace of {_CHROME} instead",
        ),
    ),
    (
        _is_rocpd,
        Recognised(
            "a rocpd database of rocprofiler, which laptime does not read yet", f"open the trace of {_CHROME} instead"
        ),
    ),
    (
        _is_database,
        Recognised("an SQLite database, which laptime does not read yet", f"open the trace of {_CHROME} instead"),
    ),
    (
        _is_perfetto,
        Recognised(
            "a Perfetto protobuf trace, which laptime does not read yet",
            "convert it with Perfetto's traceconv json and open the result",
        ),
    ),
    (
        _is_memory_snapshot,
        Recognised(
            "a PyTorch memory snapshot (pickle), which laptime does not read",
            "record with torch.profiler and profile_memory=True",
        ),
    ),
    (
        _is_pickle,
        Recognised(
            "a Python pickle, which laptime never opens since it could run code", f"open the trace of {_CHROME} instead"
        ),
    ),
    (
        _is_memory_timeline,
        Recognised(
            "a raw memory timeline (export_memory_timeline), which laptime does not read",
            "record with torch.profiler and profile_memory=True",
        ),
    ),
    (
        _is_execution_trace,
        Recognised(
            "a PyTorch execution trace (Chakra host trace), which holds no times of devices",
            "open the Kineto trace recorded beside it",
        ),
    ),
)

"""Files cut into blocks at every possible place hold the same events as files read in one piece."""

from __future__ import annotations

import io
import json
from concurrent.futures import Executor, ThreadPoolExecutor

import pytest

from laptime.errors import LaptimeError
from laptime.importers import framing
from laptime.importers.chrome import TorchKineto
from laptime.importers.decoders import LARGE_BYTES, Decoders
from laptime.importers.framing import EventFile, header_fields
from laptime.importers.progress import silent
from laptime.importers.sources import Source
from laptime.importers.streams import ByteStream
from laptime.model.builder import TraceBuilder

NESTED = {"Input Dims": [[1, 2], []], "inner": [{"a": 1}, {"b": "},{"}, {"c": [{"d": []}]}], "text": '}, {"ph": "X"}]'}
EVENTS: list[dict[str, object]] = [
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
    {"ph": "X", "name": "aten::mm", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 1.5, "dur": 2, "args": NESTED},
    {"ph": "X", "name": 'quoted "}, {" name', "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 4, "dur": 0.25},
    {"ph": "X", "name": "é\n]}", "cat": "kernel", "pid": 0, "tid": 7, "ts": 5, "dur": 1, "args": {"stream": 7}},
    {"name": "keys in another order", "args": {"list": [{"x": 1}, {"y": 2}]}, "ts": 9, "dur": 1, "ph": "X", "tid": 2},
]
HEADER = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU"}, {"id": 1, "name": "GPU"}]}
FOOTER = {
    "traceName": "a.json",
    "displayTimeUnit": "ms",
    "distributedInfo": {"rank": 3, "pg": [{"a": [1]}, {"b": [2]}]},
}

PLAIN = [event for event in EVENTS if "{" not in str(event.get("args", "")).strip("{}")]
"""Events that hold no objects within, so that each cut between `}` and `{` lies between two of them."""

Read = tuple[list[tuple[object, ...]], dict[str, object], tuple[int, int, bool]]


def read(text: bytes, executor: Executor | None = None) -> Read:
    """Events as (phase, name, time, duration, arguments), keys around them, and (bad, repaired, cut off)."""
    file = EventFile(ByteStream(io.BytesIO(text), size=len(text)), name="trace.json")
    events: list[tuple[object, ...]] = []
    bad = repaired = 0
    with Decoders(executor) as decoders:
        blocks = decoders.decode(file, inflated_bytes=len(text) if executor is None else LARGE_BYTES)
        for _block, found in blocks:
            for row in range(len(found)):
                args = found.args_text(row)
                texts = (found.phases[found.phase[row]], found.names[found.name[row]])
                times = (int(found.ts_ns[row]), int(found.dur_ns[row]))
                events.append((*texts, *times, json.loads(args) if args else None))
            bad, repaired = bad + found.bad, repaired + found.repaired
            if found.closed:
                break
        rest = found.rest + b"".join(later.data for later, _ in blocks)
    return events, header_fields(file.head, rest), (bad, repaired, found.partial_at is not None)


def expected(events: list[dict[str, object]] = EVENTS) -> list[tuple[object, ...]]:
    null = -(2**63)
    return [
        (
            event["ph"],
            event["name"],
            round(event["ts"] * 1000) if "ts" in event else null,
            round(event["dur"] * 1000) if "dur" in event else null,
            event.get("args"),
        )
        for event in events
    ]


def whole_object(indent: int | None = None, separators: tuple[str, str] | None = None) -> bytes:
    text = json.dumps({**HEADER, "traceEvents": EVENTS, **FOOTER}, indent=indent, separators=separators)
    return text.encode()


def bare_list(end: str) -> bytes:
    return ("[" + ",\n".join(json.dumps(event) for event in EVENTS) + end).encode()


def lines(end: str) -> bytes:
    return ("\n".join(json.dumps(event) for event in EVENTS) + end).encode()


FORMS = {
    "object": whole_object(),
    "object, compact": whole_object(separators=(",", ":")),
    "object, indented": whole_object(indent=2),
    "object, UTF-8": json.dumps({"traceEvents": EVENTS}, ensure_ascii=False).encode(),
    "object, Windows": whole_object(indent=1).replace(b"\n", b"\r\n"),
    "list": bare_list("]"),
    "list, comma at the end": bare_list(",\n]"),
    "list, not closed": bare_list(""),
    "list, not closed after a comma": bare_list(",\n"),
    "lines": lines(""),
    "lines, newline at the end": lines("\n"),
    "lines, Windows": lines("\n").replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_every_form_holds_the_same_events(text):
    events, _, faults = read(text)
    assert events == expected()
    assert faults == (0, 0, False)


@pytest.mark.parametrize("size", [3, 50])
@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_blocks_cut_inside_an_event_lose_nothing(text, size, monkeypatch):
    """A list of objects among the arguments holds `}, {"` too, and so may a text."""
    monkeypatch.setattr(framing, "_SEARCH_BYTES", 1)
    monkeypatch.setattr(framing, "BLOCK_BYTES", size)
    events, _, faults = read(text)
    assert events == expected()
    assert faults == (0, 0, False)


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_blocks_decoded_at_once_come_in_file_order(text, monkeypatch):
    monkeypatch.setattr(framing, "_SEARCH_BYTES", 1)
    with ThreadPoolExecutor(3) as executor:
        for size in (1, 20, 90, 300):
            monkeypatch.setattr(framing, "BLOCK_BYTES", size)
            assert read(text, executor) == read(text), size


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS.keys())
def test_blocks_cut_at_every_place_hold_the_same_events(text, monkeypatch):
    monkeypatch.setattr(framing, "_SEARCH_BYTES", 1)
    for size in range(1, len(text) + 2):
        monkeypatch.setattr(framing, "BLOCK_BYTES", size)
        events, _, faults = read(text)
        assert events == expected(), size
        assert faults == (0, 0, False), size


@pytest.mark.parametrize("indent", [None, 2])
def test_blocks_cut_at_every_place_leave_the_keys_around_the_events(indent, monkeypatch, tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(whole_object(indent=indent))
    monkeypatch.setattr(framing, "_SEARCH_BYTES", 1)
    for size in range(1, path.stat().st_size + 2):
        monkeypatch.setattr(framing, "BLOCK_BYTES", size)
        builder = TraceBuilder(tmp_path)
        with Decoders() as decoders:
            TorchKineto().read(Source(path), builder, silent, decoders)
        builder.spool.discard()
        assert (builder.meta["rank"], builder.meta["device_names"]) == (3, {"0": "GPU", "1": "GPU"}), size
        assert builder.read == len(EVENTS), size
        assert {warning["code"] for warning in builder.warnings.as_rows()} <= {"unknown_events"}, size


def test_small_blocks_really_are_several(monkeypatch):
    monkeypatch.setattr(framing, "_SEARCH_BYTES", 1)
    monkeypatch.setattr(framing, "BLOCK_BYTES", 10)
    text = whole_object()
    file = EventFile(ByteStream(io.BytesIO(text), size=len(text)), name="trace.json")
    blocks = list(file.blocks())
    assert len(blocks) >= len(EVENTS)
    assert [block.last for block in blocks] == [False] * (len(blocks) - 1) + [True]
    for block in blocks:
        assert text[block.offset : block.offset + len(block.data)] == block.data


@pytest.mark.parametrize("size", [4, 40, 1 << 20])
@pytest.mark.parametrize(
    "before", [b"", b" \r\n\t ", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n "], ids=["", "space", "mark", "both"]
)
def test_space_and_byte_order_marks_before_the_trace(before, size, monkeypatch):
    """With small blocks the keys before the events fill more than one, as in files that list many devices."""
    monkeypatch.setattr(framing, "_SEARCH_BYTES", 1)
    monkeypatch.setattr(framing, "BLOCK_BYTES", size)
    events, keys, faults = read(before + json.dumps({**HEADER, "traceEvents": PLAIN}).encode())
    assert (events, keys, faults) == (expected(PLAIN), HEADER, (0, 0, False))


@pytest.mark.parametrize("size", [20, 1 << 20])
def test_a_file_cut_anywhere_keeps_its_whole_events(size, monkeypatch):
    monkeypatch.setattr(framing, "_SEARCH_BYTES", 1)
    monkeypatch.setattr(framing, "BLOCK_BYTES", size)
    text = json.dumps({"schemaVersion": 1, "traceEvents": PLAIN}).encode()
    first = text.index(b"[") + 1
    ends = [text.index(json.dumps(event).encode()) + len(json.dumps(event)) for event in PLAIN]
    for length in range(first, len(text) - 1):
        events, keys, (bad, repaired, cut_off) = read(text[:length])
        whole = sum(end <= length for end in ends)
        assert events == expected(PLAIN)[:whole], length
        assert (bad, repaired) == (0, 0), length
        left = text[ends[whole - 1] if whole else first : length].strip(b", ]")
        assert cut_off == bool(left), length
        assert keys == {"schemaVersion": 1}


@pytest.mark.parametrize("size", [1, 16, 1 << 20])
def test_one_broken_event_costs_only_itself(size, monkeypatch):
    monkeypatch.setattr(framing, "_SEARCH_BYTES", 1)
    monkeypatch.setattr(framing, "BLOCK_BYTES", size)
    texts = [json.dumps(event) for event in PLAIN]
    broken = '{"ph": "X", "name": "broken", "ts": 1, "dur": , "args": {"a": [}}'
    text = '{"traceEvents": [' + ", ".join([*texts[:2], broken, *texts[2:]]) + "]}"
    events, _, faults = read(text.encode())
    assert events == expected(PLAIN)
    assert faults == (1, 0, False)


@pytest.mark.parametrize("text", [b"[", b"[]", b"[ \n", b'{"traceEvents":[]}', b'{"traceEvents": [ ], "a": 1}', b""])
def test_files_without_events_hold_none(text):
    events, _, faults = read(text)
    assert events == []
    assert faults == (0, 0, False)


@pytest.mark.parametrize(
    ("head", "rest", "fields"),
    [
        (b"", b"", {}),
        (b'{"a": 1,', b"}", {"a": 1}),
        (b'{"a": 1, ', b', "b": {"c": [1]}}', {"a": 1, "b": {"c": [1]}}),
        (b"{", b',"b": 2}\n', {"b": 2}),
        (b'{"a": 1,', b', "b": 2', {"a": 1, "b": 2}),
        (b'{"a": 1,', b', "b": "cut', {"a": 1}),
        (b'{"a": broken,', b',"b":2}', {"b": 2}),
        (b'{"a": 1,', b"", {"a": 1}),
        (b'{"a": "\xff",', b"}", {}),
    ],
)
def test_keys_around_the_events(head, rest, fields):
    assert header_fields(head, rest) == fields


def test_an_event_without_end_is_an_error_not_a_full_memory(monkeypatch):
    monkeypatch.setattr(framing, "_SEARCH_BYTES", 1)
    monkeypatch.setattr(framing, "BLOCK_BYTES", 64)
    monkeypatch.setattr(framing, "_LONGEST_EVENT", 1 << 10)
    with pytest.raises(LaptimeError, match="longer than"):
        read(b'[{"ph":"X","name":"' + b"x" * 5000 + b'"}]')

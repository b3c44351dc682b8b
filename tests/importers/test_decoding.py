"""Text of events to columns: every form of a value, and faults that cost only the element they are in."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.importers.decoding import Decoded, decode_block, id_column, split_at_list_end
from laptime.model.vocabulary import NULL

GOOD = '{"ph":"X","name":"good","cat":"cpu_op","pid":1,"tid":2,"ts":1,"dur":2}'


def event(**fields: str) -> str:
    """An event whose values are given as JSON text."""
    values = {"ph": '"X"', "name": '"a"', "pid": "1", "tid": "2", "ts": "1", "dur": "2", **fields}
    return "{" + ",".join(f'"{key}":{text}' for key, text in values.items()) + "}"


def decoded(*texts: str | bytes, last: bool = False) -> Decoded:
    return decode_block(b",".join(text.encode() if isinstance(text, str) else text for text in texts), last=last)


def names(found: Decoded) -> list[str]:
    return [found.names[code] for code in found.name]


def summary(found: Decoded) -> tuple[int, int, int, int | None]:
    return len(found), found.bad, found.repaired, found.partial_at


# ---- values ----


def test_columns_of_a_clean_block():
    found = decoded(GOOD, event(name='"b"', cat='"kernel"', ts="2.5", args='{"stream": 0, "correlation": 9}'), event())
    assert names(found) == ["good", "b", "a"]
    assert [found.categories[code] for code in found.category] == ["cpu_op", "kernel", None]
    assert [found.tracks[code] for code in found.track] == [(1, 2)] * 3
    assert found.ts_ns.tolist() == [1000, 2500, 1000]
    assert found.dur_ns.tolist() == [2000, 2000, 2000]
    assert found.numbers["stream"].tolist() == [NULL, 0, NULL]
    assert found.numbers["correlation"].tolist() == [NULL, 9, NULL]
    assert [found.args_text(row) for row in range(3)] == [b"", b'{"stream": 0, "correlation": 9}', b""]
    assert summary(found) == (3, 0, 0, None)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1712195478123456.75", 1712195478123456750),
        ('"1712195478123456.75"', 1712195478123456750),
        ("1712195478123456", 1712195478123456000),
        ("0.001", 1),
        ("-2.5", -2500),
        ("1e3", 1_000_000),
        ("null", NULL),
        ('""', NULL),
        ('"soon"', NULL),
        ("true", NULL),
        ("1e300", NULL),
        ("9223372036854775808", NULL),
        ("123456789012345678901234567890", NULL),
    ],
)
@pytest.mark.parametrize("beside", ["1", "2.5", '"3"', "1712195478123456.75", "null"])
def test_times_of_every_form_whatever_stands_beside_them(text, ns, beside):
    found = decoded(event(ts=text, dur=text), event(ts=beside, dur=beside))
    assert (found.ts_ns[0], found.dur_ns[0]) == (ns, ns)
    assert found.bad == 0


@pytest.mark.parametrize("text", ["1e-400", "1e-999999999", "1E+999999999", "-1e1000000"])
def test_times_with_absurd_exponents_do_not_kill_the_process(text):
    code = "import sys; from laptime.importers.decoding import decode_block as d; print(len(d(sys.argv[1].encode())))"
    block = event(ts="1712195478123456.75") + "," + event(ts=text, dur=text)
    done = subprocess.run([sys.executable, "-c", code, block], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "2"), done.stderr[-300:]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("-1", -1),
        ("7.0", 7),
        ('"7"', 7),
        ('"0x1F"', 31),
        ('" 7 "', 7),
        ("null", NULL),
        ("true", 1),
        ("1e300", NULL),
        ("18446744073709551615", NULL),
        ('"18446744073709551615"', NULL),
    ],
)
def test_numbers_among_the_arguments(text, value):
    found = decoded(event(args=f'{{"correlation": {text}}}'))
    assert found.numbers["correlation"].tolist() == [value]


def test_texts_that_are_no_number_get_one_that_stays_the_same():
    first, again, other = id_column(["0x7f:a", "0x7f:a", "0x7f:b"]).tolist()
    assert first == again != other
    assert id_column(["0x7f:a"]).tolist() == [first]


def test_unsigned_ids_beyond_int64_of_two_flows_do_not_become_one():
    """Ids of flow events are unsigned 64-bit numbers; as null they would all be the same."""
    first, second = id_column([2**63 + 1, 2**63 + 2]).tolist()
    assert first != second


def test_the_external_id_of_both_eras():
    found = decoded(event(args='{"External id": 5}'), event(args='{"external id": 6}'), event(args="{}"))
    assert found.numbers["external_id"].tolist() == [5, 6, NULL]


@pytest.mark.parametrize("key", ["Input Dims", "Input dims"])
def test_shapes_are_kept_as_text(key):
    found = decoded(event(args=f'{{"{key}": [[2, 3], []]}}'))
    assert found.text_values["shapes"][found.texts["shapes"][0]] == "[[2, 3], []]"
    assert decoded(event(args="{}")).texts["shapes"].tolist() == [-1]


def test_arguments_of_unknown_types_leave_the_others():
    args = '{"correlation": {"a": 1}, "stream": 7, "Call stack": 5, "Collective name": ["x"], "bytes": [1], "é": 1}'
    found = decoded(event(args=args))
    assert found.numbers["stream"].tolist() == [7]
    assert found.numbers["correlation"].tolist() == [NULL]
    assert found.texts["call_stack"].tolist() == found.texts["collective"].tolist() == [-1]
    assert json.loads(found.args_text(0)) == json.loads(args)


@pytest.mark.parametrize("args", ["[1, 2]", '"text"', "5", "null", "{}", '{"a": [{"b": 1}, {"c": [{"d": {}}]}]}'])
def test_arguments_may_be_anything(args):
    found = decoded(GOOD, event(args=args), GOOD)
    assert names(found) == ["good", "a", "good"]
    assert json.loads(found.args_text(1) or b"null") == json.loads(args)


@pytest.mark.parametrize("field", ["name", "pid", "tid", "ts", "dur", "id", "cat", "ph"])
@pytest.mark.parametrize("value", ["[1]", '{"a": 1}', "1.5", "null", "false", "12345678901234567890123", '"x"'])
def test_fields_of_unexpected_types_cost_no_event(field, value):
    found = decoded(GOOD, event(**{field: value}), GOOD)
    assert len(found) == 3
    assert names(found)[::2] == ["good", "good"]


# ---- faults ----


FAULTS = {
    "bad escape": (event(name=r'"C:\kernels\x"'), 1, 0, r"C:\kernels\x"),
    "bad unicode escape": (event(name=r'"\u12"'), 1, 0, r"\u12"),
    "bare word": (event(args='{"a": nan_value}'), 1, 0, "a"),
    "NaN": (event(args='{"a": NaN}'), 1, 0, "a"),
    "infinite time": (event(ts="Infinity"), 1, 0, "a"),
    "control character": (event(name='"a\tb"'), 1, 0, "a\tb"),
    "newline in a text": (event(name='"a\nb"'), 1, 0, "a\nb"),
    "lone surrogate": (event(name=r'"\ud800"'), 1, 0, "?"),
    "no colon": ('{"ph" "X"}', 0, 1, None),
    "no value": (event(ts=""), 0, 1, None),
    "number": ("17", 0, 1, None),
    "text": ('"an event"', 0, 1, None),
    "null": ("null", 0, 1, None),
    "list": ("[1]", 0, 1, None),
    "list of events": ("[" + GOOD + "]", 0, 1, None),
}


@pytest.mark.parametrize(("text", "repaired", "bad", "name"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_costs_only_its_element(text, repaired, bad, name):
    found = decoded(GOOD, text, GOOD)
    assert names(found) == ["good", *([] if name is None else [name]), "good"]
    assert (found.bad, found.repaired, found.partial_at) == (bad, repaired, None)


@pytest.mark.parametrize(("text", "repaired", "bad", "name"), FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_in_the_last_element_leaves_the_end_of_the_list(text, repaired, bad, name):
    found = decoded(GOOD, text + '], "traceName": "a"}', last=True)
    assert names(found) == ["good", *([] if name is None else [name])]
    assert (found.bad, found.repaired) == (bad, repaired)
    assert (found.closed, found.rest.replace(b" ", b"")) == (True, b',"traceName":"a"}')


def test_text_that_is_no_utf_8_is_replaced():
    found = decoded(
        GOOD, event(name='"X"').encode().replace(b'X",', b'X",', 1).replace(b'"name":"X"', b'"name":"\xff\xfe"')
    )
    assert names(found)[0] == "good"
    assert "\ufffd" in names(found)[1] or "?" in names(found)[1]
    assert (found.bad, found.repaired) == (0, 1)


def test_values_beside_a_fault_are_the_same_as_without_it():
    texts = [
        event(ts="1712195478123456.75", args='{"a": [1,  2.50], "correlation": 3}'),
        event(name="5", tid='"main"', id='"0x1f"'),
        event(args='{"Input Dims": [[2,3]], "Call stack": "a;b"}'),
    ]
    clean, beside = decoded(*texts), decoded(*texts, "17")
    assert beside.ts_ns.tolist() == clean.ts_ns.tolist()
    assert beside.id.tolist() == clean.id.tolist()
    assert names(beside) == names(clean)
    assert [beside.args_text(row) for row in range(3)] == [clean.args_text(row) for row in range(3)]
    for key, column in clean.numbers.items():
        assert beside.numbers[key].tolist() == column.tolist()
    assert beside.text_values == clean.text_values


def test_a_cut_element_is_told_by_its_place():
    block = f"{GOOD},{GOOD[:30]}"
    found = decode_block(block.encode(), last=True)
    assert summary(found) == (1, 0, 0, len(GOOD) + 1)


def test_missing_and_surplus_commas_are_tolerated():
    for text in (f"{GOOD} {GOOD}", f"{GOOD},,{GOOD}", f",{GOOD},\n{GOOD},", f"\n{GOOD}\r\n,\t{GOOD}\n"):
        assert names(decode_block(text.encode())) == ["good", "good"]


@pytest.mark.parametrize("block", [b"", b" ", b",", b"\n,\n"])
def test_no_events(block):
    assert summary(decode_block(block)) == (0, 0, 0, None)


def test_very_deep_arguments_are_no_crash():
    deep = "[" * 100_000 + "]" * 100_000
    found = decoded(GOOD, event(args=f'{{"a": {deep}}}'), GOOD)
    assert names(found)[0] == "good"
    assert names(found)[-1] == "good"


@given(st.data())
def test_any_damage_to_a_block_is_survived(data):
    """Bytes are changed, dropped or added; what is left decodes to columns of one length."""
    block = bytearray(f"{GOOD},{event(args=json.dumps({'stream': 7, 'a': [{'b': 1}, {'c': 2}]}))},{GOOD}]}}".encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(block) - 1))
        length = data.draw(st.integers(0, 3))
        block[place : place + length] = data.draw(
            st.sampled_from([b"", b'"', b"{", b"}", b"[", b"]", b",", b"\\", b"\xff", b"\x00", b"9", b":"])
        )
    found = decode_block(bytes(block), last=data.draw(st.booleans()))
    lengths = {
        len(found),
        len(found.ts_ns),
        len(found.track),
        len(found.args_length),
        *map(len, found.numbers.values()),
    }
    assert len(lengths) == 1
    assert np.all(found.args_length >= 0)


# ---- the end of the list ----


@pytest.mark.parametrize(
    ("end", "rest", "closed"),
    [
        ("]}", b"}", True),
        ("] ", b"", True),
        ('\n],\n"b": 1}', b',\n"b": 1}', True),
        ('],"b": [{"c": 1}, {"d": [2]}], "e": {"f": []}}', b',"b": [{"c": 1}, {"d": [2]}], "e": {"f": []}}', True),
        (',\n],"b":"]}"}', b',"b":"]}"}', True),
        ('], "b": "cut', b', "b": "cut', True),
        ("", b"", False),
        (",", b"", False),
    ],
)
@pytest.mark.parametrize("args", ["{}", "[1]", '{"a":"]}"}', '{"a":[[],[{"b":1}]]}'])
def test_the_end_of_the_list_is_found(args, end, rest, closed):
    found = decode_block(f"{GOOD},{event(args=args)}{end}".encode(), last=True)
    assert summary(found) == (2, 0, 0, None)
    assert (found.rest, found.closed) == (rest, closed)


@pytest.mark.parametrize(
    ("block", "events", "rest"),
    [
        (b'{"a":1}]}', b'{"a":1}', b"}"),
        (b'{"a":1}\n] ', b'{"a":1}\n', b""),
        (b'{"a":1}],"b":2}', b'{"a":1}', b',"b":2}'),
    ],
)
def test_the_usual_ends_of_a_list_are_found_without_decoding(block, events, rest):
    assert split_at_list_end(block) == (events, rest, True)
    assert split_at_list_end(events) == (events, b"", False)

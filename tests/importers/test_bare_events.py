"""Events straight from their text are the same as events decoded one by one, whatever stands in them."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.importers import bare_events
from laptime.importers.bare_events import COUNTED_ONLY, decode_bare
from laptime.importers.decoding import Decoded, as_list, decode_block
from laptime.importers.fixed_form import located
from laptime.importers.megengine_events import plain_name
from tests.importers.megengine_timelines import training_step

SPAN = '{"name":"OpDispatch","ph":"B","pid":12,"tid":1,"ts":2.5}'
END = '{"args":{"__id__":5,"axis":"0"},"cat":"Kernel","name":"Reshape","ph":"E","pid":12,"tid":2,"ts":3}'
FLOW = '{"bp":"e","cat":"TensorLink","id":7,"name":"12","ph":"f","pid":12,"scope":"12","tid":3,"ts":2.6}'
COUNTER = '{"args":{"value":2.0},"name":"nr_alive_tensor","ph":"C","pid":12,"tid":0,"ts":2.75}'
TENSOR = '{"name":"Input 50346","ph":"B","pid":12,"tid":0,"ts":2.875}'
POINT = '{"args":{"id":4,"shape":"{2,3}"},"dur":0,"name":"TensorGetProp","ph":"X","pid":12,"tid":1,"ts":9.125}'
USUAL = [SPAN, END, FLOW, COUNTER, TENSOR, POINT, '{"name":"StopStep","ph":"i","pid":12,"tid":1,"ts":10.001}']


def rows(found: Decoded) -> list[tuple[object, ...]]:
    """What becomes of events, without those that are only counted."""
    kept = [row for row in range(len(found)) if found.phases[found.phase[row]] not in COUNTED_ONLY]
    return [
        (
            found.phases[found.phase[row]],
            plain_name(found.names[found.name[row]]),
            found.categories[found.category[row]],
            found.tracks[found.track[row]],
            int(found.ts_ns[row]),
            found.args_text(row),
        )
        for row in kept
    ]


def assert_same(block: bytes) -> None:
    """Both ways give the same rows, threads in the same order, counts and faults."""
    direct, plain = decode_bare(block), decode_block(block, bare=True)
    assert rows(direct) == rows(plain)
    assert direct.tracks == plain.tracks
    assert len(direct) + direct.skipped == len(plain)
    assert (direct.bad, direct.repaired, direct.partial_at) == (plain.bad, plain.repaired, plain.partial_at)


def block_of(*events: str) -> bytes:
    return ",".join(events).encode("utf-8", "surrogateescape") + b","


def is_fixed(block: bytes) -> bool:
    return located(as_list(block)) is not None


def test_the_usual_events_are_of_the_fixed_form() -> None:
    block = block_of(*USUAL, *USUAL)
    assert is_fixed(block)
    assert_same(block)
    found = decode_bare(block)
    assert (found.skipped, len(found)) == (2, 12)
    assert found.args == (
        b'{"__id__":5,"axis":"0"},{"id":4,"shape":"{2,3}"},{"__id__":5,"axis":"0"},{"id":4,"shape":"{2,3}"},'
        b'{"value":2.0},{"value":2.0}'
    )  # of ends and complete events first, of counters last
    assert rows(found)[5] == ("i", "StopStep", None, (12, 1), 10_001, b"")


ODD = {
    "an escape in a name": '{"name":"a\\"b","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "an escape in the name of a flow event": FLOW.replace('"name":"12"', '"name":"\\u0041"'),
    "a brace in a name": '{"name":"a}","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "a name like a key": '{"name":"name","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "another tensor": TENSOR.replace("50346", "7"),
    "a tensor of many": TENSOR.replace("50346", "123456789"),
    "a tensor without a number": TENSOR.replace("50346", ""),
    "a tensor without a space": TENSOR.replace(" 50346", "5"),
    "a number of no tensor": TENSOR.replace("Input", "step"),
    "a number alone": TENSOR.replace("Input ", ""),
    "a number and a space": TENSOR.replace("Input", ""),
    "two numbers": TENSOR.replace("50346", "5 6"),
    "no name": '{"ph":"B","pid":12,"tid":1,"ts":2.5}',
    "no time": '{"name":"thread_name","ph":"M","pid":12,"tid":1}',
    "a space": '{"name": "a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "a space before the end": '{"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5 }',
    "keys in another order": '{"name":"a","ph":"B","pid":12,"ts":2.5,"tid":1}',
    "arguments last": '{"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5,"args":{"id":1}}',
    "no arguments but an argument": '{"args":null,"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "a list for arguments": '{"args":[{"id":1}],"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "arguments of arguments": '{"args":{"id":{"a":[{"b":1},{"c":"},"}]}},"name":"","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "an object after arguments": '{"args":{"id":1},"bp":{},"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "an object and a space": '{"args":{"id":1} ,"bp":{},"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "an event in arguments": '{"args":{"x":[{"y":1},' + SPAN + ']},"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "events in arguments": '{"args":{"x":[' + END + "," + END + ']},"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "arguments twice": '{"args":{"id":1},"args":{"id":2},"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "a name twice": '{"name":"a","name":"b","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "a key of nobody": '{"name":"a","ph":"B","pid":12,"sf":1,"tid":1,"ts":2.5}',
    "a long phase": '{"name":"a","ph":"BE","pid":12,"tid":1,"ts":2.5}',
    "no phase": '{"name":"a","ph":"","pid":12,"tid":1,"ts":2.5}',
    "an unknown phase": '{"name":"a","ph":"?","pid":12,"tid":1,"ts":2.5}',
    "a text for a thread": '{"name":"a","ph":"B","pid":12,"tid":"host","ts":2.5}',
    "a thread below zero": '{"name":"a","ph":"B","pid":12,"tid":-1,"ts":2.5}',
    "a thread with a decimal": '{"name":"a","ph":"B","pid":12,"tid":1.0,"ts":2.5}',
    "a long thread": '{"name":"a","ph":"B","pid":12,"tid":12345678901234567890,"ts":2.5}',
    "another process": '{"name":"a","ph":"B","pid":120,"tid":1,"ts":2.5}',
    "a text for a time": '{"name":"a","ph":"B","pid":12,"tid":1,"ts":"2.5"}',
    "a time of an epoch": '{"name":"a","ph":"B","pid":12,"tid":1,"ts":1712195478123456.75}',
    "a time with an exponent": '{"name":"a","ph":"B","pid":12,"tid":1,"ts":25e-1}',
    "a time out of range": '{"name":"a","ph":"B","pid":12,"tid":1,"ts":1e400}',
    "an object for a time": '{"name":"a","ph":"B","pid":12,"tid":1,"ts":{"ts":1}}',
    "letters beyond ASCII": '{"args":{"shape":"中"},"name":"层","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "no letters": '{"args":{"shape":"\udcff"},"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "no letters in a name": '{"name":"\udcff","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "a bad escape": '{"args":{"shape":"\\q"},"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}',
    "a bare word": '{"args":{"value":nan},"name":"a","ph":"C","pid":12,"tid":1,"ts":2.5}',
    "no event": "5",
    "a half event": '{"args":{"id":1},"name":"a","ph":"B","pid":12,',
    "nothing but braces": "{}",
}
FIXED_ALL_THE_SAME = {
    "a name like a key",
    "another process",
    "another tensor",
    "a tensor of many",
    "a tensor without a number",
    "a number of no tensor",
    "a number alone",
    "a number and a space",
    "two numbers",
    "a time with an exponent",
    "letters beyond ASCII",
}


@pytest.mark.parametrize("place", [0, 3, 6], ids=["first", "between", "last"])
@pytest.mark.parametrize("what", ODD)
def test_odd_events_among_usual_ones(what: str, place: int) -> None:
    assert_same(block_of(*USUAL[:place], ODD[what], *USUAL[place:]))
    assert_same(block_of(ODD[what]))


@pytest.mark.parametrize("what", sorted(FIXED_ALL_THE_SAME))
def test_what_is_less_odd_than_it_looks(what: str) -> None:
    found = decode_bare(block_of(*USUAL, ODD[what]))
    assert found.skipped == 1


def test_two_odd_events_do_not_make_up_for_each_other() -> None:
    """A hidden event gives one event too many, a space one too few."""
    hidden = '{"args":{"x":[{"y":1},' + SPAN + ']},"name":"a","ph":"B","pid":12,"tid":1,"ts":2.5}'
    assert_same(block_of(*USUAL, hidden, f"{SPAN}, {SPAN}"))
    assert_same(block_of(*USUAL, ODD["events in arguments"], f"{SPAN}, {SPAN}"))


NUMBERS = ["1", "12", "2.5", "-1", "0", "1e3", "null"]
STRINGS = ['"B"', '"E"', '"X"', '"C"', '"s"', '"f"', '"i"', '"M"', '"},{"', '"{"', '"}"', '"\\\\"', '"\\""', '"ts"']
VALUES = st.sampled_from([*NUMBERS, *STRINGS, "{}", '{"a":1}', "[]", '[{"a":1},{"b":2}]', '{"ts":1}'])
KEYS = st.sampled_from(["args", "bp", "cat", "dur", "id", "name", "ph", "pid", "scope", "tid", "ts"])
EVENT = st.one_of(
    st.sampled_from(USUAL),
    st.dictionaries(KEYS, VALUES, max_size=11).map(
        lambda fields: "{" + ",".join(f'"{key}":{fields[key]}' for key in sorted(fields)) + "}"
    ),
    st.tuples(st.sampled_from(USUAL), KEYS, VALUES).map(lambda each: _with(*each)),
)


def _with(event: str, key: str, value: str) -> str:
    """The event with another value of a key."""
    fields = {name: json.dumps(each, separators=(",", ":")) for name, each in json.loads(event).items()} | {key: value}
    return "{" + ",".join(f'"{name}":{fields[name]}' for name in sorted(fields)) + "}"


@given(st.lists(EVENT, min_size=1, max_size=12))
def test_any_events(events: list[str]) -> None:
    assert_same(block_of(*events))


@given(st.randoms(use_true_random=False))
def test_any_damage(rng: Random) -> None:
    block = bytearray(block_of(*USUAL, *USUAL))
    for _ in range(rng.choice((1, 2, 8))):
        block[rng.randrange(len(block))] = rng.choice(b'"{}[]:,\\0eaB \xff')
    assert_same(bytes(block))


def test_a_whole_timeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of its events goes the way of all events, but those with the names of threads."""
    events = json.loads(training_step().text())["traceEvents"]
    texts = [json.dumps(event, separators=(",", ":"), sort_keys=True) for event in events if event["ph"] != "M"]
    expected = rows(decode_block(block_of(*texts), bare=True))

    def refused(*_: object, **__: object) -> Decoded:
        raise AssertionError("decoded one by one")

    monkeypatch.setattr(bare_events, "decode_block", refused)
    assert rows(decode_bare(block_of(*texts))) == expected

"""Begin and end events made by hand: what pairs, what crosses, what is left over."""

from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from laptime.model import pairing
from laptime.model.pairing import Pairs, pair_by_id, pair_nested

A, B, EMPTY = 1, 2, 0


def nested(*events: tuple[str, int, int], place: int = 0) -> dict[str, np.ndarray]:
    """Events (`B` or `E`, time, name) of one thread in file order."""
    return {
        "place": np.full(len(events), place, np.int32),
        "start": np.array([ts for _, ts, _ in events], np.int64),
        "is_end": np.array([letter == "E" for letter, _, _ in events], bool),
        "name": np.array([name for _, _, name in events], np.int32),
        "order": np.arange(len(events), dtype=np.int64),
    }


def by_id(*events: tuple[str, int, int, int, int]) -> dict[str, np.ndarray]:
    """Events (`b` or `e`, time, name, category, id) in file order."""
    return {
        "start": np.array([event[1] for event in events], np.int64),
        "is_end": np.array([event[0] == "e" for event in events], bool),
        "name": np.array([event[2] for event in events], np.int32),
        "category": np.array([event[3] for event in events], np.int32),
        "id": np.array([event[4] for event in events], np.int64),
        "order": np.arange(len(events), dtype=np.int64),
    }


def ends(pairs: Pairs) -> dict[int, int]:
    """Time of the end by row of the begin."""
    return dict(zip(pairs.begins.tolist(), pairs.ends_ns.tolist(), strict=True))


def faults(pairs: Pairs) -> tuple[int, int, int]:
    return pairs.unclosed, pairs.unopened, pairs.disagreeing


def test_ends_close_the_innermost_open_slice():
    pairs = pair_nested(nested(("B", 0, A), ("B", 2, B), ("E", 5, B), ("E", 9, A)), empty_name=EMPTY)
    assert ends(pairs) == {0: 9, 1: 5}
    assert faults(pairs) == (0, 0, 0)


def test_ends_without_a_name_agree_with_anything():
    pairs = pair_nested(nested(("B", 0, A), ("B", 2, B), ("E", 5, EMPTY), ("E", 9, EMPTY)), empty_name=EMPTY)
    assert ends(pairs) == {0: 9, 1: 5}
    assert faults(pairs) == (0, 0, 0)


def test_the_same_name_may_nest():
    pairs = pair_nested(
        nested(("B", 0, A), ("B", 1, A), ("E", 2, A), ("B", 3, A), ("E", 4, A), ("E", 5, A)), empty_name=0
    )
    assert ends(pairs) == {0: 5, 1: 2, 3: 4}


def test_file_order_decides_at_equal_times():
    pairs = pair_nested(nested(("B", 3, A), ("E", 3, A), ("B", 3, B), ("E", 4, B)), empty_name=EMPTY)
    assert ends(pairs) == {0: 3, 2: 4}
    assert faults(pairs) == (0, 0, 0)


def test_events_out_of_order_in_the_file_are_paired_by_time():
    pairs = pair_nested(nested(("E", 9, A), ("B", 0, A)), empty_name=EMPTY)
    assert ends(pairs) == {1: 9}
    assert faults(pairs) == (0, 0, 0)


def test_crossing_slices_keep_their_own_ends_and_are_counted():
    pairs = pair_nested(nested(("B", 0, A), ("B", 2, B), ("E", 5, A), ("E", 9, B)), empty_name=EMPTY)
    assert ends(pairs) == {0: 5, 1: 9}
    assert faults(pairs) == (0, 0, 1)


def test_an_end_of_a_name_that_is_not_open_closes_the_innermost_and_is_counted():
    pairs = pair_nested(nested(("B", 0, A), ("E", 5, B)), empty_name=EMPTY)
    assert ends(pairs) == {0: 5}
    assert faults(pairs) == (0, 0, 1)


def test_begins_without_an_end_run_to_the_last_event():
    pairs = pair_nested(nested(("B", 0, A), ("B", 2, B), ("E", 5, B), ("B", 7, B)), empty_name=EMPTY)
    assert ends(pairs) == {0: 7, 1: 5, 3: 7}
    assert faults(pairs) == (2, 0, 0)


def test_ends_without_a_begin_are_counted():
    pairs = pair_nested(nested(("E", 1, A), ("B", 2, A), ("E", 3, A), ("E", 4, A)), empty_name=EMPTY)
    assert ends(pairs) == {1: 3}
    assert faults(pairs) == (0, 2, 0)


def test_threads_do_not_see_each_other():
    one, two = nested(("B", 0, A), ("E", 9, A)), nested(("B", 1, A), ("E", 2, A), place=1)
    both = {name: np.concatenate([one[name], two[name]]) for name in one}
    assert ends(pair_nested(both, empty_name=EMPTY)) == {0: 9, 2: 2}


def test_no_events_give_no_pairs():
    assert len(pair_nested(nested(), empty_name=EMPTY).begins) == 0
    assert len(pair_by_id(by_id()).begins) == 0


def test_asynchronous_pairs_are_told_by_id_and_may_cross():
    pairs = pair_by_id(by_id(("b", 0, A, 0, 7), ("b", 2, A, 0, 8), ("e", 5, A, 0, 7), ("e", 9, A, 0, 8)))
    assert ends(pairs) == {0: 5, 1: 9}
    assert faults(pairs) == (0, 0, 0)


def test_asynchronous_ids_belong_to_a_category():
    pairs = pair_by_id(by_id(("b", 0, A, 0, 7), ("e", 5, A, 1, 7)))
    assert ends(pairs) == {0: 5}
    assert faults(pairs) == (1, 1, 0)


def test_asynchronous_slices_of_one_id_nest_by_name():
    pairs = pair_by_id(by_id(("b", 0, A, 0, 7), ("b", 2, B, 0, 7), ("e", 5, B, 0, 7), ("e", 9, A, 0, 7)))
    assert ends(pairs) == {0: 9, 1: 5}
    assert faults(pairs) == (0, 0, 0)


def test_an_asynchronous_id_may_be_used_again():
    pairs = pair_by_id(by_id(("b", 0, A, 0, 7), ("e", 1, A, 0, 7), ("b", 2, A, 0, 7), ("e", 3, A, 0, 7)))
    assert ends(pairs) == {0: 1, 2: 3}


def one_by_one(points: dict[str, np.ndarray]) -> Pairs:
    """All rows the slow way."""
    none = np.empty((0, 2), np.int64)
    with mock.patch.object(pairing, "_split", lambda points, order, empty_name: (none, order)):
        return pair_nested(points, empty_name=EMPTY)


EVENTS = st.lists(
    st.tuples(st.sampled_from("BE"), st.integers(0, 5), st.sampled_from([A, B, EMPTY]), st.integers(0, 2)), max_size=24
)


@given(EVENTS)
def test_whole_columns_give_what_one_by_one_does(events: list[tuple[str, int, int, int]]):
    points = nested(*((letter, ts, name) for letter, ts, name, _ in events))
    points["place"] = np.array([place for *_, place in events], np.int32)
    fast, slow = pair_nested(points, empty_name=EMPTY), one_by_one(points)
    assert ends(fast) == ends(slow)
    assert dict(zip(fast.begins.tolist(), fast.ends.tolist(), strict=True)) == dict(
        zip(slow.begins.tolist(), slow.ends.tolist(), strict=True)
    )
    assert faults(fast) == faults(slow)

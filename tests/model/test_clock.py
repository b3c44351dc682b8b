"""Decimal microseconds to nanoseconds, against exact decimal arithmetic."""

from __future__ import annotations

import subprocess
import sys
import warnings
from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.model.clock import EXACT_DOUBLE_US, ns_from_doubles, ns_from_mixed, ns_from_text
from laptime.model.vocabulary import NULL

LIMIT_NS = int(EXACT_DOUBLE_US) * 1000 - 1
EPOCH = b"1712195478123456.75"
EPOCH_NS = 1712195478123456750


def decimal_text(nanoseconds: int) -> str:
    return f"{Decimal(nanoseconds) / 1000:f}"


@given(st.lists(st.integers(-LIMIT_NS, LIMIT_NS) | st.integers(LIMIT_NS - 10**6, LIMIT_NS), max_size=20))
def test_doubles_with_three_decimals_are_exact_below_2_to_43(nanoseconds):
    doubles = np.array([float(decimal_text(value)) for value in nanoseconds])
    assert ns_from_doubles(doubles).tolist() == nanoseconds


def test_the_limit_is_as_high_as_it_can_be():
    doubles = np.array([EXACT_DOUBLE_US + 0.001 * k for k in range(1000)])
    assert len(np.unique(doubles)) < len(doubles)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e16, -1e16, 1e308])
def test_doubles_that_are_no_time_become_null_without_a_warning(value):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ns_from_doubles(np.array([1.5, value])).tolist() == [1500, NULL]


@given(st.lists(st.integers(-(9 * 10**18), 9 * 10**18), max_size=20))
def test_texts_are_exact_over_the_whole_range(nanoseconds):
    assert ns_from_text([decimal_text(value).encode() for value in nanoseconds]).tolist() == nanoseconds


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        (EPOCH, EPOCH_NS),
        (b'"1712195478123456.75"', EPOCH_NS),
        (b" 12 ", 12_000),
        (b'"12"', 12_000),
        (b'" 12.5 "', 12_500),
        (b"1.5e3", 1_500_000),
        (b"1.5E-3", 2),
        (b"-0.001", -1),
        (b"0.123456789", 123),
        (b"1712195478123456.7501234567", EPOCH_NS),
        (b"", NULL),
        (b"null", NULL),
        (b"NaN", NULL),
        (b"-Infinity", NULL),
        (b"1e400", NULL),
        (b"99999999999999999999999999", NULL),
        (b"soon", NULL),
        (b"\xff\xfe", NULL),
        ("\N{ARABIC-INDIC DIGIT ONE}".encode(), NULL),
        (b'{"a":1}', NULL),
    ],
)
def test_texts_of_every_form(text, ns):
    assert ns_from_text([text]).tolist() == [ns]
    assert ns_from_text([EPOCH, text]).tolist() == [EPOCH_NS, ns]


@pytest.mark.parametrize("text", [b"-1e1000000", b"1e2147483647", b"1e99999999999999999999"])
def test_a_huge_exponent_is_null(text):
    assert ns_from_text([text]).tolist() == [NULL]


@pytest.mark.parametrize("text", ["1e-100000000", "1e-999999999"])
def test_a_tiny_exponent_does_not_kill_the_process(text):
    """pyarrow's cast of such a text to a decimal reads outside its tables, hence the process of its own."""
    code = f"from laptime.model.clock import ns_from_text; print(ns_from_text([b'{text}'])[0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "0\n")


@given(st.lists(st.decimals(-10, 10, places=4), min_size=1, max_size=8))
def test_a_text_gives_the_same_time_whatever_stands_beside_it(decimals):
    texts = [f"{value:f}".encode() for value in decimals]
    assert ns_from_text(texts).tolist() == ns_from_text([*texts, b"soon"]).tolist()[:-1]


@given(st.lists(st.decimals(0, 10**6, places=4), min_size=1, max_size=8))
def test_halves_of_a_nanosecond_round_up(decimals):
    expected = [int((value * 1000).quantize(Decimal(1), ROUND_HALF_UP)) for value in decimals]
    assert ns_from_text([f"{value:f}".encode() for value in decimals]).tolist() == expected


@given(st.lists(st.binary(max_size=12) | st.text(max_size=8).map(str.encode), max_size=6))
def test_no_text_raises(texts):
    assert len(ns_from_text(texts)) == len(texts)


@pytest.mark.parametrize(
    ("value", "ns"),
    [
        (None, NULL),
        (True, NULL),
        (0, 0),
        (7, 7_000),
        (1712195478123456, 1712195478123456_000),
        (10**400, NULL),
        (-(10**19), NULL),
        (0.001, 1),
        (float("nan"), NULL),
        (float("inf"), NULL),
        (1e300, NULL),
        ("12.5", 12_500),
        (EPOCH.decode(), EPOCH_NS),
        ("", NULL),
        ("é", NULL),
        ([1], NULL),
    ],
)
def test_mixed_values(value, ns):
    assert ns_from_mixed([value]).tolist() == [ns]


def test_nothing_gives_nothing():
    assert [len(result) for result in (ns_from_text([]), ns_from_mixed([]), ns_from_doubles(np.empty(0)))] == [0, 0, 0]

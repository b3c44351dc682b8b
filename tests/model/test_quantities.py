"""Numbers read as those of the pages do: the cases are those of ui/src/lib/units.test.ts."""

from __future__ import annotations

import pytest

from laptime.model.quantities import quantity_text, share_text, size_text, time_text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (7, "7 ns"),
        (999, "999 ns"),
        (1000, "1.00 µs"),
        (1234, "1.23 µs"),
        (12_250, "12.3 µs"),
        (205_380_912, "205 ms"),
        (999_600, "1.00 ms"),
        (999_400, "999 µs"),
        (1_500_000_000, "1.50 s"),
        (123_456_000_000_000, "123456 s"),
        (-2500, "-2.50 µs"),
        (None, "-"),
    ],
)
def test_times(ns: int | None, text: str) -> None:
    assert time_text(ns) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(512, "512 B"), (1536, "1.50 KiB"), (1023, "1023 B"), (3 << 30, "3.00 GiB"), (2 << 40, "2.00 TiB"), (None, "-")],
)
def test_sizes(count: int | None, text: str) -> None:
    assert size_text(count) == text


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0, "0.0 %"),
        (0.0001, "< 0.1 %"),
        (-0.0001, "> -0.1 %"),
        (0.1225, "12.3 %"),
        (0.616, "61.6 %"),
        (1, "100 %"),
        (0.9996, "100 %"),
        (None, "-"),
    ],
)
def test_shares(fraction: float | None, text: str) -> None:
    assert share_text(fraction, 1) == text


def test_a_share_of_nothing_is_unknown() -> None:
    assert share_text(0, 0) == share_text(1, None) == "-"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (999.4, "999"), (999_600, "1.00 M"), (1.21e9, "1.21 G"), (3e16, "30.0 P"), (None, "-")],
)
def test_quantities(value: float | None, text: str) -> None:
    assert quantity_text(value) == text

"""Filters, sorting and paging of table rows."""

from __future__ import annotations

import pytest

from laptime.analyses.selection import Row, Selection, select
from laptime.errors import LaptimeError

ROWS: list[Row] = [
    {"name": "MatMul-op1", "op_type": "MatMul", "total_ns": 30, "info": {"a": 1, "flo": 5}},
    {"name": "Mul-op2", "op_type": "Mul", "total_ns": 20, "info": {"flo": 7}},
    {"name": "Cast-op3", "op_type": "Cast", "total_ns": None, "info": None},
    {"name": "mul-op4", "op_type": "Mul", "total_ns": 10, "info": None},
]


def names(wanted: Selection) -> list[object]:
    return [row["name"] for row in select(ROWS, wanted).rows]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Selection(one_of={"op_type": ["Mul", "Cast"]}), ["Mul-op2", "Cast-op3", "mul-op4"]),
        (Selection(none_of={"op_type": ["mul"]}), ["MatMul-op1", "Cast-op3"]),
        (Selection(contains={"name": ["MUL"]}), ["MatMul-op1", "Mul-op2", "mul-op4"]),
        (Selection(contains={"name": ["cast", "op4"]}), ["Cast-op3", "mul-op4"]),
        (Selection(contains={"name": ["mul"]}, none_of={"op_type": ["MatMul"]}), ["Mul-op2", "mul-op4"]),
        (Selection(sort="total_ns"), ["MatMul-op1", "Mul-op2", "mul-op4", "Cast-op3"]),
        (Selection(sort="total_ns", ascending=True), ["mul-op4", "Mul-op2", "MatMul-op1", "Cast-op3"]),
        (Selection(sort="total_ns", limit=2, page=1), ["mul-op4", "Cast-op3"]),
        (Selection(sort="total_ns", limit=2, page=9), []),
        (Selection(at_least={"total_ns": 20}), ["MatMul-op1", "Mul-op2"]),
        (Selection(at_most={"total_ns": 20}), ["Mul-op2", "mul-op4"]),
        (Selection(at_least={"total_ns": 15}, at_most={"total_ns": 25}), ["Mul-op2"]),
        (Selection(sort="flo"), ["Mul-op2", "MatMul-op1", "Cast-op3", "mul-op4"]),
        (Selection(at_least={"flo": 6}), ["Mul-op2"]),
        (Selection(contains={"flo": ["5"]}), ["MatMul-op1"]),
        (Selection(sort="name"), ["Cast-op3", "MatMul-op1", "Mul-op2", "mul-op4"]),
        (Selection(sort="name", ascending=False), ["mul-op4", "Mul-op2", "MatMul-op1", "Cast-op3"]),
        (Selection(sort="total_ns", offset=1, limit=2), ["Mul-op2", "mul-op4"]),
        (Selection(sort="total_ns", offset=3), ["Cast-op3"]),
        (Selection(search="MUL op"), ["MatMul-op1", "Mul-op2", "mul-op4"]),
        (Selection(search="op_4"), ["mul-op4"]),
        (Selection(search="mtml"), ["MatMul-op1"]),
        (Selection(search="mlmt"), []),
        (Selection(search="cst mul"), []),
        (Selection(search="  "), ["MatMul-op1", "Mul-op2", "Cast-op3", "mul-op4"]),
        (Selection(search="matmul", none_of={"op_type": ["MatMul"]}), []),
    ],
)
def test_rows_are_chosen(wanted: Selection, expected: list[str]) -> None:
    assert names(wanted) == expected


@pytest.mark.parametrize("ascending", [None, True, False])
@pytest.mark.parametrize("column", ["total_ns", "name", "op_type", "flo"])
def test_unknown_comes_last_whichever_the_direction(column: str, ascending: bool | None) -> None:
    rows: list[Row] = [
        {"name": None, "op_type": None, "total_ns": None, "info": None},
        {"name": "Add", "op_type": "Add", "total_ns": 0, "info": {"flo": 1}},
        {"name": "Sub", "op_type": "Sub", "total_ns": -1, "info": {"flo": -1}},
    ]
    found = select(rows, Selection(sort=column, ascending=ascending)).rows
    assert [row["name"] for row in found][-1] is None and len(found) == 3


def test_rows_that_tie_are_ordered_by_name_those_without_one_last() -> None:
    rows: list[Row] = [{"name": name, "total_ns": 5} for name in (None, "b", "a")]
    for ascending in (None, True, False):
        found = select(rows, Selection(sort="total_ns", ascending=ascending)).rows
        assert [row["name"] for row in found] == ["a", "b", None]


def test_size_counts_what_matches_before_paging() -> None:
    assert select(ROWS, Selection(contains={"name": ["mul"]}, limit=1)).size == 3


@pytest.mark.parametrize("wanted", [Selection(sort="info"), Selection(sort="colour"), Selection(one_of={"colour": []})])
def test_unknown_columns_and_columns_without_order_are_errors(wanted: Selection) -> None:
    with pytest.raises(LaptimeError):
        select(ROWS, wanted)


def test_no_rows_select_nothing() -> None:
    assert select([], Selection(sort="anything")).rows == []

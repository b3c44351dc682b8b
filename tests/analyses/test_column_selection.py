"""Choosing rows of columns gives what choosing rows one by one does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from laptime.analyses.column_selection import select_rows
from laptime.analyses.selection import Selection, select
from laptime.errors import LaptimeError
from laptime.model.vocabulary import NULL

NAMES = st.none() | st.sampled_from(["aten::mm", "aten::add_", "Conv2d", "conv2D", "mm", ""])
ROWS = st.lists(st.tuples(NAMES, st.none() | st.integers(-5, 5), st.sampled_from(["a", "b", None])), max_size=12)
TEXTS = st.lists(st.sampled_from(["mm", "Add", "conv2d", "1", "-", ""]), min_size=1, max_size=2)


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    def perhaps(column: str, value: Any) -> dict[str, Any]:
        return {column: draw(value)} if draw(st.booleans()) else {}

    return Selection(
        one_of=perhaps("op_type", st.lists(st.sampled_from(["a", "B", ""]), max_size=2)),
        none_of=perhaps("name", TEXTS),
        contains=perhaps("name", TEXTS) | perhaps("size", TEXTS),
        at_least=perhaps("size", st.integers(-5, 5)),
        at_most=perhaps("size", st.integers(-5, 5)),
        search=draw(st.none() | st.sampled_from(["MM", "aten add", "cnv", ":", "zz", "a"])),
        sort=draw(st.sampled_from(["name", "size", "op_type"])),
        ascending=draw(st.sampled_from([None, True, False])),
        limit=draw(st.none() | st.integers(1, 5)),
        page=draw(st.integers(0, 2)),
        offset=draw(st.integers(0, 3)),
    )


@example([("aten::mm", None, "a"), (None, None, "a")], Selection(sort="size"))
@example([("mm", 1, "a"), (None, 1, "a"), ("Conv2d", 1, "a")], Selection(sort="size"))
@given(ROWS, selections())
def test_columns_and_rows_agree(table: list[tuple[str | None, int | None, str | None]], wanted: Selection) -> None:
    rows = [
        {"name": name, "size": size, "op_type": kind, "place": place} for place, (name, size, kind) in enumerate(table)
    ]
    columns = {
        "name": np.array([row["name"] for row in rows], object),
        "size": np.array([NULL if row["size"] is None else row["size"] for row in rows], np.int64),
        "op_type": np.array([row["op_type"] for row in rows], object),
    }
    expected, found = select(rows, wanted), select_rows(columns, wanted)
    assert found.size == expected.size
    shown = [{key: rows[place][key] for key in columns} for place in found.rows.tolist()]
    assert shown == [{key: row[key] for key in columns} for row in expected.rows]


def test_unknown_columns_are_errors() -> None:
    with pytest.raises(LaptimeError, match="columns: name"):
        select_rows({"name": np.array(["a"], object)}, Selection(contains={"colour": ["a"]}))

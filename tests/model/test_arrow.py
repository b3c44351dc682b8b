"""Coded columns against the texts that they stand for."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.model.arrays import repeated
from laptime.model.arrow import coded, nullable

TEXTS = ["a", "b", "c", "d"]


@given(st.lists(st.integers(-2, 3)), st.sampled_from([np.int8, np.int32, np.int64]))
def test_coded_columns_hold_the_texts_in_use(codes, dtype):
    column = coded(np.array(codes, dtype), TEXTS)
    assert column.to_pylist() == [TEXTS[code] if code >= 0 else None for code in codes]
    assert column.dictionary.to_pylist() == sorted({TEXTS[code] for code in codes if code >= 0})


@pytest.mark.parametrize("code", [-2, -1, 0, 3])
def test_one_code_repeated_is_a_column_like_others(code):
    column = coded(repeated(np.array([code], np.int32), 3), TEXTS)
    assert column.to_pylist() == [TEXTS[code] if code >= 0 else None] * 3


@pytest.mark.parametrize("values", [[], [5, 6], [5, -1, 6], [-1, -1]])
def test_what_is_missing_is_null(values):
    column = nullable(np.array(values, np.int64), pa.int32(), -1)
    assert column.type == pa.int32()
    assert column.to_pylist() == [None if value == -1 else value for value in values]

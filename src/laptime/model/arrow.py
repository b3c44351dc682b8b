"""Numpy columns as Arrow columns, with nulls for what is unknown."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from laptime.model.arrays import Column, distinct_codes
from laptime.model.vocabulary import NULL


def nullable(column: Column, kind: pa.DataType, missing: int = NULL) -> pa.Array:
    """Arrow column where `missing` is null."""
    absent = np.asarray(column == missing)
    if absent.all():
        return pa.nulls(len(column), kind)
    return pa.array(column, mask=absent if absent.any() else None).cast(kind)


def coded(codes: Column, texts: list[str] | tuple[str, ...]) -> pa.DictionaryArray:
    """Arrow dictionary column that holds only the texts in use; a negative code is null."""
    used, place = distinct_codes(codes)
    has_null = int(len(used) > 0 and used[0] < 0)
    narrow = place.astype(np.int32)
    if len(used) == has_null == 1:
        indices = pa.nulls(len(codes), pa.int32())
    elif has_null:
        indices = pa.array(np.maximum(narrow - 1, 0), mask=narrow < 1)
    else:
        indices = pa.array(narrow)
    return pa.DictionaryArray.from_arrays(
        indices, pa.array([texts[code] for code in used[has_null:].tolist()], pa.string())
    )

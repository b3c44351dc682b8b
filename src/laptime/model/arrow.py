"""Numpy columns as Arrow columns, with nulls for what is unknown."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from laptime.model.arrays import Column, is_repeated, repeated
from laptime.model.vocabulary import NULL


def nullable(column: Column, kind: pa.DataType, missing: int = NULL) -> pa.Array:
    """Arrow column where `missing` is null."""
    absent = np.asarray(column == missing)
    if absent.all():
        return pa.nulls(len(column), kind)
    return pa.array(column, mask=absent if absent.any() else None).cast(kind)


def coded(codes: Column, texts: list[str] | tuple[str, ...]) -> pa.DictionaryArray:
    """Arrow dictionary column that holds only the texts in use; a negative code is null."""
    is_used = np.zeros(len(texts) + 1, bool)
    if is_repeated(codes):
        codes = repeated(np.maximum(codes[:1], -1), len(codes))
        is_used[codes[0]] = True
    else:
        codes = np.maximum(codes, -1) if codes.min(initial=0) < -1 else codes
        is_used[codes] = True  # -1: the last, which no text has
    has_null = is_used[-1]
    is_used[-1] = False
    place = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    if has_null and not is_used.any():
        indices = pa.nulls(len(codes), pa.int32())
    else:
        indices = pa.array(place[codes], mask=np.asarray(codes < 0) if has_null else None)
    return pa.DictionaryArray.from_arrays(
        indices, pa.array([texts[code] for code in np.flatnonzero(is_used).tolist()], pa.string())
    )

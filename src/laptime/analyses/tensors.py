"""Inputs and outputs of an operator as its source tells them: format, data type and shape of each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import zip_longest

from laptime.analyses.selection import Row

_SIDE = re.compile(r"(input|output)_(\d{1,6})\Z")
_PREFIX = "NUMBER_TYPE_"
Tensor = dict[str, str | None]
"""`format`, `data_type` and `shape` (sizes between commas, empty for a scalar); None is unknown."""


def tensors_of(op: Row) -> dict[str, Tensor]:
    """`input_0`, `input_1`, ..., `output_0`, ... of a row of the `ops` table; empty where the source tells none."""
    info = _parsed(op["info"])
    details = info if isinstance(info, dict) else {}
    told = [(_SIDE.match(key), value) for key, value in details.items()]
    sides = {match[0]: (match, value) for match, value in told if match and isinstance(value, dict)}
    if sides:
        names = sorted(sides, key=lambda name: (sides[name][0][1], int(sides[name][0][2])))
        return {name: _tensor(sides[name][1]) for name in names}
    return {**_of_columns(op, details, "input"), **_of_columns(op, details, "output")}


def _tensor(told: Mapping[str, object]) -> Tensor:
    data_type = told.get("data_type")
    return {
        "format": _text(told.get("format")),
        "data_type": data_type.removeprefix(_PREFIX) if isinstance(data_type, str) else _text(data_type),
        "shape": _shape(told.get("shape")),
    }


def _of_columns(op: Row, details: Mapping[str, object], side: str) -> dict[str, Tensor]:
    """Tensors of a source that lists shapes, data types and formats apart."""
    shapes = _listed(op.get(f"{side}_shapes"))
    data_types = _listed(op.get(f"{side}_dtypes")) or _listed(details.get(f"{side}_dtypes"))
    formats = _listed(details.get(f"{side}_formats"))
    together = zip_longest(formats, data_types, shapes)
    return {
        f"{side}_{place}": {"format": _text(form), "data_type": _text(data_type), "shape": _shape(shape)}
        for place, (form, data_type, shape) in enumerate(together)
    }


def _listed(value: object) -> list[object]:
    """A list from JSON, or from `a;b` as Ascend writes it."""
    parsed = _parsed(value)
    if isinstance(parsed, list):
        return parsed
    return list(parsed.strip('"').split(";")) if isinstance(parsed, str) and parsed else []


def _shape(value: object) -> str | None:
    if isinstance(value, list):
        return ",".join(str(size) for size in value)
    return value.strip("[]() ") if isinstance(value, str) else None


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _parsed(text: object) -> object:
    try:
        return json.loads(text) if isinstance(text, str) else text
    except ValueError:
        return text

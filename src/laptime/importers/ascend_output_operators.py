"""Distinct operators of an Ascend device: rows that agree in all their columns are executions of one operator."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec

from laptime.model.builder import Op, TraceBuilder

_COLLECTIVE = re.compile(r"(hcom_[A-Za-z]+_)")


@dataclass(frozen=True)
class Operator:
    """What a kernel's row says of its operator; "" is unknown. Shapes and types are lists with `;` between inputs."""

    name: str
    op_type: str
    core: str
    input_shapes: str
    input_dtypes: str
    output_shapes: str
    details: tuple[tuple[str, str], ...]
    """Further keys of the operator's `info`."""


class Operators:
    """Gives operators their numbers in a builder."""

    def __init__(self, builder: TraceBuilder) -> None:
        self._builder = builder
        self._numbers: dict[Operator, int] = {}

    def number(self, operator: Operator) -> int:
        """The operator's number, given now if it is new."""
        if operator not in self._numbers:
            self._numbers[operator] = self._builder.add_op(_row(operator))
        return self._numbers[operator]


def _row(operator: Operator) -> Op:
    info = {key: value for key, value in operator.details if value}
    if operator.core:
        info["accelerator_core"] = operator.core
    return Op(
        name=operator.name,
        op_type=operator.op_type or collective_type(operator.name),
        full_name=operator.name,
        device_kind=operator.core or None,
        input_shapes=_as_json(operator.input_shapes),
        input_dtypes=_as_json(operator.input_dtypes),
        output_shapes=_as_json(operator.output_shapes),
        info=msgspec.json.encode(info).decode() if info else None,
    )


def _as_json(text: str) -> str | None:
    """`"32,3,224,224;64"` as a JSON list of texts, one per input."""
    parts = text.strip('"')
    return msgspec.json.encode(parts.split(";")).decode() if parts else None


def collective_type(name: str) -> str | None:
    """`hcom_allReduce_` of `hcom_allReduce__586_0_1`; None for what is no collective."""
    match = _COLLECTIVE.match(name)
    return match[1] if match else None

"""Operators of msprof's tasks: the name tells the type, `op_summary_*.csv` tells it better, and shapes with it."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path

from laptime.model.builder import Op, TraceBuilder
from laptime.model.classify import is_collective

_SUMMARY = re.compile(r"^op_summary_\w+\.csv$")
_NUMBER = re.compile(r"(?:-op\d+)?(?:_\d+)*$")
_SUBGRAPHS = ("Default", "Gradients")
_ABSENT = ("", "N/A")
COLLECTIVES = "HCCL"
"""What collectives run on, and the process their rows lie in."""


class OperatorNames:
    """The operator of each name, added to the builder when first met."""

    def __init__(self, files: Sequence[Path], builder: TraceBuilder) -> None:
        self._builder = builder
        self._known = _summary_rows(files, builder)
        self._codes: dict[str, int] = {}

    def op(self, full_name: str, core: str) -> int:
        """Number of the operator."""
        if full_name not in self._codes:
            self._codes[full_name] = self.add(full_name, core, self._known.get(full_name, {}))
        return self._codes[full_name]

    def add(self, full_name: str, core: str, row: dict[str, str]) -> int:
        """Number of a new operator, of which a row of `op_summary` tells."""
        return self._builder.add_op(_op_of(full_name, core, row))

    def shown(self, full_name: str) -> str:
        """Name of its slices: the full one, unless a scope's name would make a collective of it."""
        short = full_name.rpartition("/")[2]
        return short if is_collective(full_name) and not is_collective(short) else full_name


def _op_of(full_name: str, core: str, row: dict[str, str]) -> Op:
    short = full_name.rpartition("/")[2]
    first = full_name.partition("/")[0]
    return Op(
        name=short,
        op_type=_known(row, "OP Type", "Op Type") or _NUMBER.sub("", short) or short or None,
        full_name=full_name,
        subgraph=first if first in _SUBGRAPHS else None,
        device_kind=core or None,
        input_shapes=_shapes(_known(row, "Input Shapes")),
        input_dtypes=_list(_known(row, "Input Data Types")),
        output_shapes=_shapes(_known(row, "Output Shapes")),
    )


def _known(row: dict[str, str], *columns: str) -> str | None:
    """The first of the columns that is there and says something."""
    values = ((row.get(column) or "").strip() for column in columns)
    return next((value for value in values if value not in _ABSENT), None)


def _list(text: str | None) -> str | None:
    return None if text is None else json.dumps(text.strip('"').split(";"))


def _shapes(text: str | None) -> str | None:
    """`"184696,8;128000,39"` as JSON; None where it is not of that form."""
    if text is None:
        return None
    parts = [[size.strip() for size in part.split(",") if size.strip()] for part in text.strip('"').split(";")]
    if not all(size.isdecimal() and len(size) < 19 for part in parts for size in part):
        return None
    return json.dumps([[int(size) for size in part] for part in parts])


def _summary_rows(files: Sequence[Path], builder: TraceBuilder) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for file in files:
        if not _SUMMARY.match(file.name):
            continue
        try:
            text = file.read_bytes().decode("utf-8", "replace").replace("\0", "\ufffd")
            for row in csv.DictReader(text.splitlines()):
                found.setdefault(row.get("Op Name") or "", row)
        except (OSError, csv.Error):
            builder.warnings.add("other", f"{file.name} cannot be read; operator types come from names")
    return found

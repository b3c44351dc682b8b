"""What routes take: the answers of the server, a run's id, and the options that resources share."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal, cast

from fastapi import Depends, Path, Query, Request

from laptime.analyses.options import part_of
from laptime.analyses.parts import Part
from laptime.web.answers import Answers
from laptime.web.catalogue import Catalogue

MOST_INT = (1 << 53) - 1
"""What JavaScript counts exactly."""


def _answers(request: Request) -> Answers:
    return cast(Answers, request.app.state.answers)


def _catalogue(request: Request) -> Catalogue:
    return cast(Catalogue, request.app.state.catalogue)


AnswersOf = Annotated[Answers, Depends(_answers)]
CatalogueOf = Annotated[Catalogue, Depends(_catalogue)]
RunId = Annotated[str, Path(pattern="^[a-z0-9-]{1,64}$", description="Id of a run, from /api/runs.")]
Rank = Annotated[int | None, Query(ge=0, le=MOST_INT, description="Rank to look at; default: the first.")]
_Steps = Annotated[
    str | None, Query(max_length=400, description="Count these steps: 3, 3-7, 3-, -7 or 3,5.", examples=["3-7"])
]
_FromTime = Annotated[
    str | None, Query(alias="from", max_length=40, description="Count from this time on: 12.5ms, 3s, 800us, 120ns.")
]
_ToTime = Annotated[str | None, Query(alias="to", max_length=40, description="Count up to this time.")]


def _part(from_time: _FromTime = None, to_time: _ToTime = None, steps: _Steps = None) -> Part:
    return part_of(from_time, to_time, steps)


PartOf = Annotated[Part, Depends(_part)]
"""Time and steps that count."""
By = Literal["op-type", "name", "full-name", "kernel", "module", "shape", "source", "track"]
On = Literal["device", "host"]
_Subgraph = Literal["all", "Default", "Gradients"]
_OnDevice = Annotated[
    int | None, Query(ge=0, le=MOST_INT, description="Of work on devices only that of this one; default: all.")
]


def _operator_part(part: PartOf, subgraph: _Subgraph = "all", device: _OnDevice = None) -> Part:
    return replace(part, subgraph=None if subgraph == "all" else subgraph, device=device)


OperatorPartOf = Annotated[Part, Depends(_operator_part)]
"""The same, a subgraph and a device."""
Device = Annotated[
    str | None, Query(max_length=200, description="Device by its name; default: the one with the highest peak.")
]

"""Whatever is asked, the server answers as its description says, and never fails."""

from __future__ import annotations

import itertools
from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.generation import GenerationMode

from tests.web.conftest import HOME, Imported, client_of

_EXAMPLES = 8
"""Questions for each operation, of each mode."""
_HEADERS = {"Host": "127.0.0.1:8080"}
_CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_question_makes_it_fail(imported: Imported, mode: GenerationMode) -> None:
    client = client_of(imported.catalogue())
    runs = itertools.cycle(run["run"] for run in client.get("/api/runs").json()["runs"])
    schema = schemathesis.openapi.from_asgi("/openapi.json", client.app, headers=_HEADERS)
    statuses: list[int] = []

    def ask(case: schemathesis.Case) -> None:
        if "run" in (case.path_parameters or {}) and len(statuses) % 4:  # mostly runs that are there
            case.path_parameters["run"] = next(runs)
        response = case.call(base_url=HOME, headers=_HEADERS)
        statuses.append(response.status_code)
        case.validate_response(response, checks=_CHECKS)

    for operation in (each.ok() for each in schema.get_all_operations()):
        if operation.path != "/api/events":  # never ends
            calm = settings(max_examples=_EXAMPLES, database=None, suppress_health_check=list(HealthCheck))
            with suppress(Unsatisfiable):  # what takes nothing cannot be asked wrongly
                calm(given(case=operation.as_strategy(generation_mode=mode))(ask))()
    assert len(statuses) > 50
    if mode is GenerationMode.POSITIVE:
        assert statuses.count(200) > 20

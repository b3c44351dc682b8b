"""The description of the interface: complete, always the same, and true of real answers."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, get_origin, get_type_hints

import pytest
from fastapi.routing import APIRoute
from pydantic import ConfigDict, TypeAdapter
from typing_extensions import is_typeddict

from laptime.web.app import RESOURCES, document
from tests.web.conftest import Client

DOCUMENT = document()
_OPERATIONS = [
    (path, method, operation)
    for path, methods in DOCUMENT["paths"].items()  # type: ignore[attr-defined]
    for method, operation in methods.items()
]
ROUTES = [route for router in RESOURCES for route in router.routes if isinstance(route, APIRoute)]


def test_every_run_prints_the_same() -> None:
    command = [sys.executable, "-m", "laptime", "openapi"]
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    assert json.loads(printed) == json.loads(json.dumps(DOCUMENT))
    assert printed == json.dumps(json.loads(printed), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def test_operations_have_names_of_their_own() -> None:
    names = [operation["operationId"] for _, _, operation in _OPERATIONS]
    assert len(names) == len(set(names)) > 8
    assert all(name.replace("_", "").isalpha() for name in names)
    assert all(operation.get("summary") and operation.get("description") for _, _, operation in _OPERATIONS)


@pytest.mark.parametrize(("path", "method", "operation"), _OPERATIONS, ids=lambda each: str(each)[:40])
def test_errors_are_documented(path: str, method: str, operation: dict[str, Any]) -> None:
    expected = {"403"}
    if "{run}" in path:
        expected |= {"404", "422"}
    if path.startswith("/api/runs/{run}/") and path != "/api/runs/{run}/import":
        expected |= {"400", "409"}
    assert expected <= operation["responses"].keys()
    for status in expected:
        schema = operation["responses"][status]["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/Fault"}


@pytest.mark.parametrize(("path", "method", "operation"), _OPERATIONS, ids=lambda each: str(each)[:40])
def test_parameters_have_bounds(path: str, method: str, operation: dict[str, Any]) -> None:
    for parameter in operation.get("parameters", []):
        for schema in _plain_types(parameter["schema"]):
            if schema["type"] == "string":
                assert {"maxLength", "pattern", "enum", "const"} & schema.keys(), parameter
            if schema["type"] == "array":
                assert "maxItems" in schema, parameter
            if schema["type"] in ("integer", "number"):
                assert {"maximum", "minimum"} <= schema.keys(), parameter


def _plain_types(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for each in (schema, *schema.get("anyOf", []), *([schema["items"]] if "items" in schema else [])):
        if "type" in each:
            yield each
        if "anyOf" in each and each is not schema:
            yield from _plain_types(each)


def _forbid_more(model: Any, seen: set[Any]) -> None:
    """Makes a TypedDict, and all that it holds, take no keys but its own."""
    if is_typeddict(model) and model not in seen:
        seen.add(model)
        model.__pydantic_config__ = ConfigDict(extra="forbid")
        for hint in get_type_hints(model).values():
            _forbid_more(hint, seen)
    elif get_origin(model) is not None or hasattr(model, "__args__"):
        for part in getattr(model, "__args__", ()):
            _forbid_more(part, seen)


_QUESTIONS = {
    "op": ["?by=name", "?by=kernel", "?by=module&on=host", "?by=shape", "?by=source&on=host", "?by=track", "?steps=1-"],
    "report": ["", "?from=1ns&to=900ms", "?steps=1-"],
    "step": ["", "?step_index=1", "?steps=1-"],
    "slice": ["", "?depth=3"],
    "op_details": ["?by=name&on=host&name=aten::mm"],
}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.operation_id)
def test_answers_are_as_described(client: Client, run_ids: dict[str, str], route: APIRoute) -> None:
    if route.response_model is None or "POST" in route.methods:
        pytest.skip("no JSON is described")
    _forbid_more(route.response_model, set())
    adapter = TypeAdapter(route.response_model)
    answered = 0
    questions = _QUESTIONS.get(str(route.operation_id), [""])
    for run, question in itertools.product(run_ids.values(), questions):
        path = route.path.replace("{run}", run).replace("{slice_id}", "0")
        answer = client.get(path + question)
        assert answer.status_code in (200, 400, 404, 422), answer.text
        if answer.status_code == 200:
            adapter.validate_python(answer.json(), strict=True)
            answered += 1
    assert answered

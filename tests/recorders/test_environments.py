"""Each framework's environment holds what is pinned, and laptime is imported there without a package of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.environments import FRAMEWORKS, Environment
from tests.recorders.conftest import run_script

_LOOK = """
import importlib, importlib.metadata, json, sys

before = set(sys.modules)
import laptime
files = {name: getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}
print(json.dumps({
    "laptime": laptime.__file__,
    "third_party": sorted(name for name, file in files.items() if "site-packages" in file),
    "python": "%d.%d" % sys.version_info[:2],
    "framework": importlib.import_module(sys.argv[1]).__version__,
    "installed": {found.metadata["Name"].lower(): found.version for found in importlib.metadata.distributions()},
}))
"""


@pytest.mark.frameworks
@pytest.mark.parametrize("environment", FRAMEWORKS, ids=lambda environment: environment.name)
def test_holds_what_is_pinned(environment: Environment, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    python: Path = request.getfixturevalue(f"{environment.name}_python")
    seen = json.loads(run_script(python, _LOOK, tmp_path, environment.name).stdout.splitlines()[-1])
    assert seen["python"] == environment.python_version
    assert _public(seen["framework"]) == environment.version
    installed = {name: _public(version) for name, version in seen["installed"].items()}
    assert installed == environment.versions
    assert Path(seen["laptime"]).is_relative_to(ROOT / "src")
    assert seen["third_party"] == []


def _public(version: str) -> str:
    """The version without the name of its build: 2.13.0 of 2.13.0+cpu."""
    return version.partition("+")[0]

"""Every example of the documentation runs and shows what the program says today."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import io
import json
import re
from pathlib import Path

import pytest

from laptime.importers.opening import open_run
from laptime.model.query import run_query
from laptime.model.workspace import Workspace
from tests.conftest import EXAMPLE
from tests.docs.blocks import PAGES, ROOT, Block, Example, blocks, examples, run_laptime

BLOCKS = [block for page in PAGES for block in blocks(page)]
PYTHON = [block for block in BLOCKS if block.language == "python"]
_OF_A_FRAMEWORK = re.compile(r"import (?:torch|jax|megengine|mindspore)|\bbatches\)")
SQL = [block for block in BLOCKS if block.language == "sql"]


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.place)
def test_command_runs_and_shows_its_output(example: Example, reader: Path) -> None:
    code, lines = run_laptime(example.arguments, example.stdin)
    assert code == example.exit_code, "\n".join(lines)
    if not example.varies:
        assert lines == example.shown, "the output has changed: run `.venv/bin/python -m tests.docs.refresh`"


@pytest.mark.parametrize("block", PYTHON, ids=lambda block: block.place)
def test_python_runs(block: Block, reader: Path) -> None:
    code = compile(block.text, block.place, "exec")
    if _OF_A_FRAMEWORK.search(block.text):  # a part of a training script: no training here
        return
    names: dict[str, object] = {"__name__": "example"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(code, names)
    names.clear()
    gc.collect()  # what still records ends


@pytest.mark.parametrize("block", SQL, ids=lambda block: block.place)
def test_sql_runs(block: Block, workspace: Workspace) -> None:
    run_query(open_run(EXAMPLE, workspace=workspace), block.text)


def test_idle_example_has_the_budget_beside_it(tmp_path: Path, reader: Path) -> None:
    texts = {block.info[1]: block.text for block in BLOCKS if block.language == "json" and len(block.info) > 1}
    trace = tmp_path / "idle.json"
    trace.write_text(texts["idle-example"], encoding="utf-8")
    code, lines = run_laptime(("report", str(trace), "--json"))
    assert code == 0
    (step,) = json.loads(lines[0])["ranks"][0]["steps"]
    assert step["budget"] == json.loads(texts["idle-budget"])


def test_picture_is_that_of_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("make", ROOT / "docs" / "images" / "make.py")
    assert spec and spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    monkeypatch.chdir(ROOT)
    picture = make.TARGET.read_text(encoding="utf-8")
    assert picture == make.report_svg(), "the report has changed: run `.venv/bin/python -m tests.docs.refresh`"

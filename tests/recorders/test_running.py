"""A script that fails or does not end fails its test, and shows what it printed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.recorders.conftest import run_script

_PYTHON = Path(sys.executable)


def test_text_and_arguments(tmp_path: Path) -> None:
    done = run_script(_PYTHON, "import sys, laptime, os; print(sys.argv[1:], os.getcwd())", tmp_path, "one", tmp_path)
    assert done.stdout == f"{['one', str(tmp_path)]} {tmp_path}\n"


def test_a_failure_shows_the_output(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"(?s)exit 3.*halfway.*no more"):
        run_script(_PYTHON, "import sys; print('halfway'); print('no more', file=sys.stderr); sys.exit(3)", tmp_path)


def test_one_that_does_not_end(tmp_path: Path) -> None:
    script = tmp_path / "endless.py"
    script.write_text("import time; print('halfway', flush=True); time.sleep(60)")
    with pytest.raises(pytest.fail.Exception, match=r"(?s)still running after 2 s.*halfway"):
        run_script(_PYTHON, script, tmp_path, timeout=2)

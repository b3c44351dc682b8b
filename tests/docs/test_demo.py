"""`make demo` shows the example recordings, as README says."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

import httpx

from tests.docs.blocks import ROOT
from tests.web.servers import Machine, free_port

_EXAMPLES = ROOT / "examples"


def test_the_demo_serves_all_examples_until_ctrl_c(tmp_path: Path) -> None:
    (recipe,) = re.findall(r"^demo:.*\n\t@\$\(BIN\)/laptime open (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    machine = Machine(tmp_path / "cache", tmp_path / "workspace")
    with machine.opened(ROOT / recipe, "--port", free_port()) as (process, url):
        assert urllib.request.urlopen(url).status == 200
        listed = httpx.get(f"{url}api/runs").json()
        assert {run["name"] for run in listed["runs"]} == {"ddp4-gloo", "jax-cpu"}
    assert process.returncode == 0


def test_each_example_is_described() -> None:
    text = (_EXAMPLES / "README.md").read_text(encoding="utf-8")
    for entry in _EXAMPLES.iterdir():
        assert entry.name == "README.md" or entry.name in text, entry
    assert sum(file.stat().st_size for file in (_EXAMPLES / "jax-cpu").iterdir()) < 300_000

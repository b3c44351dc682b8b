"""The wheel serves the same pages, built and installed without Node."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.e2e.site import serving

_PAGES = Path("laptime") / "web" / "static"


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_wheel_serves_the_pages(tmp_path: Path) -> None:
    built = ROOT / "src" / _PAGES
    if not (built / "index.html").is_file():
        pytest.skip("the pages are not built: make setup")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    environment = {**os.environ, "PATH": "", "LAPTIME_SKIP_UI": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(ROOT)], env=environment, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed, base = tmp_path / "installed", tmp_path / "runs"
    zipfile.ZipFile(wheel).extractall(installed)
    base.mkdir()
    assert _files(installed / _PAGES) == _files(built)

    with serving(base, tmp_path / "workspace", installed) as site:
        page = urllib.request.urlopen(site.url + "/").read().decode()
        assets = re.findall(r'"(/static/[^"]+)"', page)
        assert len(assets) >= 3
        for asset in assets:
            served = urllib.request.urlopen(site.url + asset).read()
            assert served == (built / asset.removeprefix("/static/")).read_bytes()

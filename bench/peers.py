"""The programs laptime is compared with, in a virtual environment of their own.

The environment lies in the user's cache and is made anew when the pinned requirements or the interpreter change.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "hta-requirements.txt"
ENVIRONMENT = Path.home() / ".cache" / "laptime-envs" / "hta-0.5.0"

# HTA wants to be told the rank; it is the one in the recording's distributedInfo.
HTA_LOAD = "import sys; from hta.trace_analysis import TraceAnalysis; TraceAnalysis(trace_files={3: sys.argv[1]})"
JSON_LOAD = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"
ORJSON_LOADS = "import orjson, sys; orjson.loads(open(sys.argv[1], 'rb').read())"

_COMPARED = ("HolisticTraceAnalysis", "pandas", "numpy", "orjson")
_VERSIONS = "import json, sys; from importlib.metadata import version; print(json.dumps([*map(version, sys.argv[1:])]))"


class InstallFailed(Exception):
    """The peers could not be installed; the text is the installer's last word."""


def peer_python() -> Path:
    """Interpreter of the peers' environment, which is made first where it is missing or outdated."""
    python = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / "requirements.sha256"
    key = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    if not (stamp.is_file() and stamp.read_text() == key):
        shutil.rmtree(ENVIRONMENT, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(ENVIRONMENT)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(REQUIREMENTS)])
        _run([str(python), "-c", "import hta.trace_analysis, orjson"])
        stamp.write_text(key)
    return python


def peer_versions() -> dict[str, str]:
    """Versions of the packages that decide what the peers cost."""
    answer = _run([str(peer_python()), "-c", _VERSIONS, *_COMPARED])
    return dict(zip(_COMPARED, json.loads(answer), strict=True))


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last_line = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise InstallFailed(f"cannot set up {ENVIRONMENT.name} for the comparison: {last_line}")
    return done.stdout

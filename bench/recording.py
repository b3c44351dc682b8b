"""What recording costs: `scope()` with and without a profiler here, steps under each framework in its environment.

Prints a section of Markdown; `bench/run.py` puts it on the page. A framework whose environment was not made is left out
by name.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import laptime

ROOT = Path(__file__).parent.parent
_CALLS = 20_000
_ROUNDS = 20
_IDLE_US, _BUSY_US, _RATIO = 1.0, 5.0, 1.05
_FRAMEWORKS = {"torch": ("PyTorch", "recording_pytorch.py"), "megengine": ("MegEngine", "recording_megengine.py")}


def scope_costs() -> tuple[float, float]:
    """Microseconds to enter and leave a scope, without a profiler and under one of plain Python."""
    idle = _cheapest()
    with tempfile.TemporaryDirectory() as folder, laptime.Profiler(folder, framework="python"):
        return idle, _cheapest()


def _cheapest() -> float:
    """The least of several rounds: what a busy machine adds is no cost of a scope."""
    rounds = []
    for _ in range(_ROUNDS):
        before = time.process_time_ns()
        for _ in range(_CALLS):
            with laptime.scope("part"):
                pass
        rounds.append((time.process_time_ns() - before) / _CALLS / 1000)
    return min(rounds)


def section() -> Iterator[str]:
    """The lines of the page."""
    yield from ("## What recording costs", "")
    idle, recording = scope_costs()
    yield from ("| `scope()`, enter and leave | us | needed | |", "|---|--:|--:|---|")
    yield f"| no profiler runs | {idle:.2f} | {_IDLE_US:g} | {_met(idle <= _IDLE_US)} |"
    yield f"| a profiler of plain Python runs | {recording:.2f} | {_BUSY_US:g} | {_met(recording <= _BUSY_US)} |"
    yield from ("", "| step of a conv net, CPU ms | own profiler | laptime | ratio, median of pairs | pairs | |")
    yield "|---|--:|--:|--:|--:|---|"
    for name, (title, script) in _FRAMEWORKS.items():
        yield from _rows(name, title, script)
    yield ""


def _rows(name: str, title: str, script: str) -> Iterator[str]:
    measured = _measured(name, script)
    if measured is None:
        yield f"| {title}: not measured, `make test-frameworks` makes its environment | | | | | |"
        return
    for options in ("default", "with_scopes", "with_backtrace"):
        row = measured[options]
        own = next(row[key] for key in row if key.endswith("_ms") and key != "laptime_ms")
        verdict = _met(row["median_ratio"] <= _RATIO) if options == "default" else ""
        yield (
            f"| {title}, {options} | {own:.1f} | {row['laptime_ms']:.1f} | {row['median_ratio']:.3f} "
            f"| {row['pairs']} | {verdict} |"
        )


def _measured(name: str, script: str) -> dict[str, dict[str, float]] | None:
    sys.path.insert(0, str(ROOT))
    from tests.environments import named

    python = named(name).python
    if not python.exists():
        return None
    done = subprocess.run(
        [python, str(Path(__file__).with_name(script))],
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if lines else None


def _met(met: bool) -> str:
    return "met" if met else "missed"


if __name__ == "__main__":
    print("\n".join(section()))

"""Recording a thousand steps keeps no more in memory than the window that is open."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.recorders.conftest import run_script

_SCRIPT = """
import laptime
from laptime.recorders.sampling import resident_bytes

sizes = []
with laptime.Profiler("out", framework="python", schedule=laptime.schedule(active=10)) as profiler:
    for turn in range(1000):
        for _ in range(50):
            with laptime.scope(f"part {turn}"):
                pass
        profiler.step()
        if turn in (199, 999):
            sizes.append(resident_bytes())
print(sizes[1] - sizes[0], profiler.recorded_steps)
"""


def test_a_thousand_steps(tmp_path: Path) -> None:
    grew, steps = map(int, run_script(Path(sys.executable), _SCRIPT, tmp_path).stdout.split())
    assert steps == 1000
    assert grew < 4_000_000  # 40,000 scopes would take more than 10 MB

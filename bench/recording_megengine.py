"""What recording with laptime costs beside MegEngine's own profiler: processor time of a step, in interleaved pairs.

Run with a Python that has MegEngine: PYTHONPATH=src PYTHON bench/recording_megengine.py [PAIRS]. Each pair trains one
step of a conv net under MegEngine's profiler used directly and one under laptime; which is first changes from pair to
pair. Writing files is no part of a step in either. The last line is JSON.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import megengine
import megengine.functional as F
import megengine.module as M
import numpy as np
from megengine.autodiff import GradManager
from megengine.core._imperative_rt.core2 import full_sync
from megengine.optimizer import SGD
from megengine.utils.profiler import Profiler as Own

import laptime

SHORTEST_MS = 50
GOAL = 1.05


class Net(M.Module):
    """Three convolutions with batch norms, and a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.convs = [M.Conv2d(inputs, 16, 3, padding=1) for inputs in (3, 16, 16)]
        self.norms = [M.BatchNorm2d(16) for _ in range(3)]
        self.head = M.Linear(16, 10)

    def forward(self, data: megengine.Tensor) -> megengine.Tensor:
        """Logits."""
        for conv, norm in zip(self.convs, self.norms, strict=True):
            data = F.relu(norm(conv(data)))
        return self.head(data.mean(axis=(2, 3)))


def training() -> Callable[[], None]:
    """A step to be called again and again; it ends when the device has ended."""
    model = Net()
    gm = GradManager().attach(model.parameters())
    optimizer = SGD(model.parameters(), lr=0.01)
    random = np.random.RandomState(0)
    data = megengine.tensor(random.rand(4, 3, 24, 24).astype("float32"))
    label = megengine.tensor(random.randint(0, 10, 4).astype("int32"))

    def step() -> None:
        with gm:
            loss = F.loss.cross_entropy(model(data), label)
            gm.backward(loss)
        optimizer.step().clear_grad()
        loss.item()
        full_sync()

    return step


@contextlib.contextmanager
def _own(**options: bool) -> Iterator[None]:
    profiler = Own(**options)
    profiler.start()
    with profiler._patcher if options.get("with_scopes") else contextlib.nullcontext():
        yield
    profiler.stop()
    profiler._dump_callback = None


@contextlib.contextmanager
def _with_laptime(folder: Path, **options: bool) -> Iterator[None]:
    with laptime.Profiler(folder, **options):
        yield


def spent(step: Callable[[], None], around: contextlib.AbstractContextManager[None]) -> float:
    """Processor milliseconds of one step inside a profiler."""
    with around:
        before = time.process_time_ns()
        step()
        return (time.process_time_ns() - before) / 1e6


def compared(step: Callable[[], None], pairs: int, folder: Path, **options: bool) -> dict[str, float]:
    """Median milliseconds of both sides, and the median of the ratios of the pairs."""
    own, ours = [], []
    for pair in range(pairs):
        sides = [(own, _own(**options)), (ours, _with_laptime(folder, **options))]
        for times, around in sides if pair % 2 else reversed(sides):
            times.append(spent(step, around))
    ratios = [mine / theirs for mine, theirs in zip(ours, own, strict=True)]
    return {
        "megengine_ms": round(statistics.median(own), 2),
        "laptime_ms": round(statistics.median(ours), 2),
        "median_ratio": round(statistics.median(ratios), 4),
        "pairs": pairs,
    }


def main() -> int:
    """Prints a line for each set of options; 1 if the goal is missed."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    step = training()
    for _ in range(5):
        step()
    plain = [spent(step, contextlib.nullcontext()) for _ in range(pairs)]
    results: dict[str, object] = {"no_profiler_ms": round(statistics.median(plain), 2)}
    with tempfile.TemporaryDirectory() as folder:
        for name, options in {
            "default": {},
            "with_scopes": {"with_scopes": True},
            "with_backtrace": {"with_backtrace": True},
        }.items():
            results[name] = compared(step, pairs, Path(folder), **options)
            print(name, results[name], flush=True)
    print(json.dumps(results))
    ratio = results["default"]["median_ratio"]  # type: ignore[index]  # a dictionary
    return int(ratio > GOAL or results["no_profiler_ms"] < SHORTEST_MS)  # type: ignore[operator]  # a number


if __name__ == "__main__":
    sys.exit(main())

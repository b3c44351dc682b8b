"""What recording with laptime costs beside torch.profiler: processor time of a step, in interleaved pairs.

Run with a Python that has PyTorch: PYTHONPATH=src PYTHON bench/recording_pytorch.py [PAIRS]. Each pair trains a conv
net under torch.profiler used directly and under laptime, with the same options; which is first changes each time.
The first step of a recording is left out on both sides, writing files is no part of a step in either. The last line is
JSON.
"""

from __future__ import annotations

import contextlib
import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import torch
from torch import nn
from torch.profiler import ProfilerAction, ProfilerActivity, profile

import laptime

SHORTEST_MS = 50
GOAL = 1.05
STEPS = 2
_DIRECT = {"with_backtrace": "with_stack"}


def _layer(inputs: int, outputs: int) -> nn.Module:
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


def training() -> Callable[[], None]:
    """A step to be called again and again."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    layers = [_layer(inputs, 32) for inputs in (3, 32, 32, 32)]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, labels = torch.randn(8, 3, 32, 32), torch.randint(0, 10, (8,))

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


@contextlib.contextmanager
def _directly(**options: bool) -> Iterator[Callable[[], None]]:
    own = {_DIRECT[name]: value for name, value in options.items() if name in _DIRECT}
    recorder = profile(
        activities=[ProfilerActivity.CPU], schedule=lambda step: ProfilerAction.RECORD, record_shapes=True, **own
    )
    with recorder:
        yield recorder.step


@contextlib.contextmanager
def _with_laptime(**options: bool) -> Iterator[Callable[[], None]]:
    with tempfile.TemporaryDirectory() as folder, laptime.Profiler(folder, **options) as recorder:
        yield recorder.step


@contextlib.contextmanager
def _without() -> Iterator[Callable[[], None]]:
    yield lambda: None


def spent(step: Callable[[], None], around: contextlib.AbstractContextManager[Callable[[], None]]) -> float:
    """Processor milliseconds of a step inside a profiler, its mark included."""
    gc.collect()  # not in the midst of one side only
    with around as mark:
        step()
        mark()
        before = time.process_time_ns()
        for _ in range(STEPS):
            step()
            mark()
        return (time.process_time_ns() - before) / 1e6 / STEPS


def compared(step: Callable[[], None], pairs: int, **options: bool) -> dict[str, float]:
    """Median milliseconds of both sides, and the median of the ratios of the pairs."""
    direct, ours = [], []
    for pair in range(pairs):
        sides = [(direct, _directly(**options)), (ours, _with_laptime(**options))]
        for times, around in sides if pair % 2 else reversed(sides):
            times.append(spent(step, around))
    ratios = [mine / theirs for mine, theirs in zip(ours, direct, strict=True)]
    return {
        "pytorch_ms": round(statistics.median(direct), 2),
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
    plain = [spent(step, _without()) for _ in range(pairs)]
    results: dict[str, object] = {"no_profiler_ms": round(statistics.median(plain), 2)}
    for name, options in {
        "default": {},
        "with_scopes": {"with_scopes": True},
        "with_backtrace": {"with_backtrace": True},
    }.items():
        results[name] = compared(step, pairs, **options)
        print(name, results[name], flush=True)
    print(json.dumps(results))
    ratio = results["default"]["median_ratio"]  # type: ignore[index]  # a dictionary
    return int(ratio > GOAL or results["no_profiler_ms"] < SHORTEST_MS)  # type: ignore[operator]  # a number


if __name__ == "__main__":
    sys.exit(main())

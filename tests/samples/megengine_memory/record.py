"""Records the samples beside this file: `python record.py FOLDER`, with MegEngine 1.13.0 (Python 3.10) on the CPU.

Three training steps of a small network under Profiler(format="memory_flow.svg"), and one step of the same network
compiled by trace(symbolic=True, profiling=True), of which get_profile() tells the last run. MegEngine keeps the files
in one line each or unordered; they are stored as it wrote them, compressed.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import megengine as mge
import megengine.functional as F
import megengine.module as M
import numpy as np
from megengine.autodiff import GradManager
from megengine.jit import trace
from megengine.optimizer import SGD
from megengine.utils.profiler import Profiler, scope

STEPS = 3


class Net(M.Module):
    """Convolution, pooling, two fully connected layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = M.Conv2d(1, 4, 3, padding=1)
        self.fc1 = M.Linear(4 * 7 * 7, 32)
        self.fc2 = M.Linear(32, 10)

    def forward(self, images: mge.Tensor) -> mge.Tensor:
        """Scores of ten classes."""
        hidden = F.avg_pool2d(F.relu(self.conv(images)), 2)
        return self.fc2(F.relu(self.fc1(F.flatten(hidden, 1))))


def training() -> tuple[Net, GradManager, SGD]:
    """The network with what trains it."""
    mge.random.seed(7)
    net = Net()
    return net, GradManager().attach(net.parameters()), SGD(net.parameters(), lr=0.1, momentum=0.9)


def batch() -> tuple[mge.Tensor, mge.Tensor]:
    """Eight images of noise."""
    noise = np.random.default_rng(7)
    images = noise.standard_normal((8, 1, 14, 14)).astype(np.float32)
    return mge.Tensor(images), mge.Tensor(noise.integers(0, 10, 8).astype(np.int32))


def record_memory(folder: Path) -> None:
    """memory_flow.svg of three steps."""
    net, manager, optimizer = training()
    images, labels = batch()
    with Profiler(str(folder / "memory"), format="memory_flow.svg"):
        for step in range(STEPS):
            with scope(f"step{step}"):
                with manager:
                    loss = F.nn.cross_entropy(net(images), labels)
                    manager.backward(loss)
                optimizer.step().clear_grad()
    (written,) = (folder / "memory").glob("*.memory_flow.svg")
    (folder / "train.memory_flow.svg.gz").write_bytes(gzip.compress(written.read_bytes(), mtime=0))


def record_static(folder: Path) -> None:
    """get_profile() of one compiled training step."""
    net, manager, optimizer = training()

    @trace(symbolic=True, profiling=True)
    def step(images: mge.Tensor, labels: mge.Tensor) -> mge.Tensor:
        with manager:
            loss = F.nn.cross_entropy(net(images), labels)
            manager.backward(loss)
        optimizer.step().clear_grad()
        return loss

    for _ in range(STEPS):
        step(*batch())
        mge._full_sync()
    text = json.dumps(step.get_profile()).encode()
    (folder / "train.static_profile.gz").write_bytes(gzip.compress(text, mtime=0))


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    record_memory(target)
    record_static(target)

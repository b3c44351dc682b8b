"""Trains a small net with MindSpore under laptime, in several ways, and says as JSON lines what it did.

`mindspore_training.py FOLDER MODE...`: graph (two windows), pynative, model (Model.train), failing, late.
"""

import json
import sys
import time

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops

import laptime

FOLDER = sys.argv[1]
BATCH, STEPS, SLOW_S = 16, 5, 0.01


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(32, 64)
        self.relu = nn.ReLU()
        self.last = nn.Dense(64, 10)

    def construct(self, x):
        return self.last(self.relu(self.first(x)))


class Source:
    def __init__(self, batches):
        self.batches = batches

    def __len__(self):
        return BATCH * self.batches

    def __getitem__(self, place):
        return np.full(32, place / 1000, np.float32), np.array(place % 10, np.int32)


def slow(x):
    time.sleep(SLOW_S)
    return x


def data(batches):
    """Its map is the bottleneck."""
    rows = ds.GeneratorDataset(Source(batches), ["x", "y"], shuffle=False)
    return rows.map(slow, ["x"], num_parallel_workers=1).batch(BATCH, num_parallel_workers=1)


def parts(mode):
    ms.set_context(mode=mode)
    net, loss = Net(), nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return net, loss, nn.Momentum(net.trainable_params(), 0.01, 0.9)


def batch():
    return Tensor(np.ones((BATCH, 32), np.float32)), Tensor(np.zeros(BATCH, np.int32))


def graph():
    net, loss, optimizer = parts(ms.GRAPH_MODE)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    plan = laptime.schedule(skip_first=1, wait=1, active=2, repeat=2)
    with laptime.Profiler(f"{FOLDER}/graph", schedule=plan, profile_memory=True) as prof:
        for _ in range(9):
            with laptime.scope("train"):
                step(*batch())
            prof.step()
    return {}


def pynative():
    net, loss, optimizer = parts(ms.PYNATIVE_MODE)
    grad = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    grad(*batch())
    waits, losses = [], []
    prof = laptime.Profiler(f"{FOLDER}/pynative", with_backtrace=True, monitor_sampling_interval=20)
    with prof:
        batches = iter(prof.watch(data(STEPS + 1).create_tuple_iterator(num_epochs=1)))
        for _ in range(STEPS):
            start = time.perf_counter_ns()
            x, y = next(batches)
            waits.append(time.perf_counter_ns() - start)
            with laptime.scope("train"):
                value, gradients = grad(x, y)
                optimizer(gradients)
            losses.append(float(value))  # the line that waits
            prof.step()
    return {"waits": waits, "losses": losses}


def model():
    net, loss, optimizer = parts(ms.GRAPH_MODE)
    trained = ms.Model(net, loss, optimizer)
    prof = laptime.Profiler(f"{FOLDER}/model", monitor_sampling_interval=20)
    with prof:
        trained.train(1, data(STEPS), callbacks=[prof.callback()], dataset_sink_mode=False)
    return {}


def failing():
    """An operator that fails late: the error is training's."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    error = None
    try:
        with laptime.Profiler(f"{FOLDER}/failing") as prof:
            ops.cholesky(Tensor(-np.eye(3, dtype=np.float32)))
            prof.step()
    except RuntimeError as caught:
        error = str(caught).partition("\n")[0]
    return {"error": error}


def late():
    """The dataset is iterated before anything is recorded."""
    batches = data(STEPS + 1).create_tuple_iterator(num_epochs=1)
    next(batches)
    with laptime.Profiler(f"{FOLDER}/late") as prof:
        for _ in range(2):
            next(batches)
            prof.step()
    return {}


for name in sys.argv[2:]:
    print(json.dumps({"mode": name, **globals()[name]()}), flush=True)

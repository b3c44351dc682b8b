"""laptime's own interface: a schedule, a watched loader, compiled graphs, profilers inside. Prints what it did."""

import json
import sys

import megengine as mge
import megengine.functional as F
import megengine.module as M
import numpy as np
from megengine.autodiff import GradManager
from megengine.data import DataLoader, SequentialSampler
from megengine.data.dataset import ArrayDataset
from megengine.jit import trace
from megengine.optimizer import SGD
from megengine.utils.profiler import Profiler

import laptime

folder, workers = sys.argv[1], int(sys.argv[2])


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = M.Linear(64, 32)
        self.fc2 = M.Linear(32, 10)

    def forward(self, data):
        return self.fc2(F.relu(self.fc1(data)))


model = Net()
gm = GradManager().attach(model.parameters())
optimizer = SGD(model.parameters(), lr=0.1)


def train_step(data, label):
    with gm:
        loss = F.loss.cross_entropy(model(data), label)
        gm.backward(loss)
    optimizer.step().clear_grad()
    return loss


compiled = trace(train_step, symbolic=True, profiling=True)
random = np.random.RandomState(0)
samples = random.rand(96, 64).astype("float32"), random.randint(0, 10, 96).astype("int32")
dataset = ArrayDataset(*samples)
loader = DataLoader(dataset, sampler=SequentialSampler(dataset, batch_size=16), num_workers=workers)
caught, same = 0, 0
with laptime.Profiler(folder, schedule=laptime.schedule(active=3, repeat=2), num_tensor_watch=5) as profiler:
    for number, (data, label) in enumerate(profiler.watch(loader)):
        same += int((data == samples[0][16 * number : 16 * number + 16]).all())
        with laptime.scope("training"):
            train_step(mge.tensor(data), mge.tensor(label))
            if number == 1:
                with laptime.scope("compiled"):
                    for _ in range(2):  # the first run records the graph, the second runs it
                        compiled(mge.tensor(data), mge.tensor(label))
            if number == 2:
                with Profiler(f"{folder}-of-megengine"):
                    F.sin(mge.tensor(data))
        if number == 4:
            try:
                with laptime.scope("wrong shape"):
                    model(mge.tensor(data[:, :3]))
            except RuntimeError:
                caught += 1
            with laptime.Profiler(folder), laptime.scope("after"):
                F.cos(mge.tensor(data)).numpy()
        profiler.step()
print(json.dumps({"caught": caught, "same": same, "traced": compiled(mge.tensor(data), mge.tensor(label)).shape == ()}))

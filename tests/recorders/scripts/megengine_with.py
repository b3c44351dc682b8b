"""The article's second sample: one profiler entered in each step, with all of its options."""

import json
import sys

import megengine as mge
import megengine.functional as F
import megengine.module as M
import numpy as np
from megengine.autodiff import GradManager
from megengine.optimizer import SGD
from megengine.utils.profiler import Profiler


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.conv = M.Conv2d(1, 4, 3, padding=1)
        self.bn = M.BatchNorm2d(4)
        self.fc = M.Linear(4 * 8 * 8, 10)

    def forward(self, data):
        x = F.relu(self.bn(self.conv(data)))
        x = F.flatten(x, 1)  # the shape of a batch that is known does not make the host wait
        return self.fc(x)


profiler = Profiler(
    path=sys.argv[1],
    formats=["chrome_timeline.json", "memory_flow.svg"][: int(sys.argv[2])],
    sample_rate=10,
    profile_device=True,
    with_scopes=True,
    with_backtrace=True,
)


def line_above():
    return sys._getframe(1).f_lineno - 1


def train_step(data, label, *, optimizer, gm, model):
    with profiler:
        with gm:
            logits = model(data)
            loss = F.loss.cross_entropy(logits, label)
            gm.backward(loss)
        optimizer.step().clear_grad()
        value = loss.item()
        waits["item"] = line_above()
        finite = bool(logits.max() < 1e9)
        waits["bool"] = line_above()
        top = logits.numpy()
        waits["numpy"] = line_above()
        right = logits[label == 0]
        count = right.shape[0]
        waits["shape"] = line_above()
    assert finite and len(top) == len(data) and count >= 0
    return value


mge.random.seed(7)
model = Net()
gm = GradManager().attach(model.parameters())
optimizer = SGD(model.parameters(), lr=0.1)
waits = {}
losses = []
for number in range(5):
    random = np.random.RandomState(number)
    data = mge.tensor(random.rand(16, 1, 8, 8).astype("float32"))
    label = mge.tensor(random.randint(0, 10, 16).astype("int32"))
    losses.append(train_step(data, label, optimizer=optimizer, gm=gm, model=model))
profiler.dump()
print(json.dumps({"losses": losses, "waits": waits}))

"""The article's first sample: a decorated training step, everything else at its default."""

import megengine as mge
import megengine.functional as F
import megengine.module as M
import numpy as np
from megengine.autodiff import GradManager
from megengine.optimizer import SGD
from megengine.utils.profiler import Profiler, profile  # noqa: F401 -- the article imports both


class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = M.Linear(64, 32)
        self.fc2 = M.Linear(32, 10)

    def forward(self, data):
        return self.fc2(F.relu(self.fc1(data)))


@profile()
def train_step(data, label, *, optimizer, gm, model):
    with gm:
        logits = model(data)
        loss = F.loss.cross_entropy(logits, label)
        gm.backward(loss)
    optimizer.step().clear_grad()
    return loss


model = Net()
gm = GradManager().attach(model.parameters())
optimizer = SGD(model.parameters(), lr=0.1)
losses = []
for number in range(5):
    random = np.random.RandomState(number)
    data = mge.tensor(random.rand(16, 64).astype("float32"))
    label = mge.tensor(random.randint(0, 10, 16).astype("int32"))
    losses.append(train_step(data, label, optimizer=optimizer, gm=gm, model=model).item())
print(len(losses))

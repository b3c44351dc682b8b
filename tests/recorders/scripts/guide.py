"""The sample of the MindInsight Profiler guide, completed to a script that runs; only the import differs from it.

`guide.py FOLDER [MODULE]`: MODULE is where Profiler is imported from, `laptime.compat.mindinsight` unless told.
"""

import importlib
import os
import sys

import numpy as np
from mindspore import Model, context, nn
from mindspore import dataset as ds
from mindspore.mindrecord import FileWriter

BATCHES, BATCH = 5, 8


def imported_profiler(module):
    """The class by the guide's arguments; laptime's own takes the folder alone and is started by hand."""
    if module != "laptime":
        return importlib.import_module(module).Profiler

    def started(output_path, **choices):
        profiler = importlib.import_module("laptime").Profiler(output_path)
        profiler.start()
        return profiler

    return started


Profiler = imported_profiler(sys.argv[2] if len(sys.argv) > 2 else "laptime.compat.mindinsight")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.dense = nn.Dense(4 * 8 * 8, 10)

    def construct(self, x):
        return self.dense(self.flatten(self.relu(self.conv(x))))


def CrossEntropyLoss():
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def MyOptimizer(learning_rate, params):
    return nn.Momentum(params, learning_rate, 0.9)


def create_mindrecord_dataset_for_training():
    path = "train.mindrecord"
    writer = FileWriter(path, shard_num=1, overwrite=True)
    writer.add_schema({"image": {"type": "float32", "shape": [1, 8, 8]}, "label": {"type": "int32"}})
    images = np.random.default_rng(0).random((BATCHES * BATCH, 1, 8, 8), np.float32)
    writer.write_raw_data([{"image": image, "label": number % 10} for number, image in enumerate(images)])
    writer.commit()
    return ds.MindDataset(path, columns_list=["image", "label"], shuffle=False).batch(BATCH)


def test_profiler():
    # Init context env
    context.set_context(mode=context.GRAPH_MODE, device_target=os.environ.get("DEVICE_TARGET", "CPU"))

    # Init Profiler
    profiler = Profiler(output_path=sys.argv[1], is_detail=True, is_show_op_path=False, subgraph="all")

    # Init hyperparameter
    epoch = 2
    # Init network and Model
    network = Net()
    loss_fn = CrossEntropyLoss()
    optim = MyOptimizer(learning_rate=0.01, params=network.trainable_params())
    model = Model(network, loss_fn=loss_fn, optimizer=optim, metrics=None)
    # Prepare mindrecord_dataset for training
    train_ds = create_mindrecord_dataset_for_training()
    # Model Train
    model.train(epoch, train_ds)

    # Profiler end
    print(profiler.analyse())


test_profiler()

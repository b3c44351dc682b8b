"""Record a data-parallel training run with torch.profiler, one trace per rank.

A small image classifier is trained on the CPU with DistributedDataParallel
over gloo.  Two things are slow on purpose, so that a profile has something
to show:

* The data set sleeps until its items "arrive", and a batch takes longer to
  arrive than to train on.  The two loader workers of a rank cannot change
  that.  Every step therefore begins with a wait for data, on every rank.
* One rank (--slow-rank) smooths its images on the training process before it
  uses them.  The other ranks reach the gradient all-reduce earlier and wait
  for it there.

Run it from a folder whose name may appear in the traces:

    mkdir -p /tmp/demo && cp record_ddp.py /tmp/demo && cd /tmp/demo
    python record_ddp.py --out ddp4-gloo

Needs torch (recorded with 2.13.0); no GPU.
"""

import argparse
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset

CLASSES = 10
WORKERS = 2
WAIT_STEPS = 1
WARMUP_STEPS = 1


class LiveImages(Dataset):
    """Random 3x32x32 images that come in one after the other, like a feed.

    Image n is there n times `seconds_per_item` after `start`, on every rank.
    """

    def __init__(self, items, seconds_per_item, start):
        self.items = items
        self.seconds_per_item = seconds_per_item
        self.start = start

    def __len__(self):
        return self.items

    def __getitem__(self, index):
        arrival = self.start + index * self.seconds_per_item
        time.sleep(max(0.0, arrival - time.time()))
        generator = torch.Generator().manual_seed(index)
        image = torch.randn(3, 32, 32, generator=generator)
        return image, index % CLASSES


def agree_on_start(seconds_ahead):
    """Return one start time for all ranks, by the clock of rank 0."""
    start = [time.time() + seconds_ahead]
    dist.broadcast_object_list(start, src=0)
    return start[0]


class Classifier(nn.Module):
    """Two convolutions and two linear layers, 0.27 million parameters."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 16, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(32 * 8 * 8, 128),
            nn.ReLU(),
            nn.Linear(128, CLASSES),
        )

    def forward(self, images):
        return self.head(self.features(images))


def one_thread(worker_id):
    torch.set_num_threads(1)


def smooth(images, rounds):
    """The extra work of the slow rank."""
    with record_function("smooth"):
        for _ in range(rounds):
            images = nn.functional.avg_pool2d(images, kernel_size=5, stride=1, padding=2)
        return images


def train(rank, args, rendezvous):
    """Train on one rank and write its trace."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=args.ranks)

    # A small bucket size gives two all-reduces a step instead of one.
    model = DistributedDataParallel(Classifier(), bucket_cap_mb=0.5)
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def write_trace(prof):
        name = f"rank{rank}.pt.trace.json.gz"
        prof.export_chrome_trace(os.path.join(args.out, name))

    def step(images, labels):
        if rank == args.slow_rank:
            images = smooth(images, args.slow_rounds)
        optimizer.zero_grad()
        loss = loss_of(model(images), labels)
        loss.backward()
        optimizer.step()

    # The first step and the first use of the profiler take seconds.  Have them
    # behind us before the feed starts, or the first batches pile up.
    with profile(activities=[ProfilerActivity.CPU], with_stack=True):
        step(torch.zeros(args.batch, 3, 32, 32), torch.zeros(args.batch).long())

    steps = WAIT_STEPS + WARMUP_STEPS + args.steps
    dataset = LiveImages(steps * args.batch, args.item_ms / 1000, agree_on_start(seconds_ahead=0.5))
    loader = DataLoader(
        dataset,
        batch_size=args.batch,
        num_workers=WORKERS,
        worker_init_fn=one_thread,
        multiprocessing_context="fork",  # ready at once, unlike "spawn"
    )

    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=WAIT_STEPS, warmup=WARMUP_STEPS, active=args.steps, repeat=1),
        on_trace_ready=write_trace,
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_modules=True,
    ) as prof:
        for images, labels in loader:
            step(images, labels)
            prof.step()

    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="folder for the traces")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--steps", type=int, default=4, help="recorded steps")
    parser.add_argument("--batch", type=int, default=16, help="items a batch, each rank")
    parser.add_argument("--item-ms", type=float, default=5.0, help="time between items")
    parser.add_argument("--slow-rank", type=int, default=2, help="-1 for none")
    parser.add_argument("--slow-rounds", type=int, default=24, help="extra work of the slow rank")
    args = parser.parse_args()

    args.out = os.path.abspath(args.out)
    os.makedirs(args.out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        rendezvous = os.path.join(folder, "rendezvous")
        mp.spawn(train, args=(args, rendezvous), nprocs=args.ranks)


if __name__ == "__main__":
    main()

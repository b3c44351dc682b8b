"""Record the torch.profiler samples of this folder, on the CPU.

Run it from a folder whose name may appear in the traces:

    mkdir -p /tmp/demo && cp record.py /tmp/demo && cd /tmp/demo
    python record.py --out samples [CASE ...]

Needs torch (recorded with 2.13.0); no GPU.  Without CASE it records all.
Each case runs in a process of its own, so that none sees the leftovers of
another.
"""

import argparse
import os
import tempfile
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, Dataset

CPU = [ProfilerActivity.CPU]


def mlp():
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))


def batch(size=16):
    return torch.randn(size, 32), torch.randint(10, (size,))


def train_step(model, optimizer, data, labels):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(data), labels)
    loss.backward()
    optimizer.step()


def marked(steps, path, **options):
    """A profiler that skips two steps and then records `steps` of them."""
    return profile(
        activities=CPU,
        schedule=schedule(wait=1, warmup=1, active=steps, repeat=1),
        on_trace_ready=lambda prof: prof.export_chrome_trace(path),
        **options,
    )


class SleepingItems(Dataset):
    """Items that take 3 ms each to "read"."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return self.items

    def __getitem__(self, index):
        time.sleep(0.003)
        return torch.full((32,), float(index)), index % 10


def tiny_train(out):
    """3 marked steps of a two-layer MLP with SGD; shapes, no stacks."""
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    path = os.path.join(out, "tiny_train.pt.trace.json.gz")
    with marked(3, path, record_shapes=True) as prof:
        for _ in range(5):
            train_step(model, optimizer, *batch())
            prof.step()


def no_steps(out):
    """6 training iterations without prof.step()."""
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train_step(model, optimizer, *batch())
    with profile(activities=CPU, record_shapes=True) as prof:
        for _ in range(6):
            train_step(model, optimizer, *batch())
    prof.export_chrome_trace(os.path.join(out, "no_steps.pt.trace.json.gz"))


def loader(out):
    """3 marked steps that load in the training process; stacks."""
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(SleepingItems(5 * 8), batch_size=8, num_workers=0)
    path = os.path.join(out, "loader.pt.trace.json.gz")
    with marked(3, path, with_stack=True) as prof:
        for data, labels in loader:
            train_step(model, optimizer, data, labels)
            prof.step()


def memory(out):
    """2 marked steps with the memory events of the allocator."""
    model = mlp()
    optimizer = torch.optim.Adam(model.parameters())
    path = os.path.join(out, "memory.pt.trace.json.gz")
    with marked(2, path, profile_memory=True, record_shapes=True) as prof:
        for _ in range(4):
            train_step(model, optimizer, *batch(64))
            prof.step()


def inference(out):
    """4 evaluation batches with ranges of the user's own; no steps."""
    model = mlp().eval()
    with torch.no_grad(), profile(activities=CPU, record_shapes=True) as prof:
        for _ in range(4):
            with record_function("preprocess"):
                data = torch.randint(256, (16, 32)).float().div(255).sub(0.5)
            with record_function("forward"):
                model(data).argmax(dim=1)
    prof.export_chrome_trace(os.path.join(out, "inference.pt.trace.json.gz"))


def ddp2_rank(rank, out, rendezvous):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method="file://" + rendezvous, rank=rank, world_size=2)
    model = DistributedDataParallel(mlp())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    path = os.path.join(out, "ddp2", f"rank{rank}.json.gz")
    with marked(2, path, record_shapes=True) as prof:
        for _ in range(4):
            train_step(model, optimizer, *batch())
            prof.step()
    dist.barrier()
    dist.destroy_process_group()


def ddp2(out):
    """2 marked steps on each of 2 gloo ranks."""
    os.makedirs(os.path.join(out, "ddp2"), exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        rendezvous = os.path.join(folder, "rendezvous")
        mp.spawn(ddp2_rank, args=(out, rendezvous), nprocs=2)


def threads(out):
    """Operators on two threads at the same time, besides the main thread."""
    together = threading.Barrier(2)

    def work():
        data = torch.randn(64, 64)
        together.wait()
        for _ in range(5):
            data = torch.tanh(data @ data)

    config = torch.profiler._ExperimentalConfig(profile_all_threads=True)
    with profile(activities=CPU, experimental_config=config) as prof:
        workers = [threading.Thread(target=work, name=f"worker{number}") for number in range(2)]
        for worker in workers:
            worker.start()
        with record_function("wait_for_workers"):
            for worker in workers:
                worker.join()
    prof.export_chrome_trace(os.path.join(out, "threads.pt.trace.json"))


CASES = [tiny_train, no_steps, loader, memory, inference, ddp2, threads]


def run(case, out):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    case(out)


def main():
    names = {case.__name__: case for case in CASES}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, help="folder for the traces")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(names))
    args = parser.parse_args()
    unknown = [name for name in args.cases if name not in names]
    if unknown:
        parser.error("no such case: " + ", ".join(unknown))

    out = os.path.abspath(args.out)
    os.makedirs(out, exist_ok=True)
    context = mp.get_context("spawn")
    for name in args.cases or names:
        process = context.Process(target=run, args=(names[name], out))
        process.start()
        process.join()
        if process.exitcode:
            raise SystemExit(f"{name} failed")


if __name__ == "__main__":
    main()

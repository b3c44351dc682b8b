"""Real runs of PyTorch on the CPU, recorded, imported, and compared with what the script did."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from laptime.analyses.pipeline import pipeline
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.conftest import ROOT
from tests.recorders.conftest import run_script

pytestmark = pytest.mark.frameworks

_TRAINING = """
import sys
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import laptime

class Images(Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, number):
        return torch.randn(3, 8, 8) + number, number % 10

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3)
        self.relu = nn.ReLU(inplace=True)
        self.body = nn.Sequential(nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4))
        self.head = nn.Linear(4, 10)

    def forward(self, x):
        y = self.body(self.relu(self.stem(x)))
        y += 1
        return self.head(self.relu(y).mean((2, 3)))

def train(net, optimizer, x, y):
    optimizer.zero_grad()
    with laptime.scope("forward"):
        loss = nn.functional.cross_entropy(net(x), y)  # LOSS
    loss.backward()
    optimizer.step()
    if loss > 1000:  # BOOL
        raise RuntimeError
    return loss.item()  # ITEM

def main(record, **options):
    torch.manual_seed(1)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    workers = options.pop("workers", 0)
    loader = DataLoader(Images(), batch_size=4, num_workers=workers)
    profiler = laptime.Profiler("out", **options)
    if record:
        profiler.start()
    for x, y in profiler.watch(loader):
        loss = train(net, optimizer, x, y)
        if record:
            profiler.step()
    if record:
        profiler.stop()
    print("RESULT", float(loss).hex(), sum(p.detach().double().sum() for p in net.parameters()).item().hex())
"""


def _line(mark: str) -> int:
    return next(number for number, line in enumerate(_TRAINING.splitlines(), 1) if f"# {mark}" in line)


def _record(python: Path, folder: Path, call: str) -> tuple[Run, str]:
    done = run_script(python, f'{_TRAINING}\nif __name__ == "__main__":\n    {call}\n', folder)
    result = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
    return _opened(folder), result


def _opened(folder: Path) -> Run:
    return open_run(folder / "out", workspace=Workspace.choose(folder / "workspace", say=lambda _: None))


def _count(run: Run, condition: str, *, rank: int | None = None) -> int:
    return int(run.sql(f"SELECT count(*) AS n FROM slices WHERE {condition}", rank=rank).to_pylist()[0]["n"])


def _rows(run: Run, query: str) -> list[dict[str, object]]:
    return list(run.sql(query).to_pylist())


@pytest.fixture(scope="module")
def plain(torch_python: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, str]:
    """Five steps with memory, and the training's result."""
    return _record(torch_python, tmp_path_factory.mktemp("plain"), "main(True, profile_memory=True)")


@pytest.fixture(scope="module")
def detailed(torch_python: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, str]:
    """Five steps with call stacks and ranges of functions, batches from two workers."""
    call = "main(True, with_backtrace=True, with_scopes=True, workers=2)"
    return _record(torch_python, tmp_path_factory.mktemp("detailed"), call)


def test_steps_operators_and_scopes(plain: tuple[Run, str]) -> None:
    run, trace = plain[0], plain[0].traces[0]
    assert trace.steps["step"].tolist() == [1, 2, 3, 4, 5]
    assert set(trace.steps.objects("source")) == {"marked"}
    assert (trace.meta["framework"], trace.meta["format"]) == ("pytorch", "laptime")
    counts = {
        "aten::conv2d": 10,
        "aten::relu_": 10,
        "aten::batch_norm": 5,
        "aten::cross_entropy_loss": 5,
        "ConvolutionBackward0": 10,
        "forward": 5,
        "Optimizer.step#SGD.step": 5,
    }
    assert {name: _count(run, f"name = '{name}'") for name in counts} == counts
    assert _count(run, "kind = 'step'") == 5  # the marks that other tools look for
    assert _count(run, "lane > 0") == 0


def test_modules_forward_and_backward(plain: tuple[Run, str]) -> None:
    run = plain[0]
    once = ("Net", "Net.stem", "Net.body", "Net.body.0", "Net.body.1", "Net.head")
    counts = {**dict.fromkeys(once, 5), "Net.relu": 10}
    for ending in ("", " (backward)"):
        found = {name: _count(run, f"name = 'module: {name}{ending}' AND kind = 'scope'") for name in counts}
        assert found == counts
    query = (
        "SELECT slices.name AS op, module, phase, count(*) AS n FROM slices JOIN ops USING (op_id) "
        "WHERE slices.name IN ('aten::conv2d', 'aten::convolution_backward') GROUP BY ALL"
    )
    found = {(row["op"], row["module"], row["phase"], row["n"]) for row in _rows(run, query)}
    assert found == {
        (op, module, phase, 5)
        for op, phase in (("aten::conv2d", "forward"), ("aten::convolution_backward", "backward"))
        for module in ("Net/stem", "Net/body/0")
    }


def test_memory(plain: tuple[Run, str]) -> None:
    assert plain[0].traces[0].table("allocations").row_count > 50


def test_data_of_the_training_process(plain: tuple[Run, str]) -> None:
    trace = plain[0].traces[0]
    found = pipeline(trace)
    assert isinstance(found["data_bound"], dict)
    assert found["data_bound"]["batches"] == 4  # the first one is start-up
    assert isinstance(found["start_up_ns"], list)
    assert len(found["start_up_ns"]) == 1
    operators = found["operators"]
    assert isinstance(operators, list)
    assert [(op["op_type"], op["name"], op["workers"], op["count"]) for op in operators] == [
        ("collate", "default_collate", 0, 5),
        ("fetch", "Images", 0, 5),
    ]
    assert found["queues"] == []


def test_data_of_workers(detailed: tuple[Run, str]) -> None:
    run, trace = detailed[0], detailed[0].traces[0]
    found = pipeline(trace)
    (queue,) = found["queues"]  # type: ignore[misc, unused-ignore]
    assert (queue["queue"], queue["samples"], queue["capacity"]) == ("host", 4, 4)
    bound, verdict = found["data_bound"], found["stage_verdict"]
    assert isinstance(bound, dict)
    assert isinstance(verdict, dict)
    assert bound["waits"] == queue["empty_count"]
    query = (
        "SELECT tracks.name AS worker, count(*) AS n FROM slices JOIN tracks USING (track_id) "
        "WHERE slices.name IN ('fetch', 'collate') GROUP BY ALL ORDER BY ALL"
    )
    rows = _rows(run, query)
    assert {row["worker"] for row in rows} <= {"DataLoader worker 0", "DataLoader worker 1"}
    assert sum(int(str(row["n"])) for row in rows) in (8, 10)  # a batch may be made before the window begins
    starts = trace.meta["start_ups"]
    assert isinstance(starts, list)
    assert all(0 <= first < last < int(trace.end_ns.max()) for first, last in starts)
    assert _count(run, "name LIKE 'enumerate(DataLoader)%' AND kind = 'scope'") == 1  # that in the start-up


def test_stacks_name_the_line_of_the_call(detailed: tuple[Run, str]) -> None:
    query = (
        "SELECT slices.name AS op, line, count(*) AS n FROM slices JOIN stacks USING (stack_id) "
        "WHERE file = 'script.py' AND function = 'train' "
        "AND slices.name IN ('aten::_local_scalar_dense', 'aten::cross_entropy_loss', 'forward') GROUP BY ALL"
    )
    found = {(row["op"], row["line"], row["n"]) for row in _rows(detailed[0], query)}
    assert found == {
        ("aten::_local_scalar_dense", _line("ITEM"), 5),
        ("aten::_local_scalar_dense", _line("BOOL"), 5),
        ("aten::cross_entropy_loss", _line("LOSS"), 5),
        ("forward", _line("LOSS") - 1, 5),
    }


def test_ranges_of_functions(detailed: tuple[Run, str]) -> None:
    names = ("torch.nn.functional.cross_entropy", "torch.Tensor.item", "torch.Tensor.backward")
    assert [_count(detailed[0], f"name = 'function: {name}' AND kind = 'scope'") for name in names] == [5, 6, 5]
    # the loader reads a random seed by item() once


def test_training_is_the_same(torch_python: Path, plain: tuple[Run, str], tmp_path: Path) -> None:
    done = run_script(torch_python, f"{_TRAINING}\nmain(False)\n", tmp_path)
    assert plain[1] in done.stdout.splitlines()
    assert not (tmp_path / "out").exists()


def test_workers_change_nothing(torch_python: Path, detailed: tuple[Run, str], tmp_path: Path) -> None:
    done = run_script(torch_python, f"{_TRAINING}\nmain(False, workers=2)\n", tmp_path)
    assert detailed[1] in done.stdout.splitlines()


def test_two_windows_of_a_schedule(torch_python: Path, tmp_path: Path) -> None:
    script = """
import torch
import laptime
x = torch.ones(3, requires_grad=True)
loader = torch.utils.data.DataLoader(torch.arange(10.), batch_size=1)
with laptime.Profiler("out", schedule=laptime.schedule(wait=1, warmup=1, active=2, repeat=2)) as profiler:
    for batch in profiler.watch(loader):
        (x * batch).sum().backward()
        profiler.step()
"""
    run_script(torch_python, script, tmp_path)
    run = _opened(tmp_path)
    trace = run.traces[0]
    assert list(zip(trace.steps["step"].tolist(), trace.steps["window"].tolist(), strict=True)) == [
        (3, 1),
        (4, 1),
        (7, 2),
        (8, 2),
    ]
    assert _count(run, "name = 'MulBackward0'") == 4
    assert _count(run, "name = 'fetch' AND step IS NOT NULL") >= 3  # the iteration began before the first window


def test_without_steps_they_are_inferred(torch_python: Path, tmp_path: Path) -> None:
    script = """
import torch
import laptime
x = torch.ones(3, requires_grad=True)
with laptime.Profiler("out") as profiler:
    for turn in range(6):
        torch.mm(torch.ones(50, 50), torch.ones(50, 50))
        (x * turn).sum().backward()
"""
    run_script(torch_python, script, tmp_path)
    run = _opened(tmp_path)
    trace = run.traces[0]
    assert set(trace.steps.objects("source")) == {"inferred"}
    assert _count(run, "kind = 'step'") == 0
    assert trace.steps.row_count >= 4


def test_sigterm_leaves_the_finished_window_and_what_was_begun(torch_python: Path, tmp_path: Path) -> None:
    script = """
import os, signal, torch, laptime
x = torch.ones(3, requires_grad=True)
with laptime.Profiler("out", schedule=laptime.schedule(active=2)) as profiler:
    for turn in range(3):
        (x * turn).sum().backward()
        if turn == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        profiler.step()
"""
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [torch_python, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        check=False,
        capture_output=True,
    )
    assert done.returncode == -signal.SIGTERM
    run = _opened(tmp_path)
    trace = run.traces[0]
    assert list(zip(trace.steps["step"].tolist(), trace.steps["complete"].tolist(), strict=True)) == [
        (1, True),
        (2, True),
        (3, False),
    ]
    assert _count(run, "name = 'MulBackward0'") == 3


def test_exceptions_pass_unchanged_and_leave_no_open_range(torch_python: Path, tmp_path: Path) -> None:
    script = """
import torch, laptime
from torch import nn
class Fails(nn.Module):
    def forward(self, x):
        raise KeyError("mine")
class Holds(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Fails()
    def forward(self, x):
        return self.inner(x)
net, other = Holds(), nn.ReLU()
with laptime.Profiler("out") as profiler:
    try:
        net(torch.ones(2))
    except KeyError as error:
        assert error.args == ("mine",)
    other(torch.ones(2))
    profiler.step()
assert not nn.modules.module._global_forward_hooks and not nn.modules.module._global_forward_pre_hooks
"""
    run_script(torch_python, script, tmp_path)
    run = _opened(tmp_path)
    query = "SELECT name, parent_id FROM slices WHERE name LIKE 'module:%' ORDER BY start_ns"
    names = [row["name"] for row in _rows(run, query)]
    assert names == ["module: Holds", "module: Holds.inner", "module: ReLU"]
    outer = _rows(run, "SELECT depth, name FROM slices WHERE name IN ('module: Holds', 'module: ReLU')")
    assert len({row["depth"] for row in outer}) == 1


def test_compiled_code_is_not_compiled_again(torch_python: Path, tmp_path: Path) -> None:
    script = """
import torch, laptime
from torch import nn
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
compiled = torch.compile(net, backend="eager", fullgraph=True)
x = torch.ones(2, 3)
compiled(x)
from torch._dynamo.utils import counters
before = counters["stats"]["unique_graphs"]
with laptime.Profiler("out") as profiler:
    for _ in range(2):
        compiled(x)
        profiler.step()
compiled(x)
print("GRAPHS", counters["stats"]["unique_graphs"] - before)
"""
    done = run_script(torch_python, script, tmp_path)
    assert "GRAPHS 0" in done.stdout


def test_ranks_of_a_distributed_run(torch_python: Path, tmp_path: Path) -> None:
    script = """
import os, sys, tempfile, torch, laptime
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

def work(rank, store):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=4)
    net = nn.parallel.DistributedDataParallel(nn.Linear(8, 8))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with laptime.Profiler("out") as profiler:
        for _ in range(3):
            optimizer.zero_grad()
            net(torch.ones(4, 8)).sum().backward()
            optimizer.step()
            profiler.step()
    dist.destroy_process_group()

if __name__ == "__main__":
    mp.spawn(work, args=(os.path.abspath("store"),), nprocs=4)
"""
    run_script(torch_python, script, tmp_path, timeout=300)
    run = _opened(tmp_path)
    assert sorted(trace.rank for trace in run.traces if trace.rank is not None) == [0, 1, 2, 3]
    for trace in run.traces:
        assert trace.meta["world_size"] == 4
        assert trace.steps["step"].tolist() == [1, 2, 3]
        assert _count(run, "kind = 'communication'", rank=trace.rank) >= 3
        assert _count(run, "name = 'module: DistributedDataParallel.module'", rank=trace.rank) == 3


def test_killed_worker_keeps_what_it_told(torch_python: Path, tmp_path: Path) -> None:
    script = """
import os, torch, laptime
class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, number):
        if number == 6:
            os._exit(3)
        return torch.ones(2)
if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=1)
    try:
        with laptime.Profiler("out") as profiler:
            for batch in profiler.watch(loader):
                profiler.step()
    except (RuntimeError, OSError) as error:  # as torch found out
        print("FAILED")
"""
    done = run_script(torch_python, script, tmp_path)
    assert "FAILED" in done.stdout.splitlines()
    assert _count(_opened(tmp_path), "name = 'fetch'") == 3


def test_memory_does_not_grow_with_the_steps(torch_python: Path, tmp_path: Path) -> None:
    script = """
import sys, torch, laptime
from laptime.recorders.sampling import resident_bytes
x = torch.ones(3, requires_grad=True)
sizes = []
schedule = laptime.schedule(wait=0, active=5)
with laptime.Profiler("out", schedule=schedule) as profiler:
    for turn in range(300):
        (x * turn).sum().backward()
        profiler.step()
        if turn in (99, 299):
            sizes.append(resident_bytes())
print("GREW", sizes[1] - sizes[0])
"""
    done = run_script(torch_python, script, tmp_path)
    grew = int(next(line for line in done.stdout.splitlines() if line.startswith("GREW")).split()[1])
    assert grew < 10_000_000  # 200 steps, 40 windows


def test_a_handler_of_torch_profiler_is_named_as_without_use(torch_python: Path, tmp_path: Path) -> None:
    script = """
import laptime, torch
with laptime.Profiler("out", on_trace_ready=print, with_flops=True) as prof:
    torch.ones(2).add(1)
    prof.step()
"""
    done = run_script(torch_python, script, tmp_path)
    said = [line for line in done.stderr.splitlines() if line.startswith("laptime:")]
    assert said == ["laptime: on_trace_ready is not called; the trace of each window is in the folder"]
    assert done.stdout == ""
    assert list((tmp_path / "out").glob("*.pt.trace.json.gz"))

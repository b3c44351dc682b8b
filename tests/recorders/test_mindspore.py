"""Real runs of MindSpore under `laptime.Profiler`: the recording against what the script did and measured itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from laptime.analyses.pipeline import pipeline
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.conftest import ROOT
from tests.recorders.conftest import run_script

pytestmark = pytest.mark.frameworks

_SCRIPTS = Path(__file__).parent / "scripts"
_SCRIPT = _SCRIPTS / "mindspore_training.py"
_MODES = ("late", "graph", "pynative", "model", "failing")
_STEPS = 5
_TOLERANCE, _SLACK_NS = 0.05, 2_000_000
"""The script's timers and the log's stand a few lines apart, and other programs run meanwhile."""
_PARAMETERS = 4
"""Of the net: two weights, two biases, each updated once a step."""


@dataclass
class Recorded:
    """A run of the script, and its recording."""

    run: Run
    did: dict[str, Any]

    def rows(self, what: str) -> list[dict[str, Any]]:
        return self.run.sql(f"SELECT {what}").to_pylist()

    def values(self, what: str) -> list[Any]:
        return [next(iter(row.values())) for row in self.rows(what)]

    def steps(self) -> list[int]:
        return self.values("step FROM steps WHERE complete ORDER BY step")

    def kernels(self, step: int) -> Counter[str]:
        return Counter(self.values(f"name FROM slices WHERE kind = 'kernel' AND step = {step}"))

    def stack_of(self, name: str) -> dict[str, Any]:
        """The innermost frame of the first slice of that name."""
        found = f"SELECT stack_id FROM slices WHERE name = '{name}' ORDER BY start_ns LIMIT 1"
        (row,) = self.rows(f"function, file, line FROM stacks WHERE depth = 0 AND stack_id = ({found})")
        return row


Recorder = Callable[[str], Recorded]


@pytest.fixture(scope="module")
def recorded(mindspore_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorder:
    """Recordings of the script's modes, all made by one process."""
    folder = tmp_path_factory.mktemp("mindspore")
    done = run_script(mindspore_python, _SCRIPT, folder, folder, *_MODES, timeout=240)
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"mode"')]
    did = {row["mode"]: row for row in map(json.loads, lines)}
    known: dict[str, Recorded] = {}

    def recording(mode: str) -> Recorded:
        if mode not in known:
            known[mode] = Recorded(_opened(folder / mode), did[mode])
        return known[mode]

    return recording


def _opened(folder: Path) -> Run:
    return open_run(folder, workspace=Workspace.choose(folder.parent / f"workspace-{folder.name}", say=lambda _: None))


def _line_of(text: str) -> int:
    lines = _SCRIPT.read_text().splitlines()
    (place,) = (number for number, line in enumerate(lines, 1) if text in line)
    return place


# ---- graph mode ----


def test_two_windows_of_a_schedule(recorded: Recorder) -> None:
    found = recorded("graph").rows('step, "window", source FROM steps ORDER BY step')
    assert [(row["step"], row["window"]) for row in found] == [(3, 1), (4, 1), (6, 2), (7, 2)]
    assert {row["source"] for row in found} == {"marked"}


def test_each_step_of_a_graph_holds_its_operators(recorded: Recorder) -> None:
    graph = recorded("graph")
    by_step = [graph.kernels(step) for step in graph.steps()]
    assert all(counts == by_step[0] for counts in by_step)
    names = by_step[0]
    net = "Default/network-WithLossCell/_backbone-Net"
    for operator in (
        "first-Dense/MatMul-op0",
        "first-Dense/BiasAdd-op0",
        "relu-ReLU/ReLU-op0",
        "last-Dense/MatMul-op0",
    ):
        assert names[f"{net}/{operator}"] == 1
    assert sum(count for name, count in names.items() if "/ApplyMomentum-" in name) == _PARAMETERS


def test_scopes_and_passes_of_a_graph(recorded: Recorder) -> None:
    graph = recorded("graph")
    scopes = Counter((row["step"], row["name"]) for row in graph.rows("step, name FROM slices WHERE kind = 'scope'"))
    assert scopes == {(step, name): 1 for step in graph.steps() for name in ("train", "TrainOneStepCell")}
    points = graph.rows("start_ns, forward_start_ns, backward_end_ns, end_ns FROM steps")
    assert all(p["start_ns"] < p["forward_start_ns"] < p["backward_end_ns"] < p["end_ns"] for p in points)


def test_memory_of_a_window_is_its_own(recorded: Recorder) -> None:
    graph = recorded("graph")
    of_memory = "counters JOIN tracks USING (track_id) WHERE tracks.name LIKE '% bytes of cpu'"
    samples = graph.rows(f"track_id, ts_ns FROM {of_memory}")
    assert samples
    assert len({(row["track_id"], row["ts_ns"]) for row in samples}) == len(samples)
    spans = graph.rows('min(start_ns) AS start, max(end_ns) AS stop FROM steps GROUP BY "window" ORDER BY 1')
    for span in spans:
        assert any(span["start"] <= row["ts_ns"] <= span["stop"] for row in samples)


# ---- PyNative mode ----


def test_each_step_of_pynative_holds_its_operators(recorded: Recorder) -> None:
    pynative = recorded("pynative")
    assert pynative.steps() == list(range(1, _STEPS + 1))
    by_step = [pynative.kernels(step) for step in pynative.steps()]
    assert all(counts == by_step[0] for counts in by_step)
    names = by_step[0]
    assert names["ReLU"] == names["ReluGrad"] == 1
    assert sum(count for name, count in names.items() if "ApplyMomentum" in name) == _PARAMETERS


def test_scopes_of_cells_and_passes(recorded: Recorder) -> None:
    rows = recorded("pynative").rows("step, name, phase FROM slices WHERE kind = 'scope'")
    expected = {
        "train": None,
        "Net.forward": "forward",
        "Net.first.forward": "forward",
        "Net.relu.forward": "forward",
        "Net.last.forward": "forward",
        "SoftmaxCrossEntropyWithLogits.forward": "forward",
        "backward": "backward",
        "Optimizer.step#Momentum": "optimizer",
    }
    assert {row["name"]: row["phase"] for row in rows} == expected
    counts = Counter((row["step"], row["name"]) for row in rows)
    assert counts == {(step, name): 1 for step in range(1, _STEPS + 1) for name in expected}


def test_waits_are_those_the_script_measured(recorded: Recorder) -> None:
    pynative = recorded("pynative")
    waits = pynative.values("dur_ns FROM slices WHERE name IN ('data loader starts', 'next batch') ORDER BY start_ns")
    assert len(waits) == _STEPS
    for measured, wait in zip(pynative.did["waits"], waits, strict=True):
        assert abs(measured - wait) <= _TOLERANCE * measured + _SLACK_NS


def test_the_line_that_waits_for_results(recorded: Recorder) -> None:
    pynative = recorded("pynative")
    waits = pynative.values("step FROM slices WHERE kind = 'sync' AND name = 'Tensor.__float__' ORDER BY step")
    assert waits == pynative.steps()
    frame = pynative.stack_of("Tensor.__float__")
    assert frame == {"function": "pynative", "file": str(_SCRIPT), "line": _line_of("# the line that waits")}


def test_the_line_of_a_scope(recorded: Recorder) -> None:
    frame = recorded("pynative").stack_of("Net.forward")
    assert (frame["file"], frame["line"]) == (str(_SCRIPT), _line_of("lambda x, y: loss(net(x), y)"))


@pytest.mark.parametrize("mode", ["pynative", "model"])
def test_the_slow_operator_of_the_dataset(recorded: Recorder, mode: str) -> None:
    found = pipeline(recorded(mode).run.traces[0])
    operators: Any = found["operators"]
    assert [op["op_type"] for op in operators] == ["Batch", "Map", "Generator"]
    bottleneck: Any = found["bottleneck"]
    assert bottleneck["op_type"] == "Map"
    bound: Any = found["data_bound"]
    assert bound["batches"] == _STEPS - 1  # the first is start-up
    assert bound["wait_ns"] > 0


# ---- Model.train, errors, what is too late ----


def test_steps_of_model_train(recorded: Recorder) -> None:
    model = recorded("model")
    assert model.steps() == list(range(1, _STEPS + 1))
    by_step = [model.kernels(step) for step in model.steps()]
    assert by_step[0]
    assert all(counts == by_step[0] for counts in by_step)
    assert model.values("name FROM slices WHERE kind = 'compile'") == ["compile TrainOneStepCell"]
    assert model.values("step FROM slices WHERE name = 'next batch' ORDER BY 1") == model.steps()[1:]


def test_an_error_that_recording_waited_for_is_the_trainings(recorded: Recorder) -> None:
    failing = recorded("failing")
    assert "Cholesky" in failing.did["error"]
    assert failing.values("complete FROM steps") == [False]


def test_a_dataset_that_was_iterated_before(recorded: Recorder) -> None:
    late = recorded("late")
    assert late.steps() == [1, 2]
    assert len(late.values("name FROM slices WHERE kind = 'data'")) == 1
    assert any(
        "before laptime.Profiler started" in warning["message"] for warning in late.run.traces[0].meta["warnings"]
    )


# ---- the guide ----


@pytest.mark.parametrize("module", ["laptime", "laptime.compat.mindinsight"])
def test_the_sample_of_the_guide(mindspore_python: Path, tmp_path: Path, module: str) -> None:
    if not (ROOT / "src" / module.replace(".", "/")).with_suffix(".py").exists() and module != "laptime":
        pytest.skip(f"{module} is not there")
    run_script(mindspore_python, _SCRIPTS / "guide.py", tmp_path, tmp_path / "data", module)
    guide = Recorded(_opened(tmp_path / "data"), {})
    steps = guide.rows("step, source FROM steps ORDER BY step")
    assert [row["step"] for row in steps] == list(range(1, 2 * 5 + 1))
    assert {row["source"] for row in steps} == {"inferred"}
    of_forward = "name = 'Default/network-WithLossCell/_backbone-Net/conv-Conv2d/Conv2D-op0'"
    assert guide.values(f"count(*) FROM slices WHERE {of_forward}") == [10]

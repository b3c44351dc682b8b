"""The article's scripts, with only their import changed: what the recording says is what the script did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from laptime.model.trace import Run
from tests.recorders.conftest import run_script
from tests.recorders.megengine_runs import SCRIPTS, counts, on_interpreter, opened, user_lines, with_import_changed

pytestmark = pytest.mark.frameworks

STEPS = 5


@pytest.fixture(scope="module")
def decorated(megengine_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The decorated training step, recorded into the default folder."""
    folder = tmp_path_factory.mktemp("decorated")
    run_script(megengine_python, with_import_changed("megengine_decorator.py"), folder)
    return opened(folder / "profile")


@pytest.fixture(scope="module")
def entered(megengine_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One profiler entered five times with all options; in `told.json` what the script says of it."""
    folder = tmp_path_factory.mktemp("entered")
    done = run_script(megengine_python, with_import_changed("megengine_with.py"), folder, folder / "run", "2")
    (folder / "told.json").write_text(done.stdout.splitlines()[-1])
    return folder


@pytest.fixture(scope="module")
def entered_run(entered: Path) -> Run:
    """Its recording."""
    return opened(entered / "run")


@pytest.fixture(scope="module")
def original(megengine_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same script under MegEngine's own profiler, which keeps the last step and bears one format only."""
    folder = tmp_path_factory.mktemp("original")
    done = run_script(megengine_python, SCRIPTS / "megengine_with.py", folder, folder / "run", "1")
    (folder / "told.json").write_text(done.stdout.splitlines()[-1])
    return folder


def told(folder: Path) -> dict[str, Any]:
    """What a script printed."""
    found: dict[str, Any] = json.loads((folder / "told.json").read_text())
    return found


def test_each_call_of_a_decorated_function_is_a_step(decorated: Run) -> None:
    steps = decorated.traces[0].steps.arrow().to_pylist()
    assert [(step["step"], step["window"], step["complete"]) for step in steps] == [
        (number, number, True) for number in range(1, STEPS + 1)
    ]
    assert all(step["start_ns"] < step["forward_start_ns"] < step["backward_end_ns"] < step["end_ns"] for step in steps)


def test_the_devices_are_done_when_a_block_ends(decorated: Run) -> None:
    """Their begin is not looked at: on a busy machine MegEngine places device rows up to milliseconds too early."""
    rows = decorated.sql(
        """select steps.step, count(*) as kernels, count(*) filter (start_ns + dur_ns > end_ns) as late
        from (select step, start_ns, dur_ns from slices where kind = 'kernel') join
        (select step, end_ns from steps) steps using (step) group by all order by all"""
    ).to_pylist()
    assert [(row["step"], row["late"]) for row in rows] == [(number, 0) for number in range(1, STEPS + 1)]
    assert len({row["kernels"] for row in rows}) == 1


def test_operators_are_those_of_the_script(decorated: Run) -> None:
    for kind in ("op", "kernel"):
        found = counts(decorated, f"kind = '{kind}'")
        # Forward two layers multiply; backward the second does for input and weight, the first for its weight alone.
        assert (found["MatrixMul"], found["RELU"]) == (STEPS * 5, STEPS)
    assert counts(decorated, "name = 'RELU' and kind = 'op'", "step") == dict.fromkeys(range(1, STEPS + 1), 1)
    assert counts(decorated, "name = 'MatrixMul' and kind = 'op'", "phase") == {
        "forward": STEPS * 2,
        "backward": STEPS * 3,
    }


def test_modules_backward_and_optimizer_are_scopes(decorated: Run) -> None:
    found = on_interpreter(decorated, "kind = 'scope'")
    assert {name: found[name] for name in ("fc1", "fc2", "backward", "step", "clear_grad")} == {
        "fc1": STEPS,
        "fc2": STEPS,
        "backward": STEPS,
        "step": STEPS,
        "clear_grad": STEPS,
    }
    assert not [name for name in found if str(name).startswith("tensor.")]


def test_nothing_is_said_to_be_wrong_with_a_recording(decorated: Run, entered_run: Run) -> None:
    for run in (decorated, entered_run):
        warnings = run.traces[0].meta["warnings"]
        assert {warning["code"] for warning in warnings} <= {"clock_disorder", "unlinked_device_ops"}, warnings


def test_training_goes_as_under_megengines_own_profiler(entered: Path, original: Path) -> None:
    assert told(entered)["losses"] == told(original)["losses"]
    assert len(told(entered)["losses"]) == STEPS


def test_with_scopes_opens_the_scopes_of_the_original(entered_run: Run, original: Path) -> None:
    last_step = opened(next((original / "run").glob("*.json")))
    ours = on_interpreter(entered_run, f"kind in ('scope', 'data') and step = {STEPS}")
    assert ours.pop(f"laptime step {STEPS}") == 1
    theirs = on_interpreter(last_step, "kind in ('scope', 'data')")
    assert theirs["batch_norm"] == theirs["conv"] == 1
    assert ours == theirs


def test_both_formats_are_written_of_each_window(entered: Path, entered_run: Run) -> None:
    names = sorted(path.name.split(".window")[1] for path in (entered / "run").glob("*.window*"))
    assert names == sorted(
        f"{number}.{kind}" for number in range(1, STEPS + 1) for kind in ("chrome_timeline.json", "memory_flow.svg")
    )
    lives = entered_run.sql("select count(*) as n, count(slice_id) as made, sum(size_bytes) as size from allocations")
    row = lives.to_pylist()[0]
    assert row["n"] > 100 * STEPS / 2 and row["made"] > row["n"] / 2 and row["size"] > 0


def test_memory_is_sampled(entered_run: Run) -> None:
    names = entered_run.sql("select distinct name from tracks where kind = 'counter'").to_pylist()
    assert any("alloc_mem" in row["name"] for row in names)


def test_every_wait_has_the_line_that_waits(entered: Path, entered_run: Run) -> None:
    lines = user_lines(entered_run, "kind = 'sync'", "script.py")
    waits = told(entered)["waits"]
    assert None not in lines
    assert {call: lines[waits[call]] for call in ("item", "bool", "numpy")} == {"item": 5, "bool": 5, "numpy": 5}
    assert 1 <= lines[waits["shape"]] <= STEPS  # a shape that is there already is not waited for
    assert set(lines) <= set(waits.values())


def test_operators_have_call_stacks_backward_ones_too(entered_run: Run) -> None:
    for phase in ("forward", "backward", "optimizer"):
        lines = user_lines(entered_run, f"kind = 'kernel' and phase = '{phase}'", "script.py")
        assert lines and None not in lines, (phase, lines)
    for name in ("Convolution", "ConvolutionBackwardFilterV2"):
        stacks = entered_run.sql(
            f"""select distinct function from slices join stacks using (stack_id)
            where slices.name = '{name}' and kind = 'kernel' and file like '%script.py'"""
        ).to_pylist()
        assert {"forward", "train_step"} <= {row["function"] for row in stacks}


def test_options_that_megengine_does_not_have_are_named(megengine_python: Path, tmp_path: Path) -> None:
    script = "import megengine, laptime\nwith laptime.Profiler('run', with_scope=True, num_tensor_watch=3): pass\n"
    done = run_script(megengine_python, script, tmp_path)
    assert "laptime: MegEngine's profiler has no option with_scope; ignored\n" in done.stderr


_STEP_SCOPES = """
from megengine import Tensor
from laptime.compat.megengine import Profiler, scope

with Profiler():
    for number in range(3):
        with scope(f"step{number}"):
            Tensor([1.0, 2.0]).sum().numpy()
"""


def test_steps_may_be_scopes_of_ones_own(megengine_python: Path, tmp_path: Path) -> None:
    """Of a block that no step() divides: what the recorder marks itself is no step."""
    run_script(megengine_python, _STEP_SCOPES, tmp_path)
    steps = opened(tmp_path / "profile").traces[0].steps.arrow().to_pylist()
    assert [step["label"] for step in steps] == ["step0", "step1", "step2"]


def test_ones_own_scopes(megengine_python: Path, tmp_path: Path) -> None:
    done = run_script(megengine_python, with_import_changed("megengine_scope.py"), tmp_path)
    assert done.stdout == "[2, 3, 1]\n"
    run = opened(tmp_path / "profile")
    assert run.traces[0].steps.row_count == 0
    found = on_interpreter(run, "kind = 'scope'")
    assert {name: found[name] for name in ("Add", "Mul", "Raises", "Sub")} == dict.fromkeys(
        ("Add", "Mul", "Raises", "Sub"), 1
    )
    around = run.sql(
        """select op.name as op, scope.name as scope from slices op join slices scope on op.parent_id = scope.slice_id
        where op.kind in ('op', 'launch') and scope.kind = 'scope'"""
    ).to_pylist()
    assert {(row["op"], row["scope"]) for row in around} >= {("ADD", "Add"), ("MUL", "Mul"), ("SUB", "Sub")}

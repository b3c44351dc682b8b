"""`laptime record` and `python -m laptime.recorders`: the program runs as by itself, and its steps are found."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from laptime.model.workspace import Workspace
from laptime.recorders.command_options import _parser
from tests.conftest import ROOT
from tests.recorders.running import log_of, rows_of, run_python, steps_of, trace_of

_SHOWS_ITSELF = """
import json, sys
__import__("helper")
json.dump([sys.argv, sys.path[0], __file__, __name__, str(__spec__ and __spec__.name), __package__,
           sorted(set(globals()) - {"__annotations__"}), sys.modules["__main__"].__dict__ is globals()], sys.stdout)
"""
_TRAINING = """
import sys, time

def helper(x):
    return x

def train_step(n):
    "Trains."
    time.sleep(0.001)
    return train_step(0) if n == 2 else helper(n)

class Trainer:
    def step(self, n):
        return n

    @staticmethod
    def fixed(n):
        return n

    @classmethod
    def made(cls, n):
        return cls.__name__, n

class Better(Trainer):
    pass

def main():
    for n in range(5):
        train_step(n)
        assert Trainer().step(n) == Better().step(n) == n
        assert Trainer.fixed(n) == n
        assert Trainer.made(n) == ("Trainer", n)
        later(n)

if True:
    later = lambda n: n

if __name__ == "__main__":
    assert train_step.__doc__ == "Trains."
    main()
"""


def _folder(tmp_path: Path, **files: str) -> Path:
    for name, text in {"helper.py": "", **{f"{name}.py": text for name, text in files.items()}}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def _record(arguments: list[str], folder: Path, *, code: int = 0) -> subprocess.CompletedProcess[str]:
    return run_python(["-m", "laptime.recorders", "-o", "out", *arguments], folder, code=code)


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return done.stderr.splitlines()[-1]


# ---- the program runs as by itself ----


@pytest.mark.parametrize("steps", [[], ["--steps-from", "json"]])
@pytest.mark.parametrize(
    "program",
    [["show.py", "-x", "--lr=0.1", "--", "a b"], ["deep/show.py"], ["./link.py", "1"], ["deep"], ["all.zip", "1"]],
)
def test_a_script_sees_what_it_would_see(program: list[str], steps: list[str], tmp_path: Path) -> None:
    _folder(tmp_path, show=_SHOWS_ITSELF)
    _folder(tmp_path / "deep", show=_SHOWS_ITSELF, __main__=_SHOWS_ITSELF)
    (tmp_path / "link.py").symlink_to("deep/show.py")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("__main__.py", _SHOWS_ITSELF)
        archive.writestr("helper.py", "")
    alone = run_python(program, tmp_path)
    assert json.loads(_record([*steps, *program], tmp_path).stdout) == json.loads(alone.stdout)


@pytest.mark.parametrize("steps", [[], ["--steps-from", "json"]])
@pytest.mark.parametrize("module", ["show", "pkg.show", "pkg"])
def test_a_module_sees_what_it_would_see(module: str, steps: list[str], tmp_path: Path) -> None:
    _folder(tmp_path, show=_SHOWS_ITSELF)
    _folder(tmp_path / "pkg", __init__="", show=_SHOWS_ITSELF, __main__=_SHOWS_ITSELF)
    alone = run_python(["-m", module, "-o", "x"], tmp_path)
    assert json.loads(_record([*steps, "-m", module, "-o", "x"], tmp_path).stdout) == json.loads(alone.stdout)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("import sys; sys.exit(7)", 7),
        ("import sys; sys.exit('a message')", 1),
        ("raise KeyError('x')", 1),
        ("raise KeyboardInterrupt", -2),
        ("import broken", 1),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -15),
        ("import os; os._exit(3)", 3),
        ("def f(:", 1),
        ("import sys; sys.excepthook = lambda *seen: print(seen[0].__name__)\nraise OSError", 1),
    ],
)
@pytest.mark.parametrize("how", [["end.py"], ["-m", "end"]])
@pytest.mark.parametrize("steps", [[], ["--steps-from", "train_step"]])
def test_it_ends_as_by_itself(end: str, code: int, how: list[str], steps: list[str], tmp_path: Path) -> None:
    _folder(tmp_path, end=f"def train_step():\n    pass\n\ntrain_step()\n{end}\n", broken="1 / 0")
    alone = run_python(how, tmp_path, code=code)
    recorded = _record([*steps, *how], tmp_path, code=code)
    assert recorded.stdout == alone.stdout
    said = [line for line in recorded.stderr.splitlines() if not line.startswith("laptime: ")]
    assert said == alone.stderr.splitlines()


def test_children_of_multiprocessing_find_the_program(tmp_path: Path) -> None:
    script = """
import multiprocessing
def work(n):
    return n * n
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [3]))
"""
    _folder(tmp_path, many=script)
    for how in (["many.py"], ["-m", "many"]):
        assert _record(["--steps-from", "work", *how], tmp_path).stdout == "[9]\n"
        assert len(list((tmp_path / "out").glob("*") if (tmp_path / "out").exists() else [])) == 0


# ---- steps ----


@pytest.mark.parametrize("how", [["train.py"], ["-m", "train"]])
@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("train_step", 5),
        ("train:train_step", 5),
        ("helper", 5),
        ("Trainer.step", 10),
        ("Better.step", 5),
        ("Trainer.fixed", 5),
        ("Trainer.made", 5),
        ("later", 5),
    ],
)
def test_steps_are_calls(name: str, steps: int, how: list[str], tmp_path: Path, workspace: Workspace) -> None:
    _folder(tmp_path, train=_TRAINING)
    done = _record(["--steps-from", name, *how], tmp_path)
    assert _last_line(done) == f"laptime: recorded {steps} steps in out; next: laptime report out"
    assert steps_of(trace_of(tmp_path / "out", workspace)) == [(n, True) for n in range(1, steps + 1)]


@pytest.mark.parametrize("name", ["fit_one", "lib.trainer:fit_one", "Trainer.fit", "lib.trainer:Trainer.fit"])
def test_steps_in_an_imported_module(name: str, tmp_path: Path) -> None:
    trainer = """
def fit_one(n):
    return n
class Trainer:
    def fit(self, n):
        return fit_one(n)
def fit(count):
    for n in range(count):
        Trainer().fit(n)
"""
    _folder(tmp_path / "lib", __init__="", trainer=trainer)
    _folder(tmp_path, main="from lib.trainer import fit\nfit(4)\n")
    _record(["--steps-from", name, "main.py"], tmp_path)
    assert [row[0] for row in rows_of(tmp_path / "out", "step")] == [1, 2, 3, 4]


def test_steps_of_a_function_that_is_defined_again_and_decorated(tmp_path: Path) -> None:
    script = """
import functools
class Compiled:
    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function
    def __call__(self, n):
        return self.function(n)
    def clear_cache(self):
        print("cleared")
def step(n):
    raise AssertionError("replaced")
@Compiled
def step(n):
    return n
try:
    step = step
except NameError:
    pass
for n in range(3):
    assert step(n) == n
step.clear_cache()
"""
    _folder(tmp_path, again=script)
    assert _record(["--steps-from", "step", "again.py"], tmp_path).stdout == "cleared\n"
    assert len(rows_of(tmp_path / "out", "step")) == 3


def test_steps_of_a_coroutine(tmp_path: Path) -> None:
    script = """
import asyncio
async def step(n):
    await asyncio.sleep(0.005)
    return n
async def main():
    print([await step(n) for n in range(3)])
asyncio.run(main())
"""
    _folder(tmp_path, tasks=script)
    assert _record(["--steps-from", "step", "tasks.py"], tmp_path).stdout == "[0, 1, 2]\n"
    assert all(row[2] - row[1] >= 5_000_000 for row in rows_of(tmp_path / "out", "step"))


def test_what_happens_between_two_calls_belongs_to_the_later_step(tmp_path: Path) -> None:
    _folder(tmp_path, pause="import time\ndef step(): pass\nfor _ in range(3):\n    time.sleep(0.01)\n    step()\n")
    _record(["--steps-from", "step", "pause.py"], tmp_path)
    durations = [row[2] - row[1] for row in rows_of(tmp_path / "out", "step")]
    assert durations[0] < 8_000_000  # recording starts with the first call
    assert all(duration >= 10_000_000 for duration in durations[1:])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("nothing", "nothing was not found; name a function at the top of a module, or a method of a class"),
        ("Trainer.nothing", "Trainer.nothing was not found; name a function"),
        ("elsewhere:step", "elsewhere:step was not found"),
        ("Trainer", "Trainer was not found"),
        ("unused", "unused was never called"),
    ],
)
def test_steps_that_are_not_there(name: str, text: str, tmp_path: Path) -> None:
    _folder(tmp_path, train=_TRAINING + "\ndef unused(): pass\n")
    done = _record(["--steps-from", name, "train.py"], tmp_path)
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"laptime: nothing was recorded: {text}")
    assert not (tmp_path / "out").exists()


def test_a_class_that_claims_to_have_every_method(tmp_path: Path) -> None:
    _folder(
        tmp_path,
        claims="class Claims(type):\n    def __getattr__(cls, name): return print\nclass Net(metaclass=Claims): pass\n",
        train="from claims import Net\n\nprint('trained')\n",
    )
    done = _record(["--steps-from", "Net.train", "train.py"], tmp_path)
    assert done.stdout == "trained\n"
    assert "Net.train was not found" in done.stderr


def test_line_numbers_stay(tmp_path: Path) -> None:
    script = (
        "def step():\n    pass\n\n\nstep()\nif True:\n    step = step\nimport sys\nprint(sys._getframe().f_lineno)\n"
    )
    _folder(tmp_path, lines=script)
    assert _record(["--steps-from", "step", "lines.py"], tmp_path).stdout == "9\n"


def test_a_schedule(tmp_path: Path) -> None:
    _folder(tmp_path, train=_TRAINING)
    options = ["--steps_from", "train_step", "--skip-first", "1", "--wait=1", "--active", "2", "--repeat", "1"]
    _record([*options, "train.py"], tmp_path)
    assert [row[0] for row in rows_of(tmp_path / "out", "step")] == [3, 4]


# ---- the framework ----


def _framework(folder: Path, name: str) -> None:
    """A module by a framework's name; its recorder does not work here, so plain Python is recorded in its place."""
    (folder / f"{name}.py").write_text("print('imported')\nfrom laptime import scope\n")


def test_recording_starts_anew_when_a_framework_is_imported(tmp_path: Path) -> None:
    script = "import laptime\nwith laptime.scope('before'): pass\nimport jax\nwith laptime.scope('after'): pass\n"
    _framework(_folder(tmp_path, uses=script), "jax")
    done = _record(["uses.py"], tmp_path)
    assert _last_line(done).startswith("laptime: recorded in out, no steps (--steps-from NAME marks them); next: ")
    assert "jax cannot be recorded" in done.stderr
    assert [row[1] for row in rows_of(tmp_path / "out", "slice") if row[2] == "scope"] == ["after"]


def test_only_the_framework_that_is_named(tmp_path: Path) -> None:
    _framework(_folder(tmp_path, uses="import jax"), "jax")
    done = _record(["--framework", "torch", "uses.py"], tmp_path)
    assert done.stderr == "laptime: nothing was recorded: pytorch was not imported\n"
    assert "cannot be recorded" not in _record(["--framework", "python", "uses.py"], tmp_path).stderr
    assert log_of(tmp_path / "out")[0]["framework"] == "python"


# ---- usage ----


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "name a script, or a module after -m"),
        (["-m"], "name a script, or a module after -m"),
        (["--steps-from", "a b", "x.py"], "'a b' is no name of a function"),
        (["--framework", "caffe", "x.py"], "unknown framework 'caffe'"),
        (["--formats", "svg", "x.py"], "unknown format 'svg'"),
        (["--sample-rate", "-1", "x.py"], "sample_rate must not be negative"),
        (["--active", "3", "x.py"], "a schedule counts steps: say what they are with --steps-from NAME"),
        (["--wait", "3", "--steps-from", "f", "x.py"], "a schedule needs --active"),
        (["--active", "0", "--steps-from", "f", "x.py"], "active must be 1 or more"),
        (["--nonsense", "x.py"], "unrecognized arguments: --nonsense"),
        (["nowhere.py"], "no such file: nowhere.py"),
    ],
)
def test_bad_usage(arguments: list[str], text: str, tmp_path: Path) -> None:
    for command in (["-m", "laptime.recorders"], ["-m", "laptime", "record"]):
        done = run_python([*command, *arguments], tmp_path, code=2)
        assert text in done.stderr
        assert done.stdout == ""


def test_a_module_that_is_not_there_is_not_recorded(tmp_path: Path) -> None:
    for command in (["-m", "laptime.recorders"], ["-m", "laptime", "record"]):
        done = run_python([*command, "-m", "nowhere.at_all"], tmp_path, code=1)
        assert done.stderr.startswith(f"{sys.executable}: ") and "'nowhere'" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_help_fits_a_terminal_and_has_examples(tmp_path: Path) -> None:
    ours = run_python(["-m", "laptime", "record", "--help"], tmp_path).stdout
    theirs = run_python(["-m", "laptime.recorders", "-h"], tmp_path).stdout
    assert max(map(len, ours.splitlines())) <= 80
    assert "  laptime record --steps-from trainer:Trainer.step -m my.training --lr 0.1\n" in ours
    assert re.sub(r"\s+", " ", theirs).count("python -m laptime.recorders") == 5


def test_every_option_is_documented() -> None:
    text = "\n".join(page.read_text() for page in (ROOT / "docs").glob("*.md"))
    options = {name for action in _parser("x")._actions for name in action.option_strings if "_" not in name}
    assert len(options) > 15
    assert not [name for name in options if f"`{name}" not in text]


def test_laptime_record_hands_over(tmp_path: Path) -> None:
    """The program runs in a process that has loaded nothing heavy."""
    script = """
import sys
def step(): pass
step()
print(sorted({'numpy', 'pyarrow', 'typer'} & set(sys.modules)), sys.argv)
sys.exit(4)
"""
    _folder(tmp_path, train=script)
    arguments = ["-m", "laptime", "record", "-o", "out", "--steps_from", "step", "train.py", "--a_b", "-o", "x"]
    done = run_python(arguments, tmp_path, code=4)
    assert done.stdout == "[] ['train.py', '--a_b', '-o', 'x']\n"
    assert _last_line(done) == "laptime: recorded 1 step in out; next: laptime report out"


# ---- nothing but the standard library ----

_ISOLATED = """
import importlib.abc, sys

class Refusing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in ("laptime", "helper", "train"):
            raise ImportError(f"{top} is not of the standard library")
        return None

sys.meta_path.insert(0, Refusing())
sys.path.insert(0, sys.argv.pop(1))
"""


@pytest.mark.parametrize(
    "use",
    [
        "import laptime\nwith laptime.Profiler('out') as prof:\n    for _ in prof.watch(range(3)):\n"
        "        with laptime.scope('s'): pass\n        prof.step()\nprint(prof.analyse())",
        "from laptime.recorders.command import main\nmain(['-o', 'out', '--steps-from', 'train_step', 'train.py'])",
    ],
)
def test_recording_needs_the_standard_library_alone(use: str, tmp_path: Path) -> None:
    _folder(tmp_path, train=_TRAINING, isolated=_ISOLATED + use)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-I", "-S", "isolated.py", str(ROOT / "src")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(rows_of(tmp_path / "out", "step")) in (3, 5)
    assert "laptime report out" in done.stdout + done.stderr

"""However training ends, its recording is there, and it ends as it would have without a recorder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from laptime.model.workspace import Workspace
from tests.recorders.running import rows_of, run, steps_of, trace_of, warnings_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX")
_THREE_AND_A_PART = [(1, True), (2, True), (3, True), (4, False)]


def test_an_exception(tmp_path: Path, workspace: Workspace) -> None:
    script = "with laptime.Profiler(sys.argv[1]) as prof:\n    train(prof, 3)\n    raise RuntimeError('no luck')"
    done = run(script, tmp_path, code=1)
    assert done.stderr.splitlines()[-1] == "RuntimeError: no luck"
    assert "recorders" not in done.stderr
    trace = trace_of(tmp_path / "out", workspace)
    assert steps_of(trace) == _THREE_AND_A_PART
    assert "partial_step" in warnings_of(trace)


@pytest.mark.parametrize(
    ("end", "code", "steps"),
    [
        ("", 0, [(1, True), (2, True), (3, True)]),
        ("sys.exit(3)", 3, [(1, True), (2, True), (3, True)]),
        ("raise RuntimeError", 1, _THREE_AND_A_PART),
        ("os.kill(os.getpid(), signal.SIGTERM); time.sleep(9)", -15, _THREE_AND_A_PART),
        ("os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", -2, _THREE_AND_A_PART),
        ("os.kill(os.getpid(), signal.SIGKILL)", -9, [(1, True), (2, True), (3, True)]),
        ("os._exit(4)", 4, [(1, True), (2, True), (3, True)]),
        ("del prof", 0, [(1, True), (2, True), (3, True)]),
        ("def keep(): prof.step()\nimport atexit; atexit.register(keep)", 0, [(n, True) for n in (1, 2, 3, 4)]),
    ],
)
def test_ends_without_stop(
    end: str, code: int, steps: list[tuple[int, bool]], tmp_path: Path, workspace: Workspace
) -> None:
    run(f"prof = laptime.Profiler(sys.argv[1])\nprof.start()\ntrain(prof, 3)\n{end}", tmp_path, code=code)
    trace = trace_of(tmp_path / "out", workspace)
    assert steps_of(trace) == steps
    assert trace.slices.objects("name").count("forward") == 3
    assert ("truncated" in warnings_of(trace)) == (code in (-9, 4))


def test_sigterm_amid_a_step_waits_until_it_is_written(tmp_path: Path, workspace: Workspace) -> None:
    """A window of every step, so that most signals come while one opens or closes."""
    script = """
threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGTERM)).start()
with laptime.Profiler(sys.argv[1], schedule=laptime.schedule(active=1)) as prof:
    while True:
        prof.step()
"""
    run(script, tmp_path, code=-15)
    trace = trace_of(tmp_path / "out", workspace)
    windows = rows_of(tmp_path / "out", "end")
    assert [row[0] for row in windows] == list(range(1, len(windows) + 1))
    assert {row[2] for row in windows[:-1]} == {"whole"}
    assert trace.table("steps").row_count >= len(windows) - 1


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_handler_of_the_users_own(place: str, tmp_path: Path, workspace: Workspace) -> None:
    install = "def own(number, frame):\n    print('own handler')\n    sys.exit(5)\nsignal.signal(signal.SIGTERM, own)\n"
    start = "prof = laptime.Profiler(sys.argv[1])\nprof.start()\n"
    order = install + start if place == "before" else start + install
    end = "train(prof, 3)\nassert signal.getsignal(signal.SIGTERM) is own\nos.kill(os.getpid(), 15)\ntime.sleep(9)"
    assert run(order + end, tmp_path, code=5).stdout == "own handler\n"
    assert steps_of(trace_of(tmp_path / "out", workspace)) == [(1, True), (2, True), (3, True)]


def test_handlers_are_as_before_when_recording_has_ended(tmp_path: Path) -> None:
    script = """
before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
with laptime.Profiler(sys.argv[1]) as prof:
    train(prof, 2)
    assert signal.getsignal(signal.SIGINT) is before[1]
assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
"""
    run(script, tmp_path)


def test_ctrl_c_while_the_recording_is_written(tmp_path: Path, workspace: Workspace) -> None:
    """The backend gets it in the midst of writing; it ends, and then the interrupt acts."""
    script = """
from laptime.recorders import plain
def stop(self, window):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.2)
    window.log.add("note", "stopped whole")
plain.PlainBackend.stop = stop
try:
    with laptime.Profiler(sys.argv[1]) as prof:
        train(prof, 3)
except KeyboardInterrupt:
    print("interrupted")
with laptime.Profiler(sys.argv[1] + "2") as prof:
    assert prof.is_recording
    plain.PlainBackend.stop = lambda self, window: None
"""
    assert run(script, tmp_path).stdout == "interrupted\n"
    assert rows_of(tmp_path / "out", "note") == [["stopped whole"]]
    assert steps_of(trace_of(tmp_path / "out", workspace)) == [(1, True), (2, True), (3, True)]


# ---- processes ----


@pytest.mark.parametrize("end", ["sys.exit(3)", "os._exit(3)", "raise SystemExit(3)"])
def test_a_forked_child_leaves_its_parents_recording_alone(end: str, tmp_path: Path, workspace: Workspace) -> None:
    script = f"""
with laptime.Profiler(sys.argv[1]) as prof:
    train(prof, 2)
    child = os.fork()
    if not child:
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        train(prof, 5)
        {end}
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    train(prof, 2)
"""
    assert run(script, tmp_path).stderr == ""
    assert [row[0] for row in rows_of(tmp_path / "out", "step")] == [1, 2, 3, 4]
    assert steps_of(trace_of(tmp_path / "out", workspace)) == [(n, True) for n in (1, 2, 3, 4)]


def test_a_forked_child_may_record_for_itself(tmp_path: Path) -> None:
    script = """
prof = laptime.Profiler(sys.argv[1])
with prof:
    train(prof, 2)
    child = os.fork()
    if not child:
        with prof if len(sys.argv) > 2 else laptime.Profiler(sys.argv[1]) as own:
            train(own, 1)
        os._exit(0)
    os.waitpid(child, 0)
    train(prof, 1)
"""
    for number, arguments in enumerate(((), ("same",))):
        folder = tmp_path / str(number)
        folder.mkdir()
        run(script, folder, *arguments)
        logs = sorted((folder / "out").glob("*.jsonl"))
        assert sorted(log.read_text().count('["step"') for log in logs) == [1, 3]


def test_a_child_that_is_terminated_dies_at_once(tmp_path: Path) -> None:
    script = """
with laptime.Profiler(sys.argv[1]) as prof:
    train(prof, 1)
    child = os.fork()
    if not child:
        time.sleep(20)
        os._exit(1)
    os.kill(child, signal.SIGTERM)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -15
    train(prof, 1)
"""
    run(script, tmp_path)
    assert [row[2] for row in rows_of(tmp_path / "out", "end")] == ["whole"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing(method: str, tmp_path: Path, workspace: Workspace) -> None:
    script = f"""
import multiprocessing

def work(number):
    with laptime.scope("of a worker"):
        return number * number

def die(number):
    os._exit(9)

if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    with laptime.Profiler(sys.argv[1]) as prof:
        train(prof, 1)
        with context.Pool(2) as pool:
            print(pool.map(work, range(4)))
        process = context.Process(target=die, args=(1,))
        process.start()
        process.join()
        print(process.exitcode)
        prof.step()
"""
    done = run(script, tmp_path)
    assert (done.stdout, done.stderr) == ("[0, 1, 4, 9]\n9\n", "")
    trace = trace_of(tmp_path / "out", workspace)
    assert steps_of(trace) == [(1, True), (2, True)]
    assert "of a worker" not in trace.slices.objects("name")


# ---- threads, tasks ----


def test_training_in_a_thread(tmp_path: Path, workspace: Workspace) -> None:
    script = """
def work():
    with laptime.Profiler(sys.argv[1]) as prof:
        train(prof, 3)
        time.sleep(9)
threading.Thread(target=work, daemon=True, name="trainer").start()
time.sleep(0.5)
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(9)
"""
    run(script, tmp_path, code=-15)
    trace = trace_of(tmp_path / "out", workspace)
    assert steps_of(trace)[:3] == [(1, True), (2, True), (3, True)]


def test_scopes_of_threads_and_tasks(tmp_path: Path, workspace: Workspace) -> None:
    script = """
import asyncio
def work(number):
    for _ in range(200):
        with laptime.scope(f"thread {number}"):
            pass
async def task(number):
    with laptime.scope(f"task {number}"):
        await asyncio.sleep(0.001 * (3 - number))
async def main():
    await asyncio.gather(*(task(number) for number in range(3)))
with laptime.Profiler(sys.argv[1]) as prof:
    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads: thread.start()
    asyncio.run(main())
    for thread in threads: thread.join()
    prof.step()
"""
    run(script, tmp_path)
    names = trace_of(tmp_path / "out", workspace).slices.objects("name")
    assert [names.count(f"thread {number}") for number in range(4)] == [200] * 4
    assert [names.count(f"task {number}") for number in range(3)] == [1] * 3


def test_ctrl_c_in_asyncio(tmp_path: Path) -> None:
    """asyncio takes SIGINT only where Python's own handler is in place: it must find it."""
    script = """
import asyncio
async def main():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(9)
    except asyncio.CancelledError:
        print("cancelled")
        raise
with laptime.Profiler(sys.argv[1]) as prof:
    train(prof, 1)
    asyncio.run(main())
"""
    done = run(script, tmp_path, code=-2)
    if sys.version_info >= (3, 11):
        assert done.stdout == "cancelled\n"
    assert [row[2] for row in rows_of(tmp_path / "out", "end")] == ["cut"]


# ---- what cannot be written ----


def test_no_folder_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    done = run("with laptime.Profiler(sys.argv[1]) as prof:\n    train(prof, 3)\nprint('trained')", tmp_path)
    assert done.stdout == "trained\n"
    (line,) = done.stderr.splitlines()
    assert line.startswith("laptime: recording stopped, training goes on: ")
    assert str(tmp_path / "out") in line


@pytest.mark.parametrize("limit", [600, 4096, 20_000])
def test_the_disk_is_full(limit: int, tmp_path: Path, workspace: Workspace) -> None:
    """A limit of the size of files fails a write as a full disk does, in part."""
    script = f"""
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
with laptime.Profiler(sys.argv[1]) as prof:
    for _ in range(200):
        train(prof, 1)
print('trained')
"""
    done = run(script, tmp_path)
    assert done.stdout == "trained\n"
    lines = [line for line in done.stderr.splitlines() if "recording stopped" in line]
    assert lines == ["laptime: recording stopped, training goes on: File too large"]
    steps = steps_of(trace_of(tmp_path / "out", workspace))
    assert len(steps) < 200
    assert steps == [(number, True) for number in range(1, len(steps) + 1)]


def test_nobody_hears_of_it(tmp_path: Path) -> None:
    script = """
sys.stderr.close()
sys.stderr = None
with laptime.Profiler("/dev/null/nowhere") as prof:
    train(prof, 3)
prof.step()
print("trained")
"""
    assert run(script, tmp_path).stdout == "trained\n"


def test_nothing_is_left_open(tmp_path: Path) -> None:
    """Warnings as errors: an unclosed file would be one."""
    script = """
import gc
for _ in range(3):
    with laptime.Profiler(sys.argv[1]) as prof:
        train(prof, 1)
prof.start(); train(prof, 1); prof.stop()
del prof
gc.collect()
assert threading.active_count() == 1
assert not [callback for callback in gc.callbacks if "laptime" in repr(callback)]
"""
    done = run(script, tmp_path, python=("-X", "dev", "-W", "error"))
    assert done.stderr == ""
    logs = sorted((tmp_path / "out").glob("*.jsonl"))
    assert [log.read_text().count('["step"') for log in logs] == [1, 1, 2]

"""Measure one command together with every process it starts: wall, CPU seconds and peak memory.

Memory is the proportional set size (PSS) of all processes of the tree, summed, sampled every 50 ms: pages that workers
share count once, where a sum of resident set sizes counts them per worker. A peak shorter than that can be missed, so
the kernel's own record is kept beside it: the greatest resident set size (RSS) any single process of the tree reached,
or this process before it, as a process inherits that record from the one that starts it. So keep this one small.

CPU seconds must also hold for workers that nobody waits for, as those of a multiprocessing forkserver: RUSAGE_CHILDREN
misses them. So this process becomes a "child subreaper": whatever outlives its parent is handed to it instead of to
init. Then each process of the tree is waited for exactly once, by its parent (the kernel adds its times to those of the
parent) or here, and the sum of what `wait4` says here is complete and counts nothing twice. One case escapes: a parent
that ignores SIGCHLD has its children's times dropped. For it the samples also keep the last own utime + stime of every
process seen; that sum is a lower bound, as up to 50 ms of each are missing, and is used only where it is the greater.

Wall seconds end when the command itself does, not when its last orphan does.

A process that measures must have no children of its own, as all of its descendants are taken for the command's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

SAMPLE_SECONDS = 0.05
GRACE_SECONDS = 5.0

_PROC = Path("/proc")
_PR_SET_CHILD_SUBREAPER = 36
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class CommandFailed(Exception):
    """A measured command ended with an error; the text says which, how, and its last words."""


@dataclass(frozen=True)
class Measurement:
    """What one run of a command cost, all of its processes together."""

    wall_seconds: float
    cpu_seconds: float
    peak_pss_bytes: int
    largest_rss_bytes: int
    peak_processes: int


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    started: int
    own_ticks: int


@dataclass
class _Tally:
    """What samples and waits have gathered so far."""

    peak_pss_bytes: int = 0
    largest_rss_bytes: int = 0
    peak_processes: int = 0
    reaped_seconds: float = 0.0
    own_ticks: dict[tuple[int, int], int] = field(default_factory=dict)
    exit_codes: dict[int, int] = field(default_factory=dict)

    def sample(self) -> int:
        """Take one sample of the tree; the number of processes in it."""
        tree = _descendants(os.getpid())
        self.own_ticks |= {(process.pid, process.started): process.own_ticks for process in tree}
        self.peak_pss_bytes = max(self.peak_pss_bytes, sum(_pss_bytes(process.pid) for process in tree))
        self.peak_processes = max(self.peak_processes, len(tree))
        return len(tree)

    def reap(self) -> None:
        """Wait for every child that has ended, the command's orphans among them."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.largest_rss_bytes = max(self.largest_rss_bytes, usage.ru_maxrss * 1024)
            self.reaped_seconds += usage.ru_utime + usage.ru_stime
            self.exit_codes[pid] = os.waitstatus_to_exitcode(status)

    def cpu_seconds(self) -> float:
        """CPU seconds of the whole tree, see the top of this file."""
        return max(self.reaped_seconds, sum(self.own_ticks.values()) / _TICKS_PER_SECOND)


def measure(command: Sequence[str | Path], *, stdout: Path = Path(os.devnull)) -> Measurement:
    """Run the command to its end and measure it; CommandFailed unless it exits 0."""
    _become_subreaper()
    arguments = [os.fspath(word) for word in command]
    tally = _Tally()
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        root = _spawn(arguments, stdout=stdout, stderr=errors.fileno())
        try:
            _sample_until_exit(root, tally)
            wall = time.perf_counter() - started
            _await_orphans(tally)
        finally:
            _kill_descendants(tally)
        if code := tally.exit_codes[root]:
            errors.seek(0)
            last_words = errors.read().decode(errors="replace").strip().splitlines()[-1:]
            raise CommandFailed(f"{' '.join(arguments)}: exit {code}: {''.join(last_words)}")
    return Measurement(
        wall_seconds=wall,
        cpu_seconds=tally.cpu_seconds(),
        peak_pss_bytes=tally.peak_pss_bytes,
        largest_rss_bytes=tally.largest_rss_bytes,
        peak_processes=tally.peak_processes,
    )


def _become_subreaper() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot become a child subreaper, which measuring needs (Linux 3.4 or later)")


def _spawn(arguments: list[str], *, stdout: Path, stderr: int) -> int:
    """Start the command in its own session, so that a Ctrl-C here does not reach it half-way."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.fspath(stdout), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644),
        (os.POSIX_SPAWN_DUP2, stderr, 2),
    ]
    return os.posix_spawnp(arguments[0], arguments, os.environ, file_actions=actions, setsid=True)


def _sample_until_exit(root: int, tally: _Tally) -> None:
    handle = os.pidfd_open(root)
    try:
        while True:
            next_sample = time.perf_counter() + SAMPLE_SECONDS
            tally.sample()
            exited, _, _ = select.select([handle], [], [], max(0.0, next_sample - time.perf_counter()))
            if exited:
                return
            tally.reap()
    finally:
        os.close(handle)


def _await_orphans(tally: _Tally) -> None:
    """Let what outlives the command end by itself for a while: its CPU seconds and memory are the command's too."""
    deadline = time.perf_counter() + GRACE_SECONDS
    tally.reap()
    while tally.sample() and time.perf_counter() < deadline:
        time.sleep(SAMPLE_SECONDS)
        tally.reap()


def _kill_descendants(tally: _Tally) -> None:
    while tree := _descendants(os.getpid()):
        for process in tree:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGKILL)
        time.sleep(SAMPLE_SECONDS)
        tally.reap()


def _descendants(root: int) -> list[_Process]:
    children: dict[int, list[_Process]] = {}
    for entry in os.listdir(_PROC):
        if entry.isdigit() and (process := _process(int(entry))):
            children.setdefault(process.parent, []).append(process)
    found: list[_Process] = []
    parents = [root]
    while parents:
        below = children.get(parents.pop(), [])
        found += below
        parents += [process.pid for process in below]
    return found


def _process(pid: int) -> _Process | None:
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None  # it ended between the listing and here
    # The name before ")" may hold spaces; field 3 of proc(5) is fields[0].
    fields = text[text.rindex(")") + 2 :].split()
    own_ticks = int(fields[11]) + int(fields[12])
    return _Process(pid=pid, parent=int(fields[1]), started=int(fields[19]), own_ticks=own_ticks)


def _pss_bytes(pid: int) -> int:
    try:
        lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
    except OSError:
        return 0  # it ended, or is a zombie
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)

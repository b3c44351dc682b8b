"""Imports in processes of their own, a few at once: what one of them does or suffers never reaches the server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from laptime.web.finding import RunFolder

AT_ONCE = 2
"""Imports that run at the same time; each may use several processes for a large file."""
_MOST_REASON = 2000
"""Characters of a worker's last words that are kept."""


class Watcher(Protocol):
    """Hears how an import goes; called from a thread of the import."""

    def started(self) -> None: ...

    def progressed(self, share: float) -> None: ...

    def finished(self, key: str) -> None: ...

    def failed(self, message: str) -> None: ...


class Imports:
    """The queue of imports and the processes that do them."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._waiting: deque[tuple[RunFolder, Watcher]] = deque()
        self._running: set[subprocess.Popen[str]] = set()
        self._busy = 0
        self._lock = threading.Lock()
        self._closed = False

    @property
    def processes(self) -> list[int]:
        """Ids of the processes at work."""
        with self._lock:
            return [process.pid for process in self._running]

    def add(self, folder: RunFolder, watcher: Watcher) -> None:
        """Queues an import; it starts as soon as fewer than AT_ONCE run."""
        with self._lock:
            self._waiting.append((folder, watcher))
            start = self._busy < AT_ONCE and not self._closed
            self._busy += start
        if start:
            threading.Thread(target=self._work, name="laptime-import", daemon=True).start()

    def close(self) -> None:
        """Ends all imports."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
            running = list(self._running)
        for process in running:
            process.kill()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting or self._closed:
                    self._busy -= 1
                    return
                folder, watcher = self._waiting.popleft()
            try:
                self._import(folder, watcher)
            except Exception as error:  # no process could be started, or no room is left for its result
                watcher.failed(f"the import failed: {error}")

    def _import(self, folder: RunFolder, watcher: Watcher) -> None:
        watcher.started()
        process = subprocess.Popen(
            [sys.executable, "-m", "laptime.web.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
        with self._lock:
            self._running.add(process)
        last_words: list[str] = []
        beside = [
            threading.Thread(target=_listen, args=(process, last_words), daemon=True),
            threading.Thread(target=_bury, args=(process,), daemon=True),
        ]
        for thread in beside:
            thread.start()
        answer = _converse(process, _request(folder, self._workspace), watcher.progressed)
        for thread in beside:
            thread.join()
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
        with self._lock:
            self._running.discard(process)
        if answer is not None and "key" in answer:
            watcher.finished(str(answer["key"]))
        else:
            watcher.failed(_fault(answer, process.returncode, "".join(last_words)))


def _request(folder: RunFolder, workspace: Path) -> str:
    return json.dumps(
        {
            "base": os.fspath(folder.base),
            "path": os.fspath(folder.path),
            "format": folder.format,
            "inner": [os.fspath(each) for each in folder.inner],
            "workspace": os.fspath(workspace),
        }
    )


def _converse(
    process: subprocess.Popen[str], request: str, progressed: Callable[[float], None]
) -> dict[str, object] | None:
    """Sends the request and reads to the last answer; stdin stays open until then, or the worker ends itself."""
    assert process.stdin is not None and process.stdout is not None
    answer: dict[str, object] | None = None
    try:
        process.stdin.write(request + "\n")
        process.stdin.flush()
    except BrokenPipeError:  # it died at once
        return None
    for line in process.stdout:
        row = _row(line)
        if "progress" in row:
            progressed(float(str(row["progress"])))
        elif row:
            answer = row
    return answer


def _row(line: str) -> dict[str, object]:
    try:
        row = json.loads(line)
    except ValueError:  # a library printed something
        return {}
    return row if isinstance(row, dict) else {}


def _listen(process: subprocess.Popen[str], last_words: list[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        last_words.append(line)
        del last_words[:-20]


def _bury(process: subprocess.Popen[str]) -> None:
    """Waits for the end of a worker, and ends what it has started: such processes would hold its pipes open."""
    process.wait()
    if hasattr(os, "killpg"):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)


def _fault(answer: dict[str, object] | None, code: int | None, last_words: str) -> str:
    if answer is not None:
        return f"{answer.get('error')}: {answer.get('where')}: {answer.get('remedy')}"
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return f"the import was killed ({name}): it may have needed more memory than there is; try again"
    reason = last_words.strip().rpartition("\n")[2][:_MOST_REASON]
    return f"the import ended without a result (exit code {code}): {reason or 'no reason told'}"

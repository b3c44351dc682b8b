"""Real servers, in processes of their own, with a cache folder of their own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_LONGEST_S = 120


@dataclass(frozen=True)
class Machine:
    """Where the commands of one test run: its cache and its workspace."""

    home: Path
    workspace: Path

    @property
    def environment(self) -> dict[str, str]:
        """Of all its processes."""
        own = {"XDG_CACHE_HOME": str(self.home), "LAPTIME_WORKSPACE": str(self.workspace), "PYTHONUNBUFFERED": "1"}
        return {**os.environ, **own}

    def run(self, *words: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
        """A command, to its end."""
        return subprocess.run(
            [sys.executable, "-m", "laptime", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            env=self.environment,
            cwd=folder,
            timeout=_LONGEST_S,
        )

    @contextmanager
    def opened(self, *words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
        """`laptime open` in the foreground, and the address it prints; Ctrl-C ends it unless it has ended."""
        command = [sys.executable, "-m", "laptime", "open", *map(str, words), "--no-browser"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment
        ) as process:
            assert process.stdout is not None
            try:
                yield process, process.stdout.readline().removeprefix("laptime: ").strip()
            finally:
                if process.poll() is None:
                    process.send_signal(signal.SIGINT)
                    process.wait(_LONGEST_S)


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

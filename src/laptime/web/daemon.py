"""Servers of this user that run now, and starting and stopping one in the background.

Each server has a file `PORT.json` in a folder of the user's cache, whatever its workspace, so that `stop` and `status`
find it. A file whose process is gone, or whose number another process has by now, is removed when it is met.
The background process is `python -m laptime.web.daemon`; it reads what to serve, with the token, from stdin.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from laptime.errors import LaptimeError
from laptime.model.workspace import Workspace, default_root, private_temporary_folder

_START_S = 60.0
_STOP_S = 10.0
_LOOK_S = 0.05


@dataclass(frozen=True)
class Running:
    """A server that runs, as its file tells."""

    pid: int
    born: str | None
    """When its process was started, as the system counts; None where it cannot tell."""
    host: str
    port: int
    url: str
    """Without the token."""
    base: list[str]
    workspace: str
    log: str | None
    """Where its log is; None of a server in the foreground."""
    started_unix: float

    @property
    def described(self) -> str:
        """Its process and what it serves."""
        return f"laptime (process {self.pid}), which serves {', '.join(self.base)}"


def servers_folder() -> Path:
    """Where the files of running servers lie."""
    folder = default_root() / "servers"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        folder = private_temporary_folder() / "servers"
        folder.mkdir(exist_ok=True, mode=0o700)
    return folder


def running() -> list[Running]:
    """Servers of this user that run now, in order of port."""
    found = []
    for file in servers_folder().glob("*.json"):
        try:
            server = Running(**json.loads(file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):  # half written, or by another version
            continue
        if _lives(server):
            found.append(server)
        else:
            file.unlink(missing_ok=True)
    return sorted(found, key=lambda server: server.port)


def holder_of(port: int) -> str | None:
    """Who has a port, as far as this user can tell."""
    from laptime.web.ports import holder

    own = next((server for server in running() if server.port == port), None)
    return own.described if own else holder(port)


def register(*, host: str, port: int, url: str, base: list[str], workspace: Path, log: str | None) -> None:
    """Lists this process as a running server."""
    server = Running(os.getpid(), _born(os.getpid()), host, port, url, base, str(workspace), log, time.time())
    file = servers_folder() / f"{port}.json"
    part = file.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(asdict(server)), encoding="utf-8")
    part.replace(file)


def unregister(port: int) -> None:
    """Takes this process off the list."""
    if any(server.pid == os.getpid() for server in running()):
        (servers_folder() / f"{port}.json").unlink(missing_ok=True)


def start(*, bases: list[Path], workspace: Workspace, host: str, port: int, token: str | None) -> Running:
    """Starts a server in the background; returns once it answers. Raises LaptimeError where it does not."""
    log = workspace.root / "logs" / f"{port}.log"
    log.parent.mkdir(exist_ok=True)
    asked = {
        "bases": [str(base.resolve()) for base in bases],
        "workspace": str(workspace.root.resolve()),
        "host": host,
        "port": port,
        "token": token,
        "log": str(log.resolve()),
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "laptime.web.daemon"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            cwd=log.parent,  # keeps no other folder busy
            start_new_session=True,
        )
    assert process.stdin is not None
    with suppress(BrokenPipeError), process.stdin as stdin:
        stdin.write(json.dumps(asked).encode())
    began = time.monotonic()
    while time.monotonic() - began < _START_S:
        server = next((each for each in running() if each.pid == process.pid), None)
        if server is not None:
            process.returncode = 0  # it outlives this one: not to be warned of
            return server
        if process.poll() is not None:
            break
        time.sleep(_LOOK_S)
    process.kill()
    lines = log.read_text(errors="replace").strip().splitlines() or ["it says nothing"]
    raise LaptimeError("the server did not start", where=lines[-1], remedy=f"see {log}")


def stop(server: Running) -> None:
    """Ends a server, and waits until it is gone."""
    for how in (signal.SIGTERM, signal.SIGTERM if os.name == "nt" else signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.kill(server.pid, how)
        began = time.monotonic()
        while time.monotonic() - began < _STOP_S:
            if not _lives(server):
                (servers_folder() / f"{server.port}.json").unlink(missing_ok=True)
                return
            time.sleep(_LOOK_S)
    raise LaptimeError("the server does not end", where=f"process {server.pid}", remedy="end it by its number")


def _lives(server: Running) -> bool:
    """Whether the process is there and the one that wrote the file."""
    try:
        os.kill(server.pid, 0)
    except (OSError, OverflowError):
        return False
    born = _born(server.pid)
    return born is not None if server.born is None else born == server.born


def _born(pid: int) -> str | None:
    """When a process was started, in the system's own count; None where it ended or this system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None if Path("/proc/self/stat").exists() else "unknown"
    return None if fields[0] == "Z" else fields[19]  # Z: ended, not yet waited for


def main() -> None:
    """Serves what stdin says, until SIGTERM."""
    from laptime.web.security import Security
    from laptime.web.serving import Served, serve

    asked = json.loads(sys.stdin.read())
    served = Served(
        [Path(base) for base in asked["bases"]],
        Workspace(Path(asked["workspace"])),
        asked["host"],
        asked["port"],
        Security(asked["host"], asked["token"]),
        log=asked["log"],
    )
    try:
        serve(served)
    except (OSError, LaptimeError) as error:
        sys.exit(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {error}")


if __name__ == "__main__":
    main()

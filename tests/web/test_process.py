"""Servers as users run them: open, start, status, stop; ports that are taken; imports that are killed."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn

from laptime.web.events import Hub
from laptime.web.ports import listening_socket
from laptime.web.serving import _Server
from tests.cli.recordings import TINY, slice_of, written
from tests.web.conftest import Imported
from tests.web.servers import Machine, free_port

_LONGEST_S = 120


@pytest.fixture
def machine(tmp_path: Path, imported: Imported) -> Machine:
    """A user's machine, on which the samples are imported already."""
    return Machine(tmp_path / "cache", imported.workspace.root)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A folder of one run that nobody has imported."""
    folder = tmp_path / "runs" / "one"
    folder.mkdir(parents=True)
    shutil.copy(TINY, folder / "a.pt.trace.json.gz")
    return tmp_path / "runs"


def test_a_server_in_the_background_from_start_to_stop(machine: Machine, imported: Imported, tmp_path: Path) -> None:
    port = free_port()
    started = machine.run("start", "--port", port, "--summary-base-dir", imported.base)
    assert (started.returncode, started.stderr) == (0, "")
    assert started.stdout.splitlines()[0] == f"laptime: http://127.0.0.1:{port}/"
    process = int(re.findall(r"process (\d+)", started.stdout)[0])
    runs = httpx.get(f"http://127.0.0.1:{port}/api/runs").json()  # it answers as soon as start returns
    assert runs["base"] == [str(imported.base)]
    status = json.loads(machine.run("status", "--json").stdout)
    (server,) = status["servers"]
    assert (server["pid"], server["port"], server["base"]) == (process, port, [str(imported.base)])
    assert Path(server["log"]) == machine.workspace / "logs" / f"{port}.log"
    assert f"http://127.0.0.1:{port}/" in machine.run("status").stdout

    again = machine.run("start", "--port", port, "--logdir", imported.base)
    assert again.returncode == 1
    holder = rf"laptime \(process {process}\), which serves {re.escape(str(imported.base))}"
    remedy = rf"port \d+ is free: --port \d+, or `laptime stop --port {port}`"
    assert re.fullmatch(rf"laptime: port {port} is taken: by {holder}: {remedy}\n", again.stderr)
    stopped = machine.run("stop")
    assert (stopped.returncode, stopped.stdout) == (0, f"stopped http://127.0.0.1:{port}/\n")
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/")
    assert machine.run("status").stdout == "no server runs\n"
    assert Path(server["log"]).read_text() == ""
    nothing = machine.run("stop")
    assert (nothing.returncode, nothing.stderr) == (
        1,
        "laptime: no server runs: here: `laptime start` starts one\n",
    )


def test_several_servers_are_told_apart(machine: Machine, imported: Imported, base: Path) -> None:
    ports = sorted((free_port(), free_port()))
    machine.run("start", "--port", ports[0], "--base-dir", imported.base)
    machine.run("start", "--port", ports[1], folder=base)
    which = machine.run("stop")
    assert which.returncode == 1
    assert f"several servers run: at ports {ports[0]}, {ports[1]}" in which.stderr
    assert machine.run("stop", "--port", ports[0]).returncode == 0
    (left,) = json.loads(machine.run("status", "--json").stdout)["servers"]
    assert (left["port"], left["base"]) == (ports[1], [str(base.resolve())])
    os.kill(left["pid"], signal.SIGKILL)  # leaves its file behind
    begin = time.monotonic()
    while machine.run("status").stdout != "no server runs\n":
        assert time.monotonic() - begin < _LONGEST_S
    assert list((machine.home / "laptime" / "servers").iterdir()) == []


def test_files_of_servers_that_are_gone_do_no_harm(machine: Machine) -> None:
    folder = machine.home / "laptime" / "servers"
    folder.mkdir(parents=True)
    known = {"host": "127.0.0.1", "url": "x", "base": [], "workspace": "x", "log": None, "started_unix": 0.0}
    (folder / "1.json").write_text(json.dumps({**known, "pid": os.getpid(), "born": "0", "port": 1}))
    (folder / "2.json").write_text(json.dumps({**known, "pid": 2**22 + 1, "born": "5", "port": 2}))
    (folder / "3.json").write_text("{half")
    assert machine.run("status").stdout == "no server runs\n"
    assert machine.run("stop", "--port", 1).returncode == 1


def test_open_takes_the_next_port_and_ends_with_ctrl_c(machine: Machine, imported: Imported) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with machine.opened(imported.base, "--port", port) as (process, address):
            other = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", address)[1])  # type: ignore[index]
            assert other > port
            assert httpx.get(f"{address}api/runs").status_code == 200
            with httpx.stream("GET", f"{address}api/events") as events:  # a page that listens does not hold it up
                assert next(events.iter_lines()) == "retry: 2000"
                process.send_signal(signal.SIGINT)
                assert process.wait(_LONGEST_S) == 0
            assert process.stderr is not None
            said = process.stderr.read()
            assert re.match(rf"laptime: port {port} is taken by \S+ \(process {os.getpid()}\); using {other}\n", said)
            assert "Traceback" not in said


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_are_sent_without_delay(host: str) -> None:
    try:
        listening = listening_socket(host, 0)
    except OSError as error:
        pytest.skip(f"nothing can listen at {host} here: {error}")

    async def delays() -> bool:
        met: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

        def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            own = writer.get_extra_info("socket")
            met.set_result(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0)
            writer.close()

        async with await asyncio.start_server(connected, sock=listening) as server:
            _, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
            writer.close()
            return await met

    assert not asyncio.run(delays())


def test_a_signal_takes_no_lock(tmp_path: Path) -> None:
    hub, lock = Hub(), threading.Lock()
    hub._lock = lock
    server = _Server(uvicorn.Config(app=None), hub, lambda: None)  # type: ignore[arg-type]  # it serves nothing
    with lock:  # as where the signal comes while the server's own thread holds it
        told = threading.Thread(target=server.handle_exit, args=(signal.SIGTERM, None), daemon=True)
        told.start()
        told.join(10)
        assert not told.is_alive()
    assert server.should_exit


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("open", "nosuch"), "laptime: no such file or folder: nosuch: check the path\n"),
        (
            ("start", "--base-dir", "nosuch"),
            "laptime: no such folder: nosuch: give the folder of recordings with --base-dir\n",
        ),
        (("open", ".", "--host", "203.0.113.9"), "give an address of this machine with --host\n"),
    ],
)
def test_what_cannot_be_served(machine: Machine, words: tuple[str, ...], error: str) -> None:
    done = machine.run(*words, "--port", free_port())
    assert done.returncode == 1
    assert done.stderr.endswith(error)
    assert done.stderr.count("\n") == 1


def test_a_token_is_asked_for_where_others_can_connect(machine: Machine, imported: Imported) -> None:
    port = free_port()
    started = machine.run("start", "--port", port, "--base-dir", imported.base, "--host", "0.0.0.0")
    token = re.findall(r"\?token=([\w-]{32,})\n", started.stdout)[0]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            assert client.get("/").status_code == 403
            assert client.get("/", params={"token": token}).status_code == 200
            assert client.get("/api/runs").status_code == 200  # by the cookie
            printed = {"Host": urlsplit(started.stdout.split()[1]).netloc}
            assert client.get("/api/runs", headers=printed).status_code == 200
        (server,) = json.loads(machine.run("status", "--json").stdout)["servers"]
        files = [*(machine.home / "laptime" / "servers").iterdir(), Path(server["log"])]
        assert not [file for file in files if token in file.read_text()]
        assert token not in subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout
    finally:
        machine.run("stop", "--port", port)


def test_a_killed_import_is_told_and_the_server_goes_on(machine: Machine, base: Path) -> None:
    events = [slice_of("cpu_op", f"op{number % 100}", number, 1) for number in range(300_000)]
    written(base / "one" / "large.pt.trace.json", events)
    with machine.opened(base, "--port", free_port()) as (_, address), httpx.Client(base_url=address) as client:
        run = _first_run(address)
        heard = list(_events_of_a_killed_import(client, run))
        assert [row["status"] for row in heard][:2] == ["queued", "importing"]
        assert str(heard[-1]["message"]).startswith("the import was killed (SIGKILL)")
        assert client.get(f"/api/runs/{run}").json() == heard[-1]
        assert client.get(f"/api/runs/{run}/report").status_code == 409


def _events_of_a_killed_import(client: httpx.Client, run: str) -> Iterator[dict[str, object]]:
    """What a page hears from its request on, up to the end of the import."""
    with client.stream("GET", "/api/events", timeout=_LONGEST_S) as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        assert client.post(f"/api/runs/{run}/import").status_code == 202
        killed = False
        for row in (json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")):
            yield row
            if row["status"] in ("failed", "ready"):
                return
            if row["status"] == "importing" and not killed:
                os.kill(_worker(), signal.SIGKILL)
                killed = True


def test_no_import_outlives_its_server(machine: Machine, base: Path) -> None:
    events = [slice_of("cpu_op", f"op{number % 100}", number, 1) for number in range(300_000)]
    written(base / "one" / "large.pt.trace.json", events)
    with machine.opened(base, "--port", free_port()) as (server, address):
        run = _first_run(address)
        assert httpx.post(f"{address}api/runs/{run}/import").status_code == 202
        worker = _worker()
        server.kill()
        server.wait(_LONGEST_S)
    begin = time.monotonic()
    while _is_there(worker):
        assert time.monotonic() - begin < _LONGEST_S
        time.sleep(0.05)


def _first_run(address: str) -> str:
    begin = time.monotonic()
    while not (runs := httpx.get(f"{address}api/runs").json()["runs"]):
        assert time.monotonic() - begin < _LONGEST_S
    return str(runs[0]["run"])


def _is_there(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def _worker() -> int:
    """The process of this test's import, found as a person would."""
    begin = time.monotonic()
    while time.monotonic() - begin < _LONGEST_S:
        shown = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
        rows = [line.split(maxsplit=2) for line in shown.splitlines()[1:]]
        servers = {pid for pid, parent, _ in rows if parent == str(os.getpid())}
        workers = [int(pid) for pid, parent, words in rows if parent in servers and "laptime.web.worker" in words]
        if workers:
            return workers[0]
    raise AssertionError("no import runs")

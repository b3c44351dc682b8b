"""Runs the server in this process until it is told to stop."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from laptime.model.workspace import Workspace
from laptime.web.app import build
from laptime.web.catalogue import Catalogue
from laptime.web.events import Hub
from laptime.web.ports import listening_socket
from laptime.web.security import Security

_GRACE_S = 3
"""What requests under way have to end in."""


@dataclass(frozen=True)
class Served:
    """What is served, and where."""

    bases: Sequence[Path]
    workspace: Workspace
    host: str
    port: int
    security: Security

    @property
    def url(self) -> str:
        """Address of the first page; with the token where one is asked for."""
        host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(self.host, self.host)
        name = f"[{host}]" if ":" in host else host
        token = f"?token={self.security.token}" if self.security.token else ""
        return f"http://{name}:{self.port}/{token}"


class _Server(uvicorn.Server):
    """Ends its event streams when told to stop, and then returns instead of dying of the signal."""

    def __init__(self, config: uvicorn.Config, hub: Hub) -> None:
        super().__init__(config)
        self._hub = hub

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._hub.close()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self.handle_exit) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def serve(served: Served, *, ready: Callable[[], None] = lambda: None) -> None:
    """Serves until SIGINT or SIGTERM; `ready` is called once requests are taken. Raises OSError where it cannot."""
    listening = listening_socket(served.host, served.port)
    app = build(Catalogue(served.bases, served.workspace), served.security)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # addresses may hold the token
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    server = _Server(config, app.state.hub)
    threading.Thread(target=_call_when_ready, args=(served, ready), daemon=True).start()
    server.run(sockets=[listening])


def _call_when_ready(served: Served, ready: Callable[[], None]) -> None:
    """The socket takes connections before the server answers them: wait for the first answer."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(served.host, served.host)
    with socket.create_connection((host, served.port), timeout=60) as probe:
        probe.sendall(b"HEAD / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        if probe.recv(1):
            ready()

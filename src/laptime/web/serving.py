"""Runs the server in this process until it is told to stop."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from laptime.model.workspace import Workspace
from laptime.web.app import build
from laptime.web.catalogue import Catalogue
from laptime.web.daemon import register, unregister
from laptime.web.events import Hub
from laptime.web.ports import address, listening_socket
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
    log: str | None = None
    """Where the log of a server in the background is."""


class _Server(uvicorn.Server):
    """Ends its event streams when told to stop, and then returns instead of dying of the signal."""

    def __init__(self, config: uvicorn.Config, hub: Hub, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._hub, self._ready = hub, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._hub.close()  # not where the signal is handled: a second one would meet the lock that the first holds
        await super().shutdown(sockets)

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

    def started() -> None:
        register(
            host=served.host,
            port=served.port,
            url=address(served.host, served.port),
            base=[str(base) for base in app.state.catalogue.bases],
            workspace=served.workspace.root,
            log=served.log,
        )
        ready()

    try:
        _Server(config, app.state.hub, started).run(sockets=[listening])
    finally:
        unregister(served.port)

"""Server-sent events: what changes in the list of runs, as it happens, to every page that listens."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator

_KEPT = 256
"""Events that wait for a listener; one that is slower is closed, and its browser connects anew."""
_BEAT_S = 15.0
"""Between two signs of life, which also tell when a listener is gone."""


class Hub:
    """Hands events of any thread to the listeners of the server's loop."""

    def __init__(self) -> None:
        self._listeners: dict[asyncio.Queue[str | None], asyncio.AbstractEventLoop] = {}
        self._lock = threading.Lock()
        self._closed = False

    def send(self, event: str, data: object) -> None:
        """Sends an event to all listeners; from any thread."""
        text = f"event: {event}\ndata: {json.dumps(data, allow_nan=False, separators=(',', ':'))}\n\n"
        self._put(text)

    def close(self) -> None:
        """Ends all streams, so that the server can stop."""
        self._closed = True
        self._put(None)

    @property
    def listeners(self) -> int:
        """How many pages listen."""
        return len(self._listeners)

    async def stream(self) -> AsyncIterator[str]:
        """The events from now on."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(_KEPT)
        with self._lock:
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield "retry: 2000\n\n"
            while not self._closed:
                try:
                    text = await asyncio.wait_for(queue.get(), _BEAT_S)
                except asyncio.TimeoutError:
                    text = ": still here\n\n"
                if text is None:
                    return
                yield text
        finally:
            with self._lock:
                self._listeners.pop(queue, None)

    def _put(self, text: str | None) -> None:
        with self._lock:
            listeners = list(self._listeners.items())
        for queue, loop in listeners:
            try:
                loop.call_soon_threadsafe(_offer, queue, text)
            except RuntimeError:  # its loop has ended
                continue


def _offer(queue: asyncio.Queue[str | None], text: str | None) -> None:
    if queue.full():
        queue.get_nowait()
        text = None
    queue.put_nowait(text)

"""Many clients at once: no request is lost. LAPTIME_LOAD_SECONDS sets how long; 60 is the goal's."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from pathlib import Path

import httpx

from tests.web.conftest import Imported
from tests.web.servers import Machine, free_port

CLIENTS = 50
_SECONDS = float(os.environ.get("LAPTIME_LOAD_SECONDS", "5"))
_PARTS = ("", "/report", "/step", "/op?by=name", "/op?by=name&limit=10&offset=5", "/pipeline", "/memory", "/slices/0")


async def _ask(client: httpx.AsyncClient, paths: list[str], first: int, until: float, seen: Counter[object]) -> None:
    for number in range(first, 1 << 30):
        path = paths[number % len(paths)]
        try:
            answer = await client.get(path)
            seen[answer.status_code if answer.content else "empty"] += 1
        except httpx.HTTPError as error:
            seen[f"{type(error).__name__} at {path}"] += 1
        if time.monotonic() > until:
            return


async def _all(address: str, paths: list[str]) -> Counter[object]:
    seen: Counter[object] = Counter()
    until = time.monotonic() + _SECONDS
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=address, timeout=120, limits=limits) as client:
        await asyncio.gather(*(_ask(client, paths, 7 * place, until, seen) for place in range(CLIENTS)))
    return seen


def test_fifty_clients_lose_no_request(imported: Imported, tmp_path: Path) -> None:
    machine = Machine(tmp_path, imported.workspace.root)
    with machine.opened(imported.base, "--port", free_port()) as (_, address):
        begin = time.monotonic()
        while len(runs := [row["run"] for row in _rows(address) if row["status"] == "ready"]) < 6:
            assert time.monotonic() - begin < 60
        paths = ["/", "/api/runs", *(f"/api/runs/{run}{part}" for run in runs for part in _PARTS)]
        seen = asyncio.run(_all(address, paths))
    assert set(seen) <= {200, 404}, seen  # 404: a run without slices has no slice 0
    assert sum(seen.values()) >= CLIENTS
    print(f"{sum(seen.values())} requests in {_SECONDS:g} s: {dict(seen)}")


def _rows(address: str) -> list[dict[str, object]]:
    rows = httpx.get(f"{address}api/runs").json()["runs"]
    assert isinstance(rows, list)
    return rows

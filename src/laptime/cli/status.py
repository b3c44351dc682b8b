"""`laptime status`: which servers run."""

from __future__ import annotations

import time
from dataclasses import asdict

from laptime.cli.options import JsonOption, print_json


def command(as_json: JsonOption = False) -> None:
    """Say which servers run, and what they serve.

    \b
    Examples:
      laptime status
      laptime status --json
    """
    from laptime.web.daemon import running

    servers = running()
    if as_json:
        print_json({"schema_version": 1, "servers": [_row(asdict(server)) for server in servers]})
        return
    for server in servers:
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(server.started_unix))
        print(f"{server.url}  serves {', '.join(server.base)}, process {server.pid}, since {since}")
    if not servers:
        print("no server runs")


def _row(server: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in server.items() if key != "born"}

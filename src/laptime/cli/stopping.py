"""`laptime stop`: ends a server."""

from __future__ import annotations

from typing import Annotated

import typer

from laptime.errors import LaptimeError


def command(
    port: Annotated[
        int | None,
        typer.Option("--port", min=1, max=65535, help="Port it listens at; default: the only one.", show_default=False),
    ] = None,
) -> None:
    """End a server that `laptime start` or `laptime open` runs.

    \b
    Examples:
      laptime stop
      laptime stop --port 9001
    """
    from laptime.web.daemon import running, stop

    servers = running()
    ports = ", ".join(str(server.port) for server in servers)
    found = [server for server in servers if port in (None, server.port)]
    if not found:
        where = "here" if port is None else f"at port {port}"
        remedy = f"servers run at {ports}" if servers else "`laptime start` starts one"
        raise LaptimeError("no server runs", where=where, remedy=remedy)
    if len(found) > 1:
        raise LaptimeError("several servers run", where=f"at ports {ports}", remedy="choose one with --port")
    stop(found[0])
    print(f"stopped {found[0].url}")

"""`laptime start`: the pages of recordings, served in the background."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from laptime.cli.opening import DEFAULT_HOST, DEFAULT_PORT, HostOption, PortOption
from laptime.cli.options import WorkspaceOption, open_workspace
from laptime.errors import LaptimeError


def command(
    port: PortOption = DEFAULT_PORT,
    workspace: WorkspaceOption = None,
    base_dir: Annotated[
        list[Path] | None,
        typer.Option(
            "--base-dir",
            "--summary-base-dir",
            "--logdir",
            help="Folder to search for recordings (repeatable); default: here.",
            show_default=False,
        ),
    ] = None,
    host: HostOption = DEFAULT_HOST,
) -> None:
    """Serve recordings in the background; logs are kept in the workspace's logs.

    \b
    Examples:
      laptime start --port 9001 --base-dir runs
      laptime stop --port 9001
    """
    from laptime.web import daemon
    from laptime.web.ports import address, is_free, next_free
    from laptime.web.security import Security

    bases = base_dir or [Path()]
    missing = next((base for base in bases if not base.is_dir()), None)
    if missing is not None:
        raise LaptimeError("no such folder", where=missing, remedy="give the folder of recordings with --base-dir")
    if not is_free(host, port):
        raise _taken(port, daemon.holder_of(port), next_free(host, port))
    place, security = open_workspace(workspace), Security.of(host)
    server = daemon.start(bases=bases, workspace=place, host=host, port=port, token=security.token)
    print(f"laptime: {address(host, port, security.token)}")
    print(f"process {server.pid}, log {server.log}; `laptime stop --port {port}` ends it")


def _taken(port: int, holder: str | None, free: int | None) -> LaptimeError:
    remedy = f"port {free} is free: --port {free}" if free else "choose another with --port"
    if holder is not None and holder.startswith("laptime"):
        remedy += f", or `laptime stop --port {port}`"
    return LaptimeError(f"port {port} is taken", where=f"by {holder or 'another program'}", remedy=remedy)

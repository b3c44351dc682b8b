"""`laptime open`: the pages of recordings, in the browser."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from laptime.cli.options import WorkspaceOption, open_workspace, say
from laptime.errors import LaptimeError

HostOption = Annotated[
    str, typer.Option("--host", help="Address to listen at; others than this machine's need a token.")
]
PortOption = Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen at.")]
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8080


def command(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="Files, folders or globs; folders are searched.", show_default=False),
    ],
    port: PortOption = DEFAULT_PORT,
    host: HostOption = DEFAULT_HOST,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Show recordings in the browser, until Ctrl-C.

    \b
    Examples:
      laptime open runs/resnet50
      laptime open trace.json.gz --port 9001
    """
    from laptime.web.ports import address
    from laptime.web.security import Security
    from laptime.web.serving import Served, serve

    found = [place for path in paths for place in places(path)]
    served = Served(found, open_workspace(workspace), host, free_port(host, port), Security.of(host))

    def ready() -> None:
        url = address(host, served.port, served.security.token)
        print(f"laptime: {url}", flush=True)
        say("Ctrl-C stops")
        if not no_browser and _has_browser():
            import webbrowser

            webbrowser.open(url)

    serve(served, ready=ready)


def places(path: str) -> list[Path]:
    """Files and folders that a path or glob means. Raises LaptimeError where there are none."""
    import glob

    if Path(path).exists():
        return [Path(path)]
    found = sorted(Path(each) for each in glob.glob(path, recursive=True)) if glob.has_magic(path) else []
    if not found:
        raise LaptimeError("no such file or folder", where=path, remedy="check the path")
    return found


def free_port(host: str, port: int) -> int:
    """The port, or the next free one with a remark on who has it."""
    from laptime.web.daemon import holder_of
    from laptime.web.ports import is_free, next_free

    if is_free(host, port):
        return port
    other = next_free(host, port)
    if other is None:
        raise LaptimeError("no port is free", where=f"after {port}", remedy="choose one with --port")
    say(f"port {port} is taken by {holder_of(port) or 'another program'}; using {other}")
    return other


def _has_browser() -> bool:
    """Whether a browser would show up where the user sits."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

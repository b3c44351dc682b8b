"""Ports: listening on one, finding a free one, and telling who has one that is taken."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

from laptime.errors import LaptimeError

_TRIED = 200
"""Ports that are tried after one that is taken."""


def address(host: str, port: int, token: str | None = None) -> str:
    """Address of the first page of a server."""
    named = shown_host(host)
    query = f"?token={token}" if token else ""
    return f"http://[{named}]:{port}/{query}" if ":" in named else f"http://{named}:{port}/{query}"


def shown_host(host: str) -> str:
    """What a host is called in addresses: all addresses of this machine by its name."""
    return socket.gethostname() if host in ("0.0.0.0", "::") else host


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises OSError where the port is taken or the host is none of this machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, so that asyncio knows it for TCP and sends without delay: else each answer waits 40 ms for the client.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except OSError:
        listening.close()
        raise
    return listening


def is_free(host: str, port: int) -> bool:
    """Whether a server can listen there. Raises LaptimeError where the host is no address of this machine."""
    try:
        listening_socket(host, port).close()
    except OSError as error:
        if error.errno in (errno.EADDRINUSE, errno.EACCES):
            return False
        reason = error.strerror or str(error)
        raise LaptimeError(
            f"cannot listen there ({reason})", where=host, remedy="give an address of this machine with --host"
        ) from error
    return True


def next_free(host: str, port: int) -> int | None:
    """The first free port after one that is taken; None where none is near."""
    return next((each for each in range(port + 1, min(port + _TRIED, 65536)) if is_free(host, each)), None)


def holder(port: int) -> str | None:
    """The process that listens on a port, by name and id; None where this system or user cannot tell."""
    inodes = _listening_inodes(port)
    for folder in Path("/proc").glob("[0-9]*") if inodes else ():
        try:
            links = {os.readlink(entry) for entry in (folder / "fd").iterdir()}
            if links & {f"socket:[{inode}]" for inode in inodes}:
                return f"{(folder / 'comm').read_text().strip()} (process {folder.name})"
        except OSError:  # another user's, or gone
            continue
    return None


def _listening_inodes(port: int) -> set[str]:
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(fields[9])
    return found

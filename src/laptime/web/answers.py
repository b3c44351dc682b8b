"""Answers about imported runs: computed once, kept compressed in memory, and told to be unchanged where they are.

The tag of an answer is made of the run's key, laptime's version and the address asked for, since the same tables and
options give the same answer: one that the client has need not be computed to be known as unchanged.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fastapi import Request, Response

from laptime._version import __version__
from laptime.analyses import REPORT_VERSION
from laptime.model.trace import Run, Trace
from laptime.web.catalogue import Catalogue
from laptime.web.long_tables import LongTables

MOST_BYTES = 128 << 20
"""Answers kept in memory, as they are stored."""
_WORTH_PACKING = 1024
_LEVEL = 4
"""Of gzip: half the time of the default for a tenth more bytes."""


@dataclass(frozen=True)
class _Kept:
    body: bytes
    packed: bool
    media_type: str
    headers: dict[str, str]


@dataclass
class Answers:
    """What routes answer with."""

    catalogue: Catalogue
    most_bytes: int = MOST_BYTES
    long_tables: LongTables = field(default_factory=LongTables)
    _kept: OrderedDict[str, _Kept] = field(default_factory=OrderedDict)
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _locks: dict[str, threading.Lock] = field(default_factory=dict)

    @property
    def kept_bytes(self) -> int:
        """Bytes of the answers in memory."""
        return self._bytes

    @property
    def kept_count(self) -> int:
        """Answers in memory."""
        return len(self._kept)

    def json(self, request: Request, run_id: str, compute: Callable[[Run], object]) -> Response:
        """What `compute` makes of a run, as JSON. Raises NotFound, NotImported and what `compute` raises."""
        return self.bytes(request, run_id, lambda run: as_json(compute(run)), media_type="application/json")

    def bytes(
        self,
        request: Request,
        run_id: str,
        compute: Callable[[Run], bytes],
        *,
        media_type: str,
        headers: dict[str, str] | None = None,
    ) -> Response:
        """What `compute` makes of a run, in any format; compressed for clients that take it."""
        key = self.catalogue.key(run_id)
        tag = self._tag(request, key)
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=_headers(tag))
        kept = self._known(tag)
        if kept is None:
            with self._lock_of(key):  # tables load their columns once, for one reader
                kept = self._known(tag) or self._keep(
                    tag, _packed(compute(self.catalogue.run(run_id)), media_type, headers or {})
                )
        return _response(request, tag, kept)

    def _tag(self, request: Request, key: str) -> str:
        asked = f"{key} {__version__} {REPORT_VERSION} {request.url.path}?{request.url.query}"
        digest = hashlib.blake2b(f"{asked} {request.headers.get('accept', '')}".encode(), digest_size=12)
        return f'W/"{digest.hexdigest()}"'

    def _known(self, tag: str) -> _Kept | None:
        with self._lock:
            kept = self._kept.get(tag)
            if kept is not None:
                self._kept.move_to_end(tag)
            return kept

    def _keep(self, tag: str, answer: _Kept) -> _Kept:
        if len(answer.body) <= self.most_bytes // 4:
            with self._lock:
                self._kept[tag] = answer
                self._bytes += len(answer.body)
                while self._bytes > self.most_bytes:
                    _, dropped = self._kept.popitem(last=False)
                    self._bytes -= len(dropped.body)
        return answer

    def _lock_of(self, key: str) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault(key, threading.Lock())


def tagged(request: Request, result: object) -> Response:
    """JSON that changes by itself: its tag is made of what it says."""
    body = as_json(result)
    tag = f'W/"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=_headers(tag))
    return _response(request, tag, _packed(body, "application/json", {}))


def untagged(result: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON of the moment; names of files that are no Unicode are escaped, which Starlette's own JSON cannot."""
    return Response(as_json(result), status, headers, media_type="application/json")


def head_of(trace: Trace) -> dict[str, object]:
    """How the answer about one recording begins."""
    return {"schema_version": 1, "rank": trace.rank, "source": trace.source}


def as_json(result: object) -> bytes:
    """The JSON of the commands."""
    return json.dumps(result, allow_nan=False, separators=(",", ":")).encode()


def _packed(body: bytes, media_type: str, headers: dict[str, str]) -> _Kept:
    if len(body) < _WORTH_PACKING:
        return _Kept(body, False, media_type, headers)
    return _Kept(gzip.compress(body, _LEVEL, mtime=0), True, media_type, headers)


def _response(request: Request, tag: str, kept: _Kept) -> Response:
    headers = {**_headers(tag), **kept.headers}
    body = kept.body
    if kept.packed and "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    elif kept.packed:
        body = gzip.decompress(body)
    return Response(body, media_type=kept.media_type, headers=headers)


def _headers(tag: str) -> dict[str, str]:
    return {"ETag": tag, "Vary": "Accept, Accept-Encoding", "Cache-Control": "no-cache"}

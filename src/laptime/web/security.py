"""Who may ask: the address a request came by, the site it came from, the token, the size of its body; headers.

A page of another site must not reach this server through the user's browser: by a name that it made resolve to this
machine (the Host header tells), or by a request that the browser sends for it (Origin and Sec-Fetch-Site tell).
Where others than this machine can connect, a token is asked for too.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from laptime.web.ports import shown_host

MOST_BODY = 64 << 10
"""Bytes of a request's body at most; nothing is uploaded."""
_SAFE = ("GET", "HEAD", "OPTIONS")
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin-allow-popups",  # the tab of Perfetto answers by postMessage
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "x-frame-options": "DENY",
}
_TOO_LARGE = (413, f"the body is larger than {MOST_BODY >> 10} KiB", "ask for less at once")
_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""Content security policy of all but the page, which brings its own."""

Scope = MutableMapping[str, Any]  # as ASGI has it
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass(frozen=True)
class Security:
    """What this server lets in."""

    host: str = "127.0.0.1"
    token: str | None = None
    """Asked of everyone, where others than this machine can connect."""

    @staticmethod
    def of(host: str, token: str | None = None) -> Security:
        """Of a server that listens at a host: with a token, new unless given, unless only this machine reaches it."""
        return Security(host, None if is_loopback(host) else token or secrets.token_urlsafe(24))

    def admits_host(self, header: str | None) -> bool:
        """Whether a Host header names this server; a name that another site made resolve here does not."""
        name = _host_name(header)
        if name is None:
            return False
        return is_loopback(name) or (not is_loopback(self.host) and (name in self._names or _is_address(name)))

    @property
    def _names(self) -> set[str]:
        """What it is called where others can connect: as was asked for, and as its address is printed."""
        return {self.host.lower(), shown_host(self.host).lower()}

    def admits_token(self, token: str | None) -> bool:
        """Whether it is the token; takes the same time for every wrong one."""
        if self.token is None:
            return True
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _host_name(header: str | None) -> str | None:
    """The name or address of a Host header; None where it is none."""
    try:
        parts = urlsplit(f"//{header or ''}")
        parts.port  # noqa: B018 -- raises where it is no number
    except ValueError:
        return None
    if header is None or parts.username is not None or parts.path or parts.query or parts.fragment:
        return None
    return parts.hostname


class Guard:
    """The outermost layer of the server: refuses what must not pass, and adds headers to all answers."""

    def __init__(self, app: App, security: Security) -> None:
        self._app = app
        self._security = security

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or answers it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no websockets
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        is_head = scope["method"] == "HEAD"
        send = _without_body(send) if is_head else send
        send = _with_headers(send)
        if is_head:
            scope = {**scope, "method": "GET", "laptime.head": True}
        refusal = _refusal(self._security, scope, headers)
        body = receive if scope["method"] in _SAFE else await _received(receive) if refusal is None else None
        if refusal is not None:
            await _answer(send, *refusal)
        elif body is None:
            await _answer(send, *_TOO_LARGE)
        elif (cookie := self._new_cookie(scope)) is not None:
            await self._welcome(scope, body, send, cookie)
        elif not self._has_token(scope, headers):
            await _answer(send, 403, "no token", "open the address that laptime printed, with its ?token=...")
        else:
            await self._app(scope, body, send)

    # ---- the token ----

    def _cookie_name(self, scope: Scope) -> str:
        server = scope.get("server") or ("", 0)
        return f"laptime_{server[1]}"  # cookies do not tell ports apart

    def _new_cookie(self, scope: Scope) -> str | None:
        """The cookie for a request that brings the token in its address."""
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        if self._security.token is None or "token" not in query or not self._security.admits_token(query["token"]):
            return None
        return f"{self._cookie_name(scope)}={self._security.token}; HttpOnly; SameSite=Strict; Path=/"

    def _has_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._security.admits_token(bearer.strip()):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self._cookie_name(scope))
        except CookieError:
            cookie = None
        return self._security.admits_token(cookie.value if cookie else None)

    async def _welcome(self, scope: Scope, receive: Receive, send: Send, cookie: str) -> None:
        """Sets the cookie; a page then goes on to its own address without the token, data is answered at once."""
        added = [(b"set-cookie", cookie.encode())]
        rest = [(name, value) for name, value in parse_qsl(scope["query_string"].decode("latin-1")) if name != "token"]
        scope = {**scope, "query_string": urlencode(rest).encode()}
        if scope["path"].startswith("/api/") or scope["path"] == "/openapi.json":
            await self._app(scope, receive, _with_headers(send, added))
            return
        target = json.dumps(scope["path"] + ("?" + urlencode(rest) if rest else ""))[1:-1].replace("&", "&amp;")
        if not target.startswith("/") or target.startswith(("//", "/\\")) or not set(target).isdisjoint("<>\"'"):
            target = "/"
        page = f'<!doctype html><meta http-equiv="refresh" content="0;url={target}"><title>laptime</title>'
        await _answer_bytes(send, 200, page.encode(), b"text/html; charset=utf-8", added)


def _refusal(security: Security, scope: Scope, headers: dict[str, str]) -> tuple[int, str, str] | None:
    """Status, reason and remedy where a request must not pass."""
    host = headers.get("host")
    if sum(name.lower() == b"host" for name, _ in scope["headers"]) > 1 or not security.admits_host(host):
        return 403, "this server is not called so", "open it as laptime printed its address"
    if _is_of_another_site(scope, headers):
        return 403, "asked for by a page of another site", "open the address in a tab of its own"
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MOST_BODY:
        return _TOO_LARGE
    return None


def _is_of_another_site(scope: Scope, headers: dict[str, str]) -> bool:
    """Whether a browser says that another site's page made the request; a link to a page may come from anywhere."""
    site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "")
    if site == "same-origin":  # whatever its Origin is called: before a proxy with TLS it is https
        return False
    if site != "none" and not (scope["method"] in _SAFE and mode == "navigate"):
        return True
    origin = headers.get("origin")
    own = f"{scope.get('scheme', 'http')}://{headers.get('host')}"
    return origin is not None and origin.lower() != own.lower()


# ---- what is sent and received ----


def _with_headers(send: Send, added: list[tuple[bytes, bytes]] | None = None) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = {name.lower() for name, _ in message.get("headers", [])}
            standard = {**_HEADERS, "content-security-policy": _POLICY, "cache-control": "no-cache"}
            more = [(key.encode(), value.encode()) for key, value in standard.items() if key.encode() not in present]
            message = {**message, "headers": [*message.get("headers", []), *more, *(added or [])]}
        await send(message)

    return wrapped


def _without_body(send: Send) -> Send:
    """HEAD: the answer of GET, without what it holds."""

    async def wrapped(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return wrapped


async def _received(receive: Receive) -> Receive | None:
    """The body, read whole; None where it is larger than allowed, whatever its length was said to be."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BODY:
            return None
    waiting = [{"type": "http.request", "body": body}]

    async def replayed() -> Message:
        return waiting.pop() if waiting else await receive()

    return replayed


async def _answer(send: Send, status: int, error: str, remedy: str) -> None:
    body = json.dumps({"error": error, "where": None, "remedy": remedy}).encode()
    await _answer_bytes(send, status, body, b"application/json", [])


async def _answer_bytes(
    send: Send, status: int, body: bytes, media_type: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    length = (b"content-length", str(len(body)).encode())
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [(b"content-type", media_type), length, *headers]})
    await send({"type": "http.response.body", "body": body})

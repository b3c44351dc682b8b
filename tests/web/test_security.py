"""Who is let in: addresses, sites, the token, sizes, and the headers of every answer."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from urllib.parse import unquote, urlsplit

import pytest

from laptime.web.ports import address
from laptime.web.security import MOST_BODY, Security, is_loopback
from tests.web.conftest import Client, Imported, client_of

TOKEN = "right-token"
REMOTE = "http://192.0.2.7:8080"
_ANSWERS = ("/", "/runs/x/overview", "/api/runs", "/api/runs/nosuch", "/openapi.json", "/nosuch", "/static/nosuch.js")


@pytest.fixture(scope="module")
def remote(imported: Imported) -> Client:
    """A server that others can reach."""
    return client_of(imported.catalogue(), Security("0.0.0.0", TOKEN), REMOTE)


# ---- addresses ----


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8080", "localhost:8080", "localhost", "[::1]:8080", "127.5.5.5", "LOCALHOST"]
)
def test_own_names_are_let_in(client: Client, host: str) -> None:
    assert client.get("/api/runs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.5:8080"),
        *("", "user@127.0.0.1", "127.0.0.1/x", "127.0.0.1:port", "[::1", "127.0.0.1, evil.example", "0x7f.1"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/runs", "/static/x"])
def test_other_names_are_not(client: Client, host: str, path: str) -> None:
    answer = client.get(path, headers={"Host": host})
    assert answer.status_code == 403
    assert answer.json()["error"] == "this server is not called so"


def test_a_second_host_header_is_refused(client: Client) -> None:
    answer = client.get("/api/runs", headers=[("Host", "127.0.0.1"), ("Host", "evil.example")])
    assert answer.status_code == 403


def test_an_open_host_admits_addresses_but_no_foreign_names(remote: Client) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    for host, status in (("192.0.2.7:8080", 200), ("localhost:8080", 200), ("evil.example", 403)):
        assert remote.get("/api/runs", headers={**bearer, "Host": host}).status_code == status, host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7"])
def test_the_address_that_is_printed_is_let_in(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Trainer-7")
    security = Security(host, TOKEN)
    printed = urlsplit(address(host, 8080, TOKEN)).netloc
    assert security.admits_host(printed), printed
    assert not security.admits_host("trainer-8:8080")


def test_no_name_is_let_in_where_only_this_machine_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "trainer-7")
    assert not Security().admits_host("trainer-7:8080")


def test_hosts_of_this_machine_alone() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost", "127.1.2.3")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.1", "example.org", "")))
    assert Security.of("127.0.0.1").token is None
    first, second = Security.of("0.0.0.0").token, Security.of("0.0.0.0").token
    assert first and second and first != second and len(first) >= 32


# ---- other sites ----


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "https://127.0.0.1:8080"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_other_sites_start_nothing(client: Client, run_ids: dict[str, str], headers: dict[str, str]) -> None:
    answer = client.post(f"/api/runs/{run_ids['device']}/import", headers=headers)
    assert answer.status_code == 403
    assert answer.json()["error"] == "asked for by a page of another site"


@pytest.mark.parametrize(
    "headers",
    [
        *({}, {"Origin": "http://127.0.0.1:8080"}),
        *({"Sec-Fetch-Site": "same-origin", "Origin": f"{scheme}://127.0.0.1:8080"} for scheme in ("http", "https")),
    ],
    ids=["program", "older browser", "browser", "browser, through a proxy with TLS"],
)
def test_own_pages_and_programs_start_imports(client: Client, run_ids: dict[str, str], headers: dict[str, str]) -> None:
    assert client.post(f"/api/runs/{run_ids['device']}/import", headers=headers).status_code == 202


def test_other_sites_read_nothing_but_may_link(client: Client) -> None:
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/api/runs", headers=embedded).status_code == 403
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200


# ---- the token ----


@pytest.mark.parametrize("path", _ANSWERS)
@pytest.mark.parametrize(
    "headers",
    [
        *({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {TOKEN}"}, {"Cookie": 'x="\\'}),
        *({"Cookie": "laptime_8080=wrong"}, {"Cookie": "laptime_8080="}, {"Cookie": f"laptime_9999={TOKEN}"}),
    ],
)
def test_without_the_token_nothing_is_told(remote: Client, path: str, headers: dict[str, str]) -> None:
    answer = remote.get(path, headers=headers)
    assert answer.status_code == 403
    assert answer.json() == {
        "error": "no token",
        "where": None,
        "remedy": "open the address that laptime printed, with its ?token=...",
    }


def test_the_address_with_the_token_sets_a_cookie_that_does_from_then_on(remote: Client) -> None:
    answer = remote.get(f"/runs/x/op?rank=1&token={TOKEN}&lang=zh")
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(rf"laptime_\d+={TOKEN}; HttpOnly; SameSite=Strict; Path=/", cookie)
    assert TOKEN not in answer.text  # nor in the address that the browser goes on to
    assert 'content="0;url=/runs/x/op?rank=1&amp;lang=zh"' in answer.text
    name = cookie.partition("=")[0]
    assert remote.get("/api/runs", headers={"Cookie": f"a=b; {name}={TOKEN}"}).status_code == 200
    assert remote.get("/api/runs", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_data_with_the_token_comes_at_once(remote: Client) -> None:
    answer = remote.get(f"/api/runs?token={TOKEN}")
    assert answer.status_code == 200
    assert len(answer.json()["runs"]) == 6
    assert answer.headers["set-cookie"].startswith("laptime_")


def test_a_wrong_token_in_the_address_is_refused(remote: Client) -> None:
    for token in ("wrong", "", "\u00e9", TOKEN[:-1], TOKEN + "x"):
        assert remote.get("/api/runs", params={"token": token}).status_code == 403


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", '/"><script>', "/runs/'x"])
def test_the_token_leads_to_no_other_site(remote: Client, path: str) -> None:
    answer = remote.app_get_raw(path, f"token={TOKEN}")
    assert answer.status_code == 200
    target = re.search(r'url=([^"]*)"', answer.text)
    assert target and re.match(r"/(?![/\\])", target[1])
    assert "<script" not in answer.text


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda left, right: compared.append((left, right)) or False)
    assert not Security("0.0.0.0", TOKEN).admits_token(TOKEN)
    assert compared == [(TOKEN.encode(), TOKEN.encode())]


# ---- bodies, methods, headers ----


def test_large_bodies_are_refused_however_they_come(client: Client, run_ids: dict[str, str]) -> None:
    path = f"/api/runs/{run_ids['device']}/import"
    assert client.post(path, content=b"x" * (MOST_BODY + 1)).status_code == 413
    assert client.post(path, content=b"", headers={"Content-Length": "99999999999"}).status_code == 413
    assert client.post(path, content=b"", headers={"Content-Length": "-1"}).status_code == 413

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(70):
            yield b"x" * 1000

    assert client.post(path, content=parts()).status_code == 413
    assert client.post(path, content=b"x" * 1000).status_code == 202


@pytest.mark.parametrize("path", ["/", "/api/runs", "/openapi.json", "/api/events"])
def test_head_is_get_without_the_body(client: Client, path: str) -> None:
    answer = client.head(path)
    assert (answer.status_code, answer.content) == (200, b"")
    if path != "/api/events":
        whole = client.get(path)
        assert answer.headers["content-type"] == whole.headers["content-type"]
        assert answer.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize("path", _ANSWERS)
def test_headers_of_every_answer(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin-allow-popups"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["x-frame-options"] == "DENY"
    assert "camera=()" in headers["permissions-policy"]
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'") and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["cache-control"] in ("no-cache", "no-store")
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_refusals_have_the_headers_too(client: Client) -> None:
    headers = client.get("/", headers={"Host": "evil.example"}).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "content-security-policy" in headers


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/docs/oauth2-redirect"])
def test_no_page_that_loads_from_elsewhere(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "run",
    ["..", "../..", "%2e%2e", "..%2f..%2fetc", "a/../../b", "/etc/passwd", "%00", "x" * 65, "A", "a.b", "~", "C:"],
)
def test_no_path_comes_from_a_client(client: Client, run: str) -> None:
    for path in (f"/api/runs/{run}", f"/api/runs/{run}/report"):
        answer = client.app_get_raw(unquote(path), "")
        assert answer.status_code in (404, 422), path
        assert "root:" not in answer.text


@pytest.mark.parametrize("path", ["/../app.py", "/assets/../../app.py", "//etc/passwd", "/\0", "/assets"])
def test_static_files_lie_in_their_folder(built: Client, path: str) -> None:
    assert built.app_get_raw("/static/assets/index-abc.js", "").status_code == 200
    assert built.app_get_raw(f"/static{path}", "").status_code == 404


def test_answers_name_no_folder_but_the_base(client: Client, imported: Imported, run_ids: dict[str, str]) -> None:
    for run in run_ids.values():
        for part in ("", "/report", "/step", "/op"):
            text = client.get(f"/api/runs/{run}{part}").text
            assert str(imported.base) not in text
            assert str(imported.workspace.root) not in text

"""The page with its nonce, its files, and what is said where there is no page."""

from __future__ import annotations

import re
from pathlib import Path

from laptime.model.workspace import Workspace
from laptime.web.catalogue import Catalogue
from tests.web.conftest import Client, Imported, client_of, front_end


def test_each_answer_has_a_nonce_of_its_own(built: Client) -> None:
    seen = set()
    for path in ("/", "/runs/some-run/op", "/runs/some-run/op"):
        answer = built.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["cache-control"] == "no-store"
        nonces = set(re.findall(r'nonce="([\w-]{20,})"', answer.text))
        (nonce,) = nonces
        assert f"style-src 'self' 'nonce-{nonce}'" in answer.headers["content-security-policy"]
        assert "LAPTIME_NONCE" not in answer.text
        seen.add(nonce)
    assert len(seen) == 3


def test_policy_of_the_page(built: Client) -> None:
    policy = built.get("/").headers["content-security-policy"]
    assert re.sub(r"nonce-[\w-]+", "nonce-N", policy) == (
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-N'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def test_files_named_by_their_content_are_kept_for_good(built: Client) -> None:
    answer = built.get("/static/assets/index-abc.js")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.text == "let x = 1;\n" * 500
    assert built.get("/static/scheme.js").headers["cache-control"] == "no-cache"
    missing = built.get("/static/assets/other.js")
    assert missing.status_code == 404
    assert missing.headers["cache-control"] == "no-cache"


def test_without_a_front_end_the_page_says_so(imported: Imported, tmp_path: object) -> None:
    answer = client_of(imported.catalogue(), static=tmp_path).get("/")
    assert answer.status_code == 200
    assert "The pages are not built" in answer.text


def test_other_addresses_are_errors_as_json(built: Client) -> None:
    for path in ("/nosuch", "/api/nosuch", "/api"):
        answer = built.get(path)
        assert answer.status_code == 404
        assert answer.json() == {"error": "Not Found", "where": path, "remedy": None}
    assert built.request("DELETE", "/api/runs").status_code == 405


def test_a_page_names_what_it_will_load(built: Client, run_ids: dict[str, str]) -> None:
    run = run_ids["tiny_train"]
    head = built.get(f"/runs/{run}/steps").text.partition("</head>")[0]
    assert re.findall(r'<link ([^>]*) crossorigin href="([^"]*)">', head) == [
        ('rel="modulepreload"', "/static/assets/Steps-1.js"),
        ('rel="modulepreload"', "/static/assets/Chart-1.js"),
        ('rel="preload" as="style"', "/static/assets/Chart-1.css"),
        ('rel="preload" as="fetch"', f"/api/runs/{run}"),
        ('rel="preload" as="fetch"', f"/api/runs/{run}/report"),
    ]
    assert "preload" not in built.get("/").text
    for other in ("nosuch/steps", '"><script>/steps', f"{run}x/../../steps"):
        text = built.get(f"/runs/{other}").text
        assert 'as="fetch"' not in text
        assert "<script>" not in text


def test_of_a_run_that_is_not_imported_only_its_state_is_loaded(imported: Imported, tmp_path: Path) -> None:
    catalogue = Catalogue([imported.base], Workspace.choose(tmp_path / "other", say=lambda _: None))
    catalogue.refresh()
    run = catalogue.runs()[0]["run"]
    text = client_of(catalogue, static=front_end(tmp_path)).get(f"/runs/{run}/steps").text
    assert re.findall('as="fetch" crossorigin href="(.*?)"', text) == [f"/api/runs/{run}"]

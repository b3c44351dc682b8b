"""The report as one file: what comes from a recording stays text, and the policy fits the file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laptime.errors import LaptimeError
from laptime.exports.html import Page, bundle_of, data_block, html_text, inline_script, write_html
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from laptime.web.saved import saved_answers
from tests.conftest import EXAMPLE
from tests.docs.blocks import run_laptime

PAGE = Page('const end = "</script>", open = "<!-- <script>", page = "</SCRIPT >"', 'a::before { content: "</style>" }')
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "\u2028\x00\ud800",
    "<img src=x onerror=y>",
    "&lt;",
)


class _Parsed(HTMLParser):
    """Elements with their attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and data.strip():
            self.texts.setdefault(self.elements[-1][0], []).append(data)


def _written(answers: dict[str, tuple[int, object]], title: str = "run") -> str:
    return html_text(answers, PAGE, title=title, language="en")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str) -> None:
    text = _written({"/api/runs/run/op": (200, {"rows": [{"name": name}]})}, title=name)
    page = _Parsed(text)
    assert [tag for tag, _ in page.elements] == [
        "html", "head", *["meta"] * 6, "link", "title", "style", "body", "div", "noscript", "script", "script",
    ]  # fmt: skip
    block, _ = page.texts["script"]
    assert json.loads(block)["answers"]["/api/runs/run/op"] == [200, {"rows": [{"name": name}]}]
    assert not {"\u2028", "\x00", "\ud800"} & set(text.replace(page.texts["title"][0], ""))


@given(
    st.recursive(
        st.text() | st.none() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_value_comes_back_from_its_block(value: object) -> None:
    block = data_block(value)
    assert "<" not in block
    assert json.loads(block) == value


def test_the_script_keeps_its_meaning_and_its_element() -> None:
    script = inline_script(PAGE.script)
    assert not re.search("</script|<!--", script, re.IGNORECASE)
    assert re.sub(r"\\x3c", "<", script.replace("<\\/", "</")) == PAGE.script


def test_the_policy_lets_this_script_run_and_forbids_the_rest() -> None:
    page = _Parsed(_written({}))
    policy = next(attributes["content"] for _, attributes in page.elements if "http-equiv" in attributes)
    (nonce,) = {attributes["nonce"] for _, attributes in page.elements if "nonce" in attributes}
    _, script = page.texts["script"]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'nonce-{nonce}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def test_a_package_without_the_page_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(LaptimeError, match=r"no page for reports.*install laptime from a wheel"):
        bundle_of(tmp_path)


def test_the_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(LaptimeError, match="No such file"):
        write_html({}, tmp_path / "none" / "report.html", title="run", language="en", page=PAGE)
    write_html({}, tmp_path / "report.html", title="run", language="zh", page=PAGE)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert '<html lang="zh-CN"' in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_answers_are_those_of_the_commands(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAPTIME_WORKSPACE", str(workspace.root))
    answers = saved_answers(open_run(EXAMPLE, workspace=workspace), language="zh", steps="3-4")
    refused = {address: body for address, (status, body) in answers.items() if status != 200}
    assert not refused
    for address, command in (
        ("report", ("report",)),
        ("report?steps=3-4", ("report", "--steps", "3-4")),
        ("step?steps=3-4", ("step", "--steps", "3-4")),
        ("memory?steps=3-4", ("memory", "--steps", "3-4")),
        ("pipeline?steps=3-4", ("pipeline", "--steps", "3-4")),
    ):
        _, lines = run_laptime((command[0], str(EXAMPLE), *command[1:], "--json"))
        assert answers[f"/api/runs/run/{address}"][1] == json.loads(lines[-1]), address
    assert "训练等待数据" in json.dumps(answers["/api/runs/run/advise?lang=zh"][1], ensure_ascii=False)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--lang", "zh"), "--lang"),
        (("--html", "x.html", "--json"), "--html"),
        (("--html", "x", "--from", "1ms"), "--html"),
    ],
)
def test_options_that_do_not_go_together(options: tuple[str, ...], word: str) -> None:
    code, lines = run_laptime(("report", str(EXAMPLE), *options))
    assert code == 2
    assert word in "\n".join(lines)

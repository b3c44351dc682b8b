"""The report as one HTML file: the built page, its styles, and the answers it draws.

The file asks nothing of any network: its policy forbids requests, and lets run the one script it was written with.
What comes from a recording stands in a block of JSON without any `<`, so that no name in it can end the block.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from laptime._version import __version__
from laptime.errors import LaptimeError
from laptime.exports.outputs import open_output
from laptime.exports.svg import escaped

BUNDLE = ("web", "static", "report")
"""Where in the package the built page lies."""
_SCRIPT, _STYLES = "report.js", "report.css"
_TAGS = {"en": "en", "zh": "zh-CN"}
_NO_SCRIPT = {
    "en": "This report draws its charts with JavaScript. The same numbers without it: laptime report PATH",
    "zh": "此报告用 JavaScript 绘制图表。不用它也可看到同样的数字：laptime report PATH",
}
_PAGE = """<!doctype html>
<html lang="{tag}" data-mantine-color-scheme="light">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="laptime {version}">
<meta property="csp-nonce" nonce="{nonce}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style nonce="{nonce}">{styles}</style>
</head>
<body>
<div id="root"></div>
<noscript>{no_script}</noscript>
<script type="application/json" id="answers">{answers}</script>
<script>{script}</script>
</body>
</html>
"""
_POLICY = (
    "default-src 'none'; script-src 'sha256-{digest}'; style-src 'nonce-{nonce}'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


@dataclass(frozen=True)
class Page:
    """The built page."""

    script: str
    styles: str


def bundle_of(folder: Path | None = None) -> Page:
    """The page that was built into the package. Raises LaptimeError where it was not."""
    place = folder or resources.files("laptime").joinpath(*BUNDLE)
    try:
        return Page(*(place.joinpath(name).read_text(encoding="utf-8") for name in (_SCRIPT, _STYLES)))
    except OSError as error:
        raise LaptimeError(
            "this copy of laptime has no page for reports",
            where=str(place),
            remedy="install laptime from a wheel, or run `make setup` where its source is",
        ) from error


def write_html(
    answers: Mapping[str, tuple[int, object]], output: Path, *, title: str, language: str, page: Page
) -> None:
    """Writes the page with its answers. Raises LaptimeError where nothing can be written."""
    text = html_text(answers, page, title=title, language=language)
    with open_output(output) as handle:
        handle.write(text.encode())


def html_text(answers: Mapping[str, tuple[int, object]], page: Page, *, title: str, language: str) -> str:
    """The page as text."""
    block = data_block({"version": __version__, "language": language, "answers": answers})
    script = inline_script(page.script)
    nonce = hashlib.sha256(block.encode()).hexdigest()[:24]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _PAGE.format(
        tag=_TAGS[language],
        policy=_POLICY.format(digest=digest, nonce=nonce),
        version=__version__,
        nonce=nonce,
        title=escaped(title),
        styles=page.styles.replace("</", "<\\/"),
        no_script=_NO_SCRIPT[language],
        answers=block,
        script=script,
    )


def data_block(value: object) -> str:
    """JSON that can stand in a script element: `<` as `\\u003c`, and no character that HTML reads otherwise."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    text = re.sub("[\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def inline_script(script: str) -> str:
    """A built script that can stand in a script element: what would end it is written with escapes of strings."""
    script = script.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\\0").replace("<!--", "\\x3c!--")
    return re.sub("</(?=script)", r"<\\/", script, flags=re.IGNORECASE)

"""Draws docs/images/report.svg, the report of the example as a terminal shows it.

Run it from the root of the repository after a change of the report's looks: .venv/bin/python docs/images/make.py
"""

from __future__ import annotations

import io
import re
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME

from laptime.analyses.report import report
from laptime.cli.report_page import show
from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace

EXAMPLE = "examples/ddp4-gloo"
TARGET = Path(__file__).with_name("report.svg")
_WEB_FONT = re.compile(r"\s*@font-face\s*\{.*?\}", re.DOTALL)
_FONTS = "Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def report_svg() -> str:
    """The picture, without fonts from the network."""
    console = Console(
        file=io.StringIO(), record=True, width=80, force_terminal=True, color_system="truecolor", highlight=False
    )
    with tempfile.TemporaryDirectory() as folder:
        run = open_run(EXAMPLE, workspace=Workspace.choose(Path(folder), say=lambda _: None))
        show(report(run), console)
    svg = console.export_svg(title=f"laptime {EXAMPLE}", theme=SVG_EXPORT_THEME, unique_id="report")
    svg = _WEB_FONT.sub("", svg)
    lines = re.sub(r"font-family: [^;]*;", f"font-family: {_FONTS};", svg).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


if __name__ == "__main__":
    TARGET.write_text(report_svg(), encoding="utf-8")
    print(f"wrote {TARGET}")

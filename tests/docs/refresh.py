"""Runs the examples of the documentation, writes their output into the pages, and draws the picture of the report.

Run it from the root of the repository after a change of what a command prints: .venv/bin/python -m tests.docs.refresh
"""

from __future__ import annotations

import os
import runpy
import tempfile
from pathlib import Path

from tests.docs.blocks import ROOT, Example, examples, prepare, run_laptime


def main() -> None:
    """Rewrites the output shown below every example that is always the same."""
    outputs: list[tuple[Example, tuple[str, ...]]] = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), os.environ)  # type: ignore[arg-type]  # a mapping like a dict
        os.chdir(folder)
        for example in examples():
            code, lines = run_laptime(example.arguments, example.stdin)
            if code != example.exit_code:
                print(f"{example.place}: exit code {code}", *lines, sep="\n  ")
            if not example.varies and lines != example.shown:
                outputs.append((example, lines))
                print(f"{example.place}: new output")
    for example, lines in reversed(outputs):  # from the end, so that line numbers stay right
        page = example.block.page
        text = page.read_text(encoding="utf-8").splitlines()
        first = example.line + 1
        text[first : first + len(example.shown)] = lines
        page.write_text("\n".join(text) + "\n", encoding="utf-8")
    os.chdir(ROOT)
    runpy.run_path("docs/images/make.py", run_name="__main__")


if __name__ == "__main__":
    main()

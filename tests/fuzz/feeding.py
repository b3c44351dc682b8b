"""Feeds damaged recordings to the importers and looks at what comes out."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import traceback
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rich.cells import cell_len

from laptime.analyses.operators import GROUPINGS, operator_table
from laptime.analyses.report import report
from laptime.analyses.step_trace import as_json, step_trace
from laptime.cli.app import run as command_line
from laptime.errors import LaptimeError
from laptime.exports.chrome import write_chrome
from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.conftest import SAMPLES, corpus_folder
from tests.fuzz.mutations import mutated
from tests.laws.report_checks import assert_consistent

LARGEST_BYTES = 1 << 20
_CORPUS = (
    "malformed",
    "hta-cuda-event-sync",
    "hta-triton-kernel",
    "hta-trace-compare-mini",
    "hta-fwd-bwd-threads",
    "tb-gpu-metrics-input",
)
_DEEPER_EVERY = 10
"""Of so many damaged recordings one also goes through the other analyses, the pages and the export."""


def samples() -> dict[str, bytes]:
    """Decompressed recordings under 1 MB by name: our own, and small ones of the corpus where it is present."""
    folders = [SAMPLES / "pytorch"]
    corpus = corpus_folder()
    if corpus is not None:
        folders += [corpus / "pytorch" / case for case in _CORPUS]
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.json*")):
            text = _decompressed(path)
            if path.name != "facts.json" and 0 < len(text) < LARGEST_BYTES:
                found[f"{path.parent.name}/{path.name}"] = text
    return found


def _decompressed(path: Path) -> bytes:
    data = path.read_bytes()
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except EOFError:
        return data  # a sample that is cut short, itself worth damaging


@dataclass(frozen=True)
class Failure:
    """A damaged recording that laptime did not take well."""

    sample: str
    number: int
    data: bytes
    error: str

    @property
    def signature(self) -> str:
        """Same for failures of the same origin, about."""
        frames = [line.strip() for line in self.error.splitlines() if line.strip().startswith("File ")]
        return f"{frames[-1] if frames else ''} {self.error.strip().splitlines()[-1][:80]}"


def damaged(sample: str, number: int, recordings: dict[str, bytes]) -> bytes:
    """The `number`-th damaged form of a sample."""
    others = [data for name, data in sorted(recordings.items()) if name != sample] or [recordings[sample]]
    return mutated(recordings[sample], others, Random(f"{sample}#{number}"))


def failures(sample: str, numbers: range, recordings: dict[str, bytes], folder: Path) -> Iterator[Failure]:
    """What goes wrong with some damaged forms of a sample."""
    workspace = Workspace.choose(folder / "workspace", say=lambda _: None)
    for number in numbers:
        data = damaged(sample, number, recordings)
        try:
            feed(data, workspace, folder, deeper=number % _DEEPER_EVERY == 0)
        except (Exception, RecursionError):
            yield Failure(sample, number, data, traceback.format_exc())
        for kept in ("traces", "runs"):
            for entry in os.scandir(workspace.root / kept):
                shutil.rmtree(entry.path)


def feed(data: bytes, workspace: Workspace, folder: Path, *, deeper: bool) -> None:
    """Opens damaged bytes: either they are refused in one line, or what they yield is consistent."""
    path = folder / "damaged.json"
    path.write_bytes(data)
    try:
        run = open_run(path, workspace=workspace)
    except LaptimeError as error:
        assert "\n" not in str(error), error
        assert list(workspace.root.glob("traces/*")) == [], "a half-written trace is left behind"
        return
    result = report(run)
    assert_consistent(result)
    if deeper:
        _go_deeper(run, path, folder, workspace)


def _go_deeper(run: Run, path: Path, folder: Path, workspace: Workspace) -> None:
    (trace,) = run.traces
    json.dumps(as_json(step_trace(trace), trace), allow_nan=False)
    for by in GROUPINGS:
        for on in _where(by):
            json.dumps(operator_table(trace, by=by, on=on).rows, allow_nan=False)
    for page in (["report"], ["step"], ["op", "--by", "name"], ["op", "--by", "shape"]):
        _print_page([page[0], str(path), *page[1:], "--workspace", str(workspace.root)])
    write_chrome(trace, folder / "exported.json")
    again = open_run(folder / "exported.json", workspace=workspace).traces[0]
    assert again.slices.row_count == trace.slices.row_count


def _print_page(arguments: list[str]) -> None:
    """Through the command line, as people see it."""
    with redirect_stdout(io.StringIO()) as out, suppress(SystemExit):
        command_line(arguments)
    assert all(cell_len(line) <= 80 for line in out.getvalue().splitlines()), out.getvalue()


def _where(by: str) -> tuple[str, ...]:
    return ("device",) if by == "kernel" else ("host", "device")

"""Feeds damaged recordings, files and folders, to the importers and looks at what comes out."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import resource
import shutil
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rich.cells import cell_len

from laptime.advice.advising import report
from laptime.analyses.operators import GROUPINGS, operator_table
from laptime.analyses.parts import WHOLE, Part
from laptime.analyses.pipeline import pipeline
from laptime.analyses.step_trace import as_json, step_trace
from laptime.cli.app import run as command_line
from laptime.errors import LaptimeError
from laptime.exports.chrome import write_chrome
from laptime.importers.opening import open_run
from laptime.model.trace import Run, Trace
from laptime.model.workspace import Workspace
from tests.conftest import SAMPLES, corpus_folder
from tests.fuzz.folder_mutations import Folder, mutated_folder
from tests.fuzz.mutations import mutated
from tests.importers.megengine_timelines import training_step
from tests.laws.report_checks import assert_consistent, assert_sound_pipeline

LARGEST_BYTES = 1 << 20
_CORPUS = (
    "malformed",
    "hta-cuda-event-sync",
    "hta-triton-kernel",
    "hta-trace-compare-mini",
    "hta-fwd-bwd-threads",
    "tb-gpu-metrics-input",
)
_MEGENGINE = (
    "mlp_decorator",
    "mlp_traced_train_crashed",
    "streams_and_copies",
    "synthetic_gpu_cupti",
    "memflow_mlp",
    "memflow_resnet",
    "static_profile_mlp_infer",
    "static_profile_mlp_train",
)
_RECORDINGS = re.compile(r"\.(?:json|memory_flow\.svg|static_profile)(?:\.gz)?\Z")
_DEEPER_EVERY = 10
"""Of so many damaged recordings one also goes through the other analyses, the pages and the export."""
_MOST_SECONDS, _MOST_KIB = 5, 1 << 20
"""Processor time and memory that no sample of this size may take, however its numbers are damaged."""

Recording = bytes | Folder
"""A file, or files by their path."""


def samples() -> dict[str, bytes]:
    """Decompressed recordings under 1 MB by name: our own, and small ones of the corpus where it is present."""
    folders = [SAMPLES / "pytorch", SAMPLES / "laptime", SAMPLES / "megengine_memory"]
    corpus = corpus_folder()
    if corpus is not None:
        folders += [corpus / "pytorch" / case for case in _CORPUS]
        folders += [corpus / "megengine" / case for case in _MEGENGINE]
    found = {"megengine/made": training_step().text().encode()}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            text = _decompressed(path) if _RECORDINGS.search(path.name) else b""
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
    data: Recording
    error: str

    @property
    def signature(self) -> str:
        """Same for failures of the same origin, about."""
        frames = [line.strip() for line in self.error.splitlines() if line.strip().startswith("File ")]
        return f"{frames[-1] if frames else ''} {self.error.strip().splitlines()[-1][:80]}"


def damaged(sample: str, number: int, recordings: Mapping[str, Recording]) -> Recording:
    """The `number`-th damaged form of a sample."""
    rng = Random(f"{sample}#{number}")
    recording = recordings[sample]
    alike = [other for name, other in sorted(recordings.items()) if name != sample]
    if isinstance(recording, bytes):
        files = [other for other in alike if isinstance(other, bytes)]
        return mutated(recording, files or [recording], rng)
    return mutated_folder(recording, [other for other in alike if not isinstance(other, bytes)], rng)


def failures(sample: str, numbers: range, recordings: Mapping[str, Recording], folder: Path) -> Iterator[Failure]:
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


def write(data: Recording, place: Path) -> None:
    """Writes a recording as the file or the folder of that name; what the file system refuses is left out."""
    if isinstance(data, bytes):
        place.write_bytes(data)
        return
    shutil.rmtree(place, ignore_errors=True)
    for name, content in data.items():
        path = place / name
        with suppress(OSError):
            (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
            if not name.endswith("/"):
                path.write_bytes(content)
    place.mkdir(exist_ok=True)


def feed(data: Recording, workspace: Workspace, folder: Path, *, deeper: bool) -> None:
    """Opens a damaged recording: it is refused in one line, or what it yields is consistent; soon in any case."""
    path = folder / ("damaged.json" if isinstance(data, bytes) else "damaged")
    write(data, path)
    started, held = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        run = open_run(path, workspace=workspace)
    except LaptimeError as error:
        assert "\n" not in str(error), error
        assert list(workspace.root.glob("traces/*")) == [], "a half-written trace is left behind"
    else:
        result = report(run)
        assert_consistent(result)
        assert all("\n" not in str(row["message"]) for row in result["warnings"]), result["warnings"]
        whole = len({trace.folder for trace in run.traces})
        assert len(list(workspace.root.glob("traces/*"))) == whole, "a half-written trace is left behind"
        if deeper:
            _go_deeper(run, path, folder, workspace)
    took, more = time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
    assert took < _MOST_SECONDS, f"took {took:.1f} s"
    assert more < _MOST_KIB, f"took {more >> 10} MiB"


def _go_deeper(run: Run, path: Path, folder: Path, workspace: Workspace) -> None:
    for trace in run.traces:
        _analyse(trace)
    pages = (["report"], ["step"], ["op", "--by", "name"], ["op", "--by", "shape"], ["pipeline"], ["report", "--json"])
    for page in pages:
        _print_page([page[0], str(path), *page[1:], "--workspace", str(workspace.root)])
    trace = run.traces[0]
    write_chrome(trace, folder / "exported.json")
    again = open_run(folder / "exported.json", workspace=workspace).traces[0]
    assert again.slices.row_count == trace.slices.row_count


def _analyse(trace: Trace) -> None:
    json.dumps(as_json(step_trace(trace), trace), allow_nan=False).encode()
    for part in (WHOLE, Part(to_ns=1), *(Part(steps=((step, None),)) for step in trace.steps["step"][-1:].tolist())):
        waiting = pipeline(trace, part)
        json.dumps(waiting, allow_nan=False).encode()
        assert_sound_pipeline(waiting)
    for by in GROUPINGS:
        for on in _where(by):
            json.dumps(operator_table(trace, by=by, on=on).rows, allow_nan=False).encode()


def _print_page(arguments: list[str]) -> None:
    """Through the command line, as people see it."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out), redirect_stderr(io.StringIO()), suppress(SystemExit):
        command_line(arguments)
    out.seek(0)
    text = out.read()
    assert "--json" in arguments or all(cell_len(line) <= 80 for line in text.splitlines()), text


def _where(by: str) -> tuple[str, ...]:
    return ("device",) if by == "kernel" else ("host", "device")

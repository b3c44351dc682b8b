"""Opens any path as a Run: finds its sources, imports what is not in the workspace yet, reads the rest from there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

from laptime.errors import LaptimeError, WorkspaceError
from laptime.importers.ascend_job_finding import job_fault
from laptime.importers.chrome import ChromeJson, TorchKineto
from laptime.importers.decoders import Decoders, interrupts_held
from laptime.importers.keys import run_key, trace_key
from laptime.importers.laptime_recording import LaptimeRecording
from laptime.importers.megengine import MegEngineTimeline
from laptime.importers.megengine_memory_flow import MegEngineMemoryFlow
from laptime.importers.megengine_static import MegEngineStatic
from laptime.importers.own_export import OwnExport
from laptime.importers.progress import Progress, silent
from laptime.importers.recognised import recognise
from laptime.importers.sources import Source, discover, twin_notes
from laptime.importers.streams import USUAL_RATIO
from laptime.importers.xplane import XPlane
from laptime.model.builder import TraceBuilder
from laptime.model.store import read_trace, write_trace
from laptime.model.tables import build_tables
from laptime.model.trace import Run, Trace
from laptime.model.workspace import StoredRun, Workspace


class Importer(Protocol):
    """A foreign format."""

    name: str

    def matches(self, head: bytes, source: Source) -> bool:
        """Tells the format from the file's name and first MiB."""
        ...

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Pours the source into a builder."""
        ...


@dataclass
class _OfFolders:
    """A format told by the names in a folder alone; its importer is loaded when there is such a folder."""

    name: str
    module: str
    importer: str

    def matches(self, head: bytes, source: Source) -> bool:
        return False

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        importer: Importer = getattr(import_module(f"laptime.importers.{self.module}"), self.importer)()
        importer.read(source, builder, progress, decoders)


_FOREIGN: tuple[Importer, ...] = (
    OwnExport(),
    _OfFolders("ascend_output", "ascend_output", "AscendOutput"),
    _OfFolders("mindinsight", "mindinsight", "MindInsightFolder"),
    _OfFolders("mindspore_cpu", "mindspore_cpu", "MindSporeCpu"),
    _OfFolders("minddata", "minddata", "MindData"),
    _OfFolders("msprof", "msprof", "Msprof"),
    _OfFolders("ascend_job", "ascend_job", "AscendJob"),
    MegEngineTimeline(),
    MegEngineMemoryFlow(),
    MegEngineStatic(),
    XPlane(),
    TorchKineto(),
    ChromeJson(),
)
IMPORTERS: tuple[Importer, ...] = (LaptimeRecording(_FOREIGN), *_FOREIGN)
"""Special before general."""
_WHAT_IS_READ = (
    "give a folder that laptime recorded, a trace of torch.profiler or Chrome trace events (JSON), an .xplane.pb, a "
    "profile folder of Ascend or MindSpore, or MegEngine's timeline, memory_flow.svg or graph profile"
)


@dataclass(frozen=True)
class _Stored:
    source: Source
    key: str


def open_run(
    path: str | Path,
    *,
    workspace: Workspace | None = None,
    progress: Callable[[str], Progress] | None = None,
    executor: Executor | None = None,
    sources: Sequence[Source] | None = None,
) -> Run:
    """Opens a file, folder, glob or archive, or an imported run by its key or name; imports what is new.

    Of a path that holds several runs `sources` may name those of one. Raises LaptimeError where nothing can be read.

    Large files are decoded by `executor` (any concurrent.futures.Executor), by default by processes of this machine.
    """
    place = workspace or Workspace.choose(None, say=lambda _: None)
    known = None if Path(path).exists() else place.find(str(path))
    if known is not None:
        return reopened(known, place)
    sources = discover(path) if sources is None else sources
    with Decoders(executor) as decoders:
        imports = _Imports(place, decoders, progress or (lambda name: silent))
        imports.import_ranks(sources)
        try:
            stored = [entry for source in sources if (entry := imports.ensure(source, alone=len(sources) == 1))]
        except LaptimeError as error:
            raise job_fault(Path(path)) or error from error
    imports.notes += [{"code": "other", "message": note, "count": 1} for note in twin_notes(path, list(sources))]
    if not stored:
        raise job_fault(Path(path)) or LaptimeError("no recording that laptime reads", where=path, remedy=_WHAT_IS_READ)
    return _stored_run(path, run_key(path, sources), stored, place, imports.notes)


def _stored_run(
    path: str | Path, key: str, stored: Sequence[_Stored], place: Workspace, notes: list[dict[str, object]]
) -> Run:
    """The run of these traces, in order of rank, then name; also lists it in the workspace."""
    traces = {entry.key: _open_trace(entry.key, entry.source.name, place) for entry in stored}
    keys = sorted(traces, key=lambda each: _order(traces[each]))
    first = traces[keys[0]].meta
    first_import = (place.read_result(key, "run") or {}).get("imported_unix")
    place.store_run(
        StoredRun(
            key=key,
            path=str(Path(path).absolute()),
            name=Path(path).name or str(path),
            format=str(first["format"]),
            framework=_text_or_none(first.get("framework")),
            traces=keys,
            sources=[traces[each].source for each in keys],
            imported_unix=first_import if isinstance(first_import, float) else time.time(),
            notes=notes,
        )
    )
    return Run(str(path), [traces[each] for each in keys], place.run_folder(key), notes)


def reopened(run: StoredRun, place: Workspace) -> Run:
    """An imported run by its key or name, whether or not its recording is still there."""
    if not place.is_whole(run.key):
        raise LaptimeError("the import is not whole", where=run.name, remedy=f"open {run.path} again")
    traces = [_open_trace(key, name, place) for key, name in zip(run.traces, run.sources, strict=True)]
    return Run(run.name, traces, place.run_folder(run.key), run.notes)


def _order(trace: Trace) -> tuple[bool, int, str]:
    return (trace.rank is None, trace.rank or 0, trace.source)


def _open_trace(key: str, source_name: str, place: Workspace) -> Trace:
    trace = read_trace(place.trace_folder(key))
    trace.meta["source"] = source_name
    return trace


@dataclass
class _Imports:
    """Imports sources one by one, and notes those that cannot be read."""

    place: Workspace
    decoders: Decoders
    progress: Callable[[str], Progress]
    notes: list[dict[str, object]] = field(default_factory=list)

    def import_ranks(self, sources: Sequence[Source]) -> None:
        """Imports several ranks at once, a process each, where that is faster; the rest is left to `ensure`."""
        missing = [source for source in sources if _is_missing(source, self.place)]
        sizes = [_text_bytes(source) for source in missing]
        executor = self.decoders.for_many(sizes)
        if executor is None:
            return
        show = self.progress(f"{len(missing)} recordings")
        with interrupts_held():
            running = {executor.submit(import_rank, source, self.place.root) for source in missing}
        for done, future in enumerate(as_completed(running), start=1):
            future.exception()  # `ensure` meets the same failure and words it
            show(done, len(missing))

    def ensure(self, source: Source, *, alone: bool) -> _Stored | None:
        """The source's trace, imported unless it is there; what cannot be read is an error alone, else a note."""
        try:
            key = trace_key(source)
            if not self.place.has_trace(key):
                _import(source, key, self.place, self.progress(source.name), self.decoders)
            return _Stored(source, key)
        except WorkspaceError:
            raise
        except OSError as error:
            reason = error.strerror or "cannot be read"
            failure = LaptimeError(reason, where=source.path, remedy="check the file and its permissions")
        except LaptimeError as error:
            failure = error
        if alone:
            raise failure
        self.notes.append({"code": "other", "message": f"{source.name}: {failure.what}", "count": 1})
        return None


def _text_bytes(source: Source) -> int:
    """About how much text a source holds; most files are compressed, those of folder recordings are not."""
    if source.files:
        return sum(file.stat().st_size for file in source.files)
    return source.path.stat().st_size * USUAL_RATIO


def _is_missing(source: Source, place: Workspace) -> bool:
    try:
        return not place.has_trace(trace_key(source))
    except OSError:
        return False


def import_rank(source: Source, root: Path) -> None:
    """Imports one source in a process of its own."""
    with Decoders(workers=1) as decoders:
        _import(source, trace_key(source), Workspace(root), silent, decoders)


def _import(source: Source, key: str, place: Workspace, progress: Progress, decoders: Decoders) -> None:
    importer = importer_of(source)
    with place.new_trace(key) as folder:
        builder = TraceBuilder(folder)
        try:
            importer.read(source, builder, progress, decoders)
            write_trace(build_tables(builder), folder)
        finally:
            builder.spool.discard()


def importer_of(source: Source) -> Importer:
    """What reads a source. Raises LaptimeError where nothing does."""
    if source.format is not None:
        return next(importer for importer in IMPORTERS if importer.name == source.format)
    head = source.head()
    if not head:
        raise LaptimeError(
            "the file is empty", where=source.name, remedy="record again, or check that the recorder finished"
        )
    for importer in IMPORTERS:
        if importer.matches(head, source):
            return importer
    known = recognise(head, source)
    raise LaptimeError(
        known.what if known else "not a recording that laptime knows",
        where=source.name,
        remedy=known.remedy if known else _WHAT_IS_READ,
    )


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)

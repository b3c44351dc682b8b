"""Recordings in every wrapping: compression is told from the bytes, archives and folders hold several."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.importers.sources import HEAD_BYTES, Source, discover
from laptime.model.trace import Run


def trace_text(name: str = "aten::mm", count: int = 1) -> bytes:
    events = [
        {"ph": "X", "name": name, "cat": "cpu_op", "pid": 1, "tid": 1, "ts": 2 * n, "dur": 1} for n in range(count)
    ]
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(data)
    return sink.getvalue().to_pybytes()


def written(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def names(run: Run) -> list[list[object]]:
    return [trace.slices.objects("name") for trace in run.traces]


def content(source: Source) -> tuple[bytes, str | None]:
    with source.open() as stream:
        pieces = []
        while piece := stream.read(1000):
            pieces.append(piece)
        return b"".join(pieces), stream.damage


TEXT = trace_text(count=200)
WRAPPED = {
    "plain": TEXT,
    "gzip": gzip.compress(TEXT),
    "gzip of several members": gzip.compress(TEXT[:5000]) + gzip.compress(TEXT[5000:]) + gzip.compress(b""),
    "gzip of a member per byte": b"".join(gzip.compress(TEXT[n : n + 1]) for n in range(len(TEXT[:300])))
    + gzip.compress(TEXT[300:]),
    "gzip and what follows it": gzip.compress(TEXT) + b"\x00" * 100,
    "zstd": zstd(TEXT),
}


@pytest.mark.parametrize("file", ["a.json", "a.json.gz", "a.zst", "a", "a.txt"])
@pytest.mark.parametrize("data", WRAPPED.values(), ids=WRAPPED.keys())
def test_compression_is_told_from_the_bytes_not_the_name(tmp_path, data, file):
    (source,) = discover(written(tmp_path / file, data))
    assert content(source) == (TEXT, None)


@pytest.mark.parametrize("data", WRAPPED.values(), ids=WRAPPED.keys())
@pytest.mark.parametrize("size", [1, 3, 4, 7, 4096])
def test_reads_of_any_size_give_the_same_bytes(tmp_path, data, size):
    source = Source(written(tmp_path / "a.json", data))
    with source.open() as stream:
        found = [stream.read(size) for _ in range(50)]
        assert b"".join(found) == TEXT[: 50 * size]
        assert stream.position == min(50 * size, len(TEXT))


@pytest.mark.parametrize("data", WRAPPED.values(), ids=WRAPPED.keys())
def test_the_head_is_decompressed(tmp_path, data):
    assert Source(written(tmp_path / "a", data)).head() == TEXT[:HEAD_BYTES]


@pytest.mark.parametrize("lost", [1, 9, 100, 0.5, 0.9])
@pytest.mark.parametrize("wrap", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_a_truncated_stream_gives_its_beginning_and_says_so(tmp_path, wrap, lost):
    data = wrap(TEXT)
    kept = len(data) - (lost if isinstance(lost, int) else int(lost * len(data)))
    found, damage = content(Source(written(tmp_path / "a.json.gz", data[:kept])))
    assert TEXT.startswith(found)
    assert damage is not None and "compress" in damage


def test_a_truncated_gzip_opens_with_a_warning(tmp_path, workspace):
    path = written(tmp_path / "a.json.gz", gzip.compress(trace_text(count=3000))[:-400])
    (trace,) = open_run(path, workspace=workspace).traces
    assert 100 < trace.slices.row_count < 3000
    (warning,) = [warning for warning in trace.meta["warnings"] if warning["code"] == "truncated"]
    assert "compressed stream ends too early" in warning["message"]


def test_a_damaged_gzip_gives_what_comes_before_the_damage(tmp_path):
    data = bytearray(gzip.compress(TEXT * 50))
    data[len(data) // 2] ^= 0xFF
    found, damage = content(Source(written(tmp_path / "a.gz", bytes(data))))
    assert damage is not None
    assert len(found) > 0


def test_a_gzip_cut_in_its_header_is_an_error_not_a_crash(tmp_path, workspace):
    with pytest.raises(LaptimeError):
        open_run(written(tmp_path / "a.json.gz", gzip.compress(TEXT)[:5]), workspace=workspace)


# ---- archives ----


def test_a_zip_holds_a_trace_per_member(tmp_path, workspace):
    path = tmp_path / "run.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("job/rank1.json", trace_text("b"))
        archive.writestr("job/rank0.json.gz", gzip.compress(trace_text("a")))
        archive.writestr("__MACOSX/job/._rank0.json", b"\x00")
        archive.writestr("job/.DS_Store", b"\x00")
        archive.mkdir("empty") if hasattr(archive, "mkdir") else archive.writestr("empty/", b"")
    run = open_run(path, workspace=workspace)
    assert names(run) == [["a"], ["b"]]
    assert [trace.rank for trace in run.traces] == [0, 1]
    assert [trace.source for trace in run.traces] == ["run.zip/job/rank0.json.gz", "run.zip/job/rank1.json"]


def test_a_zip_is_told_from_its_bytes(tmp_path, workspace):
    path = tmp_path / "a.json"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("trace.json", trace_text("a"))
    assert names(open_run(path, workspace=workspace)) == [["a"]]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_holds_a_trace_per_member(tmp_path, workspace, mode):
    path = tmp_path / ("run.tar" + {"w": "", "w:gz": ".gz", "w:bz2": ".bz2", "w:xz": ".xz"}[mode])
    with tarfile.open(path, mode) as archive:
        for name, data in {"job/rank1.json": trace_text("b"), "job/rank0.json": trace_text("a")}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
        link = tarfile.TarInfo("job/rank2.json")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    assert names(open_run(path, workspace=workspace)) == [["a"], ["b"]]


def test_members_with_paths_out_of_the_archive_write_nothing_outside(tmp_path, workspace):
    path = tmp_path / "inner" / "run.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../escaped.json", trace_text("a"))
    assert names(open_run(path, workspace=workspace)) == [["a"]]
    assert {entry.name for entry in tmp_path.iterdir()} == {"inner", "workspace"}


@pytest.mark.parametrize("file", ["run.zip", "run.tar.gz", "run.tgz"])
def test_a_truncated_archive_is_an_error_not_a_crash(tmp_path, workspace, file):
    path = tmp_path / file
    if file == "run.zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.json", TEXT)
    else:
        with tarfile.open(path, "w:gz") as tar:
            member = tarfile.TarInfo("a.json")
            member.size = len(TEXT)
            tar.addfile(member, io.BytesIO(TEXT))
    path.write_bytes(path.read_bytes()[:-60])
    try:
        run = open_run(path, workspace=workspace)
    except LaptimeError:
        return
    assert run.traces[0].meta["warnings"]


# ---- folders and patterns ----


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A folder with two ranks, notes, and what is never a recording."""
    folder = tmp_path / "job"
    written(folder / "rank1.json", trace_text("b"))
    written(folder / "rank0.json", trace_text("a"))
    written(folder / "deep" / "er" / "rank2.json", trace_text("c"))
    written(folder / "notes.txt", b"learning rate 0.1")
    written(folder / ".hidden.json", trace_text("hidden"))
    written(folder / ".git" / "x.json", trace_text("hidden"))
    return folder


def test_a_folder_gives_all_its_ranks_in_order_and_notes_the_rest(job, workspace):
    run = open_run(job, workspace=workspace)
    assert names(run) == [["a"], ["b"], ["c"]]
    assert [note["message"] for note in run.notes] == ["notes.txt: not a recording that laptime knows"]


def test_a_pattern_gives_what_it_matches(job, workspace):
    assert names(open_run(f"{job}/rank*.json", workspace=workspace)) == [["a"], ["b"]]
    assert names(open_run(f"{job}/**/rank*.json", workspace=workspace)) == [["a"], ["b"], ["c"]]
    assert names(open_run(f"{job}/rank[1].json", workspace=workspace)) == [["b"]]


def test_sources_are_in_order_of_name(job):
    assert [source.name for source in discover(job)] == ["notes.txt", "rank0.json", "rank1.json", "rank2.json"]


def test_a_name_with_signs_of_a_pattern_is_a_name(tmp_path, workspace):
    assert names(open_run(written(tmp_path / "a[1]*.json", trace_text("a")), workspace=workspace)) == [["a"]]


def test_files_that_match_twice_are_read_once(job):
    assert len(discover(f"{job}/**")) == len({*discover(f"{job}/**")})


@pytest.mark.parametrize("path", ["absent.json", "absent/*.json", "absent*"])
def test_a_path_that_leads_nowhere_is_an_error(tmp_path, workspace, path):
    with pytest.raises(LaptimeError, match="absent"):
        open_run(tmp_path / path, workspace=workspace)
    assert workspace.runs() == []


def test_an_empty_folder_is_an_error(tmp_path, workspace):
    (tmp_path / "empty").mkdir()
    with pytest.raises(LaptimeError, match="no recording"):
        open_run(tmp_path / "empty", workspace=workspace)


@pytest.mark.parametrize("data", [b"", gzip.compress(b"")], ids=["plain", "gzip"])
def test_an_empty_file_is_an_error(tmp_path, workspace, data):
    with pytest.raises(LaptimeError, match="empty"):
        open_run(written(tmp_path / "a.json", data), workspace=workspace)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_not_waited_for(job, workspace):
    os.mkfifo(job / "pipe.json")
    assert len(open_run(job, workspace=workspace).traces) == 3


def test_a_link_that_leads_nowhere_is_passed_over(job, workspace):
    (job / "rank9.json").symlink_to(job / "gone.json")
    assert len(open_run(job, workspace=workspace).traces) == 3

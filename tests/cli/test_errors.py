"""What cannot be done is said in one line on stderr: what, where and the remedy; exit 1. Bad usage exits 2."""

from __future__ import annotations

import gzip
import json
import pickle
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Ran
from tests.cli.recordings import DDP2, TINY, device_events, written

COMMANDS = (("report",), ("step",), ("op",), ("import",), ("sql", "SELECT 1"))


def assert_refused(ran: Ran, *words: str) -> None:
    """Exit 1, nothing on stdout, one line on stderr in the agreed form, which holds the words."""
    assert (ran.code, ran.out) == (1, ""), ran
    assert ran.err.endswith("\n")
    assert ran.err.count("\n") == 1, ran.err
    assert ran.err.startswith("laptime: ")
    assert ran.err.count(": ") >= 3, "laptime: what: where: remedy"
    for word in words:
        assert word in ran.err


def _sqlite(path: Path, table: str) -> None:
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE {table} (start INTEGER)")
    database.close()


def _pickled(value: object) -> bytes:
    return pickle.dumps(value, protocol=4)


EXECUTION_TRACE = {
    "schema": "1.1.1-chakra.0.0.4",
    "pid": 1,
    "time": "2026-01-01 00:00:00",
    "start_ts": 1,
    "nodes": [{"id": 1, "name": "aten::mm", "ctrl_deps": 0, "inputs": {}, "outputs": {}, "attrs": []}],
}
KNOWN = {
    "report.nsys-rep": (b"NVIDIA Tools Extension" + bytes(100), "Nsight Systems"),
    "profile.qdrep": (b"\x00\x01QDREP" + bytes(100), "Nsight Systems"),
    "trace.pftrace": (b"\x0a\x08\x08\x01\x12\x04test" + bytes(100), "Perfetto"),
    "trace.perfetto-trace": (b"\x0a\x08\x08\x01\x12\x04test" + bytes(100), "Perfetto"),
    "snapshot.pickle": (_pickled({"segments": [], "device_traces": [[{"action": "alloc"}]]}), "memory snapshot"),
    "other.pkl": (_pickled([1, 2, 3]), "pickle"),
    "et.json": (json.dumps(EXECUTION_TRACE).encode(), "execution trace"),
    "et.json.gz": (gzip.compress(json.dumps(EXECUTION_TRACE, indent=2).encode()), "execution trace"),
    "results.json": (b'{"rocprofiler-sdk-tool":[{"metadata":{"pid":1}}]}', "rocprofv3"),
    "a.raw.json.gz": (gzip.compress(b'[[1, [0, 1], 512, "PARAMETER"]]'), "memory timeline"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_formats_that_are_known_but_not_read(name: str, tmp_path: Path, cli: Cli) -> None:
    data, word = KNOWN[name]
    (tmp_path / name).write_bytes(data)
    assert_refused(cli("report", tmp_path / name, "--json"), word, name)


@pytest.mark.parametrize(
    ("name", "table", "word"),
    [
        ("report.sqlite", "CUPTI_ACTIVITY_KIND_KERNEL", "SQLite"),
        ("1_results.db", "rocpd_kernel_dispatch_0000", "rocpd"),
        ("trace.rpd", "rocpd_api", "rocpd"),
    ],
)
def test_databases_are_known_but_not_read(name: str, table: str, word: str, tmp_path: Path, cli: Cli) -> None:
    _sqlite(tmp_path / name, table)
    assert_refused(cli(tmp_path / name), word, name)


def test_another_database_is_refused(tmp_path: Path, cli: Cli) -> None:
    _sqlite(tmp_path / "any.db", "anything")
    assert_refused(cli(tmp_path / "any.db"), "any.db")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("case", "word"),
    [
        ("tl-rocprofv3-json/908_results.json.gz", "rocprofv3"),
        ("hta-memory-timeline-raw/memory_timeline.raw.gz", "memory timeline"),
        ("hta-execution-trace-pair/benchmark_simple_add_et.json.gz", "execution trace"),
    ],
)
def test_real_files_of_formats_that_are_not_read(case: str, word: str, corpus: Path, cli: Cli) -> None:
    assert_refused(cli("report", corpus / "pytorch" / case, "--json"), word, Path(case).name)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_no_such_path(command: tuple[str, ...], tmp_path: Path, cli: Cli) -> None:
    missing = tmp_path / "missing.json"
    assert_refused(cli(command[0], missing, *command[1:], "--json"), "no such file", str(missing))
    assert_refused(cli(command[0], tmp_path / "*.json", *command[1:], "--json"), "pattern")


def test_export_of_no_such_path(tmp_path: Path, cli: Cli) -> None:
    assert_refused(cli("export", tmp_path / "missing.json", "-o", tmp_path / "out.json"), "no such file")
    assert list(tmp_path.iterdir()) == []


NO_RECORDINGS = {
    "empty.json": b"",
    "empty.json.gz": gzip.compress(b""),
    "white.json": b" \n\t\n",
    "text.txt": b"nothing to see\n",
    "other.json": b'{"a": [1, 2, 3]}',
    "number.json": b"12",
    "noise.bin": bytes(range(256)) * 40,
    "page.html": b"<!doctype html><html></html>",
    "cut.json.gz": gzip.compress(b'{"schemaVersion": 1}')[:8],
    "broken.zip": b"PK\x03\x04" + bytes(60),
}


@pytest.mark.parametrize("name", NO_RECORDINGS)
def test_files_that_hold_no_recording(name: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / name).write_bytes(NO_RECORDINGS[name])
    assert_refused(cli("report", tmp_path / name, "--json"), name)


def test_a_folder_without_recordings(tmp_path: Path, cli: Cli) -> None:
    assert_refused(cli("report", tmp_path, "--json"), str(tmp_path))
    (tmp_path / "notes.txt").write_text("nothing")
    assert_refused(cli("report", tmp_path, "--json"))


def test_a_file_that_cannot_be_read(tmp_path: Path, cli: Cli) -> None:
    locked = written(tmp_path / "locked.json", device_events())
    locked.chmod(0)
    try:
        locked.read_bytes()
    except PermissionError:
        assert_refused(cli("report", locked, "--json"), "locked.json")
    else:
        pytest.skip("this user may read everything")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, cli: Cli) -> None:
    assert_refused(cli("report", "/dev/null", "--json"))


@pytest.mark.parametrize("name", ["two\nlines.json", "ende: da.json", "漢字.txt"])
def test_errors_about_odd_names_stay_on_one_line(name: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / name).write_text("nothing")
    assert_refused(cli("report", tmp_path / name, "--json"))
    assert_refused(cli("report", tmp_path / f"missing {name}", "--json"))


def test_what_does_not_exist_inside_a_recording(cli: Cli) -> None:
    assert_refused(cli("step", TINY, "--step-id", 99, "--json"), "no step 99")
    assert_refused(cli("step", TINY, "--step-index", 9, "--json"), "no step 9")
    assert_refused(cli("step", DDP2, "--rank", 5, "--json"), "no rank 5")
    assert_refused(cli("op", DDP2, "--rank", 5, "--json"), "no rank 5")
    assert_refused(cli("sql", DDP2, "SELECT 1", "--rank", 5, "--json"), "no rank 5")
    assert_refused(cli("op", TINY, "--by", "kernel", "--on", "host", "--json"))
    assert_refused(cli("runs", "--remove", "nothing of that name"), "no imported run")


@pytest.mark.parametrize(
    "query",
    [
        "",
        "SELECT",
        "SELEC 1",
        "SELECT * FROM nothing",
        "SELECT nothing FROM slices",
        "DROP TABLE slices",
        "SELECT 1; SELECT 2",
        "COPY slices TO 'x.csv'",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT 1/0 + 'x'",
        "ATTACH 'x.db'",
        "SELECT getenv('HOME')",
    ],
)
def test_queries_that_are_refused(query: str, cli: Cli) -> None:
    assert_refused(cli("sql", TINY, query, "--json"))


def test_output_that_cannot_be_written(tmp_path: Path, cli: Cli) -> None:
    assert_refused(cli("export", TINY, "-o", tmp_path / "no" / "out.json"), "out.json")
    assert_refused(cli("export", TINY, "--table", "slices", "-o", tmp_path / "no" / "out.csv"), "out.csv")
    assert_refused(cli("export", TINY, "-o", tmp_path))


@pytest.mark.parametrize(
    "arguments",
    [
        ("report",),
        ("report", TINY, "--nothing"),
        ("report", TINY, TINY),
        ("step", TINY, "--step-id", "soon"),
        ("step", TINY, "--step-index", "0"),
        ("step", TINY, "--step-index", "x"),
        ("step", TINY, "--rank", "x"),
        ("op", TINY, "--by", "nothing"),
        ("op", TINY, "--on", "nothing"),
        ("op", TINY, "--sort", "nothing"),
        ("op", TINY, "--limit", "0"),
        ("op", TINY, "--filter", "name"),
        ("op", TINY, "--filter", "nothing=x"),
        ("export", TINY),
        ("export", TINY, "-o", "out.csv"),
        ("export", TINY, "-o", "out.csv", "--table", "nothing"),
        ("sql", TINY),
        ("--nothing",),
        ("runs", "--nothing"),
    ],
    ids=lambda arguments: " ".join(Path(str(part)).name for part in arguments),
)
def test_bad_usage(arguments: tuple[object, ...], cli: Cli) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert "Usage: laptime" in ran.err
    assert "Traceback" not in ran.err


def test_no_command_shows_the_help(cli: Cli) -> None:
    ran = cli()
    assert ran.code == 2
    assert "Commands:" in ran.out + ran.err


@pytest.mark.skipif(sys.platform == "win32", reason="file names are text there")
def test_a_file_name_that_is_no_text(tmp_path: Path, cli: Cli) -> None:
    """Exit 1 or a report; never a traceback."""
    path = tmp_path / "caf\udce9.json"
    written(path, device_events())
    assert cli("report", path, "--json").code in (0, 1)
    assert cli("report", path).code in (0, 1)
    assert cli("report", f"{path}.missing").code == 1

"""The user's own SQL: what it sees, and what it must never reach."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from laptime.errors import LaptimeError
from laptime.importers.opening import open_run
from laptime.model.query import Limits, _fence, first_rows, plain_rows, run_query
from laptime.model.schema import SCHEMAS
from laptime.model.trace import Run
from laptime.model.workspace import Workspace
from tests.conftest import EXAMPLE


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="module")
def run(cache: Path) -> Run:
    return open_run(EXAMPLE, workspace=Workspace.choose(cache, say=pytest.fail))


def contents(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.blake2b(path.read_bytes()).hexdigest() for path in files}


def test_every_table_has_its_columns_led_by_the_rank(run):
    for name, schema in SCHEMAS.items():
        found = run_query(run, f"SELECT * FROM {name} LIMIT 1").schema
        ids = ["slice_id"] if name in ("slices", "args") else []
        assert found.names == ["rank_index", *ids, *schema.names]
        assert found.field("rank_index").type == pa.int32()
        assert not any(pa.types.is_dictionary(field.type) for field in found)


def test_counts_are_those_of_the_stored_tables(run):
    for name in SCHEMAS:
        result = run_query(run, f"SELECT rank_index, count(*) AS rows FROM {name} GROUP BY ALL")
        counted = dict(zip(*result.to_pydict().values(), strict=True))
        expected = {index: trace.table(name).row_count for index, trace in enumerate(run.traces)}
        assert counted == {index: rows for index, rows in expected.items() if rows}


def test_slice_ids_are_row_numbers_within_the_rank(run):
    columns = "rank_index, slice_id, start_ns, name"
    result = run_query(run, f"SELECT {columns} FROM slices ORDER BY rank_index, slice_id").to_pydict()
    expected = [
        (index, row, start, name)
        for index, trace in enumerate(run.traces)
        for row, (start, name) in enumerate(
            zip(trace.slices.objects("start_ns"), trace.slices.objects("name"), strict=True)
        )
    ]
    assert list(zip(*result.values(), strict=True)) == expected


def test_args_join_their_slices(run):
    query = """SELECT count(*) AS joined, count(args ->> '$."Ev Idx"') AS with_index
               FROM slices JOIN args USING (rank_index, slice_id)"""
    (row,) = run_query(run, query).to_pylist()
    assert row["joined"] == sum(trace.slices.row_count for trace in run.traces)
    assert row["with_index"] == sum(
        1 for trace in run.traces for text in trace.table("args").objects("args") if text and '"Ev Idx"' in text
    )


def test_parents_contain_their_children(run):
    query = """SELECT count(*) AS pairs, count(*) FILTER (p.start_ns <= c.start_ns
                   AND p.start_ns + p.dur_ns >= c.start_ns + coalesce(c.dur_ns, 0)) AS contained
               FROM slices c JOIN slices p ON p.rank_index = c.rank_index AND p.slice_id = c.parent_id"""
    (row,) = run_query(run, query).to_pylist()
    assert row["pairs"] == row["contained"] > 0


def test_one_rank_keeps_its_place(run):
    result = run_query(run, "SELECT rank_index, count(*) AS steps FROM steps GROUP BY 1", rank=2)
    assert result.to_pylist() == [{"rank_index": 2, "steps": run.traces[2].steps.row_count}]


def test_an_unknown_rank_is_an_error(run):
    with pytest.raises(LaptimeError, match="no rank 9"):
        run_query(run, "SELECT 1", rank=9)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM Slices;",
        "FROM steps -- all of them",
        'WITH s AS (FROM steps), t AS (FROM s) SELECT max("window") FROM t',
        "WITH steps AS (SELECT 1 AS one) SELECT one FROM steps",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT sum(i) FROM n",
        "SELECT * FROM range(3) r(i) JOIN steps ON steps.index = i",
        "SELECT key FROM args, json_each(args.args) LIMIT 3",
        "SELECT 'COPY; DROP TABLE slices' AS text, kind FROM main.slices LIMIT 1",
        "FROM (PIVOT slices ON kind IN ('op', 'python') USING count(*) GROUP BY rank_index)",
        "SHOW TABLES",
        "DESCRIBE slices",
        "SUMMARIZE steps",
        "VALUES (1)",
    ],
)
def test_queries_that_only_read_the_tables_are_answered(run, query):
    assert run_query(run, query).num_rows > 0


def test_show_tables_names_all(run):
    assert set(run_query(run, "SHOW TABLES")["name"].to_pylist()) == set(SCHEMAS)


REFUSED = {
    "nothing": "",
    "comment": "-- nothing",
    "two statements": "SELECT 1; SELECT 2",
    "statement behind": "SELECT 1; COPY (SELECT 1) TO '{cache}/stolen.csv'",
    "copy": "COPY (SELECT 1) TO '{cache}/stolen.csv'",
    "copy over the cache": "COPY (SELECT 1 AS a) TO '{slices}'",
    "copy from": "COPY steps FROM '{slices}'",
    "export": "EXPORT DATABASE '{cache}/exported'",
    "import": "IMPORT DATABASE '{cache}/exported'",
    "attach": "ATTACH '{cache}/other.db' AS other",
    "detach": "DETACH memory",
    "use": "USE memory",
    "pragma": "PRAGMA database_list",
    "pragma that sets": "PRAGMA enable_external_access = true",
    "install": "INSTALL httpfs",
    "load": "LOAD httpfs",
    "set": "SET enable_external_access = true",
    "reset": "RESET memory_limit",
    "create": "CREATE TABLE t AS SELECT 1",
    "create view": "CREATE OR REPLACE VIEW slices AS SELECT 1",
    "macro": "CREATE MACRO f(a) AS a",
    "secret": "CREATE SECRET s (TYPE http)",
    "insert": "INSERT INTO steps SELECT * FROM steps",
    "insert in with": "WITH t AS (INSERT INTO steps SELECT * FROM steps RETURNING 1) SELECT * FROM t",
    "update": "UPDATE steps SET step = 1",
    "delete": "DELETE FROM steps",
    "drop": "DROP VIEW slices",
    "call": "CALL pragma_version()",
    "checkpoint": "CHECKPOINT",
    "vacuum": "VACUUM",
    "begin": "BEGIN",
    "explain": "EXPLAIN ANALYZE SELECT 1",
    "prepare": "PREPARE p AS SELECT 1",
    "execute": "EXECUTE p",
    "parameter": "SELECT ?",
    "read_csv": "SELECT * FROM read_csv('/etc/passwd')",
    "read_csv by its full name": "SELECT * FROM system.main.read_csv('/etc/passwd')",
    "read_csv in a subquery": "SELECT (SELECT count(*) FROM READ_CSV('/etc/passwd')) FROM steps",
    "read_csv in an order": "SELECT rank() OVER (ORDER BY (SELECT count(*) FROM read_csv('/etc/passwd'))) FROM steps",
    "read_csv in a limit": "FROM steps LIMIT (SELECT count(*) FROM read_csv('/etc/passwd'))",
    "read_csv in with": "WITH steps AS (FROM read_csv('/etc/passwd')) FROM steps",
    "read_csv in a union": "SELECT name FROM slices UNION ALL (SELECT * FROM read_csv('/etc/passwd'))",
    "read_csv summarised": "SUMMARIZE FROM read_csv('/etc/passwd')",
    "sniff_csv": "SELECT * FROM sniff_csv('/etc/passwd')",
    "read_text": "SELECT * FROM read_text('/etc/passwd')",
    "read_blob": "SELECT * FROM read_blob('/etc/passwd')",
    "read_json": "SELECT * FROM read_json('{meta}')",
    "glob": "SELECT * FROM glob('/etc/*')",
    "read_parquet of the cache": "SELECT * FROM read_parquet('{slices}')",
    "parquet_schema of the cache": "SELECT * FROM parquet_schema('{slices}')",
    "file as a table": "SELECT * FROM '{slices}'",
    "file as a table in two parts": 'SELECT * FROM "{slices_stem}".parquet',
    "file under a name of a subquery": "SELECT (WITH \"{slices}\" AS (SELECT 1) SELECT 1) FROM '{slices}'",
    "file described": "DESCRIBE '{slices}'",
    "file shown": "SHOW '{slices}'",
    "relative file": "SELECT * FROM 'slices.parquet'",
    "web address": "SELECT * FROM 'https://127.0.0.1:1/a.parquet'",
    "query_table": "SELECT * FROM query_table('{slices}')",
    "query": "SELECT * FROM query('FROM read_csv(''/etc/passwd'')')",
    "serialised query": "SELECT * FROM json_execute_serialized_sql('x')",
    "logging to a file": "SELECT * FROM enable_logging(storage := 'file', storage_path := '{cache}/log')",
    "raw pointer": "SELECT * FROM arrow_scan(1::POINTER, 1::POINTER, 1::POINTER)",
    "raw pointer of pandas": "SELECT * FROM pandas_scan(1::POINTER)",
    "secrets": "SELECT * FROM duckdb_secrets()",
    "settings": "SELECT * FROM duckdb_settings()",
    "one setting": "SELECT current_setting('allowed_paths')",
    "catalogue": "SELECT * FROM sqlite_master",
    "schema": "SELECT * FROM information_schema.views",
    "getenv": "SELECT getenv('HOME')",
    "variable of the caller": "SELECT * FROM secret_table",
    "unknown table": "SELECT * FROM kernels",
    "unknown column": "SELECT weight FROM steps",
    "broken": "SELECT FROM WHERE",
    "unterminated": "SELECT 'a",
}


@pytest.mark.parametrize("query", REFUSED.values(), ids=REFUSED.keys())
def test_anything_else_is_refused_in_one_line_and_changes_nothing(run, cache, query, monkeypatch, tmp_path):
    secret_table = pa.table({"a": [1]})
    folder = run.traces[0].folder
    places = {"slices": folder / "slices.parquet", "slices_stem": folder / "slices", "meta": folder / "meta.json"}
    before = contents(cache)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LaptimeError) as raised:
        run_query(run, query.format(cache=cache, **places))
    assert "\n" not in str(raised.value)
    assert raised.value.remedy
    assert contents(cache) == before
    assert os.listdir(tmp_path) == []
    assert len(secret_table) == 1


def test_a_file_in_the_working_directory_is_no_table(run, monkeypatch):
    monkeypatch.chdir(run.traces[0].folder)
    for query in ("FROM 'slices.parquet'", "FROM slices.parquet", "FROM read_parquet('slices.parquet')"):
        with pytest.raises(LaptimeError, match="refused"):
            run_query(run, query)


OUTSIDE = [
    "read_csv",
    "read_text",
    "glob",
    "copy",
    "copy over the cache",
    "export",
    "attach",
    "install",
    "secret",
    "set",
]


@pytest.mark.parametrize("kind", [*OUTSIDE, "web address"])
def test_the_connection_itself_reaches_nothing_outside(run, cache, kind, monkeypatch):
    """Should a query ever slip through the look at its syntax, DuckDB's own settings still hold."""
    monkeypatch.setattr("laptime.model.query._refuse_unsafe", lambda *_: None)
    before = contents(cache)
    with pytest.raises(LaptimeError):
        run_query(run, REFUSED[kind].format(cache=cache, slices=run.traces[0].folder / "slices.parquet"))
    assert contents(cache) == before


def test_the_connection_looks_at_no_variable_and_spills_nowhere():
    with duckdb.connect(":memory:") as connection:
        _fence(connection, [])
        settings = (
            "temp_directory",
            "python_enable_replacements",
            "enable_external_access",
            "autoload_known_extensions",
        )
        row = connection.execute(f"SELECT {', '.join(f'current_setting({name!r})' for name in settings)}").fetchone()
    assert row == ("", False, False, False)


def test_too_many_rows_are_an_error_not_a_cut(run):
    assert run_query(run, "FROM range(10)", row_limit=10).num_rows == 10
    with pytest.raises(LaptimeError, match="more than 10 rows: add LIMIT"):
        run_query(run, "FROM range(11)", row_limit=10)


def test_the_first_rows_and_whether_they_are_all(run):
    for count, whole in ((9, True), (10, True), (11, False), (5000, False)):
        table, is_whole = first_rows(run, f"FROM range({count})", limits=Limits(10))
        assert (table.num_rows, is_whole) == (min(count, 10), whole)
    assert first_rows(run, "FROM range(3)", limits=Limits(0))[1] is False


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1::HUGEINT * 10 ** 18", 10**18),
        ("1.5::DECIMAL(4, 1)", 1.5),
        ("'nan'::DOUBLE", None),
        ("TIMESTAMP '2020-01-02 03:04:05'", "2020-01-02 03:04:05"),
        ("TIMESTAMP '290000-01-01 00:00:00'", "<value out of range: 9089348860800000000>"),
        ("DATE '20000-01-01'", "20000-01-01"),
        ("'\\xFF'::BLOB", "\\xff"),
        ("{'a': [1, NULL]}", {"a": [1, None]}),
        ("MAP {'k': 1}", [["k", 1]]),
        ("INTERVAL 1 MONTH", [1, 0, 0]),
        ("true", True),
    ],
)
def test_any_value_can_be_json(run, expression, expected):
    assert plain_rows(run_query(run, f"SELECT {expression} AS x")) == [[expected]]


def test_nested_times_that_nothing_can_tell_are_an_error(run):
    with pytest.raises(LaptimeError, match="cast it to VARCHAR"):
        plain_rows(run_query(run, "SELECT [DATE '294000-01-01'] AS x"))


@pytest.mark.parametrize(
    "query", ["SELECT '\udcff'", "SELECT \x00 1", "\x00", "", ";", "SELECT 1; SELECT 2", "🙂" * 1000]
)
def test_odd_texts_are_errors_worded_for_the_user(run, query):
    with pytest.raises(LaptimeError):
        run_query(run, query)


def test_too_many_bytes_are_an_error(run, monkeypatch):
    monkeypatch.setattr("laptime.model.query._RESULT_BYTES", 1 << 20)
    with pytest.raises(LaptimeError, match="more than 1 MiB"):
        run_query(run, "SELECT repeat('x', 2000) FROM range(1000)")


def test_a_query_without_end_is_stopped(run):
    with pytest.raises(LaptimeError, match=r"query stopped: not done after 0\.2 s"):
        run_query(run, "SELECT count(*) FROM range(100000000000000) WHERE random() < 0", time_limit_s=0.2)


def test_memory_is_limited_and_nothing_spills(run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("laptime.model.query._MEMORY_LIMIT", "64MB")
    with pytest.raises(LaptimeError, match="needs more than 64MB of memory"):
        run_query(run, "SELECT a.name || b.name AS n FROM slices a, slices b ORDER BY n")
    assert os.listdir(tmp_path) == []


def test_paths_with_quotes_and_spaces_are_read(tmp_path):
    run = open_run(
        EXAMPLE / "rank0.pt.trace.json.gz", workspace=Workspace.choose(tmp_path / "it's a [cache]*", say=print)
    )
    assert run_query(run, "SELECT count(*) AS n FROM steps")["n"].to_pylist() == [run.traces[0].steps.row_count]


def test_tables_that_went_missing_are_an_error(tmp_path):
    run = open_run(EXAMPLE / "rank0.pt.trace.json.gz", workspace=Workspace.choose(tmp_path, say=pytest.fail))
    (run.traces[0].folder / "steps.parquet").unlink()
    with pytest.raises(LaptimeError, match="query failed"):
        run_query(run, "FROM steps")

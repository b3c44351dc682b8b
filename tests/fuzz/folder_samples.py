"""Folder recordings to damage: small ones made in code, and of the corpus cut to what is read in no time."""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import corpus_folder
from tests.fuzz.folder_mutations import Folder
from tests.fuzz.sqlite_damage import MAGIC
from tests.importers.ascend_folders import write_output
from tests.importers.ascend_jobs import HWTS, POINTS, TASKS, job_files, write_job
from tests.importers.test_ascend_output_faults import _whole as whole_output
from tests.importers.test_mindinsight import ascend_folder, gpu_folder, written
from tests.importers.test_mindspore_cpu import _write as write_cpu
from tests.importers.test_msprof import _all as msprof_events
from tests.importers.test_msprof import _write as write_profile

_JOB, _OUTPUT, _PROCESSED, _CPU, _MSPROF = "ascend_job", "ascend_output", "mindinsight", "mindspore_cpu", "msprof"
_CORPUS = (
    (_JOB, "mindinsight/job1_raw"),
    (_JOB, "mindinsight/job2_raw"),
    (_JOB, "mindinsight/job3_widedeep_raw"),
    (_JOB, "mindinsight/job4_raw"),
    (_JOB, "mindinsight/job_aicpu"),
    (_OUTPUT, "ascend/unit-rank0"),
    (_OUTPUT, "ascend/pt-text-level1/rank0_ascend_pt"),
    (_OUTPUT, "ascend/st-level2-4ranks/rank_0_ascend_pt"),
    (_OUTPUT, "ascend/st-level2-4ranks/rank_1_ascend_pt"),
    (_OUTPUT, "ascend/pt-db-level0/rank0_ascend_pt"),
    (_OUTPUT, "ascend/pt-db-level1/rank0_ascend_pt"),
    (_PROCESSED, "mindinsight/profiler_small_master"),
    (_PROCESSED, "mindinsight/profiler_small_r0.6"),
    (_PROCESSED, "mindinsight/run_1_master_newcols"),
    (_PROCESSED, "mindinsight/run_2_alexnet_parsed"),
    (_PROCESSED, "mindinsight/job3_parsed_r1.1"),
    (_PROCESSED, "mindinsight/cluster_pp2x2_parsed"),
    (_PROCESSED, "mindinsight/parallel_strategy_2rank"),
    (_PROCESSED, "mindinsight/minddata_pipeline_cases"),
    (_CPU, "mindspore/ms200-graph-sink"),
    (_CPU, "mindspore/ms210-graph-schedule"),
    (_CPU, "mindspore/ms210-graph-minddata-slow-map"),
    (_MSPROF, "mindinsight/prof_2023_8p_rank0_1_iter1-6"),
)
_UNREAD = re.compile(r"README|/logs/|/expect|(?:\.db-(?:shm|wal)|_[3-6]\.json(?:\.gz)?)$|_GQFAMHBKGODKJMLA/")
"""Of msprof two iterations of one device are enough."""
_MOST_BYTES = 40_000
_LENGTHS = (("hwts.log.data", 64, 200_000), ("training_trace", 20, 40_000))
"""Files of equal records: their length and how much of them is read."""
_MOST_ROWS = 120
_EVENT_BORDER = re.compile(rb"\}\s*,\s*(?=\{)")


@cache
def folder_samples() -> dict[str, Folder]:
    """Recordings by format and name."""
    return own_samples() | corpus_samples()


def own_samples() -> dict[str, Folder]:
    """Recordings of every format that need no corpus."""
    return {name: _made(name) for name in _OWN}


def corpus_samples() -> dict[str, Folder]:
    """Cut recordings of the corpus; nothing where it is absent."""
    corpus = corpus_folder()
    return {} if corpus is None else {f"{kind}/{case}": _cut_folder(corpus / case) for kind, case in _CORPUS}


# ---- made in code ----


def _made(name: str) -> Folder:
    with TemporaryDirectory() as folder:
        _OWN[name](Path(folder))
        return contents(Path(folder))


def _job(folder: Path) -> None:
    write_job(folder / "JOB1", job_files())


def _job_in_slices(folder: Path) -> None:
    """Logs cut amid a record, the framework's files in `container/` as older installations keep them."""
    files = job_files()
    for name, place in ((HWTS, 650), (POINTS, 130)):
        whole = files.pop(name)
        base = name.removesuffix("0")
        files |= {f"{base}0": whole[:place], f"{base}1": whole[place:]}
    framework = {name: files.pop(name) for name in list(files) if name.startswith("Framework.") and name != TASKS}
    write_job(folder / "JOB2", files)
    inner = {name.replace(".slice_0", ".JOB2.slice_0"): content for name, content in framework.items()}
    write_job(folder / "container" / "0" / "data", inner)


def _text_output(folder: Path) -> None:
    files = {name: content for name, content in whole_output().items() if not name.endswith(".db")}
    write_output(folder / "x_ascend_pt", files)


def _tables_output(folder: Path) -> None:
    files = {name: content for name, content in whole_output().items() if not name.endswith((".db", "view.json"))}
    write_output(folder / "x_ascend_ms", files)


def _database_output(folder: Path) -> None:
    files = {name: content for name, content in whole_output().items() if name.endswith((".db", "memory.csv"))}
    write_output(folder / "x_ascend_pt", files)


def _processed(folder: Path) -> None:
    written(folder / "profiler", ascend_folder())


def _processed_gpu(folder: Path) -> None:
    written(folder / "profiler", gpu_folder())


def _minddata(folder: Path) -> None:
    """Every file of the dataset engine, beside a step trace."""
    columns = "op_id,op_type,num_workers,output_queue_size,output_queue_average_size,output_queue_length"
    batches = "".join(f"0 0 {n} {n}\n0 1 {n} 2\n0 2 {n} {n + 2}\n1 64 {n} {n % 3}\n" for n in range(1, 9))
    pipeline = {
        "sampling_interval": 10,
        "op_info": [
            {"op_id": 0, "op_type": "BatchOp", "num_workers": 1, "children": [1]},
            {
                "op_id": 1,
                "op_type": "MapOp",
                "num_workers": 4,
                "children": None,
                "metrics": {"output_queue": {"size": [1, 0, 16], "length": 16}},
            },
        ],
    }
    cpu = {
        "cpu_processor_num": 4,
        "sampling_interval": 10,
        "device_info": {"user_utilization": [1, 99], "idle_utilization": [98, 0]},
        "op_info": [{"op_id": -1, "metrics": None}, {"op_id": 1, "metrics": {"user_utilization": [50, 3]}}],
    }
    fetches = "".join(f"GetNext_dequeue_wait {n * 1000} {n * 1000 + 40} {n % 2}\n" for n in range(8))
    files = {
        "pipeline_profiling_3.json": json.dumps(pipeline),
        "minddata_pipeline_raw_4.csv": f"{columns},output_queue_usage_rate,sample_interval,parent_id,children_id\n"
        '0,Batch,4,,,,,10,,[1]\n1,Shuffle,1,"[4, 0, 16]",6.6,64,0.1,10,0,\n',
        "device_queue_profiling_3.txt": batches,
        "dataset_iterator_profiling_4.txt": batches,
        "minddata_aicpu_3.txt": fetches,
        "minddata_getnext_profiling_4.txt": fetches,
        "minddata_cpu_utilization_3.json": json.dumps(cpu),
        "step_trace_raw_3_detail_time.csv": ascend_folder()["step_trace_raw_3_detail_time.csv"],
    }
    written(folder / "profiler", files)


def _cpu_2_0(folder: Path) -> None:
    write_cpu(folder / "profiler")


def _cpu_2_10(folder: Path) -> None:
    """Two windows and the dataset engine's file beside them."""
    for name, first in (
        ("20261129205959305", 1_795_957_200_000_000_000),
        ("20261129210002008", 1_795_957_202_500_000_000),
    ):
        write_cpu(folder / f"vm_7_{name}_ascend_ms" / "FRAMEWORK", first_ns=first, skip=("pipeline_profiling_0.json",))
    written(folder / "minddata", {"pipeline_profiling_0.json": ascend_folder()["pipeline_profiling_3.json"]})


def _profile(folder: Path) -> None:
    summary = write_profile(folder / "PROF_1") / "device_1" / "summary"
    written(summary, {"op_summary_1_7_1.csv": 'Op Name,OP Type,Input Shapes\nDefault/net/Conv2D-op1,C,"""1,2;3"""\n'})


def _later_profile(folder: Path) -> None:
    events = msprof_events(1) + msprof_events(2)
    written(folder / "PROF_2" / "mindstudio_profiler_output", {"msprof_20240404.json": json.dumps(events)})
    written(folder / "PROF_2" / "device_1", {"info.json.1": '{"rank_id": 5}'})


_OWN = {
    f"{_JOB}/own": _job,
    f"{_JOB}/own-slices": _job_in_slices,
    f"{_OUTPUT}/own-text": _text_output,
    f"{_OUTPUT}/own-tables": _tables_output,
    f"{_OUTPUT}/own-database": _database_output,
    f"{_PROCESSED}/own-ascend": _processed,
    f"{_PROCESSED}/own-gpu": _processed_gpu,
    f"{_PROCESSED}/own-minddata": _minddata,
    f"{_CPU}/own-2.0": _cpu_2_0,
    f"{_CPU}/own-2.10": _cpu_2_10,
    f"{_MSPROF}/own": _profile,
    f"{_MSPROF}/own-later": _later_profile,
}


# ---- of the corpus ----


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder by their path in it; what is compressed is undone, so that damage reaches the text."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            packed = data.startswith(b"\x1f\x8b")
            name = path.relative_to(folder).as_posix()
            found[name.removesuffix(".gz") if packed else name] = gzip.decompress(data) if packed else data
    return found


def _cut_folder(folder: Path) -> Folder:
    """Its name is kept, since names tell formats."""
    return {
        f"{folder.name}/{name}": _cut(name, data)
        for name, data in contents(folder).items()
        if not _UNREAD.search(f"/{name}")
    }


def _cut(name: str, data: bytes) -> bytes:
    """The beginning of a file in whole records, events or lines."""
    for part, length, most in _LENGTHS:
        if part in name:
            return data[: most // length * length]
    if data.startswith(MAGIC):
        return _fewer_rows(data)
    if len(data) <= _MOST_BYTES:
        return data
    if name.endswith(".json"):
        borders = [match.start() for match in _EVENT_BORDER.finditer(data, 0, _MOST_BYTES)]
        return data[: borders[-1] + 1] + b"]" if borders and data.lstrip().startswith(b"[") else data
    mark = b"\0" if name.rpartition("/")[2].startswith("DATA_PREPROCESS") else b"\n"
    return data[: data.rfind(mark, 0, _MOST_BYTES) + 1]


def _fewer_rows(data: bytes) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "cut.db")
        path.write_bytes(data)
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = delete")
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                if table != "STRING_IDS" and not table.startswith("sqlite_"):
                    later = f'SELECT rowid FROM "{table}" ORDER BY rowid LIMIT {_MOST_ROWS}'
                    connection.execute(f'DELETE FROM "{table}" WHERE rowid NOT IN ({later})')
            connection.commit()
            connection.execute("VACUUM")
        return path.read_bytes()

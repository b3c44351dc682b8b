"""Measure what the server's answers take on the runs of the corpus, and write the section of `docs/benchmarks.md`.

The server is `laptime open` in a process of its own; what is not imported yet is imported first, by itself. Times are
those of a client on the same machine, whole answers and packed transfer included. `first` is the first answer to an
address, computed then; `again` are later ones of the same address, from memory.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from make_trace import CASE, ROOT, corpus_file

PAGE = ROOT / "docs" / "benchmarks.md"
TITLE = "## The web application"
RESOURCES = {
    "`/api/runs`": "/api/runs",
    "one run": "",
    "`report`": "/report",
    "`step`": "/step",
    "`op`": "/op",
    "`op` by name, on the host": "/op?by=name&on=host",
    "`pipeline`": "/pipeline",
    "`memory`": "/memory",
    "`advise`": "/advise",
    "`utilisation`": "/utilisation",
    "`timeline`": "/timeline",
    "`memory/curve`": "/memory/curve",
    "`files`": "/files",
    "`slices/0`": "/slices/0",
}
_REPEATS = 3
_RUNS = 1000


@dataclass
class Times:
    """Seconds of the answers of one resource over all runs."""

    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)


def main() -> int:
    """Measure and write the section."""
    corpus = corpus_file().parents[len(CASE.parts) - 1]  # raises where there is no corpus
    text = section([Path(word) for word in sys.argv[1:]] or [corpus, ROOT / "examples"])
    print(text)
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    before, title, after = page.partition(f"\n{TITLE}\n")
    rest = re.search(r"^## ", after, re.MULTILINE)
    tail = after[rest.start() :] if rest else ""
    if not title and (place := before.find("\n## How it is measured")) >= 0:
        before, tail = before[:place], before[place + 1 :]
    PAGE.write_text(f"{before.rstrip()}\n\n{text}\n{tail}", encoding="utf-8")
    return 0


def section(bases: list[Path]) -> str:
    """The Markdown of the section, over the runs below some folders."""
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(os.environ.get("LAPTIME_WORKSPACE") or folder)
        with _served(bases, workspace) as (client, started):
            runs = _imported(client)
            times = _measured(client, runs)
        (wall, cpu), (wall_again, cpu_again) = _thousand(Path(folder))
    rows = [
        f"| {name} | {len(each.first)} | {_ms(each.first, 50)} | {_ms(each.first, 95)} | {_ms(each.again, 50)} | "
        f"{_ms(each.again, 95)} |"
        for name, each in times.items()
        if each.first
    ]
    slow = [name for name, each in times.items() if each.again and statistics.median(each.again) > 0.1]
    verdict = "met" if not slow else f"not met by {', '.join(slow)}"
    return "\n".join(
        [
            TITLE,
            "",
            f"Answers of the server over {len(runs)} imported runs of the corpus and the examples, in milliseconds:",
            "the first answer to each address, and later ones.",
            f"Needed: at most 100 ms at the median for runs that are imported ({verdict}).",
            "",
            "| resource | answers | first, median | first, p95 | again, median | again, p95 |",
            "|---|--:|--:|--:|--:|--:|",
            *rows,
            "",
            f"`laptime open` answers {started:.1f} s after it is started. A folder of {_RUNS:,} runs is searched in",
            f"{wall:.2f} s ({cpu:.2f} s of CPU), again in {wall_again:.2f} s ({cpu_again:.2f} s of CPU); needed: 2 s.",
            f"Before all this {load:.1f} processes wanted the {os.cpu_count()} cores; the more, the longer it takes.",
            "",
        ]
    )


@contextmanager
def _served(bases: list[Path], workspace: Path) -> Iterator[tuple[httpx.Client, float]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "laptime", "open", *map(str, bases), "--port", str(port), "--no-browser"]
    begin = time.perf_counter()
    with subprocess.Popen([*command, "--workspace", str(workspace)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().removeprefix("laptime: ").strip()
        started = time.perf_counter() - begin
        try:
            with httpx.Client(base_url=address, timeout=600) as client:
                yield client, started
        finally:
            process.send_signal(signal.SIGINT)


def _imported(client: httpx.Client) -> list[str]:
    """Ids of all runs that could be imported."""
    while client.get("/api/runs").json()["scanning"]:
        time.sleep(0.2)
    rows = client.get("/api/runs").json()["runs"]
    for row in rows:
        client.post(f"/api/runs/{row['run']}/import")
    while True:
        rows = client.get("/api/runs").json()["runs"]
        if not any(row["status"] in ("queued", "importing") for row in rows):
            break
        time.sleep(1)
    return [row["run"] for row in rows if row["status"] == "ready"]


def _measured(client: httpx.Client, runs: list[str]) -> dict[str, Times]:
    times = {name: Times() for name in RESOURCES}
    for run in runs:
        for name, path in RESOURCES.items():
            address = path if path.startswith("/api") else f"/api/runs/{run}{path}"
            taken = []
            for _ in range(1 + _REPEATS):
                begin = time.perf_counter()
                answer = client.get(address)
                taken.append(time.perf_counter() - begin)
            if answer.status_code == 200:
                times[name].first.append(taken[0])
                times[name].again += taken[1:]
            elif answer.status_code >= 500:
                raise RuntimeError(f"{address}: {answer.text}")
    return times


_SEARCH = """
import json, sys, time
from pathlib import Path
from laptime.web.finding import Search
search, times = Search(Path(sys.argv[1])), []
for _ in range(2):
    begin, cpu = time.perf_counter(), time.process_time()
    assert len(search.found()) == int(sys.argv[2])
    times.append((time.perf_counter() - begin, time.process_time() - cpu))
print(json.dumps(times))
"""


def _thousand(folder: Path) -> list[tuple[float, float]]:
    """Wall and CPU seconds to search a thousand run folders, and to look again."""
    trace = ROOT / "tests" / "samples" / "pytorch" / "tiny_train.pt.trace.json.gz"
    for number in range(_RUNS):
        run = folder / "many" / f"group{number % 10}" / f"run{number}"
        run.mkdir(parents=True)
        shutil.copy(trace, run)
        (run / "config.json").write_text("{}")
    time.sleep(3)  # until its times of change are settled
    command = [sys.executable, "-c", _SEARCH, str(folder / "many"), str(_RUNS)]
    times = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return [(wall, cpu) for wall, cpu in times]


def _ms(times: list[float], per_cent: int) -> str:
    if not times:
        return "-"
    place = min(len(times) - 1, len(times) * per_cent // 100)
    return f"{1000 * sorted(times)[place]:.1f}"


if __name__ == "__main__":
    sys.exit(main())

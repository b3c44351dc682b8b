"""What tests of MegEngine's recorder share: the scripts, and questions to what they recorded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from laptime.importers.opening import open_run
from laptime.model.trace import Run
from laptime.model.workspace import Workspace

SCRIPTS = Path(__file__).parent / "scripts"
_IMPORT = "from megengine.utils.profiler import"


def opened(folder: Path) -> Run:
    """A recording, imported into a workspace beside it."""
    return open_run(folder, workspace=Workspace.choose(folder.parent / "workspace", say=lambda _: None))


def with_import_changed(name: str) -> str:
    """A script written for MegEngine's profiler, with the one line changed that says where it comes from."""
    text = (SCRIPTS / name).read_text(encoding="utf-8")
    assert text.count(_IMPORT) == 1
    return text.replace(_IMPORT, "from laptime.compat.megengine import")


def counts(run: Run, where: str, column: str = "name") -> Counter[object]:
    """How many slices there are of each name, or of another column."""
    rows = run.sql(f"select {column} as value, count(*) as n from slices where {where} group by 1").to_pylist()
    return Counter({row["value"]: row["n"] for row in rows})


def on_interpreter(run: Run, where: str, column: str = "name") -> Counter[object]:
    """The same of the thread that trains."""
    thread = run.traces[0].main_thread
    return counts(run, f"track_id = {thread} and {where}", column)


def user_lines(run: Run, where: str, file: str) -> Counter[object]:
    """How many slices have the line of a script in their call stack, by the innermost such line; null without."""
    rows = run.sql(
        f"""select line, count(*) as n from (
            select slices.slice_id, arg_min(line, stacks.depth) filter (where file like '%{file}') as line
            from slices left join stacks using (stack_id) where {where} group by 1) group by 1"""
    ).to_pylist()
    return Counter({row["line"]: row["n"] for row in rows})

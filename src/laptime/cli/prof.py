"""`laptime prof`: parses a raw Ascend job into the folder that the MindInsight Profiler opens."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from laptime.cli.options import WorkspaceOption, open_path, say

if TYPE_CHECKING:
    from laptime.exports.mindinsight import Written
    from laptime.importers.ascend_job_finding import Job
    from laptime.importers.sources import Source
    from laptime.model.trace import Run, Trace

PROFILING_DIR = Path("/var/log/npu/profiling")
OUTPUT_PATH = Path("data")
_PROFILER = "profiler"


def command(
    job_id: Annotated[
        str | None,
        typer.Option("--job-id", help="Folder of the job; default: the device's newest.", show_default=False),
    ] = None,
    device_id: Annotated[
        int | None,
        typer.Option("--device-id", min=0, help="Device to parse; default: 0, or the only one.", show_default=False),
    ] = None,
    output_path: Annotated[
        Path, typer.Option("--output-path", "-o", help="Where to write the folder `profiler`.")
    ] = OUTPUT_PATH,
    profiling_dir: Annotated[Path, typer.Option("--profiling-dir", help="Where the jobs lie.")] = PROFILING_DIR,
    workspace: WorkspaceOption = None,
) -> None:
    """Parse a raw Ascend job into a profiler folder, which MindInsight 2.0 to 2.3 and laptime open.

    \b
    Examples:
      laptime prof --job-id JOBDEAHCGBCECAHBJDJIBC --device-id 3 --output-path data
      laptime prof --profiling-dir /mnt/npu/profiling
    """
    parse_job(job_id, device_id=device_id, output_path=output_path, profiling_dir=profiling_dir, workspace=workspace)


def parse_job(
    job_id: str | None,
    *,
    device_id: int | None,
    output_path: Path,
    profiling_dir: Path = PROFILING_DIR,
    workspace: Path | None = None,
) -> Path:
    """Writes the job's `profiler` folder under `output_path`, says what is in it, and returns it.

    Its files are numbered by the device asked for.
    """
    from laptime.exports.mindinsight import write_processed
    from laptime.importers.ascend_job_finding import find_job

    job = find_job(profiling_dir, job_id, device_id)
    if job.remark:
        say(job.remark)
    number = job.device if device_id is None else device_id
    trace = _trace_of(open_path(str(job.folder.resolve()), workspace), job)
    folder = output_path if output_path.name == _PROFILER else output_path / _PROFILER
    written = write_processed(trace, folder, number)
    copied = _copy_minddata(job.folder, job.device, folder, number)
    _tell(job.folder, folder, written, copied)
    return folder


def _trace_of(run: Run, job: Job) -> Trace:
    """The entry of the job's own files; its folder may hold other recordings."""
    name = f"{job.folder.resolve().name}[{job.device}]"
    return next((trace for trace in run.traces if trace.source == name), run.traces[0])


def _copy_minddata(job: Path, device: int, folder: Path, number: int) -> list[str]:
    """Files of MindData are those of the processed folder already: copied, numbered like the others."""
    from laptime.importers.ascend_job_files import job_file
    from laptime.importers.sources import discover

    source: Source | None = next((each for each in discover(job) if each.device == device), None)
    copied = []
    for path in () if source is None else source.files:
        file = job_file(path)
        if file is None or file.kind != "minddata":
            continue
        target = folder / path.name.replace(f"_{file.device}.", f"_{number}.")
        if not target.exists() or not path.samefile(target):
            shutil.copyfile(path, target)
        copied.append(target.name)
    return copied


def _tell(job: Path, folder: Path, written: Written, copied: list[str]) -> None:
    steps = written.steps
    print(
        f"{job.name}: {written.operators:,} operators, {written.executions:,} executions, "
        f"{steps.steps if steps else 0:,} steps"
    )
    count = len(written.files) + len(copied)
    print(f"wrote {count} {'file' if count == 1 else 'files'} to {folder}")
    if steps and steps.left_out:
        _say_left_out(steps.left_out)
    print(f"open it: laptime report {folder}")
    print(f"     or: mindinsight start --summary-base-dir {folder.parent.resolve().parent}")


def _say_left_out(steps: list[int]) -> None:
    shown = ", ".join(str(step) for step in steps[:8]) + (", ..." if len(steps) > 8 else "")
    count = "1 step has" if len(steps) == 1 else f"{len(steps)} steps have"
    say(f"{count} no whole set of points and {'is' if len(steps) == 1 else 'are'} left out of the step trace: {shown}")

"""`laptime doctor`: what keeps this machine from recording or opening a profile."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from laptime.cli.options import JsonOption, WorkspaceOption, open_workspace, print_json
from laptime.cli.units import clean, size_text

_LITTLE_SPACE = 1 << 30


def command(
    root: Annotated[
        Path, typer.Argument(metavar="[PATH]", help="Root folder of the machine to look at.", show_default=False)
    ] = Path("/"),
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where you would record.")] = Path(
        "profile"
    ),
    as_json: JsonOption = False,
    workspace: WorkspaceOption = None,
) -> None:
    """Look for what keeps this machine from recording or opening a profile, and say what to do.

    \b
    Examples:
      laptime doctor
      laptime doctor /mnt/other-machine --json
    """
    from laptime.importers.ascend_setup import Diagnosis, Machine, diagnose
    from laptime.importers.recording_setup import diagnose_recording

    machine = Machine(root=root)
    place = open_workspace(workspace)
    free = shutil.disk_usage(place.root).free
    found = [
        Diagnosis("workspace", "ok", f"{place.root} can be written, {size_text(free)} free")
        if free > _LITTLE_SPACE
        else Diagnosis("workspace", "fault", f"{place.root} has {size_text(free)} left", "laptime runs --remove RUN"),
        *diagnose_recording(machine, output),
        *diagnose(machine),
    ]
    faults = sum(result.state == "fault" for result in found)
    if as_json:
        print_json({"schema_version": 1, "faults": faults, "checks": [asdict(result) for result in found]})
        return
    for result in found:
        mark = {"ok": "ok    ", "fault": "FAULT ", "note": "note  ", "absent": "-     "}[result.state]
        print(f"{mark}{result.check}: {clean(result.message)}")
        if result.remedy:
            print(f"        do: {clean(result.remedy)}")
    if faults:
        raise typer.Exit(1)

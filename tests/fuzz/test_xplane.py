"""No damage to an XPlane profile crashes laptime: it is refused in one line, or what is whole is reported.

LAPTIME_FUZZ_MUTATIONS sets how many damaged recordings are tried in all; these are a tenth of them beside the others.
"""

from __future__ import annotations

import os
import shutil
import traceback
from pathlib import Path
from random import Random

import pytest

from laptime.importers.opening import open_run
from laptime.model.workspace import Workspace
from tests.conftest import corpus_folder
from tests.fuzz.feeding import feed
from tests.fuzz.wire_damage import damaged_wire
from tests.importers.xspaces import gpu_training

pytestmark = pytest.mark.fuzz


def _samples() -> dict[str, bytes]:
    found = {"gpu": gpu_training().SerializeToString()}
    corpus = corpus_folder()
    if corpus is not None:
        for path in sorted(corpus.glob("jax_xplane/*/*.xplane.pb")):
            if path.parent.name != "malformed":
                found[path.parent.name] = path.read_bytes()
    return found


SAMPLES = _samples()
MUTATIONS = int(os.environ.get("LAPTIME_FUZZ_MUTATIONS") or 2600)
EACH = -(-MUTATIONS // (10 * len(SAMPLES)))


@pytest.mark.parametrize("sample", SAMPLES)
def test_damaged_profiles(sample: str, tmp_path: Path) -> None:
    workspace = Workspace.choose(tmp_path / "workspace", say=lambda _: None)
    others = [data for name, data in SAMPLES.items() if name != sample]
    failed: dict[str, str] = {}
    for number in range(EACH):
        data = damaged_wire(SAMPLES[sample], others, Random(f"{sample}#{number}"))
        try:
            feed(data, workspace, tmp_path, deeper=number % 10 == 0)
        except (Exception, RecursionError):
            error = traceback.format_exc()
            failed.setdefault(error.strip().splitlines()[-1][:80], f"{sample}#{number}\n{error}")
        for kept in ("traces", "runs"):
            shutil.rmtree(workspace.root / kept)
            (workspace.root / kept).mkdir()
    assert not failed, "\n".join(failed.values())


@pytest.mark.parametrize("sample", SAMPLES)
def test_profiles_are_read_where_they_are_whole(sample: str, tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "whole").write_bytes(SAMPLES[sample])
    (trace,) = open_run(tmp_path / "whole", workspace=workspace).traces
    assert trace.meta["format"] == "xplane"
    assert trace.meta["warnings"] == []
    assert trace.slices.row_count > 0

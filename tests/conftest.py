"""What all tests share: a fresh workspace, the recordings of the repository, the corpus where it is present."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

from laptime.model.workspace import Workspace

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "tests" / "samples"
EXAMPLE = ROOT / "examples" / "ddp4-gloo"

# As in the foreground: what a shell runs in the background ignores Ctrl-C, and so would all that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples in every run, so that a change is judged by what it changes; CONTRIBUTING says how to try others.
settings.register_profile("laptime", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile("laptime")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An empty workspace."""
    return Workspace.choose(tmp_path / "workspace", say=lambda _: None)


def corpus_folder() -> Path | None:
    """The corpus: LAPTIME_CORPUS, else ../shared/corpus beside the clone; None where it is absent."""
    folder = Path(os.environ.get("LAPTIME_CORPUS") or ROOT.parent / "shared" / "corpus")
    return folder if folder.is_dir() else None


@pytest.fixture
def corpus() -> Path:
    """The corpus; the test is skipped where it is absent."""
    folder = corpus_folder()
    if folder is None:
        pytest.skip("no corpus: set LAPTIME_CORPUS to the folder of real recordings")
    return folder

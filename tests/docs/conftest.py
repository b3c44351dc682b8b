"""A working folder for the examples of the documentation: one for all, as a reader would have it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import prepare


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder, with the recordings of the repository and a workspace of its own."""
    folder = tmp_path_factory.mktemp("reader")
    with pytest.MonkeyPatch.context() as patch:
        environment = dict(os.environ)
        prepare(folder, environment)
        for name in set(os.environ) - set(environment):
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        yield folder

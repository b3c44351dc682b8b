"""Which environments there are, and where each one lies."""

from __future__ import annotations

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Environment:
    """What `{name}.txt` pins, for one version of Python."""

    name: str
    python_version: str

    @property
    def pins(self) -> Path:
        """The requirements: every package with its exact version."""
        return _HERE / f"{self.name}.txt"

    @property
    def version(self) -> str:
        """The pinned version of the package the environment is named for."""
        return self.versions[self.name]

    @property
    def versions(self) -> dict[str, str]:
        """The pinned version of every package, by its name in lower case."""
        pairs = (line.split("==") for line in self.pins.read_text().split())
        return {package.lower(): version for package, version in pairs}

    @property
    def folder(self) -> Path:
        """Where it lies; other pins or another Python is another folder."""
        root = Path(os.environ.get("LAPTIME_ENVS") or Path.home() / ".cache" / "laptime-envs")
        key = hashlib.sha256(self.pins.read_bytes()).hexdigest()[:12]
        return root.absolute() / f"{self.name}-{self.python_version}-{key}"

    @property
    def python(self) -> Path:
        """Its interpreter, whether it has been made or not."""
        return self.folder / "bin" / "python"


# In the order of how long they take.
FRAMEWORKS = (
    Environment("torch", "3.11"),
    Environment("megengine", "3.10"),
    Environment("jax", "3.11"),
    Environment("mindspore", "3.11"),
)
MINDINSIGHT = Environment("mindinsight", "3.9")


def named(name: str) -> Environment:
    """The environment of that name; KeyError where there is none."""
    return {environment.name: environment for environment in (*FRAMEWORKS, MINDINSIGHT)}[name]


def installed_python(version: str) -> str | None:
    """An interpreter of that version: one of pyenv's, else one on PATH."""
    of_pyenv = list(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    newest = max(of_pyenv, key=lambda path: int(path.parents[1].name.split(".")[2]), default=None)
    return str(newest) if newest else shutil.which(f"python{version}")

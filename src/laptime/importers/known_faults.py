"""Versions of frameworks that do not record, or not as expected, and what to do. docs/recording.md lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Versions:
    """Some versions of a package: from `since`, and before `before`; empty is without bound."""

    package: str
    since: str = ""
    before: str = ""

    def __str__(self) -> str:
        bounds = [f">= {self.since}"] if self.since else []
        bounds += [f"< {self.before}"] if self.before else []
        return f"{self.package} {', '.join(bounds)}".strip()

    def holds(self, version: str) -> bool:
        """Whether a version is one of them."""
        own = _parts(version)
        return (not self.since or own >= _parts(self.since)) and (not self.before or own < _parts(self.before))


@dataclass(frozen=True)
class KnownFault:
    """What happens where all these versions are installed together; `is_note` where laptime works around it."""

    versions: tuple[Versions, ...]
    what: str
    remedy: str
    is_note: bool = False


KNOWN_FAULTS = (
    KnownFault(
        (Versions("torch", before="2.1"),),
        "laptime records PyTorch 2.1 and newer",
        "pip install 'torch>=2.1', or record with torch.profiler and open its trace",
    ),
    KnownFault(
        (Versions("megengine"), Versions("numpy", since="1.24")),
        "MegEngine uses names that NumPy 1.24 has removed",
        "pip install 'numpy<1.24'",
    ),
    KnownFault(
        (Versions("megengine"),),
        "MegEngine's own profiler crashes where both formats are asked for; laptime.Profiler writes both",
        "use laptime.Profiler or laptime.compat.megengine",
        is_note=True,
    ),
    KnownFault(
        (Versions("megengine"),),
        "MegEngine's profiler crashes around training compiled by trace()",
        "trace(profiling=True), or train with trace off while recording",
        is_note=True,
    ),
    KnownFault(
        (Versions("mindspore", since="2.3"), Versions("numpy", since="2")),
        "a GeneratorDataset whose source returns NumPy scalars fails",
        "pip install 'numpy<2', or return arrays: np.asarray(value)",
    ),
    KnownFault(
        (Versions("mindspore", since="2.0", before="2.1"), Versions("pillow", since="10")),
        "MindSpore 2.0 uses names that Pillow 10 has removed",
        "pip install 'pillow<10'",
    ),
    KnownFault(
        (Versions("mindspore", since="2.0", before="2.1"), Versions("numpy", since="1.25")),
        "MindSpore 2.0 does not work with NumPy 1.25",
        "pip install 'numpy<1.25'",
    ),
)


def known_faults(installed: Mapping[str, str]) -> list[KnownFault]:
    """Those that versions by package have."""
    return [
        fault
        for fault in KNOWN_FAULTS
        if all(each.package in installed and each.holds(installed[each.package]) for each in fault.versions)
    ]


def _parts(version: str) -> tuple[int, ...]:
    """Numbers of a release; what follows them (rc1, +cu128) does not count."""
    release = re.match(r"\d+(?:\.\d+)*", version.partition("+")[0])
    return tuple(int(part) for part in release[0].split(".")) if release else ()

"""Damages a folder recording: files in it, or the folder itself; the same seed gives the same damage."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping, Sequence
from random import Random

from tests.fuzz.mutations import mutated
from tests.fuzz.sqlite_damage import MAGIC, damaged_database
from tests.fuzz.text_damage import DAMAGES

Folder = Mapping[str, bytes]
"""Contents by path; a path that ends in a slash is a folder in place of a file."""
_Files = dict[str, bytes]
_LAST_NUMBER = re.compile(r"\d+(?!.*\d)")


def mutated_folder(files: Folder, others: Sequence[Folder], rng: Random) -> _Files:
    """One to six damages on top of each other, three of four of them within a file."""
    damaged = dict(files)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        present = [name for name in damaged if not name.endswith("/")]
        if not present:
            break
        name = rng.choice(present)
        if rng.random() < 0.75:
            damaged[name] = _within(damaged[name], [damaged[each] for each in present], others, rng)
        else:
            rng.choice(_OF_FOLDER)(damaged, name, others, rng)
    return damaged


def _within(data: bytes, siblings: list[bytes], others: Sequence[Folder], rng: Random) -> bytes:
    if data.startswith(MAGIC) and rng.random() < 0.85:
        return damaged_database(data, rng)
    if rng.random() < 0.5:
        return rng.choice(DAMAGES)(data, rng)
    strange = list(rng.choice(others).values()) if others and rng.random() < 0.3 else siblings
    return mutated(data, strange or siblings, rng)


# ---- damage to the folder ----


def _remove(files: _Files, name: str, others: Sequence[Folder], rng: Random) -> None:
    del files[name]


def _empty(files: _Files, name: str, others: Sequence[Folder], rng: Random) -> None:
    files[name] = b""


def _alone(files: _Files, name: str, others: Sequence[Folder], rng: Random) -> None:
    """One file, or a few, are all that is left."""
    kept = {name, *rng.sample(sorted(files), rng.randrange(min(3, len(files))))}
    for each in [each for each in files if each not in kept]:
        del files[each]


def _swap(files: _Files, name: str, others: Sequence[Folder], rng: Random) -> None:
    other = rng.choice([each for each in files if not each.endswith("/")])
    files[name], files[other] = files[other], files[name]


def _renumber(files: _Files, name: str, others: Sequence[Folder], rng: Random) -> None:
    """The number of another device, slice or rank in its name, beside the file or in place of it."""
    new = _LAST_NUMBER.sub(rng.choice(("0", "1", "7", "00", "999999", "4294967296", "9" * 30, "")), name)
    data = files[name] if rng.random() < 0.5 else files.pop(name)
    files.setdefault(new, data)


def _rename(files: _Files, name: str, others: Sequence[Folder], rng: Random) -> None:
    place, _, last = name.rpartition("/")
    new = rng.choice(
        (
            f"{name}.gz",
            f"{name}.done",
            f"{place}/data/{last}",
            f"{place}/{last.upper()}",
            f"{place}/{last} (1)",
            f"{place}/\udcff{last}",  # bytes that are no UTF-8, as the system hands them over
            f"{place}/.{last}",
            f"{place}/ASCEND_PROFILER_OUTPUT/{last}",
            f"{place}/FRAMEWORK/{last}",
        )
    )
    data = files.pop(name)
    files.setdefault(new, gzip.compress(data, 1, mtime=0) if new.endswith(".gz") else data)


def _folder_instead(files: _Files, name: str, others: Sequence[Folder], rng: Random) -> None:
    del files[name]
    files[f"{name}/"] = b""


def _other_dialect(files: _Files, name: str, others: Sequence[Folder], rng: Random) -> None:
    """A file of another recording in its place: one of that name but for numbers, if there is one."""
    if not others:
        return
    wanted = re.sub(r"\d+", "", name.rpartition("/")[2])
    same = [data for other in others for path, data in other.items() if re.sub(r"\d+", "", path).endswith(wanted)]
    files[name] = rng.choice(same or list(rng.choice(others).values()))


def _stranger(files: _Files, name: str, others: Sequence[Folder], rng: Random) -> None:
    """Files of another recording beside it."""
    if not others:
        return
    place = name.rpartition("/")[0]
    other = rng.choice(others)
    for path in rng.sample(sorted(other), min(len(other), rng.choice((1, 3, 10)))):
        files.setdefault(f"{place}/{path.rpartition('/')[2]}", other[path])


_OF_FOLDER: tuple[Callable[[_Files, str, Sequence[Folder], Random], None], ...] = (
    _remove,
    _remove,
    _empty,
    _alone,
    _swap,
    _renumber,
    _renumber,
    _rename,
    _folder_instead,
    _other_dialect,
    _other_dialect,
    _stranger,
)

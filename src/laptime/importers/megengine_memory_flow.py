"""`memory_flow.svg` of MegEngine's Profiler: the exact life of every tensor.

The drawing is one `<rect>` per tensor. What was recorded stands in its attributes of the name space `tag:`: `name`,
`address`, `size` (`1MB 544KB`, units of 1024), `layout`, `produced` and `erased` (`33ms 969us 146ns` since the profile
began; nothing for 0), `group` (id of the operator that made it; absent where none did). The rect's place, width and
colour say the same inexactly and are not read. Format: `memory_chunk.cpp` of MegEngine; files that `laptime export`
draws carry the same attributes, and `device` and `op` besides.

The text is not trusted: entities are refused, depth and length of a tag are bounded, what follows damage is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

import numpy as np

from laptime.errors import LaptimeError
from laptime.importers.decoders import Decoders
from laptime.importers.progress import Progress
from laptime.importers.sources import Source
from laptime.importers.streams import ByteStream
from laptime.model.builder import Op, TraceBuilder
from laptime.model.vocabulary import NULL

TAG_SPACE = "https://megengine.org.cn"
SOURCE_OP_ID = "megengine_op_id"
"""Key in `ops.info` of the id that the operator has in a timeline of the same run."""
_TENSORS = re.compile(rb"<svg[\s>]")
_READ_BYTES = 1 << 18
_LONGEST_TAG = 1 << 20
_DEEPEST = 64
_TIME_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_SIZE_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_PART = re.compile(r"\s*(\d{1,19})([A-Za-z]{1,2})")
_STRAY_AMPERSAND = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")
_NAME = re.compile(rb'( tag:name=")([^\n]*?)(?=" tag:address=")')
_OUTPUT = re.compile(r":\d+$")
_ID = re.compile(r"\d{1,18}\Z", re.ASCII)
_VERSION = re.compile(r"\[\d+\]")


class MegEngineMemoryFlow:
    """The memory drawing of MegEngine's Profiler."""

    name = "megengine_memory_flow"

    def matches(self, head: bytes, source: Source) -> bool:
        """Whether the first MiB is a drawing with MegEngine's name space."""
        return bool(_TENSORS.search(head, 0, 4096) and TAG_SPACE.encode() in head[:8192])

    def read(self, source: Source, builder: TraceBuilder, progress: Progress, decoders: Decoders) -> None:
        """Reads all tensors of the drawing."""
        read_tensors(source, builder, progress, {})
        builder.meta.update({"format": self.name, "framework": "megengine", "framework_version": None})


def read_tensors(
    source: Source, builder: TraceBuilder, progress: Progress, makers: Mapping[int, tuple[int, int]]
) -> None:
    """Adds the tensors of a drawing. `makers`: by the id of an operator that a timeline of the run holds, its code in
    the builder and the number of its slice in order of adding."""
    tensors = _Tensors(builder, makers)
    before = builder.read
    with source.open() as stream:
        damage = _parse(stream, tensors, progress, name=source.name)
    tensors.flush()
    if damage is not None:
        whole = builder.read - before
        builder.warnings.add("truncated", f"{damage}; {whole:,} whole tensors before it are kept")
    builder.drop("unreadable", tensors.unreadable)
    builder.warnings.add("other", "tensors whose size or times cannot be read; dropped", tensors.unreadable)


def _parse(stream: ByteStream, tensors: _Tensors, progress: Progress, *, name: str) -> str | None:
    """Feeds the stream to the parser; what is wrong with it, if anything."""
    parser = expat.ParserCreate("UTF-8")
    depth = tag_at = 0

    def refuse(*_: object) -> None:
        raise LaptimeError("an XML file with entities, which could run away", where=name, remedy="remove its DOCTYPE")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, tag_at
        depth, tag_at = depth + 1, parser.CurrentByteIndex
        if depth > _DEEPEST:
            raise _TooDeep
        if "tag:produced" in attributes or "tag:size" in attributes:
            tensors.add(attributes)

    def end(_: str) -> None:
        nonlocal depth, tag_at
        depth, tag_at = depth - 1, parser.CurrentByteIndex

    parser.EntityDeclHandler = parser.UnparsedEntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = start, end
    fed = 0
    try:
        for data in _lines(stream, tensors.builder):
            parser.Parse(data)
            fed += len(data)
            if fed - tag_at > _LONGEST_TAG + len(data):
                return f"no end of a tag within 1 MiB after byte {tag_at:,}"
            progress(stream.stored_position, stream.size)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        return stream.damage or f"not sound XML at byte {parser.ErrorByteIndex:,} ({expat.ErrorString(error.code)})"
    except _TooDeep:
        return f"tags nested deeper than {_DEEPEST} at byte {parser.CurrentByteIndex:,}"
    return stream.damage


def _lines(stream: ByteStream, builder: TraceBuilder) -> Iterator[bytes]:
    """Blocks of whole lines, with names as XML wants them: MegEngine writes `&`, `<` and `"` of a name as they are."""
    rest, mended = b"", 0

    def mend(match: re.Match[bytes]) -> bytes:
        nonlocal mended
        name = _STRAY_AMPERSAND.sub(b"&amp;", match[2]).replace(b"<", b"&lt;").replace(b'"', b"&quot;")
        mended += name != match[2]
        return match[1] + name

    while data := stream.read(_READ_BYTES):
        text = rest + data
        cut = text.rfind(b"\n") + 1 or len(text)
        rest = text[cut:]
        yield _NAME.sub(mend, text[:cut])
    builder.warnings.add("other", "names of tensors with characters that XML forbids; read all the same", mended)
    yield _NAME.sub(mend, rest)


class _TooDeep(Exception):
    """No drawing of MegEngine nests like this."""


@dataclass
class _Tensors:
    """Gathers tensors, and their operators, into a builder."""

    builder: TraceBuilder
    makers: Mapping[int, tuple[int, int]]
    unreadable: int = 0
    _ops: dict[str, int] = field(default_factory=dict)
    _rows: list[tuple[int, ...]] = field(default_factory=list)

    def add(self, attributes: Mapping[str, str]) -> None:
        """One tensor; counted as unreadable where its size or times are not those of a life."""
        self.builder.read += 1
        size = amount(attributes.get("tag:size", ""), _SIZE_UNITS)
        life = _life(attributes)
        if size is None or life is None:
            self.unreadable += 1
            return
        names = self.builder.names
        op, maker = self._op(attributes, attributes.get("tag:name") or "")
        name, device, layout = (attributes.get(f"tag:{key}") for key in ("name", "device", "layout"))
        self._rows.append(
            (
                -1 if device is None else names.code(device),
                _address(attributes.get("tag:address", "")),
                size,
                *life,
                names.code(name) if name else -1,
                op,
                -1 if layout is None else names.code(layout),
                maker,
            )
        )
        if len(self._rows) >= _BLOCK_ROWS:
            self.flush()

    def flush(self) -> None:
        """Hands the tensors gathered so far to the builder."""
        if self._rows:
            columns = np.array(self._rows, np.int64).T
            keys = ("device", "address", "size", "start", "end", "name", "op", "layout", "slice")
            self.builder.allocations.append(len(self._rows), dict(zip(keys, columns, strict=True)))
            self._rows.clear()

    def _op(self, attributes: Mapping[str, str], name: str) -> tuple[int, int]:
        """Operator that made the tensor, and its slice (-1 without a timeline).

        Without a timeline there is one for each id, told by the path of scopes in the tensor's name.
        """
        group, told = attributes.get("tag:group"), attributes.get("tag:op")
        if group is None and told is None:
            return -1, -1
        if group is not None and _ID.match(group) and int(group) in self.makers:
            return self.makers[int(group)]
        key = f"{told}\n{group}"
        if key not in self._ops:
            full_name = _OUTPUT.sub("", name)
            module, _, own = _VERSION.sub("", full_name).rpartition(".")
            title = told or own or "operator"
            info = None if group is None else json.dumps({SOURCE_OP_ID: int(group) if _ID.match(group) else group})
            op = Op(title, title, full_name or None, module=module.replace(".", "/") or None, info=info)
            self._ops[key] = self.builder.add_op(op)
        return self._ops[key], -1


_BLOCK_ROWS = 1 << 14
_ROUNDED_NS = 1


def _life(attributes: Mapping[str, str]) -> tuple[int, int] | None:
    """When a tensor was made and erased; None where that is no life. MegEngine rounds both, so that the end of a tensor
    without duration may stand 1 ns before its begin."""
    produced, erased = (_time(attributes, key) for key in ("tag:produced", "tag:erased"))
    if produced is None or erased is None:
        return None
    if NULL in (produced, erased) or produced <= erased:
        return produced, erased
    return (produced, produced) if produced - erased <= _ROUNDED_NS else None


def _time(attributes: Mapping[str, str], key: str) -> int | None:
    """Time in ns; NULL where there is no such moment, None where it cannot be read. Nothing at all is time 0, except
    for an end, where MegEngine leaves 0 for tensors that it never saw erased."""
    text = attributes.get(key)
    if text is None or (key == "tag:erased" and not text.strip()):
        return NULL
    negative = text.startswith("-")  # in drawings of laptime, whose time 0 may come after the first block
    time = amount(text.removeprefix("-"), _TIME_UNITS)
    return -time if negative and time is not None else time


def amount(text: str, units: Mapping[str, int]) -> int | None:
    """`1MB 544KB` as a number; None where it is none. No parts at all are 0."""
    total = place = 0
    text = text.rstrip()
    while place < len(text):
        part = _PART.match(text, place)
        if part is None or part[2] not in units:
            return None
        total, place = total + int(part[1]) * units[part[2]], part.end()
    return total if total < 2**62 else None


def _address(text: str) -> int:
    try:
        address = int(text, 16)
    except ValueError:
        return NULL
    return address if 0 <= address < 2**63 else NULL

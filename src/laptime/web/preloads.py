"""What a page will ask for, named in its head, so that it comes while the code of the pages starts.

The front end's build says in pages.json which files each page consists of (Vite's manifest).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from laptime.web.catalogue import Catalogue, NotFound

MANIFEST = "pages.json"
_ENTRY = "index.html"
_LIST = "runs"
"""The page without a run."""


def preloads(static: Path, catalogue: Catalogue, address: str) -> str:
    """Links for the head of the page at an address: '' for the list of runs, 'RUN/PAGE' for a page of a run."""
    run, _, page = address.partition("/")
    files = _files(static / MANIFEST, page if run else _LIST)
    return "".join([*map(_file, files), *map(_answer, _answers(catalogue, run))])


def _file(path: str) -> str:
    kind = 'rel="preload" as="style"' if path.endswith(".css") else 'rel="modulepreload"'
    return f'<link {kind} crossorigin href="/static/{path}">'


def _answer(path: str) -> str:
    return f'<link rel="preload" as="fetch" crossorigin href="{path}">'


def _answers(catalogue: Catalogue, run: str) -> Iterator[str]:
    """Resources that every page of the run shows; of one that is not imported only its state."""
    if not run:
        return
    try:
        row = catalogue.row(run)
    except NotFound:
        return
    yield f"/api/runs/{row['run']}"
    if row["status"] == "ready":
        yield f"/api/runs/{row['run']}/report"


def _files(manifest: Path, page: str) -> list[str]:
    """Files of a page beside those that every page loads; none where the build names none."""
    if not manifest.is_file():
        return []
    chunks = json.loads(manifest.read_text(encoding="utf-8"))
    wanted = f"src/views/{page}/{page.capitalize()}.tsx"
    return [path for path in _closure(chunks, wanted) if path not in set(_closure(chunks, _ENTRY))]


def _closure(chunks: dict[str, dict[str, object]], name: str) -> list[str]:
    """Code and styles of a chunk and of all that it imports, each once."""
    names, files = [name], dict[str, None]()
    for each in names:
        chunk = chunks.get(each, {})
        names += [more for more in _texts(chunk, "imports") if more not in names]
        files.update(dict.fromkeys([*([str(chunk["file"])] if "file" in chunk else []), *_texts(chunk, "css")]))
    return list(files)


def _texts(chunk: dict[str, object], key: str) -> list[str]:
    found = chunk.get(key, [])
    return [str(each) for each in found] if isinstance(found, list) else []

"""The pages: one HTML document for all addresses of the front end, and the files it loads.

Each answer of the page has a nonce of its own, written over the word LAPTIME_NONCE of the built index.html and into
the content security policy. Names of files under /static/assets hold a hash of their content, so they never change.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import HTMLResponse
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from laptime.web.preloads import preloads

STATIC = Path(__file__).parent / "static"
_NONCE = "LAPTIME_NONCE"
_LEVEL = 4  # of compression: 7 % longer than at 9, in a third of its time
_END_OF_HEAD = "</head>"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_NOT_BUILT = """<!doctype html><html lang="en"><title>laptime</title>
<h1>The pages are not built</h1>
<p>This copy of laptime was installed without them: install a wheel, or run <code>make setup</code> where its source is.
The data is there: <a href="/api/runs">/api/runs</a>, described by <a href="/openapi.json">/openapi.json</a>.</p></html>
"""

router = APIRouter(include_in_schema=False)


@router.get("/")
@router.get("/runs/{address:path}")
def page(request: Request, address: str = "") -> Response:
    """The page of any address of the front end."""
    nonce = secrets.token_urlsafe(16)
    static = Path(request.app.state.static)
    index = static / "index.html"
    text = index.read_text(encoding="utf-8") if index.is_file() else _NOT_BUILT
    text = text.replace(_END_OF_HEAD, preloads(static, request.app.state.catalogue, address) + _END_OF_HEAD, 1)
    headers = {"Content-Security-Policy": _POLICY.format(nonce=nonce), "Cache-Control": "no-store"}
    return HTMLResponse(text.replace(_NONCE, nonce), headers=headers)


class _Files(StaticFiles):
    def file_response(self, full_path: object, stat_result: object, scope: Scope, status_code: int = 200) -> Response:
        response: Response = super().file_response(full_path, stat_result, scope, status_code)  # type: ignore[arg-type]
        is_named_by_content = "/assets/" in scope["path"]
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if is_named_by_content else "no-cache"
        return response


def add_pages(app: FastAPI, static: Path) -> None:
    """Serves the pages and their files."""
    app.state.static = static
    app.include_router(router)
    if static.is_dir():
        app.mount("/static", GZipMiddleware(_Files(directory=static), minimum_size=1024, compresslevel=_LEVEL))

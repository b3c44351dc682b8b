"""What the server says of errors has a Chinese text: the catalogue of the pages is compared with the source."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

from tests.conftest import ROOT

SOURCE = ROOT / "src" / "laptime"
CATALOGUE = ROOT / "ui" / "src" / "texts" / "zh" / "problems.json"
ROOMS = ("analyses", "importers", "model", "web")
OF_THE_COMMAND_LINE = ("daemon.py", "ports.py")
ERRORS = {"LaptimeError", "NotImported", "NotFound", "NotThere", "WorkspaceError", "BadOption", "Recognised"}
ANSWERS = {"_answer", "failed"}
"""What answers with an error, or keeps that of an import."""


def templates(node: ast.expr, module: ast.Module | None) -> Iterator[str]:
    """The texts an expression can be, with {} for what is filled in; nothing where it is no text of the source."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        case ast.IfExp(body=one, orelse=other):
            yield from templates(one, module)
            yield from templates(other, module)
        case ast.BoolOp(values=values):
            for value in values:
                yield from templates(value, module)
        case ast.Name(id=name) if module is not None:
            for assigned in ast.walk(module):
                match assigned:
                    case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                        yield from templates(value, None)
        case _:
            return


def said(module: ast.Module) -> Iterator[str]:
    """The errors and remedies of a module."""
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords) if (
                name in ERRORS | ANSWERS
            ):
                texts = args[:1] if name == "BadOption" else args
                named = [keyword.value for keyword in keywords if keyword.arg in ("what", "where", "remedy")]
                for text in [*texts, *named]:
                    yield from templates(text, module)
            case ast.Dict(keys=keys, values=values) if any(
                isinstance(key, ast.Constant) and key.value == "error" for key in keys
            ):
                for value in values:
                    yield from templates(value, module)
            case ast.FunctionDef(name="_fault" | "_refusal") as function:
                for inner in ast.walk(function):
                    if isinstance(inner, ast.Return) and inner.value is not None:
                        texts = inner.value.elts if isinstance(inner.value, ast.Tuple) else [inner.value]
                        for text in texts:
                            yield from templates(text, module)
            case _:
                pass


def all_said() -> set[str]:
    """All of the server; names and options alone are no texts."""
    files = [path for room in ROOMS for path in (SOURCE / room).rglob("*.py") if path.name not in OF_THE_COMMAND_LINE]
    found = {text for path in files for text in said(ast.parse(path.read_text(encoding="utf-8")))}
    return {text for text in found if re.search("[A-Za-z]", text) and " " in text.strip() and not text.startswith("--")}


def test_every_error_has_a_chinese_text() -> None:
    texts = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    assert sorted(all_said() - set(texts)) == []
    assert sorted(set(texts) - all_said()) == []


def test_chinese_texts_fill_in_as_much() -> None:
    texts = json.loads(CATALOGUE.read_text(encoding="utf-8"))
    assert [text for text, chinese in texts.items() if text.count("{}") != chinese.count("{}")] == []
    assert [text for text, chinese in texts.items() if not re.search("[\\u4e00-\\u9fff]", chinese)] == []

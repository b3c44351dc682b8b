"""What a user can type, read or meet appears in the documentation, and its links lead somewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from laptime.analyses.operators import COLUMNS, GROUPINGS
from laptime.analyses.options import SORTS
from laptime.cli.app import COMMANDS, build
from laptime.importers.opening import IMPORTERS
from laptime.model.schema import SCHEMAS
from laptime.model.vocabulary import KINDS, PHASES, TRACK_KINDS
from tests.cli.schemas import WARNING_CODES
from tests.docs.blocks import PAGES, ROOT, run_laptime

TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
DOCS = {page.stem: text for page, text in TEXTS.items() if page.parent.name == "docs"}
ALL_DOCS = "\n".join(DOCS.values())
SOURCE = ROOT / "src" / "laptime"

_CODE_IN_SOURCE = re.compile(r"""(?:warnings\.|\b)add\(\s*"([a-z_]+)",\s*f?["\w]""")
_REASON_IN_SOURCE = re.compile(r"""\bdrop\(\s*"([a-z_]+)\"""")
_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_UNFIT = re.compile(r"/work/|\bshared/|/root/|/home/|pypi\.org|\bissue \d|\bagents?\b", re.IGNORECASE)
_WRITTEN_BY_BENCH = "benchmarks.md"


def _options() -> Iterator[tuple[str, str]]:
    group = typer.main.get_command(build())
    commands = {"laptime": group, **getattr(group, "commands", {})}
    for name, command in commands.items():
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("-"):
                    yield name, option


@pytest.mark.parametrize("name", [name for name, _, _ in COMMANDS])
def test_command_has_its_section_and_its_example(name: str) -> None:
    assert f"## {name}\n" in DOCS["commands"]
    assert f"$ laptime {name} " in DOCS["guide"] or f"$ laptime {name}\n" in DOCS["guide"]


@pytest.mark.parametrize(("command", "option"), sorted(set(_options())))
def test_option_is_documented(command: str, option: str) -> None:
    assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", ALL_DOCS), f"{option} of {command}"


@pytest.mark.parametrize("importer", IMPORTERS, ids=lambda importer: importer.name)
def test_importer_is_documented(importer: object) -> None:
    assert f"`{getattr(importer, 'name')}`" in DOCS["formats"]  # noqa: B009 -- any importer


def test_warning_codes_are_documented() -> None:
    codes = _found(_CODE_IN_SOURCE) | set(map(str, WARNING_CODES.values))
    assert not [code for code in sorted(codes) if f"`{code}`" not in DOCS["definitions"]]


def test_reasons_of_drops_are_documented() -> None:
    reasons = _found(_REASON_IN_SOURCE)
    assert len(reasons) >= 6
    assert not [reason for reason in sorted(reasons) if f"| `{reason}` |" not in DOCS["definitions"]]


def _found(pattern: re.Pattern[str]) -> set[str]:
    files = [file for file in SOURCE.rglob("*.py") if file.parent.name != "recorders"]  # they add rows to their log
    return {code for file in files for code in pattern.findall(file.read_text(encoding="utf-8"))}


def test_words_of_the_program_are_defined() -> None:
    definitions = (*GROUPINGS, *KINDS, *TRACK_KINDS, *PHASES, *(column for column in COLUMNS if column != "name"))
    assert not [word for word in definitions if f"`{word}`" not in DOCS["definitions"]]
    sorts = (*COLUMNS, *SORTS)
    assert not [word for word in sorts if f"`{word}`" not in DOCS["commands"]]


def test_tables_are_listed() -> None:
    for table, schema in SCHEMAS.items():
        row = next(line for line in DOCS["architecture"].splitlines() if line.startswith(f"| `{table}` |"))
        assert not [column for column in schema.names if f"`{column}`" not in row], table


def test_every_module_is_in_the_architecture() -> None:
    missing = [
        str(file.relative_to(SOURCE))
        for file in sorted(SOURCE.glob("*/*.py"))
        if file.name != "__init__.py" and f"`{file.name}`" not in _section(DOCS["architecture"], f"{file.parent.name}/")
    ]
    assert not missing, "add a line to docs/architecture.md"


def test_no_module_of_the_architecture_is_gone() -> None:
    for folder in ("model", "importers", "analyses", "exports", "web", "cli", "recorders", "compat"):
        named = re.findall(r"`(\w+\.py)`", _section(DOCS["architecture"], f"{folder}/"))
        assert not [name for name in named if not (SOURCE / folder / name).is_file()], folder


def _section(text: str, title: str) -> str:
    return re.split(r"^##", text.split(f"### {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


@pytest.mark.parametrize("command", ["report", "step", "op", "memory", "import"])
def test_json_keys_are_documented(command: str, reader: Path) -> None:
    code, lines = run_laptime(
        (command, "examples/ddp4-gloo", "--json", *(["--rank", "0"] * (command in ("step", "op", "memory"))))
    )
    assert code == 0
    documented = set(re.findall(r"`(?:\w+(?:\[\])?\.)?(\w+)`", ALL_DOCS)) | {"schema_version"}
    assert not sorted(_keys(json.loads(lines[-1])) - documented)


def _keys(value: object) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_keys, value))
    if isinstance(value, dict):
        return {str(key) for key in value}.union(*map(_keys, value.values()))
    return set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    broken = []
    for match in _LINK.finditer(TEXTS[page]):
        target = match[1] or match[2]
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        if file.name == _WRITTEN_BY_BENCH and not file.exists():
            continue
        if not file.exists() or (anchor and anchor not in _anchors(file)):
            broken.append(target)
    assert not broken


def _anchors(page: Path) -> set[str]:
    """Anchors that GitHub gives to headings."""
    headings = _HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_names_nothing_of_its_makers(page: Path) -> None:
    assert not _UNFIT.findall(TEXTS[page])

"""What the tests read from the documentation: its pages, fenced blocks, and the command lines shown in them.

A `console` block holds commands (`$ laptime …`) with their output. Words after `console` say more about it:
`exit=1` is the exit code to expect, `varies` that the output is not always the same, `serves`
that it runs until Ctrl-C. `<<< "TEXT"` is a line on stdin.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from tests.importers.ascend_jobs import job_files, write_job

ROOT = Path(__file__).parents[2]
PAGES = tuple(
    sorted(
        path
        for path in (
            ROOT / "README.md",
            ROOT / "README.zh.md",
            ROOT / "CONTRIBUTING.md",
            ROOT / "CHANGELOG.md",
            *(ROOT / "docs").glob("*.md"),
        )
        if path.name != "benchmarks.md"  # written by `make bench`
    )
)
_FENCE = re.compile(r"^```(?P<info>.*)$")
_PROMPT = "$ "
_HERE = "<<<"
_PORT = 20_000 + os.getpid() % 20_000
"""Taken for the port of an example, which another program may have."""
_SHELL = ("console", "sh")


@dataclass(frozen=True)
class Block:
    """A fenced block; `first` is the number of the line after its fence, from 0."""

    page: Path
    info: tuple[str, ...]
    first: int
    lines: tuple[str, ...]

    @property
    def language(self) -> str:
        """First word after the fence."""
        return self.info[0] if self.info else ""

    @property
    def text(self) -> str:
        """Its lines as one text."""
        return "\n".join(self.lines)

    @property
    def place(self) -> str:
        """Page and line, for people."""
        return f"{self.page.name}:{self.first}"


@dataclass(frozen=True)
class Example:
    """A command line of laptime and the output shown below it."""

    block: Block
    line: int
    """Number of its line in the page, from 0."""
    arguments: tuple[str, ...]
    shown: tuple[str, ...] = field(default=())
    stdin: str = ""

    @property
    def exit_code(self) -> int:
        """The exit code to expect."""
        return next((int(word[5:]) for word in self.block.info if word.startswith("exit=")), 0)

    @property
    def varies(self) -> bool:
        """Whether its output depends on time or place."""
        return not {"varies", "serves"}.isdisjoint(self.block.info) or self.block.language != "console"

    @property
    def place(self) -> str:
        """Page, line and command, for people."""
        return f"{self.block.page.name}:{self.line + 1} {shlex.join(self.arguments)}"


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    begins: int | None = None
    info: tuple[str, ...] = ()
    for number, line in enumerate(lines):
        fence = _FENCE.match(line)
        if not fence:
            continue
        if begins is None:
            begins, info = number + 1, tuple(fence["info"].split())
        else:
            found.append(Block(page, info, begins, tuple(lines[begins:number])))
            begins = None
    assert begins is None, f"{page.name}: a block that begins at line {begins} is not closed"
    return found


def examples() -> list[Example]:
    """All command lines of laptime, in order."""
    return [
        example
        for page in PAGES
        for block in blocks(page)
        if block.language in _SHELL
        for example in _examples_of(block)
    ]


def _examples_of(block: Block) -> Iterator[Example]:
    prompts = [number for number, line in enumerate(block.lines) if line.startswith(_PROMPT)]
    ends = [*prompts[1:], len(block.lines)][: len(prompts)]
    for number, following in zip(prompts, ends, strict=True):
        words = shlex.split(block.lines[number].removeprefix(_PROMPT), comments=True)
        if words and words[0] == "laptime":
            words = words[1 : words.index("|")] if "|" in words else words[1:]
            shown = tuple(line.rstrip() for line in block.lines[number + 1 : following])
            words, stdin = (words[:-2], f"{words[-1]}\n") if _HERE in words else (words, "")
            yield Example(block, block.first + number, tuple(words), shown, stdin)


def run_laptime(arguments: tuple[str, ...], stdin: str = "") -> tuple[int, tuple[str, ...]]:
    """Exit code of a command line, and what it writes on stdout and stderr, as a terminal would show it."""
    if arguments[:1] == ("open",) and "--help" not in arguments:
        return _served(arguments)
    if arguments[:1] in (("start",), ("stop",)):
        arguments = tuple(str(_PORT) if word == "9001" else word for word in arguments)
    if arguments[:1] == ("record",):  # hands its process over to the program
        command = [sys.executable, "-m", "laptime", *arguments]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, tuple(line.rstrip() for line in done.stdout.rstrip().splitlines())
    from laptime.__main__ import main

    output = io.StringIO()
    code = 0
    with (
        mock.patch.object(sys, "argv", ["laptime", *arguments]),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        redirect_stdout(output),
        redirect_stderr(output),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    return code, tuple(line.rstrip() for line in output.getvalue().rstrip().splitlines())


def _served(arguments: tuple[str, ...]) -> tuple[int, tuple[str, ...]]:
    """Runs a server until it tells its address, then stops it as Ctrl-C would."""
    command = [sys.executable, "-m", "laptime", *arguments, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
    return process.returncode, (address.rstrip(),)


def prepare(folder: Path, environment: dict[str, str]) -> None:
    """Makes a working folder where examples find their recordings, and sets what their output depends on."""
    for name in ("examples", "tests"):
        (folder / name).symlink_to(ROOT / name)
    write_job(folder / "JOBEXAMPLE", job_files())
    for name in ("FP_POINT", "BP_POINT", "COMM_POINTS", "FORCE_COLOR", "TTY_COMPATIBLE"):
        environment.pop(name, None)
    environment.update(
        {
            "LAPTIME_WORKSPACE": str(folder / "workspace"),
            "XDG_CACHE_HOME": str(folder / "cache"),
            "COLUMNS": "80",
            "TERMINAL_WIDTH": "80",
        }
    )

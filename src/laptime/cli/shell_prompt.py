"""The line editor of the prompt: completion, history, Ctrl-C and Ctrl-D."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.output import Output, create_output

from laptime.cli.shell import OP_TYPES
from laptime.cli.shell_session import Session
from laptime.cli.shell_tables import TABLES
from laptime.cli.shell_verbs import SUBGRAPHS, VERBS, full_names, op_types, options_of, run_line
from laptime.cli.units import shortened
from laptime.errors import LaptimeError

_PATHS = frozenset({"--dump-csv", "--output-path", "--profiling-dir"})
_MENU_WIDTH = 70
"""Long names are cut in the middle: their ends tell them apart."""
_CONDITIONS = frozenset({"--in", "--not-in", "--filter"})


def converse(session: Session, output: Output | None = None) -> None:
    """Asks until the person leaves; what fails is said and ends nothing."""
    prompt = Prompt(session, output)
    print(f"{session.title}, {session.op_type}\n`help` lists the commands, Ctrl-D leaves.")
    while not session.done:
        try:
            run_line(prompt.ask(), session)
        except KeyboardInterrupt:
            continue
        except EOFError:
            break


class Prompt:
    """Asks for lines. Raises KeyboardInterrupt on Ctrl-C and EOFError on Ctrl-D."""

    def __init__(self, session: Session, output: Output | None = None) -> None:
        self._editor: PromptSession[str] = PromptSession(
            "laptime> ",
            history=FileHistory(str(session.history)),
            completer=ShellCompleter(session),
            complete_while_typing=False,
            output=output or create_output(always_prefer_tty=True),
        )

    def ask(self) -> str:
        """The next line."""
        return self._editor.prompt()


class ShellCompleter(Completer):
    """Offers commands, their options, and what an option takes: full names, types, columns, paths."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What the word before the cursor can become."""
        words, word = _split(document.text_before_cursor)
        if not words:
            return _matching(word, (verb for verb, _ in VERBS))
        before = words[-1].replace("_", "-")
        if before in _PATHS:
            return PathCompleter(expanduser=True).get_completions(Document(word), complete_event)
        try:
            values = self._values(before, word)
        except LaptimeError:  # nothing is open yet
            values = []
        if values is not None:
            return _matching(word, values, anywhere=before == "--full-name")
        return _options(words, word)

    def _values(self, option: str, word: str) -> Iterable[str] | None:
        """What an option takes; None where the word before is no option that takes something known."""
        if option == "--full-name":
            return full_names(self._session.profile)
        if option == "--op-type":
            return OP_TYPES
        if option == "--subgraph":
            return SUBGRAPHS
        columns = TABLES[self._session.op_type].titles
        if option == "--sort":
            return columns
        if option in _CONDITIONS:
            return self._conditions(word, columns)
        return None

    def _conditions(self, word: str, columns: Iterable[str]) -> list[str]:
        """`COL=`, and after `op_type=` the types."""
        column, equals, text = word.partition("=")
        if not equals:
            return [f"{name}=" for name in columns]
        if column.replace("-", "_") != "op_type":
            return []
        before = text[: text.rfind(",") + 1]
        types = op_types(self._session.profile.rows(self._session.op_type))
        return [f"{column}={before}{name}" for name in types]


def _split(text: str) -> tuple[list[str], str]:
    """Whole words before the cursor, and the one that is being typed."""
    try:
        words = shlex.split(text)
    except ValueError:  # inside a quotation
        words = text.split()
    if not text or text[-1].isspace():
        return words, ""
    return words[:-1], words[-1] if words else ""


def _options(words: list[str], word: str) -> Iterator[Completion]:
    """Options of a command that are not given yet, with `_` where the word has one."""
    if words[0] == "help":
        return _matching(word, (verb for verb, _ in VERBS))
    given = {each.replace("_", "-") for each in words}
    options = [option for option in options_of(words[0]) if option not in given or option in _CONDITIONS]
    as_typed = [f"--{option[2:].replace('-', '_')}" if "_" in word else option for option in options]
    return _matching(word, as_typed if word.startswith("-") or not word else [])


def _matching(word: str, known: Iterable[str], *, anywhere: bool = False) -> Iterator[Completion]:
    """Words that begin with (or hold) what is typed, whatever the case; quoted where they need it."""
    wanted = word.casefold()
    for text in known:
        folded = text.casefold()
        if folded.startswith(wanted) or (anywhere and wanted in folded):
            yield Completion(
                shlex.quote(text) if " " in text else text,
                start_position=-len(word),
                display=shortened(text, _MENU_WIDTH),
            )

"""The prompt of `laptime shell`: what it completes, its history, Ctrl-C and Ctrl-D; by keys, and on a terminal."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from laptime.cli.shell_prompt import Prompt, ShellCompleter, converse
from laptime.cli.shell_session import Session
from laptime.cli.shell_verbs import run_line
from tests.cli.test_process import environment

CTRL_C, CTRL_D, TAB, UP, ENTER = "\x03", "\x04", "\t", "\x1b[A", "\r"


@pytest.fixture
def session(job: Path, tmp_path: Path) -> Session:
    """A session with the small job open."""
    session = Session("aicore_detail", tmp_path / "workspace")
    session.open(str(job), None)
    return session


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    """Keys for a prompt that draws nothing."""
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


def _completed(session: Session, text: str) -> list[str]:
    """The lines that a text can become."""
    found = ShellCompleter(session).get_completions(Document(text), CompleteEvent(completion_requested=True))
    return [text[: len(text) + each.start_position] + each.text for each in found]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ["op", "step", "prof", "help", "exit", "quit"]),
        ("s", ["step"]),
        ("help o", ["help op"]),
        ("op --f", ["op --full-name", "op --filter"]),
        ("op --full_", ["op --full_name"]),
        ("op --full_name mul", ["op --full_name Default/net/Mul-op1"]),
        ("op --full-name Gradients/", ["op --full-name Gradients/net/Add-op2"]),
        ("op --op_type aicore", ["op --op_type aicore_detail", "op --op_type aicore_type"]),
        ("op --subgraph g", ["op --subgraph Gradients"]),
        ("op --sort avg", ["op --sort avg_execution_time"]),
        ("op --in op_t", ["op --in op_type="]),
        ("op --not_in op_type=", ["op --not_in op_type=Add", "op --not_in op_type=Mul"]),
        ("op --in op_type=Add,m", ["op --in op_type=Add,Mul"]),
        ("op --filter subgraph=", []),
        ("step --", ["step --step-id"]),
        ("step --step_id ", []),
        ("nonsense --", []),
        ("op --full_name 'Mul", []),
    ],
)
def test_what_a_line_can_become(text: str, lines: list[str], session: Session) -> None:
    assert _completed(session, text) == lines


def test_an_option_that_was_given_is_not_offered_again(session: Session) -> None:
    lines = _completed(session, "op --full_name x --filter a=b --")
    assert "op --full_name x --filter a=b --full-name" not in lines
    assert "op --full_name x --filter a=b --filter" in lines


def test_folders_are_completed(session: Session, job: Path) -> None:
    text = f"op --dump_csv {job.parent}{os.sep}JOB"
    (found,) = ShellCompleter(session).get_completions(Document(text), CompleteEvent(completion_requested=True))
    assert text + found.text == f"op --dump_csv {job}"


def test_nothing_open_completes_verbs_and_options(tmp_path: Path) -> None:
    session = Session("aicore_detail", tmp_path / "workspace")
    assert _completed(session, "o") == ["op"]
    assert _completed(session, "op --full_name ") == []
    assert _completed(session, "op --in op_type=") == []


def test_keys_make_lines_that_are_kept(session: Session, keys: PipeInput) -> None:
    prompt = Prompt(session, DummyOutput())
    keys.send_text(f"op --full_name Default/net/Mul-op1{ENTER}")
    assert prompt.ask() == "op --full_name Default/net/Mul-op1"
    assert session.history.read_text().endswith("+op --full_name Default/net/Mul-op1\n")
    keys.send_text(f"{UP}{ENTER}")
    assert Prompt(session, DummyOutput()).ask() == "op --full_name Default/net/Mul-op1"


def test_keys_that_end(session: Session, keys: PipeInput) -> None:
    prompt = Prompt(session, DummyOutput())
    keys.send_text(f"abc{CTRL_C}")
    with pytest.raises(KeyboardInterrupt):
        prompt.ask()
    keys.send_text(f"step{ENTER}")
    assert prompt.ask() == "step"
    keys.send_text(CTRL_D)
    with pytest.raises(EOFError):
        prompt.ask()


# ---- on a terminal ----


class _Terminal:
    """A process on a terminal of 80 columns."""

    def __init__(self, arguments: list[str], variables: dict[str, str]) -> None:
        import fcntl
        import pty
        import struct
        import termios

        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "laptime", *arguments],
            stdin=side,
            stdout=side,
            stderr=side,
            env={**variables, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
            start_new_session=True,
        )
        os.close(side)
        self._unread = b""

    def __enter__(self) -> _Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait(timeout=60)
        os.close(self._main)

    def press(self, keys: str) -> None:
        """Types."""
        os.write(self._main, keys.encode())

    def until(self, wanted: str) -> str:
        """What is shown next, up to a text."""
        deadline = time.monotonic() + 60
        while wanted.encode() not in self._unread:
            assert time.monotonic() < deadline, self._unread.decode(errors="replace")
            if select.select([self._main], [], [], 0.1)[0]:
                self._unread += os.read(self._main, 1 << 16)
        shown, _, self._unread = self._unread.partition(wanted.encode())
        return shown.decode(errors="replace") + wanted

    def prompt(self) -> str:
        """What is shown up to the next prompt; drawing a line anew is none."""
        return self.until("\x1b[?2004h") + self.until("laptime>")

    def end(self) -> int:
        """Exit code."""
        return self._process.wait(timeout=60)


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
def test_a_conversation_on_a_terminal(job: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    variables = environment(workspace)
    variables.pop("COLUMNS", None)
    with _Terminal(["shell", "--op-path", str(job)], variables) as terminal:
        assert "`help` lists the commands" in terminal.prompt()
        terminal.press(f"op --nonsense{ENTER}")
        assert "laptime: No such option: --nonsense" in terminal.prompt()
        terminal.press(f"half a line{CTRL_C}")
        terminal.prompt()
        terminal.press(f"op --full_name add{TAB}")
        terminal.until("Gradients/net/Add-op2")
        terminal.press(ENTER)
        assert "avg_execution_time: 0.020000 ms" in terminal.prompt()
        terminal.press(f"step{ENTER}")
        assert "forward starts at Default/net/Mul-op1" in terminal.prompt()
        terminal.press(CTRL_D)
        assert terminal.end() == 0
    history = (workspace / "shell_history").read_text().splitlines()
    assert [line for line in history if line.startswith("+")] == [
        "+op --nonsense",
        "+op --full_name Gradients/net/Add-op2",
        "+step",
    ]


def test_ctrl_c_while_a_command_runs_keeps_the_prompt(
    session: Session, keys: PipeInput, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C reaches a running command as KeyboardInterrupt, of which Typer makes an exit code."""

    def interrupted(op_type: str) -> list[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(session.profile, "rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_line("op", session)
    keys.send_text(f"op{ENTER}help{ENTER}{CTRL_D}")
    converse(session, DummyOutput())
    assert "op --dump_csv DIR" in capsys.readouterr().out

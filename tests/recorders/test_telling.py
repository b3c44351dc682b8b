"""Whoever cannot hear the recorder is not disturbed by it."""

from __future__ import annotations

import io
import sys

import pytest

from laptime.recorders.telling import tell


def test_a_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    tell("recorded")
    assert capsys.readouterr() == ("", "laptime: recorded\n")


@pytest.mark.parametrize("is_closed", [False, True])
def test_nobody_hears_it(is_closed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed if is_closed else None)
    tell("recorded")
    assert capsys.readouterr().out == ""

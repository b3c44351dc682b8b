"""Call stacks of the running Python code, with the line of each call."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

_OWN = (str(Path(__file__).parent), "<frozen ")
"""The recorders, and what runs programs and imports modules."""
_DEEPEST = 100


def call_stack(depth: int = 1) -> str:
    """Frames `file(line): function`, innermost first, separated by `;`; the recorder's own frames are left out.

    `depth` counts the callers to leave out.
    """
    frame: FrameType | None = sys._getframe(depth)
    frames: list[str] = []
    while frame is not None and len(frames) < _DEEPEST:
        code = frame.f_code
        if not code.co_filename.startswith(_OWN):
            frames.append(f"{code.co_filename}({frame.f_lineno}): {code.co_name}")
        frame = frame.f_back
    return ";".join(frames)

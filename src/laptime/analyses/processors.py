"""Which kind of processor an operator ran on, the same word for every source."""

from __future__ import annotations

import re

_FROM_EVENTS = frozenset({"", "HOST", "DEVICE"})
"""Kinds of operators made from a framework's events: those say not what computed."""
_PATTERNS = (
    (re.compile(r"(?:KERNEL_)?AI_?CPU"), "ai_cpu"),
    (re.compile(r"(?:KERNEL_)?(?:AI_|AIC|AIV|MIX_)"), "ai_core"),
    (re.compile(r"HCCL|COMMUNICATION"), "communication"),
)
PROCESSOR_NAMES = {
    "ai_core": "AI Core",
    "ai_cpu": "AI CPU",
    "host_cpu": "host CPU",
    "communication": "comm.",
    "gpu": "GPU",
    "tpu": "TPU",
}
"""Names for people."""


def is_from_events(device_kind: object) -> bool:
    """Whether an operator was made from a framework's events; a source that names its device's operators tells more."""
    return str(device_kind).upper() in _FROM_EVENTS


def processor_of(device_kind: object) -> str | None:
    """`ai_core` (cube, vector and mixed cores), `ai_cpu`, `host_cpu`, `communication`, ...; None where unknown."""
    text = str(device_kind or "").upper()
    if text in _FROM_EVENTS:
        return None
    return next((processor for pattern, processor in _PATTERNS if pattern.match(text)), text.lower())


def processor_of_slices(kind: str) -> str | None:
    """What slices without an operator ran on, as far as their kind tells it."""
    return "communication" if kind == "communication" else None

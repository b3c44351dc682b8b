"""Texts by key in the language asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from laptime.advice.texts.chinese import CHINESE
from laptime.advice.texts.english import ENGLISH
from laptime.advice.texts.recorded import CHINESE_OF
from laptime.errors import LaptimeError

CATALOGUES: Mapping[str, Mapping[str, str]] = {"en": ENGLISH, "zh": CHINESE}
LANGUAGES = tuple(CATALOGUES)
_RECORDED = {**CHINESE_OF, **{ENGLISH[key]: CHINESE[key] for key in ENGLISH if key.startswith("missing.")}}
_LONGEST = 120
"""Letters of a name in a text; those of kernels may be thousands."""
_OF_RANK = re.compile(r"(?P<what>.+) of rank (?P<rank>\d+)")


@dataclass(frozen=True)
class Text:
    """A text of the catalogue and what fills its placeholders: words, or texts themselves."""

    key: str
    values: Mapping[str, str | Text] = field(default_factory=dict)


@dataclass(frozen=True)
class Wording:
    """One language."""

    language: str = "en"

    def __post_init__(self) -> None:
        if self.language not in CATALOGUES:
            raise LaptimeError(
                f"no texts in {self.language}", where="language", remedy=f"choose one of {', '.join(LANGUAGES)}"
            )

    def say(self, text: Text) -> str:
        """The text as people read it."""
        filled = {name: _cut(each) if isinstance(each, str) else self.say(each) for name, each in text.values.items()}
        return CATALOGUES[self.language][text.key].format_map(filled)

    def recorded(self, english: str) -> str:
        """A text of the report on what was not recorded; as it is where it has no other language."""
        if self.language != "zh":
            return english
        of_rank = _OF_RANK.fullmatch(english)
        if of_rank is not None and of_rank["what"] in _RECORDED:
            return f"rank {of_rank['rank']}的{_RECORDED[of_rank['what']]}"
        return _RECORDED.get(english, english)


def _cut(name: str) -> str:
    """A name that is too long without its middle."""
    end = _LONGEST // 3
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - end - 1]}…{name[-end:]}"


def variant(key: str, *kinds: str) -> str:
    """The most special text there is: of `data_wait.fix` and kinds `pytorch`, `workers0` the one that names both."""
    for count in range(len(kinds), 0, -1):
        special = ".".join((key, *kinds[:count]))
        if special in ENGLISH:
            return special
    return key

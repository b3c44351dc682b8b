"""Every text is there in both languages, with the same placeholders, and says what the docs list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from string import Formatter

import pytest

from laptime.advice.finding import CAUSES
from laptime.advice.texts.recorded import CHINESE_OF
from laptime.advice.texts.wording import CATALOGUES, LANGUAGES, Text, Wording, variant
from laptime.analyses.recorded import _BY_LAPTIME, _BY_OTHERS, _BY_TORCH_XLA, _HOW
from laptime.errors import LaptimeError
from laptime.importers.ascend_job_missing import missing_parts
from laptime.importers.ascend_output_facts import Facts
from laptime.importers.ascend_output_missing import Present, not_recorded
from laptime.importers.mindinsight import _NO_KERNELS
from laptime.importers.msprof import _NO_TASKS
from tests.conftest import ROOT

ENGLISH, CHINESE = CATALOGUES["en"], CATALOGUES["zh"]
_IS_CODE = re.compile(r"(?:ProfileOptions: )?[\w.]+(?:\([\w=.', ]*\)| = \w+)")
"""What needs no translation."""
_CHINESE_CHARACTER = re.compile(r"[\u4e00-\u9fff]")


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_texts() -> None:
    assert sorted(ENGLISH) == sorted(CHINESE)


@pytest.mark.parametrize("key", sorted(ENGLISH))
def test_texts_have_the_same_placeholders_and_are_in_their_language(key: str) -> None:
    assert _placeholders(ENGLISH[key]) == _placeholders(CHINESE[key])
    assert _CHINESE_CHARACTER.search(CHINESE[key])
    assert not _CHINESE_CHARACTER.search(ENGLISH[key])
    assert ENGLISH[key].strip() == ENGLISH[key] != ""


def test_variants_of_a_text_have_no_other_placeholders() -> None:
    for key, text in ENGLISH.items():
        root = re.sub(r"(\.(?:fix|remedy))\..*", r"\1", key)
        if root != key:
            assert _placeholders(text) <= _placeholders(ENGLISH[root]), key


def test_every_rule_has_its_row_in_the_docs() -> None:
    rules = {key.split(".")[0] for key in ENGLISH if key.endswith(".title") and not key.startswith("page.")}
    page = (ROOT / "docs" / "advice.md").read_text(encoding="utf-8")
    assert rules == set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


def test_every_cause_is_of_the_closed_list_and_defined() -> None:
    definitions = (ROOT / "docs" / "definitions.md").read_text(encoding="utf-8")
    assert not [cause for cause in CAUSES if f"`{cause}`" not in definitions]
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "laptime" / "advice").glob("*.py"))
    named = set(re.findall(r'^ +"(\w+)"(?: if \w+[^\n]* else "(\w+)")?,\n +(?:weight|None),$', source, re.MULTILINE))
    causes = {cause for pair in named for cause in pair if cause}
    assert len(causes) >= 12
    assert causes <= set(CAUSES)


def test_every_rule_has_a_fix() -> None:
    rules = {key.split(".")[0] for key in ENGLISH if key.endswith(".title") and not key.startswith("page.")}
    assert not [rule for rule in sorted(rules) if f"{rule}.fix" not in ENGLISH]


def test_what_was_not_recorded_is_told_in_chinese() -> None:
    told = [
        text
        for table in (*_HOW.values(), _BY_LAPTIME, _BY_TORCH_XLA, _BY_OTHERS)
        for pair in table.items()
        for text in pair
    ]
    words = [text for text in told if not _IS_CODE.fullmatch(text)]
    assert len(words) > 20
    assert not [text for text in words if text not in CHINESE_OF]
    assert Wording("zh").recorded("memory") == "内存"
    assert Wording("zh").recorded("what only a file says") == "what only a file says"
    assert Wording("en").recorded("memory") == "memory"


def _told_by_importers() -> Iterator[dict[str, str]]:
    nothing = Present(host=False, kernels=False, types=False, collectives=False)
    no_kind = replace(nothing, kernels=True)
    for framework, rank, present in product(("pytorch", "mindspore"), (None, 3), (nothing, no_kind)):
        yield from not_recorded(Facts(framework, None, rank, None, None, {}), present)
    yield from (*missing_parts(()), _NO_TASKS, _NO_KERNELS)


def test_what_an_importer_misses_is_told_in_chinese() -> None:
    chinese, rows = Wording("zh"), list(_told_by_importers())
    words = [text for row in rows for text in row.values() if not text.startswith("experimental_config=")]
    assert len(words) > 20
    assert not [text for text in words if not _CHINESE_CHARACTER.search(chinese.recorded(text))]
    assert chinese.recorded("kernels of rank 3") == "rank 3的设备上的kernel"


def test_the_most_special_variant_is_taken() -> None:
    assert variant("data_wait.fix", "pytorch", "no_workers") == "data_wait.fix.pytorch.no_workers"
    assert variant("data_wait.fix", "pytorch", "other") == "data_wait.fix.pytorch"
    assert variant("data_wait.fix", "plain") == "data_wait.fix"


def test_texts_are_filled_also_with_texts() -> None:
    text = Text("pipeline_operator.fix", {"remedy": Text("pipeline_operator.remedy.mindspore.map")})
    assert Wording("en").say(text).startswith("Speed it up: raise num_parallel_workers of map")
    assert Wording("zh").say(text).startswith("加快该算子：增加map的num_parallel_workers")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_of_thousands_of_letters_leaves_a_text_readable(language: str) -> None:
    name = "void kernel<" + 5000 * "x" + ">(int)"
    said = Wording(language).say(Text("slow_operator.title", {"name": name, "part": "60.0 %"}))
    assert len(said) < 200
    assert said.startswith("void kernel<xxx") and "xxx>(int)" in said and "60.0 %" in said


def test_other_languages_are_refused() -> None:
    assert LANGUAGES == ("en", "zh")
    with pytest.raises(LaptimeError, match="choose one of en, zh"):
        Wording("fr")

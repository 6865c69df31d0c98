"""A law about modules finds what breaks it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from laws import test_sizes, test_words
from laws.modules import PACKAGE, modules, offenders

BROKEN: dict[Callable[[Path], Iterable[object]], str] = {
    test_words.silencers_in: "value = 1  # no" + "qa",
    test_words.vague_functions_in: "def get_it() -> None: ...",
    test_words.unclear_job_of: '"""One job. Another job."""',
    test_words.decorators_in: "@dataclass\nclass Thing: ...",
    test_words.sentences_in_faults: 'Fault("topic", reason="it is wrong")',
    test_sizes.lines_too_many_in: "value = 1\n" * 1000,
    test_sizes.large_functions_in: "def add():\n" + "    call()\n" * 60,
}


@pytest.mark.parametrize("law", BROKEN, ids=lambda law: law.__name__)
def test_a_law_finds_what_breaks_it(tmp_path: Path, law: Callable[[Path], Iterable[object]]) -> None:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN[law], encoding="utf-8")
    assert list(law(path)) != []


def test_a_name_that_says_nothing_is_found() -> None:
    assert list(test_words.vague_name_of(PACKAGE / "core" / "utils.py")) != []


def test_laws_look_at_every_module_and_name_the_one_that_breaks_them() -> None:
    assert {PACKAGE / "__init__.py", PACKAGE / "check/pipeline.py"} <= set(modules())
    named = offenders(lambda path: ["broken"] if path == PACKAGE / "check/pipeline.py" else [])
    assert [each.replace("\\", "/") for each in named] == ["stagec/check/pipeline.py: broken"]

"""Mistakes made in agent files are told once, where they were made; edits without meaning are not told."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from properties.mutants import agent_files
from properties.mutants.judge import Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    root: Path = tmp_path_factory.mktemp("base") / "repository"
    agent_files.write_repository(root)
    return Bench(root, tmp_path_factory.mktemp("mutants"))


def test_the_repository_has_no_mistake(bench: Bench) -> None:
    assert {each.code for each in bench.compile()} <= {"STG507", "STG3174"}


@pytest.mark.parametrize("name", agent_files.OPERATORS)
def test_a_mistake_is_told_as_one_error_where_it_was_made(name: str, bench: Bench) -> None:
    changes = [*agent_files.OPERATORS[name](bench.base, Random(name))]
    judged = [(each, bench.judge(each)) for each in changes]
    wrong = [(each.places, found.what, [one.message for one in found.added]) for each, found in judged if found.what]
    assert changes
    assert wrong == []


@pytest.mark.parametrize("name", agent_files.EQUIVALENT)
def test_an_edit_without_meaning_is_not_told(name: str, bench: Bench) -> None:
    changes = [*agent_files.EQUIVALENT[name](bench.base, Random(name))]
    assert changes
    assert [each for change in changes for each in bench.find_accusations(change)] == []

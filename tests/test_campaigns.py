from __future__ import annotations

from pathlib import Path

import pytest
from campaigns import FULL_ONLY, SAMPLED, SIZE, choose, sample, sample_alike, select


def test_a_campaign_is_small_unless_its_full_size_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SIZE, raising=False)
    assert (choose(3, whole=30), [*sample(range(10), 4)]) == (3, [0, 3, 6, 9])
    monkeypatch.setenv(SIZE, "full")
    assert (choose(3, whole=30), choose(3, whole=4), choose(3, full=20, whole=30)) == (3, 3, 20)
    assert [*sample(range(10), 4)] == [0, 1, 2, 3, 5, 6, 7, 9]
    monkeypatch.setenv(SIZE, "whole")
    assert (choose(3, full=20, whole=30), choose(3, whole=4), [*sample(range(10), 4)]) == (30, 4, [*range(10)])


@pytest.mark.parametrize("length", [0, 1, 2, 3, 99, 100, 101, 12_345])
@pytest.mark.parametrize("quick", [2, 3, 100])
def test_a_sample_has_the_first_and_the_last_and_no_case_twice(
    monkeypatch: pytest.MonkeyPatch, length: int, quick: int
) -> None:
    monkeypatch.delenv(SIZE, raising=False)
    found = [*sample(range(length), quick)]
    assert len(found) == len({*found}) == min(length, quick)
    assert found == sorted(found)
    assert {*found} >= ({0, length - 1} if length else set())


@pytest.mark.parametrize("size", ["quick", "full"])
def test_some_of_each_test_are_kept(monkeypatch: pytest.MonkeyPatch, size: str) -> None:
    names = ["a", *(f"b[{number}]" for number in range(5)), "c[x[y]]", "c[z]"]
    monkeypatch.setenv(SIZE, size)
    assert sample_alike(names, 2) == ["a", "b[0]", "b[4]", "c[x[y]]", "c[z]"]


def test_one_case_is_the_first_and_in_a_full_run_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SIZE, raising=False)
    assert [*sample(range(10), 1)] == [0]
    monkeypatch.setenv(SIZE, "full")
    assert [*sample(range(10), 1, full=1)] == [9]


def test_what_a_quick_run_leaves_out_is_there_and_a_full_run_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    top = Path(__file__).parents[1]
    for each in FULL_ONLY:
        file, _, qualified = each.partition("::")
        name = qualified.rpartition("::")[2]
        assert (f"def {name}(" if name else "def test_") in (top / file).read_text(encoding="utf-8")
    assert all((top / "tests" / folder).is_dir() for folder in SAMPLED)
    long = [each if "::" in each else f"{each}::test_a[1]" for each in sorted(FULL_ONLY)]
    names = [*long, f"{long[0]}[1]", "tests/cli/test_x.py::test_y[1]", "tests/cli/test_x.py::test_z"]
    monkeypatch.delenv(SIZE, raising=False)
    assert select(names) == {*names[-2:]}
    monkeypatch.setenv(SIZE, "full")
    assert select(names) == {*names}


def test_a_quick_run_keeps_some_cases_of_each_page_and_a_full_run_all(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"tests/rules/{page}.md::{case}" for page in "ab" for case in range(9)]
    monkeypatch.delenv(SIZE, raising=False)
    assert select(names) == {f"tests/rules/{page}.md::{case}" for page in "ab" for case in (0, 2, 5, 8)}
    monkeypatch.setenv(SIZE, "full")
    assert select(names) == {*names}


def test_a_full_run_takes_the_larger_database(monkeypatch: pytest.MonkeyPatch) -> None:
    both = ["tests/serve/test_a.py::test_b[dbos-sqlite]", "tests/serve/test_a.py::test_b[dbos-postgres]"]
    names = [*both, "tests/serve/test_a.py::test_sqlite[1]"]
    monkeypatch.delenv(SIZE, raising=False)
    assert select(names) == {*names}
    monkeypatch.setenv(SIZE, "full")
    assert select(names) == {*names[1:]}
    monkeypatch.setenv(SIZE, "whole")
    assert select(names) == {*names}


def test_a_size_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SIZE, "small")
    with pytest.raises(ValueError, match="must be 'quick', 'full' or 'whole'"):
        choose(1, whole=2)

from __future__ import annotations

import pytest
from campaigns import SIZE, choose, sample, sample_alike


def test_a_campaign_is_small_unless_its_full_size_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SIZE, raising=False)
    assert (choose(3, full=30), [*sample(range(10), 4)]) == (3, [0, 3, 6, 9])
    monkeypatch.setenv(SIZE, "full")
    assert (choose(3, full=30), [*sample(range(10), 4)]) == (30, [*range(10)])


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


def test_a_quick_run_keeps_some_of_each_test_and_a_full_run_all(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["a", *(f"b[{number}]" for number in range(5)), "c[x[y]]", "c[z]"]
    monkeypatch.delenv(SIZE, raising=False)
    assert sample_alike(names, 2) == ["a", "b[0]", "b[4]", "c[x[y]]", "c[z]"]
    monkeypatch.setenv(SIZE, "full")
    assert sample_alike(names, 2) == names


def test_a_size_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SIZE, "small")
    with pytest.raises(ValueError, match="must be 'quick' or 'full'"):
        choose(1, full=2)

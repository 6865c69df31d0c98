from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.sources.project.settings import Settings
from stagec_dev.cost import STEEPEST, Dimension, Files, Growth, MeasuredCost, measure
from stagec_dev.tools.scaling import dimensions

_START = MeasuredCost(0, 0.1, 50e6)


def _growth(*seconds: float, megabytes: tuple[float, float, float] = (60, 70, 90), status: int = 0) -> Growth:
    quarter, half, every = (
        MeasuredCost(status, each, size * 1e6) for each, size in zip(seconds, megabytes, strict=True)
    )
    return Growth((_START, quarter, half, every))


def test_there_are_at_least_thirty_dimensions_with_titles_of_their_own() -> None:
    every = dimensions()
    assert len({each.title for each in every}) == len(every) >= 30


@pytest.mark.parametrize("dimension", dimensions(), ids=lambda each: each.title)
def test_a_dimension_grows_with_its_count_and_its_faulty_variant_differs(dimension: Dimension) -> None:
    def size(count: int, *, faulty: bool = False) -> int:
        return sum(len(text) for text in dimension.files(count, faulty=faulty).values())

    assert size(8) > size(4)
    assert size(8, faulty=True) > size(4, faulty=True)
    assert dimension.files(4, faulty=True) != dimension.files(4, faulty=False)


def _count_calls(folder: Path, title: str, count: int) -> int:
    """Return how many functions run to check a project; a generator counts for each value."""
    dimension = next(each for each in dimensions() if each.title == title)
    for name, text in dimension.files(count, faulty=False).items():
        path = folder / str(count) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    calls = 0

    def note(_frame: object, event: str, _given: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(note)
    try:
        compile_project(Project(folder / str(count), (folder / str(count),), Settings()))
    finally:
        sys.setprofile(None)
    return calls


def test_twice_as_many_members_that_demand_each_other_take_twice_as_many_calls(tmp_path: Path) -> None:
    title = "members that demand each other"
    _count_calls(tmp_path, title, 4)  # what is loaded at the first time
    once, twice = (_count_calls(tmp_path, title, each) for each in (200, 400))
    assert twice < STEEPEST * once


def test_what_doubles_with_its_input_is_no_trouble() -> None:
    growth = _growth(0.6, 1.1, 2.1)
    assert (growth.time, growth.trouble) == (pytest.approx(2.0), "")


def test_what_grows_with_the_square_of_its_input_is_trouble() -> None:
    growth = _growth(0.3, 0.8, 2.9)
    assert (growth.time, growth.trouble) == (pytest.approx(4.0), "time")


def test_of_what_hardly_grows_there_is_no_ratio() -> None:
    assert _growth(0.1, 0.11, 0.15).time is None


def test_growing_memory_and_much_memory_are_trouble() -> None:
    assert _growth(0.1, 0.1, 0.1, megabytes=(70, 110, 310)).trouble == "growing memory"
    assert _growth(0.1, 0.1, 0.1, megabytes=(200, 300, 510)).trouble == "memory"


def test_much_time_is_trouble() -> None:
    growth = _growth(0.9, 1.6, 3.1)
    assert (growth.trouble, Growth(growth.costs, 5.0).trouble) == ("seconds", "")


def test_a_command_that_breaks_is_trouble() -> None:
    assert _growth(0.1, 0.1, 0.1, status=4).trouble == "status 4"


@pytest.mark.parametrize("command", ["validate json", "verify", "diff"])
def test_commands_are_measured_on_each_size(command: str, tmp_path: Path) -> None:
    dimension = next(each for each in dimensions() if each.title == "steps")
    growth = measure(Dimension("few steps", dimension.files, 16), command, tmp_path, faulty=False)
    assert growth is not None
    assert growth.trouble == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["16-False", "4-False", "8-False"]


def test_where_there_is_no_plan_nothing_is_verified(tmp_path: Path) -> None:
    def broken(count: int, *, faulty: bool) -> Files:
        return {"agent.json": "{" * count}

    assert measure(Dimension("broken", broken, 16), "verify", tmp_path, faulty=True) is None

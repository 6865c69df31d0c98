from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from stagec.change.creation.exporting import OWNERS, export_stages
from stagec.check.pipeline import Project, compile_project, read_documents
from stagec.cli.app import run
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


def _count_calls(work: Callable[[], object], module: str = "") -> int:
    """Return how many functions run, all or those of one module; a generator counts for each value."""
    calls = 0

    def note(frame: FrameType, event: str, _given: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code.co_filename.endswith(module)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def _make(folder: Path, title: str, count: int, *, faulty: bool = False) -> Path:
    dimension = next(each for each in dimensions() if each.title == title)
    for name, text in dimension.files(count, faulty=faulty).items():
        path = folder / str(count) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    return folder / str(count)


def test_twice_as_many_members_that_demand_each_other_take_twice_as_many_calls(tmp_path: Path) -> None:
    def check(count: int) -> int:
        folder = _make(tmp_path, "members that demand each other", count)
        return _count_calls(lambda: compile_project(Project(folder, (folder,), Settings())))

    check(4)  # what is loaded at the first time
    assert check(400) < STEEPEST * check(200)


_CONFIGURED = ("patterns of node policies", "models of a configuration", "patterns of files that rules ignore")


@pytest.mark.parametrize("faulty", [False, True], ids=["sound", "faulty"])
@pytest.mark.parametrize("title", _CONFIGURED)
def test_twice_as_many_entries_of_a_configuration_take_twice_as_many_calls(
    title: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], *, faulty: bool
) -> None:
    def check(count: int) -> int:
        folder = _make(tmp_path, title, count, faulty=faulty)
        return _count_calls(lambda: run(["validate", "--no-cache", str(folder)]))

    check(4)  # what is loaded at the first time
    once, twice = map(check, (300, 600))
    assert twice < STEEPEST * once
    assert "stagec: error" not in capfd.readouterr().err


def test_twice_as_many_stages_take_twice_as_many_calls_to_export(tmp_path: Path) -> None:
    def export(count: int) -> int:
        folder = _make(tmp_path, "stages", count)
        project = read_documents(Project(folder, (folder,), Settings()))
        return _count_calls(lambda: export_stages(project, OWNERS["claude"]), "exporting.py")

    assert export(200) < STEEPEST * export(100)


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

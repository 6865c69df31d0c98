"""What stages read of their own run is told unless every order in which they can begin has it written before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec_dev.checkout import diagnostics

RUN = "reports/wine/run-001"
NAMES = [f"S0{number}_load_data" for number in range(1, 6)]


@st.composite
def plans(draw: st.DrawFn) -> tuple[Mapping[str, tuple[str, ...]], str, str]:
    """Make stages that wait for earlier ones, and one that reads the folder of another one, or its own."""
    names = NAMES[: draw(st.integers(1, 5))]
    needs = {name: tuple(each for each in names[:at] if draw(st.booleans())) for at, name in enumerate(names)}
    return needs, draw(st.sampled_from(names)), draw(st.sampled_from(names))


def codes(needs: Mapping[str, tuple[str, ...]], reader: str, path: str) -> list[str]:
    stages = [
        {
            "stageId": name,
            "goal": "Do the work of this stage",
            "inputs": {"read": path} if name == reader else {},
            "outputs": {"out": "out.json"},
            "maxDurationSec": 60,
            "dependencies": list(needed),
        }
        for name, needed in needs.items()
    ]
    with TemporaryDirectory() as folder:
        plan = {"reportTitle": "wine", "runId": "run-001", "stages": stages}
        (Path(folder) / "plan.json").write_text(json.dumps(plan))
        return [each.code for each in diagnostics(Path(folder)) if each.code in {"STG480", "STG481"}]


@settings(max_examples=choose(30, whole=300), deadline=None)
@given(plans())
def test_a_read_is_told_unless_every_order_has_the_writer_first(
    plan: tuple[Mapping[str, tuple[str, ...]], str, str],
) -> None:
    needs, reader, writer = plan
    orders = [
        way
        for way in permutations(needs)
        if all(way.index(each) < way.index(name) for name in way for each in needs[name])
    ]
    first = {way.index(writer) < way.index(reader) for way in orders}
    wanted = [] if first == {True} else ["STG481"] if first == {False} else ["STG480"]
    assert codes(needs, reader, f"{RUN}/{writer}/out.json") == wanted


@pytest.mark.parametrize(
    "path", [f"{RUN}/S01_load_data", f"{RUN}/s01_LOAD_data/x", "Reports/WINE/run-001/S01_load_data/x"]
)
def test_whatever_lies_in_the_folder_of_a_stage_counts(path: str) -> None:
    assert codes({NAMES[0]: (), NAMES[1]: ()}, NAMES[1], path) == ["STG480"]


@pytest.mark.parametrize(
    "path", ["reports/wine", RUN, f"{RUN}/x", "reports/wine/run-002/S01_load_data/x", "S01/x", "x"]
)
def test_other_files_do_not(path: str) -> None:
    assert codes({NAMES[0]: (), NAMES[1]: ()}, NAMES[1], path) == []

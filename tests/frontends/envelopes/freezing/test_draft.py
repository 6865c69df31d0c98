"""What plans hold of stage plans: every default, the limits of the protocol, and inputs with their producers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from frontends.envelopes.conftest import envelope
from hypothesis import given
from hypothesis import strategies as st

from stagec import Project, Settings, compile_project
from stagec.check.pipeline import Compilation
from stagec.ir.plan.act import Process, ProcessInput, ProcessLimits
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import Retry, StageGate
from stagec.ir.plan.loader import dump, load
from stagec.ir.plan.node import Schedule

Validate = Callable[..., Compilation]

LOAD = envelope("S01_load_data", inputs={"a": "data/wine.csv", "b": "https://example.org/x.csv"})


@pytest.fixture
def freeze(validate: Validate) -> Callable[..., Plan]:
    """Return the plan of some envelopes, which have no errors."""

    def make(*stages: Any, **members: Any) -> Plan:
        found = validate({"plan.json": {"reportTitle": "wine", **members, "stages": [*stages]}})
        assert [each.message for each in found.diagnostics if each.severity == "error"] == []
        (meaning,) = found.meanings
        return meaning.plan()

    return make


def act_of(plan: Plan, name: str) -> Process:
    act = plan.nodes[name].act
    assert isinstance(act, Process)
    return act


def test_a_plan_is_a_schedule_of_processes(freeze: Callable[..., Plan]) -> None:
    plan = freeze(LOAD, envelope("S02_clean_data", "S01_load_data"), maxParallel=2)
    assert plan.id == "wine"
    assert plan.entries == {"": Schedule({"S01_load_data": (), "S02_clean_data": ("S01_load_data",)})}
    assert (plan.limits.parallel, plan.entry) == (2, "")
    assert list(plan.sources) == ["plan.json"]
    assert {type(node.gate) for node in plan.nodes.values()} == {StageGate}


def test_an_implied_dependency_is_a_need(freeze: Callable[..., Plan]) -> None:
    plan = freeze(LOAD, envelope("S02_clean_data", "S01_load_data", dependencies=[]))
    assert plan.entries == {"": Schedule({"S01_load_data": (), "S02_clean_data": ("S01_load_data",)})}


def test_paths_are_written_in_their_shortest_form(freeze: Callable[..., Plan]) -> None:
    reader = envelope("S02_clean_data", inputs={"x": "S01_load_data/a//b.json"}, outputs={})
    plan = freeze(envelope("S01_load_data", inputs={"w": "data//wine.csv"}, outputs={"b": "a//b.json"}), reader)
    assert act_of(plan, "S01_load_data").outputs == {"b": "a/b.json"}
    assert act_of(plan, "S01_load_data").inputs == {"w": ProcessInput(path="data/wine.csv")}
    assert act_of(plan, "S02_clean_data").inputs == {"x": ProcessInput(path="a/b.json", node="S01_load_data")}


@given(
    st.lists(
        st.text(st.sampled_from([*"ab/.~- :|\\\u2028\u00ad\u200b\ue000\u202e\x07\ud800"]), max_size=12), max_size=2
    )
)
def test_a_path_that_no_rule_refuses_is_one_that_a_plan_may_have(paths: list[str]) -> None:
    stage = envelope(
        "S01_load_data", inputs=dict(zip("x", paths[1:], strict=False)), outputs=dict(zip("y", paths, strict=False))
    )
    with TemporaryDirectory() as folder:
        text = json.dumps({"reportTitle": "wine", "stages": [stage]})
        (Path(folder) / "plan.json").write_text(text, encoding="utf-8")
        found = compile_project(Project(Path(folder).resolve(), (), Settings()))
        if not any(each.severity == "error" for each in found.diagnostics):
            (meaning,) = found.meanings
            assert load(dump(meaning.plan())).plan == meaning.plan()


def test_inputs_have_their_producers(freeze: Callable[..., Plan]) -> None:
    stages = (LOAD, envelope("S02_clean_data", inputs={"x": "out.json"}, dependencies=["S01"], outputs={}))
    plan = freeze(*stages)
    assert act_of(plan, "S01_load_data").inputs == {
        "a": ProcessInput(path="data/wine.csv"),
        "b": ProcessInput(url="https://example.org/x.csv"),
    }
    assert act_of(plan, "S02_clean_data").inputs == {"x": ProcessInput(path="out.json", node="S01_load_data")}


def test_defaults_are_filled_in(freeze: Callable[..., Plan]) -> None:
    plan = freeze({"stageId": "S01_load_data", "goal": "Load the wine dataset"})
    act = act_of(plan, "S01_load_data")
    assert (act.words, dict(act.inputs), dict(act.outputs)) == ((), {}, {})
    assert (act.retryable, act.checkpoint) == (True, True)
    assert act.limits == ProcessLimits(240_000, 270_000, 275_000, 278_000)


@pytest.mark.parametrize(
    ("duration", "limits"),
    [
        (30, (30_000, 60_000, 65_000, 68_000)),
        (60.5, (60_500, 90_500, 95_500, 98_500)),
        (570, (570_000, 600_000, 605_000, 608_000)),
        (590, (590_000, 600_000, 605_000, 608_000)),
        (600, (600_000, 600_000, 605_000, 608_000)),
    ],
)
def test_limits_follow_from_the_protocol(
    freeze: Callable[..., Plan], duration: float, limits: tuple[int, int, int, int]
) -> None:
    plan = freeze({**LOAD, "maxDurationSec": duration})
    assert act_of(plan, "S01_load_data").limits == ProcessLimits(*limits)


def test_what_is_retryable_has_three_attempts(freeze: Callable[..., Plan]) -> None:
    plan = freeze(LOAD, {**envelope("S02_clean_data"), "retryable": False})
    retries = [node.retry for node in plan.nodes.values()]
    assert [None if each is None else each.attempts for each in retries] == [3, None]
    assert all(each is None or isinstance(each, Retry) for each in retries)


def test_the_words_of_a_program_stay_as_they_are(freeze: Callable[..., Plan]) -> None:
    words = ["python", "a b", "", "$HOME", "{{x}}", "*.csv", "ü"]
    assert act_of(freeze({**LOAD, "run": words}), "S01_load_data").words == tuple(words)


def test_the_same_sources_have_the_same_bytes(validate: Validate) -> None:
    stages = [LOAD, envelope("S02_clean_data", "S01_load_data"), envelope("S02_plot_data", "S01_load_data")]
    files = {"plan.json": {"reportTitle": "wine", "stages": stages}}
    first, second = (dump(validate(files).meanings[0].plan()) for _ in range(2))
    assert first == second


def test_the_order_of_members_does_not_matter(validate: Validate) -> None:
    turned = json.dumps({"stages": [dict(reversed(LOAD.items()))], "reportTitle": "wine"})
    plans = [
        validate({"plan.json": each}).meanings[0].plan() for each in (turned, {"reportTitle": "wine", "stages": [LOAD]})
    ]
    assert plans[0].nodes == plans[1].nodes


def test_a_folder_of_envelopes_has_all_its_files_as_sources(validate: Validate) -> None:
    found = validate({"wine/1.json": LOAD, "wine/2.yaml": json.dumps(envelope("S02_clean_data", "S01_load_data"))})
    plan = found.meanings[0].plan()
    assert (plan.id, list(plan.sources)) == ("wine", ["1.json", "2.yaml"])


def test_what_is_frozen_is_sound(freeze: Callable[..., Plan]) -> None:
    far = envelope("S03_train_model", inputs={"x": "S01_load_data/out.json"}, dependencies=["S02_clean_data"])
    plan = freeze(LOAD, envelope("S02_clean_data", "S01_load_data"), far)
    assert load(dump(plan)).plan == plan

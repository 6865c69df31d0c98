"""From files to stage plans: their shapes, what stands where nothing is written, and what is absent."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from frontends.envelopes.conftest import Files, envelope

from stagec.check.pipeline import Compilation
from stagec.core.place import Place
from stagec.languages.envelopes.document import StagePlan

STAGE = envelope("S01_load_data", inputs={})
OTHER = envelope("S02_clean_data", "S01_load_data")

ReadPlans = Callable[[Files], tuple[StagePlan, ...]]
ReadStages = Callable[..., StagePlan]


class TestShapes:
    @pytest.mark.parametrize(
        ("content", "at"),
        [
            ([STAGE, OTHER], ()),
            ({"stages": [STAGE, OTHER]}, ("stages",)),
            (json.dumps({"stages": [STAGE, OTHER]}), ("stages",)),
        ],
    )
    def test_a_list_with_or_without_an_object_around_it(self, read_plans: ReadPlans, content: Any, at: Any) -> None:
        (plan,) = read_plans({"plan.json": content})
        assert [each.id for each in plan.envelopes] == ["S01_load_data", "S02_clean_data"]
        assert plan.at == Place("plan.json", at)
        assert [each.at.pointer for each in plan.envelopes] == [(*at, 0), (*at, 1)]
        assert (plan.alone, plan.is_whole) == (False, True)

    def test_yaml_and_json_mean_the_same(self, read_plans: ReadPlans) -> None:
        text = "stages:\n  - stageId: S01_load_data\n    goal: Load the wines\n    outputs: {df: a.csv}\n"
        value = {"stages": [{"stageId": "S01_load_data", "goal": "Load the wines", "outputs": {"df": "a.csv"}}]}
        first, second = read_plans({"a.yaml": text, "b.json": value})
        assert dict(first.envelopes[0].outputs) == dict(second.envelopes[0].outputs)
        assert first.envelopes[0].members == second.envelopes[0].members

    def test_one_envelope_stands_alone(self, read_plans: ReadPlans) -> None:
        (plan,) = read_plans({"S02_clean_data.json": OTHER})
        assert plan.alone
        assert plan.at == Place("S02_clean_data.json")

    def test_a_list_with_one_envelope_is_a_plan(self, read_plans: ReadPlans) -> None:
        (plan,) = read_plans({"plan.json": [STAGE]})
        assert not plan.alone

    def test_envelopes_that_are_files_of_one_folder_are_one_plan(self, read_plans: ReadPlans) -> None:
        (plan,) = read_plans({"wine/b.json": OTHER, "wine/a.yaml": json.dumps(STAGE)})
        assert [each.id for each in plan.envelopes] == ["S01_load_data", "S02_clean_data"]
        assert plan.envelopes[1].needs == ("S01_load_data",)
        assert not plan.alone

    def test_folders_are_plans_of_their_own(self, read_plans: ReadPlans) -> None:
        found = read_plans({"a/1.json": STAGE, "a/2.json": OTHER, "b/1.json": STAGE, "b/2.json": OTHER})
        assert [each.file for each in found] == ["a/1.json", "b/1.json"]

    def test_a_mixed_folder_has_a_plan_for_each_document_and_one_for_the_rest(self, read_plans: ReadPlans) -> None:
        found = read_plans({"a.json": STAGE, "b.json": OTHER, "plan.json": [STAGE], "plan.yaml": json.dumps([OTHER])})
        assert [(each.file, len(each.envelopes)) for each in found] == [
            ("plan.json", 1),
            ("plan.yaml", 1),
            ("a.json", 2),
        ]

    def test_a_broken_envelope_in_a_folder_leaves_the_plan_incomplete(self, read_plans: ReadPlans) -> None:
        (plan,) = read_plans({"a.json": '{"stageId": "S01_load_data", "goal": ', "b.json": OTHER})
        assert (plan.alone, plan.is_whole, len(plan.envelopes)) == (False, False, 1)

    def test_a_plan_of_nothing(self, read_plans: ReadPlans) -> None:
        (plan,) = read_plans({"plan.json": {"stages": []}})
        assert (plan.envelopes, plan.is_whole) == ((), True)

    def test_what_is_no_envelope_is_absent(self, read_stages: ReadStages) -> None:
        plan = read_stages(STAGE, None, "S02", [OTHER], OTHER)
        assert [each.at.pointer[-1] for each in plan.envelopes] == [0, 4]
        assert not plan.is_whole

    def test_of_two_envelopes_with_one_id_the_first_counts(self, read_stages: ReadStages) -> None:
        plan = read_stages(STAGE, STAGE, OTHER)
        assert plan.by_id["S01_load_data"] is plan.envelopes[0]
        assert not plan.is_whole


class TestDefaults:
    def test_stand_where_nothing_is_written(self, read_stages: ReadStages) -> None:
        plan = read_stages({"stageId": "S01_load_data", "goal": "Load the wines"})
        (stage,) = plan.envelopes
        assert (dict(stage.inputs), dict(stage.outputs), stage.max_duration) == ({}, {}, 240)
        assert (stage.dependencies, stage.retryable, stage.checkpoint_after, stage.run) == ((), True, True, ())
        assert not any(stage.says(each) for each in ("inputs", "outputs", "maxDurationSec", "dependencies"))
        assert (plan.max_parallel, plan.title, plan.run_id) == (4, None, None)

    def test_do_not_stand_where_something_is_written(self, read_stages: ReadStages) -> None:
        stage = {**STAGE, "maxDurationSec": 60.5, "retryable": False, "checkpointAfter": False, "run": ["a", "b"]}
        plan = read_stages(stage, reportTitle="wine", runId="run-001", maxParallel=2)
        (found,) = plan.envelopes
        assert (found.max_duration, found.retryable, found.checkpoint_after) == (60.5, False, False)
        assert found.run == ("a", "b")
        assert (plan.max_parallel, plan.title, plan.run_id) == (2, "wine", "run-001")

    @pytest.mark.parametrize("bad", [None, True, "x", [], {}, [1], {"a": 1}, 0, -1, ""])
    def test_stand_where_something_cannot_be_read(self, read_stages: ReadStages, bad: Any) -> None:
        members = ("goal", "inputs", "outputs", "dependencies", "retryable", "checkpointAfter", "run")
        plan = read_stages(
            {"stageId": "S01_load_data", **dict.fromkeys(members, bad)}, maxParallel=bad, reportTitle=bad
        )
        (stage,) = plan.envelopes
        assert (dict(stage.inputs), dict(stage.outputs), stage.dependencies, stage.run) == ({}, {}, (), ())
        assert (stage.retryable, stage.checkpoint_after) == (True, True)
        assert plan.max_parallel in {1, 4}

    @pytest.mark.parametrize("bad", [None, True, "240", [240], {}])
    def test_a_duration_that_is_no_number_is_the_default(self, read_stages: ReadStages, bad: Any) -> None:
        assert read_stages({**STAGE, "maxDurationSec": bad}).envelopes[0].max_duration == 240


class TestHostile:
    def test_ids_of_any_characters_are_kept_as_they_are(self, read_stages: ReadStages) -> None:
        ids = [
            "\uff3301_load_data",
            "S01_lóad_data",
            "S01_load_data\n",
            "",
            "a/b",
            "..",
            "__proto__",
            "\u202e",
            "S01\x00",
        ]
        assert list(read_stages(*(envelope(each, inputs={}) for each in ids)).by_id) == ids

    @pytest.mark.parametrize(
        "text",
        [
            '{"stages": [{"stageId": "S01_a_b", "stageId": "S01_c_d", "goal": "twice the same key"}]}',
            '{"stages": [{"stageId": "S01_a_b", "inputs": {"a": "x", "a": "y"}, "goal": "twice the same key"}]}',
        ],
    )
    def test_repeated_keys_are_one_mistake(self, validate: Callable[..., Compilation], text: str) -> None:
        found = validate({"plan.json": text})
        assert [each.name for each in found.diagnostics if each.severity == "error"] == ["repeated-key"]

    def test_anchors_are_read(self, read_plans: ReadPlans) -> None:
        first = "{stageId: S01_a_b, goal: Do the work here, outputs: &o {x: y}}"
        text = f"stages:\n  - {first}\n  - {{stageId: S02_c_d, goal: Do the work there, outputs: *o}}\n"
        (plan,) = read_plans({"plan.yaml": text})
        assert [dict(each.outputs) for each in plan.envelopes] == [{"x": "y"}, {"x": "y"}]

    def test_one_envelope_twice_by_an_alias_is_one_mistake(self, validate: Callable[..., Compilation]) -> None:
        stage = "{stageId: S01_load_data, goal: Do it all here, inputs: {}, outputs: {x: y.csv}, maxDurationSec: 60}"
        found = validate({"plan.yaml": f"stages:\n  - &a {stage}\n  - *a\n"})
        assert [each.name for each in found.diagnostics if each.severity == "error"] == ["duplicate-stage-id"]

    def test_what_is_nested_too_deeply_is_refused(self, validate: Callable[..., Compilation]) -> None:
        deep = '{"a":' * 300 + "1" + "}" * 300
        found = validate({"plan.json": f'{{"stages": [{{"stageId": "S01_a_b", "goal": {deep}}}]}}'})
        assert [each.name for each in found.diagnostics] == ["deep-nesting"]

"""From trees to pipelines: what is well formed is taken, what is not is left out, and nothing is judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.core.place import Mention, Place
from stagec.languages.stages.document import Pipeline, Profile, StagePattern
from stagec.languages.stages.read import read
from stagec.sources.contract.schemas import Miss, Schema
from stagec.sources.read import Sources

OBJECT: dict[str, Json] = {
    "id": "plan",
    "body": "Call ${ctx.task}.",
    "allowedTools": ["read", "list"],
    "turnCap": 3,
    "completionTool": "submit",
    "completionSchema": {"type": "object"},
}
STAGE = """---
id: plan
name: Plan
allowedTools: [Read, 3, ""]
completionTool: submit
completionSchema: {type: object}
inputsSchema: {type: object, $ref: "#/$defs/a"}
---
Do {{ctx.task}}.
"""


def pipelines(**files: str) -> tuple[Pipeline, ...]:
    """Read a project that is only texts, whose files are named with a double underscore for the dot."""
    texts = {name.replace("__", "."): text.encode() for name, text in files.items()}
    return read(Sources(Path("/nowhere"), Budgets(), texts), tuple(sorted(texts)))


def machine(*stages: Json, **members: Json) -> Pipeline:
    """Read a pipeline that holds its stages."""
    (found,) = pipelines(pipeline__json=json.dumps({"entry": "plan", "stages": list(stages), **members}))
    return found


def test_a_markdown_stage_is_its_frontmatter_and_its_body() -> None:
    (pipeline,) = pipelines(plan__md=STAGE)
    (stage,) = pipeline.stages
    assert (stage.id, stage.profile, stage.at) == ("plan", Profile.MARKDOWN, Place("plan.md"))
    assert stage.allowed == (Mention("Read", Place("plan.md", ("allowedTools", 0))),)
    assert stage.completion == Mention("submit", Place("plan.md", ("completionTool",)))
    assert stage.result == Schema({"type": "object"}, Place("plan.md", ("completionSchema",)))
    assert [(each.text, each.found) for each in pipeline.references] == [("#/$defs/a", Miss.NO_MEMBER)]
    assert (stage.body.text, stage.body.placeholders[0].path) == ("Do {{ctx.task}}.\n", ("ctx", "task"))


def test_a_stage_object_stands_in_its_pipeline() -> None:
    (stage,) = machine(OBJECT).stages
    assert (stage.profile, stage.at) == (Profile.OBJECT, Place("pipeline.json", ("stages", 0)))
    assert (stage.body.text, stage.body.at) == ("Call ${ctx.task}.", stage.at / "body")
    assert [each.path for each in stage.body.placeholders] == [("ctx", "task")]


def test_members_of_the_wrong_type_are_absent() -> None:
    given = dict.fromkeys(OBJECT, 5)
    (stage,) = machine(given).stages
    assert (stage.id, stage.allowed, stage.completion, stage.result) == (None, None, None, Miss.UNKNOWABLE)
    assert (stage.name, stage.body.text) == ("pipeline.json", "")


def test_stages_without_a_pipeline_are_not_declared() -> None:
    (found,) = pipelines(plan__md=STAGE)
    assert (found.is_declared, found.is_whole, found.entry, found.incoming) == (False, False, None, {})


def test_limits_have_defaults() -> None:
    plain, limited = machine(OBJECT), machine(OBJECT, maxParallel=2, maxStageExecutions=7)
    assert (plain.max_parallel, plain.max_executions) == (4, None)
    assert (limited.max_parallel, limited.max_executions) == (2, 7)
    assert machine(OBJECT, maxParallel=0, maxStageExecutions=True).max_parallel == 4


def test_the_first_of_two_stages_with_one_id_counts() -> None:
    found = machine(OBJECT, {**OBJECT, "turnCap": 9})
    assert (len(found.stages), found.by_id["plan"].members["turnCap"]) == (2, 3)


def test_an_entry_has_two_names() -> None:
    text = json.dumps({"entryStage": "plan", "stages": [OBJECT]})
    (found,) = pipelines(pipeline__json=text)
    assert found.entry == Mention("plan", Place("pipeline.json", ("entryStage",)))


def test_what_a_pipeline_lists_may_be_lost() -> None:
    at = Place("pipeline.json", ("stages", 1))
    found = machine(OBJECT, "gone/*.md")
    assert (found.patterns, found.is_whole) == ((StagePattern("gone/*.md", at, found=False),), False)


def test_names_under_which_something_is_said_are_mentions() -> None:
    found = machine(OBJECT, next={"plan": {"stages": []}}, hooks={"lint": {"exit": "a:b"}})
    assert found.routed == (
        Mention("plan", Place("pipeline.json", ("next", "plan"))),
        Mention("lint", Place("pipeline.json", ("hooks", "lint"))),
    )


def test_a_context_is_declared_or_not() -> None:
    assert machine(OBJECT).context is None
    at = Place("pipeline.json", ("context", "task"))
    assert machine(OBJECT, context={"task": {"type": "string"}}).context == {"task": Schema({"type": "string"}, at)}


def test_configurations_name_a_stage() -> None:
    text = json.dumps({"entry": "plan", "stages": [OBJECT], "config": {"entry": "a"}})
    (found,) = pipelines(pipeline__json=text, pipeline__config__json='{"entry": "b"}')
    assert found.configured == (
        Mention("a", Place("pipeline.json", ("config", "entry"))),
        Mention("b", Place("pipeline.config.json", ("entry",))),
    )


class TestAStageThatCannotBeRead:
    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("---\nid: review\nname: [\n---\n", {"b", "review"}),
            ("---\n\"id\" : 'review'\nname: [\n---\n", {"b", "review"}),
            ("no frontmatter", {"b"}),
            ("---\nname: b\n---\n", {"b"}),
        ],
        ids=["an id", "quoted", "none", "whole but nameless"],
    )
    def test_may_have_the_name_of_its_file_or_what_looks_like_its_id(self, text: str, names: set[str]) -> None:
        (found,) = pipelines(pipeline__yaml="entry: plan\nstages: [plan.md, b.md]\n", plan__md=STAGE, b__md=text)
        assert (set(found.broken), found.is_whole) == (names, False)
        assert all(found.has_stage(each) for each in {"plan", *names})


class TestAPipelineIsWhole:
    def test_when_nothing_hides_where_runs_go(self) -> None:
        assert machine(OBJECT).is_whole

    @pytest.mark.parametrize(
        "members",
        [
            {"turnCap": 0},
            {"completionTool": ""},
            {"extra": 1},
            {"completionSchema": True},
        ],
        ids=str,
    )
    def test_even_if_a_stage_has_a_fault_that_does_not_decide_it(self, members: dict[str, Json]) -> None:
        assert machine({**OBJECT, **members}).is_whole

    def test_even_if_it_has_a_key_that_nobody_knows(self) -> None:
        assert machine(OBJECT, nxt={}, next={"plan": {"stages": [], "unknown": 1}}).is_whole

    def test_even_if_it_begins_with_a_byte_order_mark(self) -> None:
        text = json.dumps({"entry": "plan", "stages": [OBJECT]})
        (found,) = pipelines(pipeline__json=f"\ufeff{text}")
        assert found.is_whole

    @pytest.mark.parametrize(
        ("stage", "members"),
        [
            ({**OBJECT, "id": 5}, {}),
            ({**OBJECT, "next": {"stages": 5}}, {}),
            (5, {}),
            (OBJECT, {"next": {"plan": 5}}),
            (OBJECT, {"entry": 5}),
        ],
        ids=["id", "next of a stage", "no stage", "next", "entry"],
    )
    def test_unless_something_that_decides_it_is_misshapen(self, stage: Json, members: dict[str, Json]) -> None:
        assert not machine(stage, **members).is_whole

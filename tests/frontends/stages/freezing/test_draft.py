"""The whole plan of a pipeline, and what its runs are given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from frontends.stages.freezing._pipelines import Freezing, compiled, markdown, stage

from stagec.check.pipeline import Project, compile_project
from stagec.core.json import Json
from stagec.ir.plan import Plan, dump, verify
from stagec.ir.plan.act import Converse, Hole, Text
from stagec.ir.plan.document import Contents, Facts, Input, Limits, Names, Tool
from stagec.ir.plan.gate import Backoff, Retry, VerdictGate
from stagec.ir.plan.node import Edge, Node, Outcome, Stop
from stagec.sources.project.settings import Settings

EXAMPLES = Path(__file__).parents[4] / "registries"
PIPELINES = sorted(path.parent.name for path in EXAMPLES.glob("*/pipeline.*"))


def named(text: str) -> str:
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def test_a_plan_is_what_was_written_and_what_follows_from_it(project: Freezing) -> None:
    more = "name: Demo\nversion: 1.2.3\nmaxParallel: 2\nmaxStageExecutions: 9\n"
    given = markdown("Do {{ctx.task}}\n", allowedTools="[Read]", inputsSchema="{type: object, required: [parsed]}")
    contents = Contents()
    act = Converse(
        prompt=(Text(contents.add("Do ")), Hole(("ctx", "task")), Text(contents.add("\n"))),
        tools=("Read",),
        completion="submit",
        schema=contents.add('{"type":"object"}'),
        turns=3,
        accepts=contents.add('{"type":"object","required":["parsed"]}'),
    )
    edges = (Edge("ok", Stop(Outcome.DONE)), Edge("fail", Stop(Outcome.FAILED)))
    pipeline = f"entry: plan\nid: demo\n{more}"
    assert project(given, more) == Plan(
        id="demo",
        names=Names("stage", "verdict"),
        entries={"": "plan"},
        nodes={"plan": Node(act, VerdictGate(), edges, title="Plan it", retry=Retry(1, Backoff()))},
        contents=contents.texts,
        limits=Limits(9, Outcome.FAILED, 2),
        entry="",
        title="Demo",
        version="1.2.3",
        inputs={"task": Input(required=True)},
        tools={"Read": Tool("unknown", "read")},
        sources={"pipeline.yaml": named(pipeline), "plan.md": named(given)},
        facts=Facts(("plan",), ("plan",), (), 1, 3),
    )


def test_limits_are_whole_numbers_that_a_plan_can_hold(machine: Freezing) -> None:
    assert machine(stage("a")).limits == Limits(None, Outcome.FAILED, 4)
    assert machine(stage("a"), maxParallel=2.0, maxStageExecutions=7.0).limits == Limits(7, Outcome.FAILED, 2)
    act = machine(stage("a", turnCap=1e300)).nodes["a"].act
    assert isinstance(act, Converse)
    assert act.turns == 2**53 - 1


@pytest.mark.parametrize("written", ["5", "5.0"])
def test_a_turn_cap_is_a_whole_number(project: Freezing, written: str) -> None:
    act = project(markdown(turnCap=written)).nodes["plan"].act
    assert isinstance(act, Converse)
    assert (act.turns, type(act.turns)) == (5, int)


def test_a_stage_that_no_run_reaches_is_a_node_all_the_same(machine: Freezing) -> None:
    assert set(machine(stage("a"), stage("island", next="a")).nodes) == {"a", "island"}


def test_a_cycle_is_bound(machine: Freezing) -> None:
    cases: Json = [{"when": {"parsed.again": True}, "stages": ["a"]}, {"stages": []}]
    plan = machine(stage("a", next=cases), maxStageExecutions=3)
    assert plan.facts is not None
    assert (plan.facts.cycles, plan.facts.executions) == ((("a",),), 3)


def test_a_schema_keeps_the_order_of_its_author_and_is_kept_once(machine: Freezing) -> None:
    schema: Json = {"type": "object", "properties": {"z": {"type": "string"}, "a": {"const": 2**60}}}
    plan = machine(stage("a", next="b", completionSchema=schema), stage("b", completionSchema=schema))
    acts: list[Any] = [plan.nodes[name].act for name in "ab"]
    assert acts[0].schema == acts[1].schema
    written = plan.contents[acts[0].schema]
    assert list(json.loads(written)["properties"]) == ["z", "a"]
    assert str(2**60) in written


def test_files_that_schemas_refer_to_are_sources_also_through_others(project: Freezing) -> None:
    plan = project(
        markdown(
            completionSchema="{type: object, properties: {a: {$ref: 'one.json#/$defs/a'}}}",
            inputsSchema="{type: object, properties: {a: {$ref: 'two.json'}}}",
        ),
        one__json='{"$defs": {"a": {"$ref": "three.json"}, "b": {"$ref": "never.json"}}}',
        two__json='{"properties": {"a": {"$ref": "#"}}}',
        three__json='{"type": "string"}',
        never__json='{"type": "string"}',
    )
    assert set(plan.sources) == {"pipeline.yaml", "plan.md", "one.json", "two.json", "three.json"}


def test_warnings_do_not_keep_a_plan_from_being_made(tmp_path: Path) -> None:
    given = markdown(
        "",
        allowedTools="[Read, Read, Nothing]",
        retryPolicy="{maxAttempts: 2, backoff: never}",
        resolutionPolicy="whatever",
        model="small",
        turn_cap="9",
    )
    more = "stages: [plan.md, other.md]\nhooks: {plan: {sometime: 'a:b'}}\n"
    files = {
        "pipeline.yaml": f"entry: plan\nnxt: {{}}\nmaxStageExecutions: 5\n{more}",
        "plan.md": given,
        "other.md": markdown("Say {{stage.turnCap}}.", id="other", completionTool="other"),
    }
    found = compiled(tmp_path, files)
    assert {each.severity.value for each in found.diagnostics} == {"warning", "note"}
    (meaning,) = found.meanings
    assert verify(dump(meaning.plan())).plan == meaning.plan()


def test_the_same_files_make_the_same_bytes(tmp_path: Path) -> None:
    files = {"pipeline.yaml": "entry: plan\n", "plan.md": markdown("{{ctx.b}} {{ctx.a}}", allowedTools="[b, a]")}
    first, second = (compiled(tmp_path, dict(order)) for order in (files.items(), reversed(files.items())))
    assert dump(first.meanings[0].plan()) == dump(second.meanings[0].plan())


def test_there_are_examples() -> None:
    assert PIPELINES == ["code-review", "docs-repair", "file-review", "guest-book", "reviewed-change"]


@pytest.mark.parametrize("name", PIPELINES)
def test_the_plan_of_an_example_is_written_and_read_again(name: str) -> None:
    for meaning in compile_project(Project(EXAMPLES / name, (), Settings())).meanings:
        data = dump(meaning.plan())
        loaded = verify(data)
        assert dump(loaded.plan) == data
        assert set(loaded.plan.nodes) == set(meaning.flow.nodes)


def test_the_example_of_a_review_knows_its_tools_and_its_sources() -> None:
    (meaning,) = compile_project(Project(EXAMPLES / "code-review", (), Settings())).meanings
    plan = meaning.plan()
    assert {name: each.origin for name, each in plan.tools.items()} == {
        **dict.fromkeys(("Read", "Grep", "Glob", "Edit", "Write"), "bundled"),
        **dict.fromkeys(("run_tests", "run_linter"), "discovered"),
        "list_directory": "mcp",
    }
    assert set(plan.servers) == {"files"}
    schemas = {"schemas/run_tests.json", "schemas/run_linter.json"}
    stages = {f"stages/{name}.md" for name in plan.nodes}
    catalogue = {path.name for path in (EXAMPLES / "code-review").iterdir() if path.name.startswith(("tools", ".mcp"))}
    assert set(plan.sources) == {"pipeline.yaml", *stages, *catalogue, *schemas}


def shown(plan: Plan) -> Mapping[str, tuple[bool, Json, Json]]:
    """Return for each input whether it is required, its default and its schema."""
    return {
        name: (each.required, each.default, None if each.schema is None else json.loads(plan.contents[each.schema]))
        for name, each in plan.inputs.items()
    }


def test_every_name_of_a_declared_context_is_required(project: Freezing) -> None:
    plan = project(markdown("{{ctx.task}}"), "context: {task: {type: string}, place: {}, other: true}\n")
    assert shown(plan) == {
        "task": (True, None, {"type": "string"}),
        "place": (True, None, None),
        "other": (True, None, None),
    }


def test_a_default_makes_a_name_optional(project: Freezing) -> None:
    plan = project(markdown(), "context: {task: {type: array, default: [1, x]}}\n")
    assert shown(plan) == {"task": (False, [1, "x"], {"type": "array", "default": [1, "x"]})}


@pytest.mark.parametrize("default", ["null", "9007199254740992", "[{a: 1.0e+20}]"])
def test_a_default_that_a_plan_cannot_tell_is_none(project: Freezing, default: str) -> None:
    plan = project(markdown(), f"context: {{task: {{default: {default}}}}}\n")
    assert [(each.required, each.default) for each in plan.inputs.values()] == [(True, None)]


def test_a_schema_that_allows_nothing_is_one(project: Freezing) -> None:
    text = "context: {task: false}\nhooks: {plan: {setup: 'hooks:setup'}}\n"
    assert shown(project(markdown(), text)) == {"task": (False, None, False)}


def test_without_a_declared_context_all_that_is_read_is_required(project: Freezing) -> None:
    plan = project(
        markdown("{{ctx.task.name}} {{ctx.task}} {{ctx.workflowRunId}} {{stage.id}}"),
        "gate: {plan: {defer: {branch: main, ctx.stop: true}, block: {stageExecutionId: x}}}\n",
    )
    assert plan.inputs == {"task": Input(required=True), "branch": Input(required=True), "stop": Input(required=True)}


def test_results_of_other_stages_are_not_given(machine: Freezing) -> None:
    plan = machine(stage("a", next="b"), stage("b", body="${ctx.upstream} ${ctx.stageExecutionId} ${ctx.x}"))
    assert plan.inputs == {"x": Input(required=True)}


def test_what_a_setup_hook_may_provide_is_not_required(project: Freezing) -> None:
    setup = "hooks: {plan: {setup: 'a:b'}}\n"
    assert project(markdown("{{ctx.task}}"), setup).inputs == {"task": Input()}
    assert project(markdown("{{ctx.made}}"), setup + "context: {task: {}}\n").inputs == {"task": Input()}


def test_what_a_stage_without_a_setup_hook_reads_is_required(project: Freezing) -> None:
    hooks = "next: {plan: other}\nhooks: {other: {setup: 'a:b'}}\ncontext: {task: {}, mood: {}}\n"
    other = markdown("{{ctx.mood}}").replace("id: plan", "id: other").replace("submit_plan", "submit_other")
    assert project(markdown("{{ctx.task}}"), hooks, other__md=other).inputs == {
        "task": Input(required=True),
        "mood": Input(),
    }


def test_a_schema_of_the_context_refers_to_itself_and_to_files(project: Freezing) -> None:
    plan = project(
        markdown(),
        "context:\n  task: {$ref: '#/$defs/a', $defs: {a: {type: string}}}\n  place: {$ref: 'more.json#/inner'}\n",
        more__json='{"inner": {"$ref": "#/$defs/b"}, "$defs": {"b": {"type": "integer"}}}',
    )
    assert set(plan.sources) == {"pipeline.yaml", "plan.md", "more.json"}
    assert all(each.required and each.schema for each in plan.inputs.values())

"""What compiles without errors cannot fail to route: random projects, random answers that satisfy the schemas."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import jsonschema_rs
import pytest
from campaigns import choose
from properties.soundness.answers import answers
from properties.soundness.campaign import MAKERS, Aim, Job, Tally, attack, campaign, compiled
from properties.soundness.chance import Chance
from properties.soundness.ends import stuck
from properties.soundness.runs import Tried, UnsoundError
from properties.soundness.wanted import LEANS, WANTED
from properties.soundness.worlds import ANYTHING

from stagec.core.diagnostic import Severity
from stagec.core.value import replace
from stagec.ir.plan import Plan
from stagec.ir.plan.node import Outcome, Stop
from stagec.runtime.machine.program import program_of
from stagec_dev.checkout import plans

CHUNKS, CHUNK = choose(1, whole=2), choose(500, full=1_250, whole=2_500)
"""Parts of what the suite runs of each system, in transitions; `python -m stagec_dev soundness` runs any number."""
PROJECTS = 100
ENOUGH = 2_000
"""Projects that are made until one is found that fails for want of a rule."""
LEAST, MOST = 0.2, 0.8
"""The shares of projects that compile without errors: not nearly none, and not nearly all."""
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "registries" / "code-review"
SHOWN = {
    ("Admission", "onDefer"): "policy {} on defer",
    ("Admission", "onBlock"): "policy {} on block",
    ("Among", "is"): "term {} of a result",
    ("Backoff", "kind"): "backoff {}",
    ("Carried", "is"): "variable {}",
    ("Chain", "is"): "edge ok, {}",
    ("Check", "verdict"): "check says {}",
    ("Command", "is"): "act {}",
    ("Converse", "is"): "act {}",
    ("Exists", "is"): "term {} of the context",
    ("ExitGate", "is"): "program exits with 0",
    ("Fork", "is"): "edge fail, {} with join",
    ("Given", "is"): "variable {}",
    ("Go", "is"): "edge next, another or another",
    ("IntentGate", "is"): "{} by another word",
    ("JudgeGate", "is"): "{} meta:composite",
    ("Limits", "reached"): "end: bound reached ({})",
    ("LoopHook", "stage"): "hook {}/pre, observer",
    ("LoopHook", "when"): "hook TOOL_CALL/{}, observer",
    ("LoopHook", "kind"): "hook TOOL_CALL/pre, {}",
    ("Named", "is"): "edge jump, {}",
    ("Node", "kind"): "kind {}",
    ("Pick", "is"): "edge jump, {}",
    ("Prompt", "is"): "act {}",
    ("Provided", "is"): "variable {}",
    ("Reads", "is"): "term {} of a result",
    ("Session", "mode"): "call while the mode is {}",
    ("Stop", "is"): "edge closing, done",
    ("Stop", "outcome"): "edge fail, {}",
    ("Success", "kind"): "validator {} succeeds",
    ("Validation", "action"): "validation failed, {}",
    ("VerdictGate", "is"): "check says ok",
}
"""What is wanted for each of the words among which a member of a plan chooses."""
PLAIN = {"Plan", "Tool", "Text", "Hole", "Each", "Choice"}
"""What decides about no way through a run."""
SCHEDULED = {"Process", "Schedule", "StageGate"}
"""What only plans of processes have; their runs have a campaign of their own."""
PHASED = {"AgentGate", "Delegate", "Rest", "RestGate"}
"""What only plans of orchestrators have; so have theirs: `test_orchestrators.py`."""
ELEMENTS = {"ForEach"}
"""What runs for the elements of lists has its own, too: `test_elements.py`."""
PHASES = {"actionable", "terminal", "blocking", Outcome.BLOCKED}
"""The kinds of phases, and how runs end in one of them."""


@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.parametrize("system", sorted(MAKERS))
def test_nothing_that_compiles_without_errors_fails_to_route(system: str, chunk: int) -> None:
    tally = campaign(Aim(CHUNK, systems=(system,)), seed=chunk * 1_000_000)
    assert tally.found == []
    assert tally.calm[system] >= choose(2, full=2, whole=4)


@pytest.mark.parametrize(
    ("system", "rule", "what"),
    [
        ("registry", "STG241", "leads nowhere"),
        ("registry", "STG243", "leads nowhere"),
        ("pipeline", "STG363", "leads nowhere"),
        ("pipeline", "STG604", "to completion"),
        ("pipeline", "STG608", "can repeat"),
    ],
)
def test_without_one_of_the_rules_some_of_them_do(system: str, rule: str, what: str, root: Path) -> None:
    tally = Tally()
    for seed in range(ENOUGH):
        attack(root, Job(system, seed), tally, without=rule)
        if any(what in each.what for each in tally.found):
            return
    pytest.fail(f"nothing that {rule} speaks of was found in {ENOUGH} projects")


@pytest.mark.parametrize("system", sorted(MAKERS))
def test_neither_nearly_all_nor_nearly_none_of_the_projects_compile(system: str, root: Path) -> None:
    severities = (severities_of(root, system, seed) for seed in range(PROJECTS))
    share = sum(Severity.ERROR not in each for each in severities) / PROJECTS
    assert LEAST < share < MOST


def test_things_of_most_sorts_happen_in_a_short_campaign_already() -> None:
    tally = campaign(Aim(choose(1_500, whole=3_000)), seed=500_000)
    sorts = {kind.partition(" ")[0] for kind in WANTED}
    missing = sorts - {kind.partition(" ")[0] for kind in WANTED if tally.kinds[kind]}
    assert len(missing) < len(sorts) // 4, missing


@pytest.mark.parametrize("kind", ["edge escalate, itself", "end: cannot-join (failed)", "hook RENDER/post, observer"])
def test_what_hardly_ever_happens_does_where_it_is_leant_to(kind: str, root: Path) -> None:
    tally, (system, lean) = Tally(), LEANS[kind]
    for seed in range(ENOUGH):
        attack(root, Job(system, seed, lean), tally)
        if tally.kinds[kind]:
            return
    pytest.fail(f"not once in {ENOUGH} projects")


def test_every_kind_that_a_plan_can_name_has_to_happen() -> None:
    definitions = json.loads((ROOT / "schemas" / "plan.schema.json").read_text())["$defs"]
    named = {
        SHOWN[kind, member].format(word)
        for kind, each in definitions.items()
        for member, form in each["properties"].items()
        for word in form.get("enum", [form["const"]] if "const" in form else [])
        if kind not in PLAIN | SCHEDULED | PHASED | ELEMENTS and word not in {Outcome.INTERRUPTED, *PHASES}
    }
    assert named <= {*WANTED}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("prompts", "schemas", "stages"):
        (tmp_path / name).mkdir()
    return tmp_path


def severities_of(root: Path, system: str, seed: int) -> set[Severity]:
    files = MAKERS[system](Chance(system, seed))
    return {each.severity for each in compiled(root, system, files).diagnostics}


@pytest.mark.parametrize("system", sorted(MAKERS))
def test_a_project_is_made_again_from_its_seed(system: str) -> None:
    first, second = (MAKERS[system](Chance(system, 7)) for _ in range(2))
    assert first == second


def test_a_project_leans_to_what_is_wanted_and_is_another_one_then() -> None:
    usual, leaning = (MAKERS["pipeline"](Chance("pipeline", 7, lean)) for lean in ("", "loop RENDER/post, observer"))
    assert usual != leaning
    assert b'"stage": "RENDER"' in leaning["pipeline.json"]


def test_what_a_campaign_sees_does_not_depend_on_how_many_processes_there_are() -> None:
    one, two = (campaign(Aim(400, 2, workers=workers, patience=1), seed=41) for workers in (1, 2))
    assert vars(one) == vars(two)


def test_a_campaign_gives_up_on_what_cannot_be_seen() -> None:
    tally = campaign(Aim(10, 1, systems=("registry",), patience=2), seed=1)
    assert "chain goes on" in tally.lagging(1)


@pytest.mark.parametrize(
    "schema",
    [
        '{"type":"object","required":["a"],"properties":{"a":{"enum":["x","y"]},"b":{"type":"integer","minimum":3}}}',
        '{"type":"array","items":{"$ref":"#/$defs/x"},"minItems":1,"$defs":{"x":{"type":["string","null"]}}}',
        '{"allOf":[{"type":"object","required":["a"]},{"anyOf":[{"required":["b"]},{"required":["c"]}]}]}',
        '{"oneOf":[{"const":1},{"type":"object","required":["b"],"additionalProperties":{"type":"boolean"}}]}',
    ],
)
def test_answers_satisfy_their_schema_and_differ(schema: str) -> None:
    found = answers(schema, Random(1))  # noqa: S311
    assert len(found) > 3
    assert all(map(jsonschema_rs.validator_for(json.loads(schema)).is_valid, found))


@pytest.fixture
def plan() -> Plan:
    (found,) = plans(EXAMPLE)
    return found


def run_often(plan: Plan) -> None:
    for seed in range(50):
        Tried(program_of(plan), Random(seed), Counter(), {None: [*ANYTHING]}).run()  # noqa: S311


def test_a_plan_without_an_edge_for_an_outcome_is_caught(plan: Plan) -> None:
    run_often(plan)
    node = plan.nodes["execute"]
    broken = replace(plan, nodes={**plan.nodes, "execute": replace(node, edges=())})
    with pytest.raises(UnsoundError, match="leads nowhere"):
        run_often(broken)


def test_a_plan_whose_facts_promise_too_little_is_caught(plan: Plan) -> None:
    broken = replace(plan, facts=replace(plan.facts, executions=1))
    with pytest.raises(UnsoundError, match="are more than"):
        run_often(broken)


def test_nodes_from_which_no_run_completes_are_told_from_the_plan(plan: Plan) -> None:
    node = plan.nodes["review"]
    last = replace(node, edges=tuple(each for each in node.edges if not isinstance(each.target, Stop)))
    assert stuck(plan) == []
    assert stuck(replace(plan, nodes={**plan.nodes, "review": last})) == ["execute", "plan", "review"]

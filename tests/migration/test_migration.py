"""A migration changes what has one meaning, and asks for the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from stagec.change.migration import Migration, migrate
from stagec.check.pipeline import Project
from stagec.sources.project.settings import Settings

HERE = ".agent/a/steps_registry.json"
STEP = {"stepId": "initial.a", "name": "A", "c2": "initial", "c3": "a", "uvVariables": [], "usesStdin": False}
ROOT = {"agentId": "a", "version": "1.0.0", "c1": "steps"}


def registry(step: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a registry of one step."""
    return {**ROOT, "steps": {"initial.a": dict(STEP if step is None else step)}, **more}


def migrated(folder: Path, files: Mapping[str, Any]) -> Migration:
    """Migrate a project of some files, and once more what comes of it, where nothing is left to change."""
    for file, given in files.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(given if isinstance(given, bytes) else json.dumps(given, indent=2).encode())
    found = migrate(Project(folder, (), Settings()))
    for file, data in {**found.after, **found.created}.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)
    again = migrate(Project(folder, (), Settings()))
    assert (dict(again.after), dict(again.created), again.rewrites) == ({}, {}, ())
    return found


def step_of(found: Migration) -> dict[str, Any]:
    """Return the one step as it is now."""
    step: dict[str, Any] = json.loads(found.after[HERE])["steps"]["initial.a"]
    return step


def asked(found: Migration) -> list[tuple[str, tuple[Any, ...]]]:
    return [(each.at.file, each.at.pointer) for each in found.decisions]


def test_flat_members_become_an_address_in_their_place(tmp_path: Path) -> None:
    given = {**STEP, "stepKind": "work", "edition": "fast", "adaptation": "x", "description": "d"}
    found = migrated(tmp_path, {HERE: registry(given)})
    address = {"c1": "steps", "c2": "initial", "c3": "a", "edition": "fast", "adaptation": "x"}
    assert step_of(found)["address"] == address
    assert list(step_of(found)) == [
        *("stepId", "name", "address", "uvVariables", "usesStdin", "kind", "description"),
    ]
    assert found.decisions == ()


def test_the_kind_is_what_the_phase_means(tmp_path: Path) -> None:
    step = step_of(migrated(tmp_path, {HERE: registry({**STEP, "c2": "verification"})}))
    assert list(step)[2:4] == ["kind", "address"]
    assert (step["kind"], step["address"]["edition"]) == ("verification", "default")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"c2": "other"}, ()),
        ({"c2": "section"}, ()),
        ({"stepKind": "job"}, ("stepKind",)),
        ({"stepKind": ["work"]}, ("stepKind",)),
        ({"stepKind": "work", "c3": 3}, ("c3",)),
        ({"stepKind": "work", "adaptation": None}, ("adaptation",)),
        ({"stepKind": "work", "edition": ""}, ("edition",)),
        ({"stepKind": "work", "kind": "closure"}, ("stepKind",)),
        ({"kind": "work", "address": {"c2": "x"}}, ("c2",)),
    ],
)
def test_what_is_unclear_in_a_step_is_asked(tmp_path: Path, change: dict[str, Any], pointer: tuple[str, ...]) -> None:
    found = migrated(tmp_path, {HERE: registry({**STEP, **change})})
    assert (HERE, ("steps", "initial.a", *pointer)) in asked(found)


def test_what_is_said_twice_is_said_once(tmp_path: Path) -> None:
    address = {"c1": "steps", "c2": "initial", "c3": "a", "edition": "default"}
    given = {**STEP, "stepKind": "work", "kind": "work", "address": address}
    step = step_of(migrated(tmp_path, {HERE: registry(given)}))
    assert list(step) == ["stepId", "name", "uvVariables", "usesStdin", "kind", "address"]


def test_a_registry_without_c1_is_left_alone(tmp_path: Path) -> None:
    given = registry(entryStepMapping={"poll:state": "initial.a"})
    del given["c1"]
    agent = {"name": "a", "runner": {"boundaries": {"allowedTools": ["Read"], "permissionMode": "plan"}}}
    found = migrated(tmp_path, {HERE: given, ".agent/a/agent.json": agent})
    assert (found.after, found.created, asked(found)) == ({}, {}, [(HERE, ())])


def test_what_was_taken_for_granted_is_written(tmp_path: Path) -> None:
    step = step_of(migrated(tmp_path, {HERE: registry({"stepId": "initial.a", "c2": "initial", "c3": "a"})}))
    assert {key: step[key] for key in ("name", "uvVariables", "usesStdin")} == {
        "name": "initial.a",
        "uvVariables": [],
        "usesStdin": False,
    }


def test_entries_become_pairs(tmp_path: Path) -> None:
    steps = {key: {**STEP, "stepId": key} for key in ("initial.a", "continuation.a", "initial.b")}
    mapping = {"poll:state": "initial.a", "count:check": "initial.b", "count:iteration": "none", "detect:graph": 3}
    found = migrated(tmp_path, {HERE: {**ROOT, "entryStepMapping": mapping, "steps": steps}})
    assert json.loads(found.after[HERE])["entryStepMapping"] == {
        "poll:state": {"initial": "initial.a", "continuation": "continuation.a"},
        "count:check": {"initial": "initial.b", "continuation": "initial.b"},
        "count:iteration": "none",
        "detect:graph": 3,
    }
    assert asked(found) == [(HERE, ("entryStepMapping", "count:iteration"))]


@pytest.mark.parametrize(("verdict", "is_added"), [("poll:state", True), ("detect:graph", False), ("odd", False)])
@pytest.mark.parametrize("mapping", [{}, {"entryStepMapping": {}}])
def test_an_entry_alone_gets_a_pair_for_the_verdict(
    tmp_path: Path, verdict: str, mapping: dict[str, Any], *, is_added: bool
) -> None:
    agent = {"name": "a", "runner": {"verdict": {"type": verdict}}}
    given = registry(entryStep="initial.a", **mapping)
    found = migrated(tmp_path, {HERE: given, ".agent/a/agent.json": agent})
    pair = {"initial": "initial.a", "continuation": "initial.a"}
    now = json.loads(found.after[HERE])
    assert now.get("entryStepMapping", {}) == ({verdict: pair} if is_added else {})
    assert now["entryStep"] == "initial.a"


def test_no_conditions_are_two_empty_lists_and_others_are_asked_for(tmp_path: Path) -> None:
    validations = {
        "initial.a": {"stepId": "initial.a", "validationConditions": []},
        "b": {"validationConditions": [{"validator": "v"}], "onFailure": {"action": "abort"}},
        "c": {"c2": "x", "c3": "y"},
        "d": {"validationConditions": "?"},
    }
    found = migrated(tmp_path, {HERE: registry(validationSteps=validations)})
    now = json.loads(found.after[HERE])["validationSteps"]
    assert now["initial.a"] == {"stepId": "initial.a", "preflightConditions": [], "postLLMConditions": []}
    assert [now[key] for key in "bcd"] == [validations[key] for key in "bcd"]
    assert [pointer for _, pointer in asked(found)] == [
        ("validationSteps", "b", "validationConditions"),
        ("validationSteps", "b", "onFailure", "action"),
        ("validationSteps", "c"),
        ("validationSteps", "d", "validationConditions"),
    ]


GATE = {
    "allowedIntents": ["next", "abort", "repeat"],
    "intentField": "action",
    "intentSchemaRef": "#/properties/action",
}


def test_abort_goes_from_gate_schema_and_transitions(tmp_path: Path) -> None:
    step = {
        **STEP,
        "stepKind": "work",
        "structuredGate": GATE,
        "outputSchemaRef": {"file": "s.json", "schema": "a"},
        "transitions": {"next": {"target": "initial.a"}, "abort": {"target": None}},
    }
    schema = {"a": {"type": "object", "properties": {"action": {"enum": ["abort", "next", "repeat"]}}}}
    found = migrated(tmp_path, {HERE: registry(step), ".agent/a/schemas/s.json": schema})
    now = step_of(found)
    assert now["structuredGate"]["allowedIntents"] == ["next", "repeat"]
    assert list(now["transitions"]) == ["next"]
    assert json.loads(found.after[".agent/a/schemas/s.json"])["a"]["properties"]["action"]["enum"] == ["next", "repeat"]
    assert asked(found) == [(HERE, ("steps", "initial.a"))]  # how often it may repeat


@pytest.mark.parametrize("offered", [{"const": "abort"}, {"enum": ["abort"]}])
def test_a_schema_that_offers_nothing_else_is_asked_about(tmp_path: Path, offered: dict[str, Any]) -> None:
    gate = {**GATE, "allowedIntents": ["next"]}
    step = {**STEP, "structuredGate": gate, "outputSchemaRef": {"file": "s.json", "schema": "a"}}
    schema = {"a": {"type": "object", "properties": {"action": offered}}}
    found = migrated(tmp_path, {HERE: registry(step), ".agent/a/schemas/s.json": schema})
    assert ".agent/a/schemas/s.json" in [file for file, _ in asked(found)]
    assert ".agent/a/schemas/s.json" not in found.after


SETTINGS = ".agent/climpt/config/claude.settings.climpt.agents.a.json"


def with_agent(boundaries: Any, name: Any = "a") -> dict[str, Any]:
    return {HERE: registry(), ".agent/a/agent.json": {"name": name, "runner": {"boundaries": boundaries}}}


def test_what_an_agent_may_use_moves_to_a_file_of_settings(tmp_path: Path) -> None:
    boundaries = {"allowedTools": ["Read", "Bash"], "permissionMode": "acceptEdits"}
    found = migrated(tmp_path, with_agent(boundaries))
    assert json.loads(found.created[SETTINGS]) == {
        "permissions": {"allow": ["Read", "Bash"], "defaultMode": "acceptEdits"}
    }
    assert json.loads(found.after[".agent/a/agent.json"]) == {"name": "a", "runner": {}}


def test_the_sandbox_stays(tmp_path: Path) -> None:
    sandbox = {"enabled": True}
    found = migrated(tmp_path, with_agent({"allowedTools": ["Read"], "sandbox": sandbox}))
    assert json.loads(found.after[".agent/a/agent.json"])["runner"] == {"boundaries": {"sandbox": sandbox}}


@pytest.mark.parametrize(
    ("boundaries", "name"),
    [
        ({"allowedTools": ["*"]}, "a"),
        ({"permissionMode": "plan"}, "a"),
        ({"allowedTools": "Read"}, "a"),
        ({"allowedTools": [3]}, "a"),
        ({"allowedTools": ["Read"], "permissionMode": "all"}, "a"),
        ({"allowedTools": ["Read"]}, "../../b"),
        ({"allowedTools": ["Read"]}, "b/c"),
        ({"allowedTools": ["Read"]}, None),
        ({"allowedTools": ["Read"]}, "x\ny"),
    ],
)
def test_boundaries_without_one_meaning_stay(tmp_path: Path, boundaries: Any, name: Any) -> None:
    found = migrated(tmp_path, with_agent(boundaries, name))
    assert not found.created
    assert ".agent/a/agent.json" not in found.after
    assert [file for file, _ in asked(found)] == [".agent/a/agent.json"]


@pytest.mark.parametrize("name", ["claude.settings.climpt.agents.a.json", "claude.settings.climpt.agents.json"])
def test_settings_that_are_there_stay(tmp_path: Path, name: str) -> None:
    files = with_agent({"allowedTools": ["Read"]})
    found = migrated(tmp_path, {**files, f".agent/climpt/config/{name}": b"mine"})
    assert (tmp_path / ".agent/climpt/config" / name).read_bytes() == b"mine"
    assert len(found.decisions) == 1


def test_two_agents_of_one_name_do_not_share_a_file(tmp_path: Path) -> None:
    twin = {".agent/b/agent.json": {"name": "a", "runner": {"boundaries": {"allowedTools": ["Bash"]}}}}
    found = migrated(
        tmp_path, {**with_agent({"allowedTools": ["Read"]}), ".agent/b/steps_registry.json": registry(), **twin}
    )
    assert json.loads(found.created[SETTINGS])["permissions"]["allow"] == ["Read"]
    assert asked(found) == [(".agent/b/agent.json", ("runner", "boundaries"))]


WORKFLOW = ".agent/workflow.json"


def workflow(**more: Any) -> dict[str, Any]:
    whole = {"version": "1", "phases": {}, "labelMapping": {"l": "p"}, "issueSource": {"kind": "ghRepoIssues"}}
    return {**whole, **more}


def test_a_workflow_gets_its_new_members(tmp_path: Path) -> None:
    agents = {
        "a": {"role": "transformer", "closeOnComplete": True, "outputPhase": "p"},
        "b": {"role": "validator", "closeOnComplete": True, "closeCondition": "ok"},
        "c": {"closeOnComplete": False, "closeCondition": "ok"},
        "d": {"role": "transformer", "closeOnComplete": True, "closeCondition": "ok"},
        "e": {"closeOnComplete": "yes"},
    }
    handoffs = [{"persistPayloadTo": "issueStore"}, {"persistPayloadTo": "none"}, 3]
    given = workflow(agents=agents, handoffs=handoffs, issueStore={"path": "x"})
    found = migrated(tmp_path, {WORKFLOW: given})
    now = json.loads(found.after[WORKFLOW])
    direct = {"primary": {"kind": "direct"}}
    assert now["agents"] == {
        "a": {"role": "transformer", "closeBinding": direct, "outputPhase": "p"},
        "b": {"role": "validator", "closeBinding": {**direct, "condition": "ok"}},
        "c": {},
        "d": agents["d"],
        "e": agents["e"],
    }
    assert now["handoffs"] == [{"persistPayloadTo": "subjectStore"}, {"persistPayloadTo": "none"}, 3]
    assert now["subjectStore"] == {"path": "x"}
    assert [pointer[1] for _, pointer in asked(found)] == ["d", "e"]


def test_what_only_its_author_knows_of_a_workflow_is_asked(tmp_path: Path) -> None:
    given = workflow(labels={"l": {}, "x": {}, "m": {"role": "marker"}}, dryRun=True, issueStore=1, subjectStore=2)
    del given["issueSource"]
    found = migrated(tmp_path, {WORKFLOW: given})
    assert not found.after
    assert [pointer for _, pointer in asked(found)] == [("issueStore",), (), ("dryRun",), ("labels", "x")]


def test_a_project_of_the_new_form_has_nothing_to_do(tmp_path: Path) -> None:
    address = {"c1": "steps", "c2": "closure", "c3": "a", "edition": "default"}
    step = {"stepId": "initial.a", "kind": "work", "address": address, "structuredGate": {"allowedIntents": ["repeat"]}}
    validations = {"initial.a": {"c2": "retry", "c3": "a", "preflightConditions": [], "postLLMConditions": []}}
    given = registry(step, entryStep="initial.a", validationSteps=validations)
    found = migrated(tmp_path, {HERE: given, WORKFLOW: workflow()})
    assert (found.after, found.created, found.rewrites, found.decisions) == ({}, {}, (), ())
    assert found.unreadable == ()


def test_a_registry_from_between_the_releases_is_brought_to_the_later_one(tmp_path: Path) -> None:
    pair = {"initial": "initial.a", "continuation": "initial.a"}
    found = migrated(tmp_path, {HERE: registry(entryStepMapping={"poll:state": pair})})
    assert step_of(found)["kind"] == "work"
    assert (found.decisions, found.unreadable) == ((), ())


WRONG = [None, True, 0, -1.5, "", "x", [], [[]], {}, {"a": []}]


def replace_at(given: Mapping[str, Any], way: Sequence[str], other: Any) -> dict[str, Any]:
    """Return a document with another value in one place."""
    key, *rest = way
    return {**given, key: replace_at(given[key], rest, other) if rest else other}


@pytest.mark.parametrize(
    "way",
    [
        *(("steps",), ("steps", "initial.a"), ("steps", "initial.a", "c2"), ("steps", "initial.a", "stepKind")),
        *(("steps", "initial.a", "structuredGate"), ("steps", "initial.a", "transitions"), ("c1",)),
        *(("entryStepMapping",), ("entryStep",), ("validationSteps",), ("validationSteps", "v")),
        *(("validationSteps", "v", "validationConditions"), ("validationSteps", "v", "onFailure")),
        ("steps", "initial.a", "structuredGate", "allowedIntents"),
    ],
    ids="/".join,
)
def test_nothing_in_a_registry_is_a_surprise(tmp_path: Path, way: tuple[str, ...]) -> None:
    step = {**STEP, "stepKind": "work", "structuredGate": {**GATE}}
    given = registry(step, validationSteps={"v": {}}, entryStepMapping={})
    for number, wrong in enumerate(WRONG):
        migrated(tmp_path / str(number), {HERE: replace_at(given, way, wrong)})


@pytest.mark.parametrize(
    "way",
    [
        *(("agents",), ("agents", "a"), ("agents", "a", "closeOnComplete"), ("agents", "a", "closeCondition")),
        *(("handoffs",), ("labels",), ("labelMapping",), ("prioritizer",), ("projectBinding",), ("issueStore",)),
    ],
    ids="/".join,
)
def test_nothing_in_a_workflow_is_a_surprise(tmp_path: Path, way: tuple[str, ...]) -> None:
    given = workflow(agents={"a": {"role": "validator", "closeOnComplete": True}})
    for number, wrong in enumerate(WRONG):
        migrated(tmp_path / str(number), {WORKFLOW: replace_at(given, way, wrong)})


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_nothing_in_an_agent_is_a_surprise(tmp_path: Path, wrong: Any) -> None:
    migrated(tmp_path, with_agent(wrong))
    migrated(tmp_path, {HERE: registry(), ".agent/a/agent.json": wrong})


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("indent", [None, 4, "\t"])
def test_the_layout_stays(tmp_path: Path, end: str, mark: bytes, indent: int | str | None) -> None:
    text = json.dumps(registry({**STEP, "name": "Ä😀", "usesStdin": False}), indent=indent, ensure_ascii=False)
    found = migrated(tmp_path, {HERE: mark + text.replace("\n", end).encode()})
    after = found.after[HERE]
    assert after.startswith(mark + b"{")
    whole = after.removeprefix(mark).decode()
    now = json.loads(whole)
    assert now["steps"]["initial.a"]["name"] == "Ä😀"
    assert whole == json.dumps(now, indent=indent, ensure_ascii=False).replace("\n", end)


def test_a_text_in_which_a_name_stands_twice_is_left_to_a_person(tmp_path: Path) -> None:
    text = json.dumps(registry()).replace('"c2": "initial"', '"c2": "closure", "c2": "initial"')
    found = migrated(tmp_path, {HERE: text.encode()})
    assert not found.after
    assert (HERE, ()) in asked(found)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    found = migrated(tmp_path, {HERE: b"{", WORKFLOW: b"[", ".agent/b/steps_registry.json": registry()})
    assert [tree.file for tree in found.unreadable] == [HERE, WORKFLOW]
    assert list(found.after) == [".agent/b/steps_registry.json"]

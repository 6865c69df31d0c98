"""The corpus: every agent and workflow of 1.13 is migrated, loses nothing, and is of 1.14 then."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from stagec.change.migration import Migration, migrate
from stagec.check.pipeline import Project, compile_project
from stagec.ir.plan import dump
from stagec.languages.registry.lower import CONTINUED
from stagec.sources.project.settings import Settings

FLAT = ("c2", "c3", "edition", "adaptation")


def agents(generation: str) -> list[Path]:
    """Return the folders of the agents of some generation."""
    if "STAGEC_CORPUS" not in os.environ:
        return []
    folders = sorted(Path(os.environ["STAGEC_CORPUS"], "agents").iterdir())
    return [
        each for each in folders if json.loads((each / "_meta.json").read_text())["generation"].startswith(generation)
    ]


def workflows() -> list[dict[str, Any]]:
    if "STAGEC_CORPUS" not in os.environ:
        return []
    listed = json.loads(Path(os.environ["STAGEC_CORPUS"], "workflows", "index.json").read_text())
    return list(listed["workflows"])


def lay_out(agent: Path, folder: Path) -> Path:
    """Copy an agent to where climpt has it, and return its folder."""
    name = agent.name.rpartition("-")[0]
    target = folder / ".agent" / name
    shutil.copytree(agent, target, ignore=shutil.ignore_patterns("_config", "_meta.json"))
    if (agent / "_config").is_dir():
        shutil.copytree(agent / "_config", folder / ".agent" / "climpt" / "config")
    return target


def write(folder: Path, found: Migration) -> None:
    for file, data in {**found.after, **found.created}.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(data)


def restore(step: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """Return a step of 1.14 as 1.13 has it, with what was written only because 1.13 takes it for granted left out."""
    flat = {key: given for key, given in step.get("address", {}).items() if key in FLAT}
    kind = {"stepKind": step["kind"]} if "kind" in step else {}
    whole = {key: given for key, given in step.items() if key not in {"kind", "address"}} | flat | kind
    return {key: given for key, given in whole.items() if key in old}


@pytest.mark.parametrize("agent", agents("g1-current"), ids=lambda agent: agent.name)
def test_a_registry_of_1_13_is_brought_to_1_14(agent: Path, tmp_path: Path) -> None:
    target = lay_out(agent, tmp_path)
    before = json.loads((target / "steps_registry.json").read_text())
    found = migrate(Project(tmp_path, (), Settings()))
    write(tmp_path, found)
    after = json.loads((target / "steps_registry.json").read_text())
    assert found.unreadable == ()
    assert list(after["steps"]) == list(before["steps"])
    for key, step in after["steps"].items():
        assert not {"stepKind", *FLAT} & step.keys()
        assert step["address"]["c1"] == before["c1"]
        assert restore(step, before["steps"][key]) == before["steps"][key]
        assert "kind" in step or step["address"]["c2"] not in {"initial", "continuation", "verification", "closure"}
    for verdict, entry in before.get("entryStepMapping", {}).items():
        assert after["entryStepMapping"].get(verdict) in (
            entry,
            {**after["entryStepMapping"][verdict], "initial": entry},
        )
    kept = {key: given for key, given in before.items() if key not in {"steps", "entryStepMapping"}}
    assert {key: after[key] for key in kept} == kept


@pytest.mark.parametrize("agent", agents("g1-current"), ids=lambda agent: agent.name)
def test_an_agent_of_1_13_keeps_what_it_may_use(agent: Path, tmp_path: Path) -> None:
    file = lay_out(agent, tmp_path) / "agent.json"
    before = json.loads(file.read_text()) if file.exists() else {"runner": {}}
    found = migrate(Project(tmp_path, (), Settings()))
    write(tmp_path, found)
    after = json.loads(file.read_text()) if file.exists() else {"runner": {}}
    boundaries = before["runner"].get("boundaries", {})
    settings = [json.loads(data)["permissions"] for data in found.created.values()]
    for moved in settings:
        assert moved == {"allow": boundaries["allowedTools"], "defaultMode": boundaries["permissionMode"]}
        del before["runner"]["boundaries"]
    assert after == before
    assert settings or not boundaries or any(each.at.file.endswith("agent.json") for each in found.decisions)


@pytest.mark.parametrize("agent", agents("g"), ids=lambda agent: agent.name)
def test_no_agent_is_a_surprise(agent: Path, tmp_path: Path) -> None:
    project = Project(tmp_path, (), Settings())
    lay_out(agent, tmp_path)
    write(tmp_path, migrate(project))
    again = migrate(project)
    assert (dict(again.after), dict(again.created), again.rewrites) == ({}, {}, ())


@pytest.mark.parametrize("agent", agents("g4"), ids=lambda agent: agent.name)
def test_an_agent_of_1_14_has_nothing_to_do(agent: Path, tmp_path: Path) -> None:
    lay_out(agent, tmp_path)
    found = migrate(Project(tmp_path, (), Settings()))
    assert (found.rewrites, [each.what for each in found.decisions], found.unreadable) == ((), [], ())


@pytest.mark.parametrize("listed", workflows(), ids=lambda listed: listed["name"])
def test_a_workflow_is_brought_to_1_14(listed: dict[str, Any], tmp_path: Path) -> None:
    given = Path(os.environ["STAGEC_CORPUS"], "workflows", listed["file"]).read_bytes()
    file = tmp_path / ".agent" / "workflow.json"
    file.parent.mkdir()
    file.write_bytes(given)
    project = Project(tmp_path, (), Settings())
    found = migrate(project)
    write(tmp_path, found)
    now = json.loads(file.read_text())
    open_places = {each.at.pointer for each in found.decisions}
    for name, agent in now["agents"].items():
        is_left = any(pointer[:2] == ("agents", name) for pointer in open_places)
        assert is_left or not {"closeOnComplete", "closeCondition"} & agent.keys()
    assert "issueStore" not in now
    assert "issueSource" in now or () in open_places
    if listed["generation"].startswith("w3"):
        assert found.rewrites == ()
    again = migrate(project)
    assert (dict(again.after), again.rewrites) == ({}, ())


def describe(folder: Path) -> dict[str, Any]:
    """Return what a registry means: its nodes with their kinds, their moves and its entries, whatever the release."""
    (meaning,) = compile_project(Project(folder, (), Settings())).meanings
    flow = meaning.flow
    return {
        "nodes": {
            name: (
                node.kind,
                {(edge.on, str(edge.target), str(edge.when)) for edge in node.edges if edge.on != "abort"},
            )
            for name, node in flow.nodes.items()
        },
        "entries": {name: entry.node for name, entry in flow.entries.items()},
        "bound": None if flow.bound is None else flow.bound.executions,
    }


@pytest.mark.parametrize("agent", agents("g1-current"), ids=lambda agent: agent.name)
def test_both_releases_give_the_same_graph(agent: Path, tmp_path: Path) -> None:
    lay_out(agent, tmp_path)
    before = describe(tmp_path)
    write(tmp_path, migrate(Project(tmp_path, (), Settings())))
    after = describe(tmp_path)
    pairs = {name: node for name, node in after["entries"].items() if name.endswith(CONTINUED)}
    assert {name: node for name, node in after["entries"].items() if name not in pairs} == before["entries"]
    assert all(node.startswith("continuation.") for node in pairs.values())
    assert after["bound"] == before["bound"]
    assert after["nodes"] == before["nodes"]


@pytest.mark.parametrize("agent", agents("g1-current"), ids=lambda agent: agent.name)
def test_both_releases_give_the_same_plan_but_for_what_1_14_adds(agent: Path, tmp_path: Path) -> None:
    lay_out(agent, tmp_path)
    before = make_plan(tmp_path)
    found = migrate(Project(tmp_path, (), Settings()))
    write(tmp_path, found)
    after = make_plan(tmp_path)
    for nodes in (before["nodes"], after["nodes"]):
        for node in nodes.values():
            node["act"].pop("repeats", None)
            node.get("validation", {}).pop("everyOutcome", None)
            if not found.created:  # a person has to say which tools are allowed
                node["act"].pop("tools", None)
    assert after["nodes"] == before["nodes"]
    assert after["limits"] == before["limits"]


def make_plan(folder: Path) -> Any:
    (meaning,) = compile_project(Project(folder, (), Settings())).meanings
    return json.loads(dump(meaning.plan()))["plan"]

"""The tools that stages may call, their servers, and the session around them."""

from __future__ import annotations

import json

import pytest
from frontends.stages.freezing._pipelines import Freezing, markdown, stage

from stagec.ir.plan import dump
from stagec.ir.plan.act import Converse
from stagec.ir.plan.document import LoopHook, Server, Session, Tool

TOOLS = """
bundled: [Read, {name: Bash, effects: read}]
discovered:
  - {name: run_tests, effects: mutating, schema: 'schemas/all.json#/$defs/run'}
  - {name: look, schema: schemas/all.json}
mcp:
  files: {command: npx, args: ["-y", server], env: {TOKEN: hunter2, A: "${B:-hunter3}"}, cwd: sub}
  search: {url: "https://example.com/mcp", headers: {Authorization: Bearer hunter4, Accept: hunter5}}
  idle: {command: never, env: {NOBODY: hunter6}}
"""
SCHEMAS = '{"type": "object", "$defs": {"run": {"type": "object", "required": ["path"]}}}'
LAUNCH, INPUT = "1" * 64, "2" * 64
LOCK = json.dumps(
    {
        "version": 1,
        "servers": {
            "files": {"launch": LAUNCH, "tools": {"read_file": {"effects": "read", "schema": INPUT}}},
            "search": {"launch": "3" * 64, "tools": {"find": {"effects": "unknown", "schema": INPUT}}},
            "idle": {"launch": "4" * 64, "tools": {"rest": {"effects": "read", "schema": INPUT}}},
        },
    }
)
FILES = {"tools__yaml": TOOLS, "tools__lock__json": LOCK, "schemas/all__json": SCHEMAS}
FOUND = Server(f"sha256:{LAUNCH}", "npx", ("-y", "server"), "sub", ("A", "TOKEN"))
SEARCH = Server(f"sha256:{'3' * 64}", url="https://example.com/mcp", headers=("Accept", "Authorization"))


def allowing(*names: str) -> str:
    return markdown(allowedTools=f"[{', '.join(names)}]")


def test_tools_are_allowed_in_their_order_and_once_each(project: Freezing) -> None:
    act = project(allowing("Write", "look", "Write", "Read")).nodes["plan"].act
    assert isinstance(act, Converse)
    assert act.tools == ("Write", "look", "Read")


def test_without_a_catalogue_only_well_known_names_say_anything(project: Freezing) -> None:
    plan = project(allowing("Read", "bash", "look"))
    assert plan.tools == {
        "Read": Tool("unknown", "read"),
        "bash": Tool("unknown", "mutating"),
        "look": Tool("unknown", "unknown"),
    }
    assert plan.servers == {}


def test_a_catalogue_says_where_tools_come_from_and_what_they_take(project: Freezing) -> None:
    plan = project(allowing("Read", "Bash", "run_tests", "look", "read_file"), **FILES)
    run, look = plan.tools["run_tests"].schema, plan.tools["look"].schema
    assert run is not None
    assert look is not None
    assert plan.tools == {
        "Read": Tool("bundled", "read"),
        "Bash": Tool("bundled", "read"),
        "run_tests": Tool("discovered", "mutating", schema=run),
        "look": Tool("discovered", "unknown", schema=look),
        "read_file": Tool("mcp", "read", "files", digest=f"sha256:{INPUT}"),
    }
    assert json.loads(plan.contents[run])["required"] == ["path"]
    assert json.loads(plan.contents[look])["type"] == "object"


def test_the_servers_of_these_tools_are_there_and_no_others(project: Freezing) -> None:
    assert project(allowing("read_file"), **FILES).servers == {"files": FOUND}
    assert project(allowing("read_file", "find"), **FILES).servers == {"files": FOUND, "search": SEARCH}
    assert project(allowing("Read"), **FILES).servers == {}


def test_a_server_that_is_not_locked_has_no_tools(project: Freezing) -> None:
    plan = project(allowing("read_file"), tools__yaml=TOOLS, **{"schemas/all__json": SCHEMAS})
    assert (plan.tools, plan.servers) == ({"read_file": Tool("unknown", "unknown")}, {})


def test_no_value_of_an_environment_or_a_header_gets_into_a_plan(project: Freezing) -> None:
    data = dump(project(allowing("read_file", "find"), **FILES))
    assert b"hunter" not in data
    assert all(name in data for name in (b"TOKEN", b"Authorization"))


def test_the_files_of_a_catalogue_are_sources_where_stages_have_tools(project: Freezing) -> None:
    with_tools = {"pipeline.yaml", "plan.md", "tools.yaml", "tools.lock.json", "schemas/all.json"}
    assert set(project(allowing("look"), **FILES).sources) == with_tools
    assert set(project(allowing("Read"), **FILES).sources) == with_tools - {"schemas/all.json"}
    assert set(project(allowing(), **FILES).sources) == {"pipeline.yaml", "plan.md"}


def test_servers_alone_are_a_catalogue(project: Freezing) -> None:
    servers = '{"mcpServers": {"files": {"command": "npx"}}}'
    plan = project(allowing("read_file"), __mcp__json=servers, tools__lock__json=LOCK)
    assert plan.servers == {"files": Server(f"sha256:{LAUNCH}", "npx")}
    assert {".mcp.json", "tools.lock.json"} <= set(plan.sources)


class TestAStageObjectThatAllowsNothingAndForbidsNothing:
    def test_may_call_none_without_a_catalogue(self, machine: Freezing) -> None:
        plan = machine(stage("free", allowedTools=None))
        act = plan.nodes["free"].act
        assert isinstance(act, Converse)
        assert (act.tools, plan.tools) == ((), {})

    def test_may_call_every_tool_of_the_catalogue(self, project: Freezing) -> None:
        more = "stages: [plan.md, object.json]\n"
        given = json.dumps(stage("free", allowedTools=None))
        plan = project(markdown(), more, object__json=given, **FILES)
        act = plan.nodes["free"].act
        assert isinstance(act, Converse)
        assert act.tools == ("Read", "Bash", "run_tests", "look", "read_file", "find", "rest")
        assert set(plan.tools) == set(act.tools)
        assert set(plan.servers) == {"files", "search", "idle"}


HOOK = "{stage: TOOL_CALL, when: pre, kind: guard, call: 'a.b:c', comment: why}"


@pytest.mark.parametrize(
    ("more", "meant"),
    [
        ("", None),
        ("loopHooks: []\n", None),
        ("securityMode: yolo\n", Session("yolo")),
        (f"loopHooks: [{HOOK}]\n", Session(hooks=(LoopHook("TOOL_CALL", "pre", "guard", "a.b:c"),))),
    ],
)
def test_the_session_is_there_when_the_pipeline_speaks_of_it(
    project: Freezing, more: str, meant: Session | None
) -> None:
    assert project(markdown(), more).session == meant

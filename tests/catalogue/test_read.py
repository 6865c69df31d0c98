"""Catalogues as read: what they have, and how much of it can be relied on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.core.place import Place
from stagec.ir.catalogue import (
    Catalogue,
    CatalogueServer,
    Effects,
    Lock,
    LockedServer,
    LockedTool,
    Origin,
    find_catalogue,
    read_catalogue,
    well_known_effects,
)
from stagec.ir.catalogue.lock import render_lock
from stagec.ir.catalogue.read import launch_digest
from stagec.sources.contract.schemas import Miss, Schema
from stagec.sources.read import Sources
from stagec_dev.checkout import diagnostics

FILES = CatalogueServer("files", Place("x"), command="server-files")


def sources(root: Path, **files: Json) -> Sources:
    for name, body in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body if isinstance(body, str) else json.dumps(body), encoding="utf-8")
    return Sources(root, Budgets())


def catalogue(root: Path, **files: Json) -> Catalogue:
    found = read_catalogue(sources(root, **files), "tools.json")
    assert found is not None
    return found


def lock(*servers: CatalogueServer, tools: int = 1) -> str:
    at = Place("tools.lock.json")
    offered = {f"t{number}": LockedTool(f"t{number}", at, Effects.READ, "0" * 64) for number in range(tools)}
    return render_lock(
        Lock(at, {each.name: LockedServer(each.name, at, launch_digest(each), offered) for each in servers})
    ).decode()


def test_a_catalogue_has_its_tools_in_order(tmp_path: Path) -> None:
    found = catalogue(
        tmp_path,
        **{
            "tools.json": {
                "bundled": ["Read", {"name": "Bash", "effects": "read"}],
                "discovered": [{"name": "run_tests", "schema": "run.json"}],
                "mcp": {"files": {"command": "server-files"}},
            },
            "run.json": {"type": "object"},
            "tools.lock.json": lock(FILES),
        },
    )
    shown = [(each.name, each.origin, each.effects, each.server, each.at) for each in found.tools]
    assert shown == [
        ("Read", Origin.BUNDLED, Effects.READ, None, Place("tools.json", ("bundled", 0))),
        ("Bash", Origin.BUNDLED, Effects.READ, None, Place("tools.json", ("bundled", 1, "name"))),
        ("run_tests", Origin.DISCOVERED, Effects.UNKNOWN, None, Place("tools.json", ("discovered", 0, "name"))),
        ("t0", Origin.MCP, Effects.READ, "files", Place("tools.lock.json", ("servers", "files", "tools", "t0")).key),
    ]
    assert found.by_name["run_tests"].schema == Schema({"type": "object"}, Place("run.json"))
    assert (found.is_whole, found.unlocked, found.faulty) == (True, (), frozenset())


def test_a_few_names_have_well_known_effects() -> None:
    names = ("Read", "grep", "NotebookEdit", "notebookedit", "BASH", "run_tests")
    assert [well_known_effects(each).value for each in names] == [
        "read", "read", "mutating", "mutating", "unknown", "unknown",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "files",
    [
        {"tools.json": {"bundled": "Read"}},
        {"tools.json": {"bundled": ["Read"], "bundeled": []}},
        {"tools.json": '{"bundled": ["Read"]'},
        {"tools.json": {"mcp": {"files": {"command": "server-files"}}}},
        {"tools.json": {"mcp": {"files": {"command": "other"}}}, "tools.lock.json": lock(FILES)},
        {"tools.json": {"bundled": ["Read"]}, "tools.lock.json": "<<<<<<<"},
        {"tools.json": {"bundled": ["Read"]}, ".mcp.json": "{"},
    ],
)
def test_what_is_not_known_makes_a_catalogue_less_than_whole(tmp_path: Path, files: dict[str, Json]) -> None:
    assert not catalogue(tmp_path, **files).is_whole


def test_servers_alone_are_never_the_whole(tmp_path: Path) -> None:
    at = sources(
        tmp_path,
        **{".mcp.json": {"mcpServers": {"files": {"command": "server-files"}}}, "tools.lock.json": lock(FILES)},
    )
    found = read_catalogue(at, ".mcp.json")
    assert found is not None
    assert (list(found.by_name), found.is_whole) == (["t0"], False)


def test_what_is_switched_off_is_not_there(tmp_path: Path) -> None:
    found = catalogue(tmp_path, **{"tools.json": {"mcp": {"a": {"command": "a", "disabled": True}}}})
    assert (found.servers, found.is_whole) == ({}, True)


def test_a_schema_that_is_missing_comes_with_what_was_meant(tmp_path: Path) -> None:
    tools = {"discovered": [{"name": "a", "schema": "schemas/run_test.json"}]}
    found = catalogue(tmp_path, **{"tools.json": tools, "schemas__run_tests.json": {}})
    assert (found.tools[0].schema, found.tools[0].near) == (Miss.NO_FILE, "schemas/run_tests.json")


def test_a_catalogue_is_judged_once_however_often_it_is_read(tmp_path: Path) -> None:
    at = sources(
        tmp_path,
        **{"tools.json": {"bundled": [3], "discovered": [{"name": "a", "schema": "a.json"}]}, "a.json": {"type": 3}},
    )
    first, again = read_catalogue(at, "tools.json"), read_catalogue(at, "tools.json")
    assert first is not None
    assert again is not None
    assert first.tools == again.tools
    assert [(tree.file, len(tree.faults)) for tree in at.trees] == [("a.json", 1), ("tools.json", 1)]


def test_a_lock_may_be_larger_than_a_source(tmp_path: Path) -> None:
    text = lock(FILES, tools=10_000)
    assert len(text) > Budgets().file_size
    found = catalogue(
        tmp_path, **{"tools.json": {"mcp": {"files": {"command": "server-files"}}}, "tools.lock.json": text}
    )
    assert (len(found.tools), found.is_whole) == (10_000, True)


def test_nothing_there_is_no_catalogue(tmp_path: Path) -> None:
    at = sources(tmp_path, **{".mcp.json": {"mcpServers": {}}})
    assert read_catalogue(at, "tools.yaml") is None
    assert read_catalogue(at, "agents/.mcp.json") is None


@pytest.mark.parametrize(
    ("files", "folder", "found"),
    [
        ({"tools.yaml": "bundled: []", "tools.json": {"bundled": []}}, "", "tools.yaml"),
        ({"tools.yaml": "other: program", "tools.json": {"bundled": []}}, "", "tools.json"),
        ({"a__tools.json": {"tools": []}, ".mcp.json": {"mcpServers": {}}}, "a", ".mcp.json"),
        ({"a__.mcp.json": {"mcpServers": {}}, ".mcp.json": {"mcpServers": {}}}, "a", "a/.mcp.json"),
        ({"tools.yaml": "bundled: []", "a__b.txt": ""}, "a", None),
        ({"tools.json": '{"bundled": [}'}, "", "tools.json"),
        ({"tools.json": '{"tools": [}'}, "", None),
    ],
)
def test_the_nearest_catalogue_counts(tmp_path: Path, files: dict[str, Json], folder: str, found: str | None) -> None:
    at = sources(tmp_path, **files)
    assert find_catalogue(at, folder) == found


def test_what_another_program_calls_tools_is_not_judged(tmp_path: Path) -> None:
    at = sources(tmp_path, **{"tools.json": '{"tools": [}'})
    find_catalogue(at, "")
    assert at.trees == ()


def test_only_the_names_of_secrets_decide_how_a_server_is_started() -> None:
    one, other = (CatalogueServer("a", Place("x"), command="a", env={"TOKEN": each}) for each in ("1", "2"))
    assert launch_digest(one) == launch_digest(other)
    assert launch_digest(one) != launch_digest(CatalogueServer("a", Place("x"), command="a", env={"KEY": "1"}))
    assert launch_digest(one) != launch_digest(
        CatalogueServer("a", Place("x"), command="a", args=("b",), env={"TOKEN": "1"})
    )


def test_a_misspelt_type_of_a_tool_is_one_error(tmp_path: Path) -> None:
    sources(tmp_path, **{"tools.yaml": "discovered: [{name: a, schema: a.json}]", "a.json": {"type": "oject"}})
    assert [each.code for each in diagnostics(tmp_path) if each.severity is Severity.ERROR] == ["STG161"]

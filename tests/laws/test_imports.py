"""Who may import whom: the contracts of `pyproject.toml`, and one door for each library."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
from laws.modules import tree_of, walk

TOP = Path(__file__).parents[2]
DOORS = {
    "anyio": ("stagec.runtime.world",),
    "networkx": ("stagec.ir.graph",),
    "click": ("stagec.cli",),
    "croniter": ("stagec.runtime.drivers.dbos",),
    "cryptography": ("stagec.ir.signing",),
    "dbos": ("stagec.runtime.drivers.dbos",),
    "graphviz": ("stagec.views.dot",),
    "jinja2": ("stagec.core.templates",),
    "jiter": ("stagec.sources.formats.json",),
    "httpx2": ("stagec.runtime.world",),
    "lsprotocol": ("stagec.lsp.conversion", "stagec.lsp.requests"),
    "mcp": ("stagec.runtime.world",),
    "pygls": ("stagec.lsp.conversion", "stagec.lsp.requests"),
    "msgspec": ("stagec.core.value",),
    "mcp_types": ("stagec.runtime.world",),
    "jsonschema": ("stagec.change.comparison.second_judge",),
    "jsonschema_specifications": ("stagec.change.comparison.second_judge",),
    "jsonschema_rs": (
        "stagec.sources.shape",
        "stagec.sources.project.mistakes",
        "stagec.runtime.machine.answer_schemas",
    ),
    "opentelemetry": ("stagec.runtime.telemetry.otlp",),
    "pydantic_ai": ("stagec.runtime.world.models.pydantic_provider",),
    "referencing": ("stagec.sources.contract.schemas", "stagec.change.comparison.second_judge"),
    "starlette": ("stagec.runtime.serve",),
    "uvicorn": (
        "stagec.runtime.serve.server",
        "stagec.runtime.serve.server",
    ),
    "securesystemslib": ("stagec.ir.signing",),
    "sqlalchemy": ("stagec.runtime.drivers.dbos",),
    "sqlite3": ("stagec.runtime.drivers.local.journal",),
    "xllamacpp": ("stagec.runtime.world.models.llama_process",),
    "yaml": ("stagec.sources.formats", "stagec.sources.yaml_text"),
    "ruamel": ("stagec.sources.formats", "stagec.sources.yaml_text"),
    "tomllib": ("stagec.sources.project.toml",),
}
"""The only places that import a library, each with all that is below it."""
FORBIDDEN = ("ftplib", "http", "pickle", "smtplib", "socket", "ssl", "urllib.request", "xmlrpc")
"""Modules that nothing needs which only reads files."""
PAIRS = {TOP / "compiler" / "stagec" / "runtime/world" / "supervised_program.py"}
"""Who connects two processes of one machine by a pair of sockets, which reaches no network."""

HELPERS = TOP / "compiler" / "stagec" / "core" / "workers.py"
"""Who pickles what it sends to processes that it has started, and reads what these send back."""

HEALTH = TOP / "compiler" / "stagec" / "runtime/drivers" / "dbos" / "health.py"
"""Who tells whether a worker lives, because somebody asked for that; it connects to nothing."""
LISTENER = TOP / "compiler" / "stagec" / "runtime/serve" / "server.py"
"""Who listens, because somebody asked for a page; it connects to nothing."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("stagec", include_external_packages=True, cache_dir=None)


def imported(path: Path) -> Iterator[str]:
    """Yield every module that a file imports, as written."""
    for node in walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{each.name}" for each in node.names)


def importers(graph: grimp.ImportGraph, library: str) -> set[str]:
    return graph.find_modules_that_directly_import(library) if library in graph.modules else set()


def test_the_contracts_are_kept() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    ended = subprocess.run(
        [program, "--no-cache"], cwd=TOP, capture_output=True, text=True, check=False, env={"PYTHONPATH": "compiler"}
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_library_is_imported_behind_its_door_only(graph: grimp.ImportGraph) -> None:
    assert [
        f"{module} imports {library}"
        for library, doors in DOORS.items()
        for module in sorted(importers(graph, library))
        if not f"{module}.".startswith(tuple(f"{door}." for door in doors))
    ] == []


def test_every_library_has_a_door(graph: grimp.ImportGraph) -> None:
    outside = {name for name in graph.modules if name.partition(".")[0] != "stagec"}
    assert {name for name in outside if name not in sys.stdlib_module_names and name not in DOORS} == set()


def test_every_dependency_has_a_door() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [
        *project["dependencies"],
        *project["optional-dependencies"]["dbos"],
        *project["optional-dependencies"]["mcp"],
        *project["optional-dependencies"]["models"],
        *project["optional-dependencies"]["serve"],
        *project["optional-dependencies"]["otel"],
        *project["optional-dependencies"]["sign"],
    ]
    named = {re.split(r"[^\w.-]", each)[0].replace("-", "_").partition(".")[0] for each in needed}
    modules = {"PyYAML": "yaml", "pydantic_ai_slim": "pydantic_ai"}
    modules |= {each: "opentelemetry" for each in named if each.startswith("opentelemetry_")}
    assert {modules.get(each, each) for each in named} <= set(DOORS)


def _others() -> set[Path]:
    return set((TOP / "compiler" / "stagec").rglob("*.py")) - PAIRS - {LISTENER, HEALTH, HELPERS}


def test_a_pair_of_sockets_is_all_that_is_made_of_them() -> None:
    made = [
        ast.unparse(node.func)
        for path in PAIRS
        for node in walk(tree_of(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("socket.")
    ]
    assert made == ["socket.socketpair"]


def test_the_server_of_the_page_connects_to_nothing() -> None:
    text = LISTENER.read_text(encoding="utf-8")
    assert "socket.socket(" in text
    assert "connect(" not in text


def test_what_is_pickled_stays_among_processes_of_this_one() -> None:
    text = HELPERS.read_text(encoding="utf-8")
    assert set(imported(HELPERS)).isdisjoint({*FORBIDDEN} - {"pickle"})
    assert text.count("pickle.loads(") == text.count("pipe.read(int.from_bytes") == 1
    assert "open(" not in text.replace("subprocess.Popen(", "")


def test_nothing_reaches_for_the_network() -> None:
    named = {f"{each}." for path in _others() for each in imported(path)}
    assert [each for each in sorted(named) if each.startswith(tuple(f"{module}." for module in FORBIDDEN))] == []


def test_pausing_the_collector_has_one_home() -> None:
    package = TOP / "compiler" / "stagec"
    homes = [str(path.relative_to(package)) for path in sorted(package.rglob("*.py")) if "gc" in set(imported(path))]
    assert homes == ["core/collector.py"]


def test_value_classes_have_one_mechanism(graph: grimp.ImportGraph) -> None:
    others = ("attr", "attrs", "dataclasses", "pydantic")
    assert {name: importers(graph, name) for name in others if importers(graph, name)} == {}

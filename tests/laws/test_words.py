"""What may not be written anywhere in the project, and what must be."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from stagec_dev.scaffold import MARK

TOP = Path(__file__).parents[2]
MODULES = tuple(sorted((TOP / "compiler").rglob("*.py")))
PACKAGE = TOP / "compiler" / "stagec"

every_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(TOP / "compiler")))

SILENCERS = re.compile(r"#\s*(type:\s*ignore|noqa|pragma:\s*no\s*cover|ruff:|mypy:)|\b(TODO|FIXME|XXX)\b")
VAGUE = {"base", "common", "helper", "helpers", "manager", "misc", "shared", "types", "util", "utils"}
PREFIXES = ("do_", "get_", "handle_", "process_")
MACHINE = re.compile(
    r"(?<![\w.])/(home|root|Users|work|opt)/|(?<![\w.])/tmp/\w|\b[A-Z]:\\+Users|\.\./shared/(corpus|design|spec)",
    re.IGNORECASE,
)
ORIGINS = re.compile(
    r"\b("
    + "|".join(
        [
            "chat" + "gpt",
            "clau" + "de code session",
            "as an ai",
            "language model wrote",
            "co-authored" + "-by",
            "pair" + "-programmed with",
            "issue" + r"s?\s+#?\d+",
        ]
    )
    + r")\b",
    re.IGNORECASE,
)


def tracked() -> list[Path]:
    """Return every file that git knows or would add, or all of a checkout without git."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        return [
            path for path in TOP.rglob("*") if path.is_file() and not {".git", ".venv", "__pycache__"} & set(path.parts)
        ]
    return [TOP / name for name in listed.stdout.splitlines() if (TOP / name).is_file()]


def readable(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@every_module
def test_no_tool_is_silenced_and_nothing_is_left_for_later(path: Path) -> None:
    assert SILENCERS.findall(path.read_text(encoding="utf-8")) == []


@every_module
def test_a_module_is_named_for_what_it_holds(path: Path) -> None:
    assert path.stem not in VAGUE


@every_module
def test_a_function_is_named_for_what_it_does(path: Path) -> None:
    named = (node.name.lstrip("_") for node in tree(path).body if isinstance(node, ast.FunctionDef))
    assert [name for name in named if name.startswith(PREFIXES)] == []


@every_module
def test_a_module_says_its_single_job(path: Path) -> None:
    said = ast.get_docstring(tree(path)) or ""
    first = said.partition("\n\n")[0].strip()
    assert first.endswith(".")
    assert not re.search(r"[.!?]\s+[A-Z]", first), "one sentence, more behind an empty line"


@every_module
def test_a_value_is_made_one_way(path: Path) -> None:
    decorators = {
        ast.unparse(each)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ClassDef)
        for each in node.decorator_list
    }
    assert decorators <= {"value"}


def test_no_file_names_a_machine_or_how_it_was_made() -> None:
    own = {Path(__file__), *(TOP / "tests" / "plan_vectors").rglob("*.json")}  # runs that solve issues
    found = {
        f"{path.relative_to(TOP)}: {match.group()}"
        for path in tracked()
        if path not in own
        for pattern in (MACHINE, ORIGINS)
        for match in pattern.finditer(readable(path))
    }
    assert found == set()


@every_module
def test_only_rules_speak(path: Path) -> None:
    """A finding is made by a rule and nobody else; elsewhere `Finding` is at most a type."""
    if path.is_relative_to(PACKAGE / "rules") or not path.is_relative_to(PACKAGE):
        return
    called = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    assert [name.id for name in called if isinstance(name, ast.Name) and name.id in {"Finding", "Related"}] == []


@every_module
def test_a_fault_carries_facts_and_no_sentence(path: Path) -> None:
    """What is handed to `Fault` as text are names: topics, reasons, kinds; a text with spaces would be a sentence."""
    calls = (node for node in ast.walk(tree(path)) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    texts = [text.value for call in calls if call.func.id == "Fault" for text in _texts(call)]  # type: ignore[attr-defined]
    assert [text for text in texts if " " in text] == []


def _texts(call: ast.Call) -> list[ast.Constant]:
    nodes = [node for given in (*call.args, *(each.value for each in call.keywords)) for node in ast.walk(given)]
    return [node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_nothing_is_left_to_be_filled_in() -> None:
    """What `stagec_dev new` marks has been written."""
    exempt = {TOP / "compiler" / "stagec_dev", TOP / "tests" / "stagec_dev", TOP / "docs" / "contributing.md"}
    written = [path for path in tracked() if not exempt & {path, *path.parents}]
    assert [str(path.relative_to(TOP)) for path in written if MARK in readable(path)] == []

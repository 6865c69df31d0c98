"""What may not be written anywhere in the project, and what must be."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from laws.modules import PACKAGE, TOP, calls_in, offenders, text_of, tree_of, walk

from stagec.sources.ignore import Patterns
from stagec_dev.scaffolds import MARK

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
    """Return every file of a checkout or an unpacked archive that `.gitignore` does not leave out."""
    file = TOP / ".gitignore"  # source distributions have none
    ignored = Patterns.of(
        file.read_text(encoding="utf-8").splitlines() if file.exists() else ["__pycache__/", ".venv/"]
    )
    found, folders = list[Path](), [TOP]
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if path.name == ".git" or ignored.verdict(path.relative_to(TOP).as_posix(), folder=path.is_dir()):
                continue
            (folders if path.is_dir() else found).append(path)
    return found


def readable(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def silencers_in(path: Path) -> list[str]:
    return [match.group() for match in SILENCERS.finditer(text_of(path))]


def vague_name_of(path: Path) -> list[str]:
    return [path.stem] if path.stem in VAGUE else []


def vague_functions_in(path: Path) -> list[str]:
    named = (node.name for node in tree_of(path).body if isinstance(node, ast.FunctionDef))
    return [name for name in named if name.lstrip("_").startswith(PREFIXES)]


def unclear_job_of(path: Path) -> Iterator[str]:
    first = (ast.get_docstring(tree_of(path)) or "").partition("\n\n")[0].strip()
    if not first.endswith("."):
        yield "its docstring does not begin with a sentence"
    if re.search(r"[.!?]\s+[A-Z]", first):
        yield "its docstring begins with several sentences; put all but the first behind an empty line"


def decorators_in(path: Path) -> Iterator[str]:
    """Yield the decorators of classes, besides the one for values."""
    for node in walk(tree_of(path)):
        if isinstance(node, ast.ClassDef):
            yield from (name for name in map(ast.unparse, node.decorator_list) if name.partition("(")[0] != "value")


def findings_made_in(path: Path) -> list[str]:
    """List calls that make findings where no rule is: there `Finding` is at most a type."""
    if path.is_relative_to(PACKAGE / "check/rules") or not path.is_relative_to(PACKAGE):
        return []
    return [name for name, _ in calls_in(path) if name in {"Finding", "Related"}]


def sentences_in_faults(path: Path) -> list[str]:
    """List texts with spaces that are handed to `Fault`: what belongs there are names of topics, reasons and kinds."""
    return [text for name, call in calls_in(path) if name == "Fault" for text in _texts(call) if " " in text]


def _texts(call: ast.Call) -> list[str]:
    nodes = [node for given in (*call.args, *(each.value for each in call.keywords)) for node in ast.walk(given)]
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_no_tool_is_silenced_and_nothing_is_left_for_later() -> None:
    assert offenders(silencers_in) == []


def test_a_module_is_named_for_what_it_holds() -> None:
    assert offenders(vague_name_of) == []


def test_a_function_is_named_for_what_it_does() -> None:
    assert offenders(vague_functions_in) == []


def test_a_module_says_its_single_job() -> None:
    assert offenders(unclear_job_of) == []


def test_a_value_is_made_one_way() -> None:
    assert offenders(decorators_in) == []


def test_only_rules_speak() -> None:
    assert offenders(findings_made_in) == []


def test_a_fault_carries_facts_and_no_sentence() -> None:
    assert offenders(sentences_in_faults) == []


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


def test_nothing_is_left_to_be_filled_in() -> None:
    """What `stagec_dev new` marks has been written."""
    exempt = {TOP / "compiler" / "stagec_dev", TOP / "tests" / "stagec_dev", TOP / "docs" / "contributing.md"}
    written = [path for path in tracked() if not exempt & {path, *path.parents}]
    assert [str(path.relative_to(TOP)) for path in written if MARK in readable(path)] == []

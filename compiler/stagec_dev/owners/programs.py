"""Programs that judge a file when they start, and how they are asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.value import value
from stagec.languages.agent_files.known import read_data
from stagec.sources.project.configuration import configure
from stagec_dev.owners.claude_session import PACKAGE
from stagec_dev.owners.placing import Placing, list_words

_Asked = TypeVar("_Asked")
_Told = TypeVar("_Told")
_STEPS = 20


def ask_all(asked: Sequence[_Asked], ask: Callable[[_Asked], _Told], workers: int) -> Iterator[tuple[_Asked, _Told]]:
    """Yield each question with its answer, in order, and write now and then how many there are."""
    step = max(1, len(asked) // _STEPS)
    with ThreadPoolExecutor(workers) as pool:
        for done, pair in enumerate(zip(asked, pool.map(ask, asked), strict=True), 1):
            if done % step == 0 or done == len(asked):
                sys.stderr.write(f"{done} of {len(asked)}\n")
            yield pair


def validate(root: Path) -> Sequence[Diagnostic]:
    """Return the findings of stagec about a project."""
    found = configure((root,))
    return compile_project(Project(found.root, (root,), found.settings)).diagnostics


Document = Mapping[str, Any]


@value
class OwnerProgram:
    """A program, the file that it judges when it starts, the rows about the file, and files that it takes.

    A refusal with one of the `pardoned` words depends on files outside of the project: stagec is silent about it.
    `refusing` are the words of a program that ends well without the file, and `telling` those of stagec about that.
    """

    package: str
    command: Sequence[str]
    file: str
    tool: str
    rows: str
    taken: Sequence[Document]
    pardoned: Sequence[str] = ()
    refusing: str = ""
    telling: str = ""


_PLUGIN = {"name": "one", "version": "1.0.0", "description": "d"}
_LISTED = {"name": "all", "owner": {"name": "me"}, "plugins": [{"name": "one", "source": "./one"}]}
_VALIDATE = ("claude", "plugin", "validate", ".")
PROGRAMS: Mapping[str, OwnerProgram] = {
    "codex": OwnerProgram(
        "@openai/codex@0.171.0",
        ("codex", "mcp", "list"),
        ".codex/config.toml",
        "Codex",
        "config",
        [{"mcp_servers": {"0": {"command": "c"}}}, {"mcp_servers": {"0": {"url": "https://example.com"}}}],
        [
            "invalid transport",  # the user's own file may say how the server is reached
            "invalid type: map, expected a boolean in `features`",  # some features take a map, and their names change
        ],
    ),
    "opencode": OwnerProgram(
        "opencode-ai@1.18.33", ("opencode", "--pure", "debug", "config"), "opencode.json", "OpenCode", "config", [{}]
    ),
    "plugin": OwnerProgram(
        PACKAGE, _VALIDATE, ".claude-plugin/plugin.json", "Claude Code", "plugin", [_PLUGIN], telling="refuses"
    ),
    "marketplace": OwnerProgram(
        PACKAGE, _VALIDATE, ".claude-plugin/marketplace.json", "Claude Code", "marketplace", [_LISTED]
    ),
    "copilot-skill": OwnerProgram(
        "@github/copilot@1.0.102",
        ("copilot", "skill", "list"),
        ".github/skills/one/SKILL.md",
        "Copilot",
        "skill",
        [{"name": "one", "description": "d"}],
        refusing="skills failed to load",
        telling="Copilot does not load the skill",
    ),
}
_VALUES: Sequence[Any] = ("x", "", 1, 1.5, -1, True, [], ["a"], [1], {}, {"a": "b"}, {"a": 1})


def list_documents(owner: OwnerProgram) -> Sequence[Document]:
    """Return each taken file with each value at the path of each row, and with each word that the row names."""
    rows = read_data()[owner.tool]["values"][owner.rows]
    types = {path: type_ for path, type_, *_ in rows if path}
    tried = {path: dict.fromkeys(map(json.dumps, (*_VALUES, *list_words(type_)))) for path, type_ in types.items()}
    placing = Placing(types)
    return [
        placing.put(taken, path, json.loads(each)) for path in tried for taken in owner.taken for each in tried[path]
    ]


def compare(owner: OwnerProgram, program: Path, documents: Sequence[Document], workers: int) -> Iterator[str]:
    """Yield a line for each document of which stagec and the program do not say the same."""
    for document, (status, said) in ask_all(documents, lambda each: _ask(owner, program, each), workers):
        with TemporaryDirectory() as folder:
            text = _write(owner, document, Path(folder))
            told = validate(Path(folder))
        counted = (each for each in told if each.severity is Severity.ERROR or owner.telling)
        errors = [each.message for each in counted if owner.telling in each.message]
        is_lost = status != 0 or (owner.refusing != "" and owner.refusing in said)
        is_refused = is_lost and not any(each in said for each in owner.pardoned)
        if is_refused is not bool(errors):
            yield f"{text.strip()!r}: stagec {errors}, {owner.command[0]} {status} {said[-300:]}"


def _write(owner: OwnerProgram, document: Document, root: Path) -> str:
    file = root / owner.file
    for each in (file.parent, root / ".git"):
        each.mkdir(parents=True, exist_ok=True)
    text = _WRITERS[file.suffix](document)
    file.write_text(text, encoding="utf-8")
    return text


def _ask(owner: OwnerProgram, program: Path, document: Document) -> tuple[int, str]:
    """Return the exit status of a program that starts beside a document, and what it says, in one line."""
    with TemporaryDirectory() as folder:
        root, home = Path(folder, "project"), Path(folder, "home")
        home.mkdir()
        _write(owner, document, root)
        (home / "config.toml").write_text(f'[projects."{root}"]\ntrust_level = "trusted"\n', encoding="utf-8")
        done = subprocess.run(
            [program, *owner.command[1:]],
            cwd=root,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "CODEX_HOME": str(home),
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def _spell(given: Any) -> str:
    """Return a document, or a value of one, as TOML."""
    return "".join(f"{json.dumps(name)} = {_spell_value(each)}\n" for name, each in given.items())


def _spell_value(given: Any) -> str:
    if isinstance(given, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {_spell_value(each)}" for name, each in given.items()) + "}"
    return f"[{', '.join(map(_spell_value, given))}]" if isinstance(given, list) else json.dumps(given)


def _write_frontmatter(given: Document) -> str:
    return "".join(("---\n", *(f"{name}: {json.dumps(each)}\n" for name, each in given.items()), "---\nDo it.\n"))


_WRITERS: Mapping[str, Callable[[Document], str]] = {
    ".toml": _spell,
    ".json": json.dumps,
    ".md": _write_frontmatter,
}
"""The writer of a document, by the suffix of its file."""

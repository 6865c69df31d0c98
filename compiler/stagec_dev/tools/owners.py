"""Compare what stagec says of configurations, agents and skills with what the programs do that own them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.core.value import value
from stagec.languages.agent_files.known import read_data
from stagec.sources.project.configuration import configure
from stagec_dev.claude_files import LOADED, PACKAGE, compare
from stagec_dev.tools import DeveloperTool


@value
class _Owner:
    """A program, the file that it judges when it starts, the rows about the file, and files that it takes.

    A refusal with one of the `pardoned` words depends on files outside of the project: stagec is silent about it.
    `refusing` are the words of a program that ends well without the file, and `telling` those of stagec about that.
    """

    package: str
    command: Sequence[str]
    file: str
    tool: str
    rows: str
    taken: Sequence[Mapping[str, Any]]
    pardoned: Sequence[str] = ()
    refusing: str = ""
    telling: str = ""


_PLUGIN = {"name": "one", "version": "1.0.0", "description": "d"}
_LISTED = {"name": "all", "owner": {"name": "me"}, "plugins": [{"name": "one", "source": "./one"}]}
_OWNERS: Mapping[str, _Owner] = {
    "codex": _Owner(
        "@openai/codex@0.171.0",
        ["codex", "mcp", "list"],
        ".codex/config.toml",
        "Codex",
        "config",
        [{"mcp_servers": {"0": {"command": "c"}}}, {"mcp_servers": {"0": {"url": "https://example.com"}}}],
        [
            "invalid transport",  # the user's own file may say how the server is reached
            "invalid type: map, expected a boolean in `features`",  # some features take a map, and their names change
        ],
    ),
    "opencode": _Owner(
        "opencode-ai@1.18.33", ["opencode", "--pure", "debug", "config"], "opencode.json", "OpenCode", "config", [{}]
    ),
    "plugin": _Owner(
        PACKAGE,
        ["claude", "plugin", "validate", "."],
        ".claude-plugin/plugin.json",
        "Claude Code",
        "plugin",
        [_PLUGIN],
    ),
    "marketplace": _Owner(
        PACKAGE,
        ["claude", "plugin", "validate", "."],
        ".claude-plugin/marketplace.json",
        "Claude Code",
        "marketplace",
        [_LISTED],
    ),
    "copilot-skill": _Owner(
        "@github/copilot@1.0.102",
        ["copilot", "skill", "list"],
        ".github/skills/one/SKILL.md",
        "Copilot",
        "skill",
        [{"name": "one", "description": "d"}],
        refusing="skills failed to load",
        telling="Copilot does not load the skill",
    ),
}
_VALUES: Sequence[Any] = ("x", "", 1, 1.5, -1, True, [], ["a"], [1], {}, {"a": "b"}, {"a": 1})


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("owner", choices=sorted({*_OWNERS, *LOADED}), help="the program, or the file of it")
    parser.add_argument("--programs", type=Path, required=True, metavar="DIR", help="where npm installs the program")
    parser.add_argument("--mutants", type=int, default=500, help="so many files at most (default: 500)")
    parser.add_argument("--from", dest="first", type=int, default=0, metavar="N", help="the first (default: 0)")


def _run(options: Namespace) -> int:
    owner, loaded = _OWNERS.get(options.owner), LOADED.get(options.owner)
    package, command = (owner.package, owner.command[0]) if owner is not None else (PACKAGE, "claude")
    program = (options.programs / "node_modules/.bin" / command).absolute()
    if not program.exists():
        subprocess.run(["npm", "install", "--silent", "--prefix", options.programs, package], check=True)
    mutants = [*(_mutate(owner) if owner is not None else ()), *(loaded.heads() if loaded is not None else ())]
    chosen = mutants[options.first :: max(1, len(mutants) // options.mutants)][: options.mutants]
    differing = [line for mutant in chosen if owner is not None for line in _compare(owner, program, mutant)]
    differing += compare(program, loaded, chosen) if loaded is not None else ()
    told = f"{len(chosen) - len(differing)} of {len(chosen)} files are judged as {package} judges them"
    sys.stdout.write("\n".join([*differing, told, ""]))
    return int(bool(differing))


def _mutate(owner: _Owner) -> Iterator[dict[str, Any]]:
    """Yield each taken file with each value at the path of each row; `*` is the member or element `0`."""
    rows = read_data()[owner.tool]["values"][owner.rows]
    for path in dict.fromkeys(row[0] for row in rows if row[0]):
        for taken in owner.taken:
            for each in _VALUES:
                yield _put(deepcopy(dict(taken)), path.replace("*", "0").split("."), each)


def _put(given: dict[str, Any], path: list[str], each: Any) -> dict[str, Any]:
    """Put a value at a path; what is no map or list on the way becomes a map, and `{a=b}` gives one that member."""
    held: Any = given
    for name in path[:-1]:
        if name[0] == "{":
            held.update([name.strip("{}").split("=")])
            continue
        at = int(name) if isinstance(held, list) else name
        if isinstance(held, dict) and not isinstance(held.get(name), dict | list):
            held[name] = {}
        held = held[at]
    last = path[-1]
    if last[0] == "{":
        held.update([last.strip("{}").split("=")], **(each if isinstance(each, dict) else {}))
    else:
        held[int(last) if isinstance(held, list) else last] = each
    return given


def _compare(owner: _Owner, program: Path, mutant: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line if stagec and the program do not say the same of a file."""
    with TemporaryDirectory() as folder:
        root, home = Path(folder, "project"), Path(folder, "home")
        file = root / owner.file
        for each in (file.parent, root / ".git", home):
            each.mkdir(parents=True)
        text = _WRITERS[file.suffix](mutant)
        file.write_text(text, encoding="utf-8")
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
            timeout=120,
            check=False,
        )
        found = configure((root,))
        told = compile_project(Project(found.root, (root,), found.settings)).diagnostics
    said = " ".join((done.stdout + done.stderr).split())
    counted = (each for each in told if each.severity is Severity.ERROR or owner.telling)
    errors = [each.message for each in counted if owner.telling in each.message]
    is_lost = done.returncode != 0 or (owner.refusing != "" and owner.refusing in said)
    is_refused = is_lost and not any(each in said for each in owner.pardoned)
    if is_refused is not bool(errors):
        yield f"{text.strip()!r}: stagec {errors}, {owner.command[0]} {done.returncode} {said[-300:]}"


def _spell(given: Any) -> str:
    """Return a document, or a value of one, as TOML."""
    return "".join(f"{json.dumps(name)} = {_spell_value(each)}\n" for name, each in given.items())


def _spell_value(given: Any) -> str:
    if isinstance(given, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {_spell_value(each)}" for name, each in given.items()) + "}"
    return f"[{', '.join(map(_spell_value, given))}]" if isinstance(given, list) else json.dumps(given)


def _write_frontmatter(given: Mapping[str, Any]) -> str:
    return "".join(("---\n", *(f"{name}: {json.dumps(each)}\n" for name, each in given.items()), "---\nDo it.\n"))


_WRITERS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    ".toml": _spell,
    ".json": json.dumps,
    ".md": _write_frontmatter,
}
"""What writes a document, by the suffix of its file."""


OWNERS = DeveloperTool(_declare, _run)

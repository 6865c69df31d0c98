"""Mutated agent files: the verdict on their frontmatter is that of Claude Code itself.

They are compared only by hand: `STAGEC_CLAUDE_CODE` names the program `claude` of Claude Code 2.1.330, which checks a
plugin without a network or an account. A folder of its own stands for the home of the user.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

from campaigns import choose

from stagec.core.budgets import Budgets
from stagec.languages.agent_files.loaders import LoadOutcome, load_claude_code
from stagec.sources.read import Sources

PROGRAM = os.environ.get("STAGEC_CLAUDE_CODE")
MANIFEST = {"name": "p", "version": "1.0.0", "description": "d", "author": {"name": "a"}}
BODY = "\nReview it.\n\n---\n\nThen say so.\n"
LINES = (
    "name: a",
    "description: Reviews changes",
    "description: Use it when: a change is ready",
    "description: >\n  Reviews: changes\n  and more",
    "description: |\n  Reviews changes",
    'description: "Reviews" changes',
    "description: 'It''s reviewed'",
    "tools: Read, Grep",
    "tools: [Read, Grep]",
    "tools:\n  - Read\n  - Bash(git: *)",
    "tools: *",
    "model: @fast",
    "argument-hint: [a] | [b]",
    "metadata:\n  a: b\n  c: d: e",
    "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: x",
    "# a remark: with a colon",
    "<example>\nuser: hello\n</example>",
    "allowed-tools: Bash(git add:*)",
    "color: blue",
    "key with blanks: value",
    "a.b: c: d",
    "x1: y: z",
)
PIECES = (
    "---",
    "----",
    " ---",
    "...",
    "\t",
    ": ",
    " #",
    "'",
    '"',
    "{",
    "}",
    "[",
    "]",
    "*",
    "&a ",
    "!b ",
    "|",
    ">",
    "%",
    "@",
    "`",
    "\r",
    "-",
    "\\",
    "é",
    "\u2028",
    ",",
    "?",
    "<x>",
    "~",
)


def mutate(chance: random.Random) -> str:
    """Return a file of some lines of frontmatter, with up to three slips of the pen."""
    inside = "\n".join(chance.sample(LINES, chance.randint(1, 5)))
    text = f"---\n{inside}\n---\n{BODY}"
    for _ in range(chance.randint(0, 3)):
        at = chance.randrange(min(len(text), len(inside) + 12))
        kind = chance.randrange(4)
        if kind == 0:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + text[at + 1 :]
        elif kind == 2:
            text = text[:at] + "\n" + text[at:]
        else:
            text = text[:at] + chance.choice(PIECES) + text[at + 1 :]
    return text.replace("\n", "\r\n") if chance.random() < 0.1 else text


def ask_owner(folder: Path, texts: dict[str, str]) -> dict[str, str]:
    """Return what Claude Code says of the frontmatter of agents in a plugin: `lost`, `absent` or nothing."""
    assert PROGRAM is not None
    (folder / ".claude-plugin").mkdir(parents=True)
    (folder / ".claude-plugin" / "plugin.json").write_text(json.dumps(MANIFEST))
    (folder / "agents").mkdir()
    (folder / "home").mkdir()
    for name, text in texts.items():
        (folder / "agents" / name).write_bytes(text.encode())
    environment = {"HOME": str(folder / "home"), "PATH": os.defpath, "DISABLE_AUTOUPDATER": "1"}
    command = [PROGRAM, "plugin", "validate", "--json", str(folder)]
    done = subprocess.run(command, capture_output=True, env=environment, check=False, timeout=300)
    found: dict[str, str] = {}
    for each in json.loads(done.stdout)["contents"]:
        told = [
            said["message"] for group in ("errors", "warnings") for said in each[group] if said["path"] == "frontmatter"
        ]
        if told:
            found[Path(each["file"]).name] = "absent" if told[0].startswith("No frontmatter") else "lost"
    return found


def judge(folder: Path, names: Iterator[str]) -> dict[str, str]:
    """Return what stagec says of them."""
    sources = Sources(folder, Budgets())
    found: dict[str, str] = {}
    for name in names:
        tree = sources.tree(f"agents/{name}", "file")
        assert tree is not None
        outcome = load_claude_code(tree, Budgets())
        if outcome.outcome in {LoadOutcome.LOST, LoadOutcome.ABSENT}:
            is_absent = outcome.outcome is LoadOutcome.ABSENT or any(
                each.reason == "unclosed" for each in outcome.faults
            )
            found[name] = "absent" if is_absent else "lost"
    return found


def test_mutants_are_read_repaired_or_lost_as_claude_code_says(tmp_path: Path) -> None:
    chance = random.Random(int(os.environ.get("STAGEC_SEED", "7")))
    texts = {f"a{number:03}.md": mutate(chance) for number in range(choose(100, whole=500))}
    for name, text in texts.items():
        (tmp_path / "agents").mkdir(exist_ok=True)
        (tmp_path / "agents" / name).write_bytes(text.encode())
    ours = judge(tmp_path, iter(texts))
    assert {*ours.values()} == {"lost", "absent"}
    if PROGRAM is None:
        return
    theirs = ask_owner(tmp_path / "plugin", texts)
    other = {
        name: (theirs.get(name), ours.get(name), text)
        for name, text in texts.items()
        if theirs.get(name) != ours.get(name)
    }
    # of five hundred one may be YAML that one of the two parsers lets pass, such as a '?' without a key
    assert len(other) <= 1, other

"""A step of a registry is read, judged and lowered again only where it can mean something else, and always then."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import campaigns
import pytest
from lsp.conftest import EXAMPLES, Editor, load

from stagec.change.flow_tests.witness import search_briefly
from stagec.check.pipeline import Compilation, compile_project
from stagec.core.place import Place
from stagec.core.value import replace
from stagec.languages.registry.document import Registry, Step
from stagec.lsp.workspace import CheckedProject
from stagec.sources.formats.json.outline import locate
from stagec.sources.tree import Lines

REGISTRY, SCHEMA = "steps_registry.json", "schemas/closure.schema.json"
EDITS = campaigns.choose(15, whole=2_000)

Steps = dict[str, Any]


def read(project: CheckedProject) -> Registry:
    assert project.compilation is not None
    (registry,) = (each for each in project.compilation.documents if isinstance(each, Registry))
    return registry


def list_fresh(before: Registry, after: Registry) -> list[str]:
    """Return the keys of the steps that are not the very ones of an earlier check."""
    known: dict[str, Step] = dict(before.steps)
    return [key for key, step in after.steps.items() if step is not known.get(key)]


def compare(editor: Editor, project: CheckedProject) -> Compilation:
    """Compare a project with a fresh check of the same texts."""
    fresh = compile_project(replace(load(editor.folder), overlay=project.overlay), search_briefly)
    assert project.found == fresh.diagnostics
    assert project.compilation is not None
    assert project.compilation.flows == fresh.flows
    return fresh


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    shutil.copytree(EXAMPLES / "broken-on-purpose", tmp_path / "project")
    return Editor(tmp_path / "project")


def test_only_a_step_that_has_changed_is_read_again(editor: Editor) -> None:
    text = editor.open(REGISTRY)
    schema = editor.open(SCHEMA)
    editor.check()
    before = read(editor.check())
    key = next(iter(before.steps))
    registry = json.loads(text)
    registry["steps"][key]["name"] = "another name"
    editor.write(REGISTRY, "\n\n" + json.dumps(registry))
    after = read(editor.check())
    assert list_fresh(before, after) == [key]
    editor.write(SCHEMA, schema + "\n")  # what a schema promises is no part of a step
    again = read(editor.check())
    assert list_fresh(after, again) == [*again.steps]


def test_no_file_is_read_only_because_an_earlier_check_has_read_it(editor: Editor) -> None:
    registry = json.loads(editor.open(REGISTRY))
    editor.open(SCHEMA, "{")
    assert "STG106" in editor.codes()[SCHEMA]
    editor.write(REGISTRY, json.dumps({**registry, "schemasBase": "elsewhere"}))
    assert SCHEMA not in editor.codes()
    compare(editor, editor.check())


@pytest.mark.parametrize(
    ("old", "new"), [("x" * 40, ""), ("{}", "{ }\n"), ("{}", '"}"'), ('"b": 7', '"b": {},\n"c": 7')]
)
def test_a_container_ends_where_it_does_after_an_edit(old: str, new: str) -> None:
    steps = {f"s{number}": {"a": ["x" * 900, {}], "b": number} for number in range(300)}
    text = json.dumps({"steps": steps}, indent=1)
    place = Place("f", ("steps", "s290", "b"))
    for edited in (text, text.replace(old, new, 1), text, "\n\n" + text):
        start = edited.index("290", edited.index('"s290"') + 6)
        assert locate(edited.encode(), [place]) == {place: Lines(edited).span(start, start + 3)}


def test_what_a_step_means_follows_from_others_too(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "issue-flow", tmp_path / "project")
    editor = Editor(tmp_path / "project")
    (file,) = (path.relative_to(editor.folder).as_posix() for path in editor.folder.rglob(REGISTRY))
    text = editor.open(file)
    editor.check()
    for key, step in json.loads(text)["steps"].items():
        for change in ({"stepKind": "closure", "kind": "closure"}, {"stepId": "another"}):
            registry = json.loads(text)
            registry["steps"][key] |= {member: each for member, each in change.items() if member in step}
            editor.write(file, json.dumps(registry))
            compare(editor, editor.check())
    for other in json.loads(text)["steps"]:  # an input says which members of the answer of another step matter
        registry = json.loads(text)
        registry["steps"][other]["structuredGate"].pop("handoffFields", None)
        for inputs in ({}, {"taken": {"from": f"{other}.nothing"}}):
            registry["steps"][key]["inputs"] = inputs
            editor.write(file, json.dumps(registry))
            compare(editor, editor.check())


def take_id(chance: random.Random, steps: Steps, key: str) -> None:
    steps[key]["stepId"] = chance.choice([*steps, f"{key}-2"])


def rename_key(chance: random.Random, steps: Steps, key: str) -> None:
    steps[chance.choice((f"{key}x", key.removesuffix("x")))] = steps.pop(key)


def remove(chance: random.Random, steps: Steps, key: str) -> None:
    chance.choice((steps, steps[key])).popitem()


def copy(_: random.Random, steps: Steps, key: str) -> None:
    steps[f"{key}.copy"] = steps[key]


def lead(chance: random.Random, steps: Steps, key: str) -> None:
    target = chance.choice([*steps, key[:-1], "nowhere", None])
    steps[key].setdefault("transitions", {})[chance.choice(("next", "jump", "closing"))] = {"target": target}


def allow(chance: random.Random, steps: Steps, key: str) -> None:
    gate = steps[key].setdefault("structuredGate", {})
    gate["allowedIntents"] = chance.sample(("next", "repeat", "jump", "handoff", "closing", "abort"), 3)


def set_member(chance: random.Random, steps: Steps, key: str) -> None:
    member = chance.choice(("stepKind", "c2", "uvVariables", "outputSchemaRef", "structuredGate", "transitions"))
    steps[key][member] = chance.choice(("work", "closure", "section", ["issue", "nothing"], {}, None))


def exchange(_: random.Random, steps: Steps, key: str) -> None:
    steps[key] = steps.pop(key)


CHANGES: tuple[Callable[[random.Random, Steps, str], None], ...] = (
    *(take_id, rename_key, remove, copy, lead, allow, set_member, exchange),
)


def change_registry(chance: random.Random, text: str) -> str:
    """Return a registry with one change of a step, or with a character that is too much somewhere."""
    try:
        registry = json.loads(text)
    except ValueError:
        return text
    steps = registry.get("steps")
    if chance.random() < 1 / 8 or not isinstance(steps, dict) or not steps:
        at = chance.randrange(len(text) + 1)
        return text[:at] + chance.choice(('"', "{", ",", "\n", "x")) + text[at:]
    chance.choice(CHANGES)(chance, steps, chance.choice([*steps]))
    return json.dumps(registry, indent=chance.choice((None, 2)))


def change_schema(chance: random.Random, text: str) -> str:
    """Return a schema with one word in the place of another."""
    words = text.split('"')[1::2] or ["type"]
    return text.replace(f'"{chance.choice(words)}"', f'"{chance.choice(words)}"', 1)


@pytest.mark.parametrize("name", ["broken-on-purpose", "issue-flow"])
def test_edits_of_steps_and_schemas_leave_nothing_stale(tmp_path: Path, name: str) -> None:
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    editor, chance = Editor(tmp_path / name), random.Random(f"steps of {name}")
    paths = (path for path in editor.folder.rglob("*.json") if path.name == REGISTRY or path.parent.name == "schemas")
    files = sorted(path.relative_to(editor.folder).as_posix() for path in paths)
    whole = {file: editor.open(file) for file in files}
    now = dict(whole)
    (registry,) = (file for file in files if file.endswith(REGISTRY))
    for _ in range(EDITS):
        file = chance.choice((registry, registry, *files))
        change = change_registry if file == registry else change_schema
        # back to what is right from time to time, else all is soon broken
        now[file] = whole[file] if chance.random() < 1 / 6 else change(chance, now[file])
        editor.write(file, now[file])
        compare(editor, editor.check())

"""Operators that know nothing of what a document means but where its keys, names and numbers are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from random import Random
from typing import Any

from properties.mutants.projects import Change, Pointer, Project, drop, put, reach, rename, value_at, walk
from properties.mutants.words import change_case, misspell

from stagec.change.flow_tests.document import is_flow_test

Operator = Callable[[Project, Random], Iterator[Change]]
Operators = Mapping[str, Operator]
Patterns = tuple[tuple[str | int, ...], ...]
Files = Callable[[Project], tuple[str, ...]]

OTHERS = {"object": {"x": 1}, "array": [1], "string": "x", "number": 7.5, "boolean": True, "null": None}


def keys(files: Files, patterns: Patterns, spell: Callable[[str, Random], str]) -> Operator:
    """Return the operator that writes keys otherwise."""

    def change(project: Project, chance: Random) -> Iterator[Change]:
        for file, path in places(project, files, patterns):
            old = str(path[-1])
            new = spell(old, chance)
            if new not in value_at(project.data(file), path[:-1]):
                data = rename(project.data(file), path, new)
                yield project.change(file, data, path, (*path[:-1], new), words=(old, new))

    return change


def strings(files: Files, patterns: Patterns, spell: Callable[[str, Random], str]) -> Operator:
    """Return the operator that writes names otherwise."""

    def change(project: Project, chance: Random) -> Iterator[Change]:
        for file, path in places(project, files, patterns):
            old = value_at(project.data(file), path)
            if isinstance(old, str) and old:
                new = spell(old, chance)
                yield project.change(
                    file, put(project.data(file), path, new), path, words=(old, new, old.rpartition(".")[2])
                )

    return change


def parts(files: Files, patterns: Patterns, separator: str) -> Operator:
    """Return the operator that misspells one part of a path, such as the second name of `next_action.action`."""

    def change(project: Project, chance: Random) -> Iterator[Change]:
        for file, path in places(project, files, patterns):
            old = value_at(project.data(file), path)
            if isinstance(old, str):
                split = old.split(separator)
                at = chance.choice([index for index, part in enumerate(split) if part not in {"", "#"}])
                split[at] = misspell(split[at], chance)
                yield project.change(file, put(project.data(file), path, separator.join(split)), path)

    return change


def removals(files: Files, patterns: Patterns) -> Operator:
    """Return the operator that leaves members out; what named them may be told instead."""

    def change(project: Project, _chance: Random) -> Iterator[Change]:
        for file, path in places(project, files, patterns):
            words = (path[-1],)
            yield project.change(file, drop(project.data(file), path), path, words=words)

    return change


def mistyped(files: Files, patterns: Patterns, *right: str) -> Operator:
    """Return the operator that puts a value of another JSON type."""

    def change(project: Project, chance: Random) -> Iterator[Change]:
        for file, path in places(project, files, patterns):
            kind = chance.choice([kind for kind in OTHERS if kind not in right])
            yield project.change(file, put(project.data(file), path, OTHERS[kind]), path)

    return change


def numbers(files: Files, patterns: Patterns, *wrong: Any) -> Operator:
    """Return the operator that puts a number out of its range."""

    def change(project: Project, chance: Random) -> Iterator[Change]:
        for file, path in places(project, files, patterns):
            yield project.change(file, put(project.data(file), path, chance.choice(wrong)), path)

    return change


def places(project: Project, files: Files, patterns: Patterns) -> Iterator[tuple[str, Pointer]]:
    """Yield what patterns stand for, in every file that they are about."""
    for file in files(project):
        data = project.data(file)
        yield from ((file, path) for pattern in patterns for path in reach(data, *pattern))


def spelt(word: str, chance: Random) -> str:
    return misspell(word, chance)


def cased(word: str, _chance: Random) -> str:
    return change_case(word)


def lost_files(endings: Callable[[Project], tuple[str, ...]]) -> Operator:
    """Return the operator that deletes files."""

    def change(project: Project, _chance: Random) -> Iterator[Change]:
        for file in endings(project):
            yield Change({file: None}, ((file, ()),), frozenset(mentions(file)))

    return change


def moved_files(endings: Callable[[Project], tuple[str, ...]]) -> Operator:
    """Return the operator that misspells the name of files."""

    def change(project: Project, chance: Random) -> Iterator[Change]:
        for file in endings(project):
            folder, _, name = file.rpartition("/")
            stem, dot, ending = name.partition(".")
            new = f"{folder}/{misspell(stem, chance)}{dot}{ending}".lstrip("/")
            written = (project.root / file).read_bytes()
            yield Change({file: None, new: written}, ((file, ()), (new, ())), frozenset(mentions(file)))

    return change


def mentions(file: str) -> Iterator[str]:
    """Yield the words by which a file may be named."""
    name = file.rpartition("/")[2]
    yield from (file, name, name.partition(".")[0].removeprefix("f_"), *file.split("/")[:-1])


def repeated_keys(project: Project, chance: Random) -> Iterator[Change]:
    """Write one member of an object twice."""
    for file in project.files:
        if not file.endswith(".json"):
            continue
        data = project.data(file)
        for path in reach(data, "*"):
            key, value = json.dumps(path[0]), json.dumps(value_at(data, path))
            text = project.write(file, data).decode()
            yield Change({file: f"{text.rstrip().removesuffix('}')},{key}: {value}}}".encode()}, ((file, path),))


def broken_syntax(project: Project, chance: Random) -> Iterator[Change]:
    """Leave out or double a character on which the syntax of a file rests."""
    for file in sorted({*project.named(".json"), *project.named(".yaml"), *project.stages}):
        if is_flow_test(file):  # `stagec test` reads it, and no check of the project
            continue
        text = project.write(file, project.data(file)).decode()
        head = text if file not in project.stages else text.partition("\n---\n")[0]
        marks = [at for at, letter in enumerate(head) if letter in ('",:[]{}' if file.endswith(".json") else ":")]
        marks = [at for at in marks if file.endswith(".json") or head[at + 1 : at + 2] in {"\n", " "}]
        for at in chance.sample(marks, min(3, len(marks))):
            broken = text[:at] + text[at + 1 :]
            if is_broken(file, broken):
                yield Change({file: broken.encode()}, ((file, ()),))


def pasted_members(project: Project, _chance: Random) -> Iterator[Change]:
    """Copy a step or a stage under another name, and leave its id as it is."""
    for file, path in places(project, lambda each: each.named(".json"), (("steps", "*"),)):
        data = project.data(file)
        key = f"{path[-1]}-2"
        data["steps"][key] = value_at(data, path)
        yield project.change(file, data, path, ("steps", key), words=(path[-1], key))
    for file in project.stages:
        copy = f"{file.removesuffix('.md')}-2.md"
        name = project.data(file).get("id")
        yield Change({copy: (project.root / file).read_bytes()}, ((file, ()), (copy, ())), frozenset({str(name)}))


def single_quotes(project: Project, chance: Random) -> Iterator[Change]:
    """Put one text of a JSON file, or all of them, in single quotes."""
    for file in project.named(".json"):
        if not is_flow_test(file):
            text = project.write(file, project.data(file)).decode()
            texts = [each.span() for each in re.finditer(r'"[^"\\\n\']*"', text)]
            for begin, end in chance.sample(texts, min(3, len(texts))):
                yield Change({file: f"{text[:begin]}'{text[begin + 1 : end - 1]}'{text[end:]}".encode()}, ((file, ()),))
            yield Change({file: text.replace('"', "'").encode()}, ((file, ()),))


def miscounted_braces(project: Project, chance: Random) -> Iterator[Change]:
    """Write a brace or a bracket of a JSON file twice, or not at all."""
    for file in project.named(".json"):
        if not is_flow_test(file):
            text = project.write(file, project.data(file)).decode()
            marks = [at for at, letter in enumerate(text) if letter in "{}[]"]
            for at in chance.sample(marks, min(6, len(marks))):
                broken = text[:at] + text[at] * chance.choice((0, 2)) + text[at + 1 :]
                yield Change({file: broken.encode()}, ((file, ()),))


def swapped_values(project: Project, chance: Random) -> Iterator[Change]:
    """Let two members of one object, both texts or both of other types, change their values."""
    for file in sorted({*project.named(".json"), *project.named(".yaml"), *project.stages}):
        if is_flow_test(file):
            continue
        data = project.data(file)
        pairs = [
            (at, one, other)
            for at, given in walk(data)
            if isinstance(given, dict)
            for one, other in combinations(given, 2)
            if given[one] != given[other] and not {one, other} & REMARKS
        ]
        for at, one, other in chance.sample(pairs, min(8, len(pairs))):
            owner = value_at(data, at)
            swapped = put(put(project.data(file), (*at, one), owner[other]), (*at, other), owner[one])
            yield project.change(file, swapped, (*at, one), (*at, other), words=(one, other, owner[one], owner[other]))


REMARKS = frozenset({"title", "description", "$comment", "name", "displayName", "default", "examples", "version"})
"""Members whose values no rule compares with others."""


def is_broken(file: str, text: str) -> bool:
    if not file.endswith(".json"):
        return True
    try:
        json.loads(text)
    except ValueError:
        return True
    return False

"""Answers and inputs that are changed a little: which of them the schemas of a plan accept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from stagec.core.canonical import compact
from stagec.core.json import Json, Object, list_of, object_of
from stagec.plan.act import Converse, Prompt
from stagec.plan.gate import IntentGate
from stagec.plan.node import Node
from stagec.runtime import Program, Started
from stagec.runtime.advance import find_trouble
from stagec.runtime.answer_schemas import PreparedSchema, prepare
from stagec.runtime.gate import write_intent

Broken = Mapping[Any, tuple[int, ...]]
"""The expectations that do not hold, by where they stand: the numbers of the changes that are judged otherwise."""


def find_broken(program: Program, expected: Object, started: Started, results: Mapping[str, Json]) -> Broken:
    """Return which changes of the last answers of nodes, and of the inputs of a run, are not judged as expected.

    A change is a JSON merge patch: a member that is null is taken away. No numbers stand for a node without an answer
    that could be changed.
    """
    found: dict[tuple[str, ...], tuple[int, ...]] = {}

    def judge(at: tuple[str, ...], changes: Json, base: Json, is_accepted: Callable[[Json], bool]) -> None:
        wanted = at[0] in {"accepts", "fit"}
        every = enumerate(list_of(changes))
        wrong = tuple(index for index, each in every if is_accepted(merge_patch(base, each)) is not wanted)
        if wrong:
            found[at] = wrong

    for member in ("accepts", "refuses"):
        for node, changes in object_of(expected.get(member)).items():
            known, result = program.plan.nodes.get(node), object_of(results.get(node))
            answer = result.get("parsed", result.get("answer"))
            if known is not None and isinstance(known.act, Converse | Prompt) and isinstance(answer, dict):
                judge((member, node), changes, answer, _Answers(program, known, known.act.schema).accepts)
            else:
                found[member, node] = ()
    for member in ("fit", "unfit"):
        if member in expected:
            judge((member,), expected[member], {**started.inputs}, _Start(program, started).is_fit)
    return found


class _Answers:
    def __init__(self, program: Program, node: Node, schema: str | None) -> None:
        self._gate, self._text = node.gate, None if schema is None else program.plan.contents[schema]

    def accepts(self, answer: Json) -> bool:
        """Tell whether a node accepts an answer, as runs do: an object, in which a word may stand for an intent."""
        if not isinstance(answer, dict):
            return False
        if self._text is None:
            return True
        read = write_intent(self._gate, answer) if isinstance(self._gate, IntentGate) else answer
        return any(_fits(self._text, compact(each)) for each in ((answer,) if read is answer else (read, answer)))


@lru_cache(maxsize=20_000)
def _fits(schema: str, answer: str) -> bool:
    """Tell whether a schema accepts an answer, both as texts: plans that differ elsewhere ask the same again."""
    return _prepare(schema).complaint(json.loads(answer)) is None


@lru_cache(maxsize=500)
def _prepare(schema: str) -> PreparedSchema:
    return prepare(schema)


class _Start:
    def __init__(self, program: Program, started: Started) -> None:
        self._program, self._started = program, started

    def is_fit(self, inputs: Json) -> bool:
        """Tell whether a run can begin with some inputs."""
        started = Started(self._started.run, self._started.entry, object_of(inputs))
        return find_trouble(self._program, started) is None


def merge_patch(base: Json, change: Json) -> Json:
    """Return a value changed as RFC 7396 says."""
    if not isinstance(change, dict):
        return change
    merged = dict(object_of(base))
    for name, each in change.items():
        if each is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), each)
    return merged

"""Machines of other systems become registries; the unreachable steps are those that a plain search does not find."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from campaigns import choose

from stagec.check.pipeline import Project, compile_project
from stagec.sources.project.settings import Settings

MACHINES = choose(60, whole=300)
UNREACHABLE = {"STG601", "STG602", "STG603"}

Machine = list[list[int]]


def machine(random: Random) -> Machine:
    """Return the successors of each state; a state without any is final, and the first one begins."""
    count = random.randint(3, 30)
    often = random.choice((0.5, 1.0, 1.5, 3.0))
    states = [
        sorted({random.randrange(count) for _ in range(min(count, round(random.expovariate(1 / often))))})
        for _ in range(count)
    ]
    states[-1] = []
    return states


def reached(states: Machine) -> set[int]:
    found, todo = {0}, [0]
    for state in todo:
        fresh = [each for each in states[state] if each not in found]
        found.update(fresh)
        todo += dict.fromkeys(fresh)
    return found


class Translation:
    """A registry and its schemas, made from a machine state by state."""

    def __init__(self, states: Machine, random: Random) -> None:
        self._states, self._random = states, random
        self._kinds = ["work" if each else "closure" for each in states]
        self.steps: dict[str, Any] = {}
        self.schemas: dict[str, Any] = {}
        for state in range(len(states)):
            self._step(state)

    def name(self, state: int) -> str:
        return f"{'continuation' if self._states[state] else 'closure'}.s{state}"

    def _step(self, state: int) -> None:
        name = self.name(state)
        properties: dict[str, Any] = {}
        gate: dict[str, Any] = {"handoffFields": [], "intentField": "action", "intentSchemaRef": "#/properties/action"}
        transitions: dict[str, Any] = {} if self._states[state] else {"closing": {"target": None}}
        onwards = [each for each in self._states[state] if each != state or self._random.random() < 0.5]
        if len(onwards) < len(self._states[state]):
            transitions["repeat"] = {"target": name}
        for intent, kind in (("next", "work"), ("handoff", "closure")):
            targets = [self.name(each) for each in onwards if self._kinds[each] == kind]
            if intent == "next" and targets and self._random.random() < 0.4:
                self._jump(targets[1:] or targets, gate, properties, transitions)
                targets = targets[:1] if len(targets) > 1 else []
            self._route(intent, targets, gate, properties, transitions)
        gate["allowedIntents"] = intents = [*transitions, *({"jump"} & properties.keys() - transitions.keys())]
        properties["action"] = {"enum": list(intents)}
        self.schemas[name] = {"type": "object", "required": list(properties), "properties": properties}
        self.steps[name] = {
            "stepId": name,
            "name": name,
            "c2": name.partition(".")[0],
            "c3": "state",
            "stepKind": self._kinds[state],
            "outputSchemaRef": {"file": "all.schema.json", "schema": name},
            "structuredGate": gate,
            "transitions": transitions,
        }

    def _route(self, intent: str, targets: list[str], gate: Any, properties: Any, transitions: Any) -> None:
        """Lead on by one intent: at once, or by a value that is handed over, with a default or without."""
        if len(targets) == 1:
            transitions[intent] = {"target": targets[0]}
        elif targets:
            cases = {f"to{number}": target for number, target in enumerate(targets)}
            properties[f"{intent}By"] = {"enum": list(cases)}
            if self._random.random() < 0.5:
                cases["default"] = cases.pop("to0")
            gate["handoffFields"].append(f"{intent}By")
            transitions[intent] = {"condition": f"{intent}By", "targets": cases}

    def _jump(self, targets: list[str], gate: Any, properties: Any, transitions: Any) -> None:
        """Let an answer name its target, with a transition for the rest or without."""
        gate["targetField"] = "jump"
        properties["jump"] = {"enum": targets}
        if self._random.random() < 0.5:
            transitions["jump"] = {"target": targets[0]}

    def files(self) -> dict[str, bytes]:
        registry = {
            "agentId": "demo",
            "version": "1.0.0",
            "c1": "steps",
            "entryStep": self.name(0),
            "steps": self.steps,
        }
        given = {"steps_registry.json": registry, "schemas/all.schema.json": self.schemas}
        return {name: json.dumps(each).encode() for name, each in given.items()}


@pytest.mark.parametrize("seed", range(MACHINES))
def test_the_unreachable_steps_are_those_that_a_search_does_not_find(seed: int, tmp_path: Path) -> None:
    random = Random(seed)  # noqa: S311
    states = machine(random)
    translated = Translation(states, random)
    found = compile_project(Project(tmp_path, (tmp_path / "steps_registry.json",), Settings(), translated.files()))
    told = [one for one in found.diagnostics if one.code in UNREACHABLE]
    lost = {translated.name(state) for state in set(range(len(states))) - reached(states)}
    notes = [one for one in told if one.code == "STG602"]
    assert len(notes) <= 1
    places = [place for one in told for place in (one.at, *(other.at for other in one.related if one in notes))]
    hidden = sum(max(0, name_count(one.message) - 1 - len(one.related)) for one in notes)
    assert {place.pointer[1] for place in places} <= lost
    assert len(places) + hidden == len(lost)


def name_count(message: str) -> int:
    """Return how many names a sentence lists, those included that it only counts."""
    more = re.search(r" and (\d+) more ", message)
    return len(re.findall(r"'[^']+'", message)) + (int(more[1]) if more is not None else 0)

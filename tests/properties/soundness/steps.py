"""The steps of a registry, made at random: how they lead to each other, and what each of them says of it."""

from __future__ import annotations

import json
from typing import Any

from properties.soundness.chance import Chance
from properties.soundness.schemas import VALUES, Leaf, SchemaMaker

Json = Any

FIELDS = ("action", "action", "next_action.action", "result.next.kind")
TARGETS = ("to", "next_action.target")
_REPEATED = 0.5
_SPLIT = ("escalate", "jump", "repeat", "handoff", "split")
"""Leans towards moves that depend on what is handed over."""


class Node:
    """A step that is being made: what it is, and to which steps each of its intents leads."""

    def __init__(self, key: str, kind: str) -> None:
        self.key = key
        self.kind = kind
        self.leads: dict[str, list[str]] = {}
        self.handoff: list[str] = []
        """The keys of its hand-over."""

    def lead(self, intent: str, target: str) -> None:
        """Let an intent lead to one more step."""
        known = self.leads.setdefault(intent, [])
        if target not in known:
            known.append(target)


def connected(random: Chance, spine: list[Node], closures: list[Node], others: list[str]) -> None:
    """Let every step be reached and every step come to an end, and add some moves that nobody needs."""
    for at, node in enumerate(spine[1:], 1):
        _joined(random, random.choice(spine[:at]), node)
    for node in spine:
        if not node.leads or random.likely(0.3, "handoff"):
            _closed(random, node, random.choice(closures))
        if random.random() < 0.4:
            _joined(random, node, random.choice(spine))
        if node.kind == "verification" and random.likely(0.5, "escalate"):
            for target in random.sample(spine, min(len(spine), random.choice((1, 2, 3)))):
                node.lead("escalate", target.key)
            if random.lean == "escalate" and random.random() < 0.5:
                node.lead("escalate", node.key)
    for closure in closures:
        if not any(closure.key in targets for node in spine for targets in node.leads.values()):
            _closed(random, random.choice(spine), closure)
    for name in others:
        node = random.choice(spine)
        node.lead("handoff" if name.startswith("closure") and node.kind == "work" else "next", name)
    for node in (*spine, *closures):
        if random.likely(_REPEATED / 2 * (1 + (node.kind == "closure")), "repeat"):
            works = [each.key for each in spine if each.kind == "work"]
            known = [node.key, *works] if node.kind == "closure" else [node.key, *(each.key for each in spine)]
            node.leads["repeat"] = random.sample(known, min(len(known), random.choice((1, 1, 2))))


def _joined(random: Chance, node: Node, target: Node) -> None:
    begins = target.key.startswith("initial.") and target.key.partition(".")[2] != node.key.partition(".")[2]
    ways = ["next", "next", "jump"] + ["jump"] * (4 if random.lean == "jump" else 0)
    ways += ["handoff", "handoff"] if begins and node.kind == "work" else []
    ways += ["escalate", "escalate", "escalate"] if node.kind == "verification" else []
    node.lead(random.choice(ways), target.key)


def _closed(random: Chance, node: Node, closure: Node) -> None:
    node.lead("handoff" if node.kind == "work" else "next", closure.key)


class StepMaker:
    """Makes the step of a node, and its schema."""

    def __init__(self, random: Chance, wild: float, names: list[str], schemas: SchemaMaker) -> None:
        self._random = random
        self._wild = wild
        self._names = names
        self._schemas = schemas

    def step(self, node: Node) -> tuple[Json, Json]:
        """Return a step with a gate, and its schema."""
        making = _Gated(self._random, self._wild, node)
        transitions = {
            intent: making.rule(intent, targets) for intent, targets in node.leads.items() if intent != "jump"
        }
        if "jump" in node.leads:
            transitions |= making.jump(node.leads["jump"], self._names)
        making.ends(transitions)
        for intent, rule in transitions.items():
            if (
                rule.get("target", "") is not None
                and self._random.likely(0.5 if self._random.lean in _SPLIT else 0.25, "otherwise")
                and intent != "closing"
            ):
                rule["fallback"] = self._random.choice(self._names)
        schema = self._schemas.whole(making.leaves)
        if self._random.likely(self._wild, "open"):
            schema = self._elsewhere(making, schema)
        return {"structuredGate": making.gate, "transitions": transitions}, schema

    def _elsewhere(self, making: _Gated, schema: Json) -> Json:
        """Let the pointer to the list of intents lead elsewhere: to a definition that is or is not referred to."""
        listed = {"enum": making.gate["allowedIntents"]}
        schema = {**schema, "$defs": {"intents": listed}}
        if "properties" in schema and "." not in making.field and making.field in schema["properties"]:
            text: Json = {"type": "string"}
            others: list[Json] = [text, text, text, True, {"enum": [*listed["enum"], "later"]}, listed]
            other = text if self._random.lean == "open" else self._random.choice(others)
            schema["properties"] = {**schema["properties"], making.field: other}
            if self._random.random() < 0.3:
                schema["anyOf"] = [{"properties": {making.field: listed}}, {"required": [making.field]}]
                making.gate["intentSchemaRef"] = f"#/anyOf/0/properties/{making.field}"
                return schema
        making.gate["intentSchemaRef"] = "#/$defs/intents"
        return schema


class _Gated:
    """The gate of one step, and what has to stand in its answers for the moves from it."""

    def __init__(self, random: Chance, wild: float, node: Node) -> None:
        self._random = random
        self._wild = wild
        self._node = node
        self._paths: list[str] = []
        self.field = FIELDS[0] if random.lean == "open" else random.choice(FIELDS)
        self.leaves: dict[str, Leaf] = {}
        self.gate: dict[str, Json] = {
            "intentField": self.field,
            "intentSchemaRef": "#/properties/" + self.field.replace(".", "/properties/"),
        }

    def rule(self, intent: str, targets: list[str]) -> Json:
        """Return the transition of an intent: simple where it leads to one step, mostly, else conditional."""
        if len(targets) == 1 and self._random.random() < (0.4 if self._random.lean in _SPLIT else 0.8):
            return {"target": targets[0]}
        values = self._random.choice(VALUES)
        key = self._key(values)
        cases = {_text(each): targets[at % len(targets)] for at, each in enumerate(values)}
        left = targets[len(values) :]
        if left or self._random.safely(0.45):
            cases["default"] = self._random.choice(left or targets)
            if not left and len(values) > 1 and self._random.random() < 0.5:
                del cases[_text(values[0])]
        return {"condition": key, "targets": cases}

    def jump(self, targets: list[str], names: list[str]) -> dict[str, Json]:
        """Let answers name the target of a jump, among some steps or among all."""
        path = self._random.choice(TARGETS)
        is_open = self._random.likely(0.25, "jump")
        also = [self._random.choice([*names, "section.intro", "nowhere"])] if self._random.seldom(0.06) else []
        self.leaves[path] = Leaf(
            None if is_open else tuple(dict.fromkeys([*targets, *also])), is_open or self._random.random() < 0.9
        )
        self.gate["targetField"] = path
        if self._random.random() < 0.3:
            self.gate["targetMode"] = "dynamic"
        if not is_open and not self._random.likely(0.4, "jump"):
            return {}
        if self._random.likely(0.3, "jump"):
            return {"jump": self.rule("jump", [*targets, self._random.choice(targets)])}
        return {"jump": {"target": self._random.choice(targets)}}

    def ends(self, transitions: dict[str, Json]) -> None:
        """Add the intents that need no other step, and finish the gate."""
        random, node = self._random, self._node
        intents = list(node.leads)
        if "repeat" not in intents and random.random() < _REPEATED:
            intents.append("repeat")
            if random.random() < 0.5:
                transitions["repeat"] = {"target": node.key}
        if node.kind == "closure":
            intents.append("closing")
            transitions["closing"] = {"target": None}
        if random.likely(0.2, "abort"):
            intents.append("abort")
            if random.random() < 0.4:
                transitions["abort"] = {"target": node.key}
        random.shuffle(intents)
        self.leaves[self.field] = Leaf(tuple(intents), random.random() < 0.93)
        self.gate["allowedIntents"] = intents
        self._fallback(intents)
        self._hand_over(intents)

    def _fallback(self, intents: list[str]) -> None:
        if self._random.likely(0.25, "fallback"):
            self.gate |= {"failFast": False, "fallbackIntent": self._random.choice(intents)}
        elif self._random.random() < 0.1:
            self.gate["failFast"] = True

    def _hand_over(self, intents: list[str]) -> None:
        for name in ("summary", "detail.found", "count"):
            if self._random.random() < 0.4:
                self.leaves[name] = Leaf(self._random.choice((None, *VALUES)), self._random.random() < 0.6)
                self._paths.append(name)
        if self._paths or "handoff" in intents or self._random.random() < 0.5:
            self.gate["handoffFields"] = self._paths
        self._node.handoff = [path.rpartition(".")[2] for path in self._paths]

    def _key(self, values: tuple[Json, ...]) -> str:
        """Let answers choose among values, and return the key under which the choice is handed over."""
        path = (
            self._random.choice(("", "progress.", "next_action.", f"rows{len(self._paths)}.0."))
            + f"by{len(self._paths)}"
        )
        is_open = self._random.seldom(0.08)
        self.leaves[path] = Leaf(None if is_open else values, self._random.random() < 0.9)
        self._paths.append(path)
        return path.rpartition(".")[2]


def _text(value: Json) -> str:
    """Return a value as somebody writes the case for it."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":")).removesuffix(".0")

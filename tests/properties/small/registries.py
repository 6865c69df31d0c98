"""Small registries of both releases: kinds of steps, chosen targets, jumps, inputs, judges, chains, validators."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from properties.small.project import SmallProject
from properties.small.values import list_answers, make_schema

Json = Any
_INTENTS: Mapping[str, tuple[str, ...]] = {
    "work": ("next", "repeat", "jump", "handoff"),
    "verification": ("next", "repeat", "jump", "escalate"),
    "closure": ("closing", "repeat"),
}
_KINDS = {"initial": "work", "continuation": "work", "verification": "verification", "closure": "closure"}
_PARAMETERS: Mapping[str, Json] = {
    "issue": {"type": "number", "required": True, "cli": "--issue", "description": "x"},
    "title": {"type": "string", "required": False, "default": "t", "cli": "--title", "description": "x"},
    "label": {"type": "string", "required": False, "cli": "--label", "description": "x"},
}
_GIVEN: Mapping[str, list[Json]] = {"issue": [1, 7], "title": ["x"], "label": ["x"]}
_RUNTIME = ("iteration", "max_iterations", "remaining", "previous_summary")


def make_registry(chance: Random) -> SmallProject:
    """Return an agent with a registry of a few steps."""
    return RegistryMaker(chance).make()


class RegistryMaker:
    """Makes the files of one agent, in a folder."""

    def __init__(self, chance: Random, name: str = "demo", folder: str = "", *, is_new: bool | None = None) -> None:
        self._chance, self._name, self._folder = chance, name, folder
        self._is_new = chance.random() < 0.5 if is_new is None else is_new
        flows = chance.sample(("note", "task"), chance.choice((1, 1, 2)))
        self.names = [f"{kind}.{flow}" for flow in flows for kind in self._list_kinds()]
        self._gated = chance.random() < 0.85
        self._extra: dict[str, Json] = {}
        self._fields: dict[str, dict[str, Json]] = {}
        self._verdict = self._make_verdict()

    def _list_kinds(self) -> list[str]:
        chance = self._chance
        return ["initial", *(each for each in ("continuation", "verification") if chance.random() < 0.6), "closure"]

    def make(self, verdicts: Json = None) -> SmallProject:
        """Return the files, with closing answers that have one of some verdicts."""
        steps = {name: self._make_step(name, verdicts) for name in self.names}
        schemas = {name: self._fields[name] for name in self.names if name in self._fields}
        registry: dict[str, Json] = {"agentId": self._name, "version": "1.0.0", "c1": "steps", "steps": steps}
        entry = self.names[0]
        registry |= self._make_entries(entry)
        registry |= self._make_validators()
        made: dict[str, str] = {
            "steps_registry.json": json.dumps(registry),
            "schemas/s.schema.json": json.dumps(schemas),
            "agent.json": json.dumps(self._make_agent()),
            "prompts/system.md": "You are an agent.",
        }
        for name in self.names:
            kind, flow = name.split(".")
            words = " ".join("{uv-" + each + "}" for each in steps[name]["uvVariables"])
            made[f"prompts/steps/{kind}/{flow}/f_default.md"] = f"Do {name}. {words}"
        answers = {f"{name}": list_answers(schemas[name], self._chance) for name in schemas}
        return SmallProject({f"{self._folder}{path}": text for path, text in made.items()}, answers, _GIVEN)

    def _make_entries(self, entry: str) -> dict[str, Json]:
        kind = self._verdict["type"]
        if not self._is_new:
            return {"entryStep": entry} if self._chance.random() < 0.7 else {"entryStepMapping": {kind: entry}}
        flow = entry.partition(".")[2]
        following = f"continuation.{flow}" if f"continuation.{flow}" in self.names else entry
        return {"entryStepMapping": {kind: {"initial": entry, "continuation": following}}}

    def _make_verdict(self) -> dict[str, Json]:
        chance = self._chance
        most = chance.choice((2, 3, 5, 9))
        return chance.choice(
            (
                *[{"type": "detect:graph", "config": {"maxIterations": most}}] * 4,
                {"type": "count:iteration", "config": {"maxIterations": most}},
                {"type": "count:check", "config": {"maxChecks": chance.randint(1, 3), "maxIterations": most}},
                {"type": "detect:keyword", "config": {"verdictKeyword": "DONE", "maxIterations": most}},
                {"type": "poll:state", "config": {"resourceType": "x", "maxIterations": most}},
            )
        )

    def _make_agent(self) -> dict[str, Json]:
        runner: dict[str, Json] = {
            "flow": {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}},
            "verdict": self._verdict,
            "logging": {"directory": "logs", "format": "jsonl"},
        }
        if not self._is_new:
            runner["boundaries"] = {"allowedTools": ["Read"], "permissionMode": "acceptEdits"}
        names = {"version": "1.0.0", "name": self._name, "displayName": "Demo", "description": "x"}
        return {**names, "parameters": dict(_PARAMETERS), "runner": runner}

    def _make_step(self, name: str, verdicts: Json) -> dict[str, Json]:
        kind, flow = name.split(".")
        chance = self._chance
        step: dict[str, Json] = {"stepId": name, "name": name, "usesStdin": False, "uvVariables": []}
        if self._is_new:
            step |= {"kind": _KINDS[kind], "address": {"c1": "steps", "c2": kind, "c3": flow, "edition": "default"}}
            step["adaptationChain"] = chance.choice((["default"], ["default"] * 2, []))
        else:
            step |= {"c2": kind, "c3": flow, "stepKind": _KINDS[kind]}
        is_gated = self._gated or kind == "closure" or chance.random() < 0.3
        if is_gated:
            step |= self._make_gate(name, _KINDS[kind], verdicts)
        elif chance.random() < 0.7:
            self._fields[name] = make_schema(chance, {"text": {"enum": ["DONE", "more"]}})
            step["outputSchemaRef"] = {"file": "s.schema.json", "schema": name}
        step["uvVariables"], inputs = self._make_variables(name)
        return step | ({"inputs": inputs} if inputs else {})

    def _make_variables(self, name: str) -> tuple[list[str], dict[str, Json]]:
        chance = self._chance
        names = [each for each in ("issue", "title") if chance.random() < 0.2]
        names += [each for each in _RUNTIME if chance.random() < 0.05]
        names += ["label"] if chance.random() < 0.03 else []
        at, inputs = self.names.index(name), dict[str, Json]()
        earlier = [each for each in self.names[:at] if self._fields.get(each, {}).get("properties")]
        if earlier and chance.random() < 0.3:
            source = chance.choice(earlier)
            handed = self._extra.get(source, [])
            key = chance.choice(handed or ["zz"]).rpartition(".")[2]
            if handed:
                inputs = {"given": {"from": f"{source}.{key}"}}
                if chance.random() < 0.4:
                    inputs["given"] |= {"required": False, "default": "none"}
                names.append(f"{source.replace('.', '_')}_{key}")
        return names, inputs

    def _make_gate(self, name: str, kind: str, verdicts: Json) -> dict[str, Json]:
        chance = self._chance
        must = {"work": "handoff", "verification": "next", "closure": "closing"}[kind]
        intents = [each for each in _INTENTS[kind] if each == must or chance.random() < 0.35]
        at = self.names.index(name)
        if kind == "work" and not self.names[at + 1].startswith("closure") and "next" not in intents:
            intents.append("next")
        if kind == "work" and len(intents) > 1 and chance.random() < 0.4:
            intents.remove(must)
        fixed: dict[str, Json] = {"next": {"enum": intents}}
        works = [each for each in self.names if not each.startswith("closure")]
        if "jump" in intents:
            fixed["to"] = {"enum": chance.sample(works, min(2, len(works)))}
        if kind == "closure" and verdicts is not None:
            fixed["verdict"] = {"enum": verdicts}
        schema = make_schema(chance, fixed, draft7=self._is_new)
        if chance.random() < 0.15:
            schema["required"] = [each for each in schema["required"] if each != "to"]
        self._fields[name] = schema
        handed = [*self._list_paths(schema)]
        handed = chance.sample(handed, min(len(handed), chance.randint(0, 2)))
        self._extra[name] = handed
        gate: dict[str, Json] = {
            "allowedIntents": intents,
            "intentField": "next",
            "intentSchemaRef": "#/properties/next",
            "handoffFields": handed,
        }
        if "jump" in intents:
            gate["targetField"] = "to"
        if chance.random() < 0.1:
            gate |= {"failFast": False, "fallbackIntent": chance.choice(intents)}
        moves = {each: self._make_move(name, each, handed) for each in intents}
        moves = {each: made for each, made in moves.items() if made is not None}
        return {
            "outputSchemaRef": {"file": "s.schema.json", "schema": name},
            "structuredGate": gate,
            "transitions": moves,
        }

    def _list_paths(self, schema: Json) -> Iterator[str]:
        for name, body in schema["properties"].items():
            if name not in {"next", "to"}:
                yield f"{name}.x" if "x" in body.get("properties", {}) else name

    def _make_move(self, name: str, intent: str, handed: list[str]) -> Json:
        chance = self._chance
        if intent == "closing":
            return {"target": None}
        if intent == "repeat" and chance.random() < 0.4:
            return None if not self._is_new else {"target": name}
        if intent == "jump" and chance.random() < 0.6:
            return None
        pool = self._list_targets(name, intent)
        if intent != "repeat" and handed and chance.random() < 0.35:
            key = chance.choice(handed)
            words = ["a", "b", "c", "true", "1", "2"][: chance.randint(1, 6)]
            default = {"default": chance.choice(pool)} if chance.random() < 0.6 else {}
            targets = {each: chance.choice(pool) for each in words} | default
            return {"condition": key.rpartition(".")[2], "targets": targets}
        move: dict[str, Json] = {"target": chance.choice(pool)}
        if chance.random() < 0.05:
            move["fallback"] = chance.choice(pool)
        return move

    def _list_targets(self, name: str, intent: str) -> list[str]:
        _, flow = name.split(".")
        closures = [each for each in self.names if each.startswith("closure")]
        works = [each for each in self.names if not each.startswith("closure")]
        if intent == "handoff":
            return closures + [each for each in works if each.startswith("initial") and not each.endswith(flow)]
        if intent == "repeat":
            return [name]
        following = self.names[self.names.index(name) + 1]
        return [following] if following in works and self._chance.random() < 0.7 else works

    def _make_validators(self) -> dict[str, Json]:
        chance = self._chance
        if self._is_new or chance.random() < 0.7:
            return {}
        closure = next(each for each in self.names if each.startswith("closure"))
        guard = {
            "stepId": closure,
            "name": "Check",
            "c2": "retry",
            "c3": closure.partition(".")[2],
            "validationConditions": [{"validator": "v"}],
            "onFailure": {"action": chance.choice(("retry", "abort", "skip")), "maxAttempts": chance.choice((1, 2))},
        }
        validator = {"type": "command", "command": "true", "successWhen": "exitCode:0", "failurePattern": "bad"}
        pattern = {"description": "x", "edition": "failed", "adaptation": "bad"}
        return {
            "validationSteps": {closure: guard},
            "validators": {"v": validator},
            "failurePatterns": {"bad": pattern},
        }

"""Registries at random in which steps hand values over: many entries, open jumps, fallbacks, chains, guards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from properties.small.project import SmallProject
from properties.small.sampling import Sampler

Json = Any
_KINDS = {"initial": "work", "continuation": "work", "verification": "verification", "closure": "closure"}
_VALUES: tuple[Json, ...] = (
    {"type": "string", "minLength": 1},
    {"type": "string"},
    {"enum": ["a", "b"]},
    {"type": "integer"},
    {"type": "string", "pattern": "^[a-c]+$"},
    {"$ref": "#/$defs/word"},
    {"oneOf": [{"const": "x"}, {"const": "y"}]},
    {"type": "object", "required": ["why"], "properties": {"why": {"$ref": "#/$defs/word"}, "how": {"type": "string"}}},
)
_OFTEN = {"next": 0.25, "repeat": 0.25, "jump": 0.1, "handoff": 0.25, "escalate": 0.25}
_GIVEN: Mapping[str, list[Json]] = {"issue": [1, 7], "note": ["x", "0"], "label": ["l"]}
_SETTINGS = ".agent/climpt/config/claude.settings.climpt.agents.json"


def make_handing_registry(chance: Random) -> SmallProject:
    """Return an agent whose steps read of each other."""
    return HandingMaker(chance, "demo", "").make()


class HandingMaker:
    """Makes the files of one agent in a folder; closing answers have one of some verdicts."""

    def __init__(
        self, chance: Random, name: str, folder: str, verdicts: Json = None, *, new: bool | None = None
    ) -> None:
        self._chance, self._name, self._folder, self._verdicts = chance, name, folder, verdicts
        self._is_new = chance.random() < 0.5 if new is None else new
        flows = ["end", *chance.sample(("plan", "work"), chance.choice((0, 1, 1, 2)))]
        self.names = [f"initial.{flows[-1]}"]
        for flow in reversed(flows):
            kinds = [each for each in ("continuation", "verification") if chance.random() < 0.65]
            fresh = [f"{kind}.{flow}" for kind in ("initial", *kinds)]
            self.names += [each for each in fresh if each not in self.names]
        self.names += [f"closure.{flow}" for flow in flows[: 1 + (chance.random() < 0.2)]]
        self._members: dict[str, list[str]] = {}
        self._schemas: dict[str, Json] = {}
        self._prompts: dict[str, str] = {}

    def make(self) -> SmallProject:
        """Return the files, answers and inputs."""
        chance = self._chance
        steps = {name: self._make_step(name) for name in self.names}
        registry: dict[str, Json] = {"agentId": self._name, "version": "1.0.0", "c1": "steps", "steps": steps}
        verdict = self._make_verdict()
        registry |= self._make_entries(verdict["type"])
        registry |= self._make_guards(steps)
        files = {
            "steps_registry.json": json.dumps(registry),
            "schemas/all.json": json.dumps({**self._schemas, "$defs": {"word": {"type": "string", "minLength": 1}}}),
            "agent.json": json.dumps(self._make_agent(verdict)),
            "prompts/system.md": "You work.",
            **self._prompts,
        }
        made = {f"{self._folder}{path}": text for path, text in files.items()}
        if self._is_new:
            made[_SETTINGS] = json.dumps({"permissions": {"allow": ["Read"], "defaultMode": "default"}})
        answers = {name: Sampler(chance, schema).list_values() for name, schema in self._schemas.items()}
        return SmallProject(made, answers, _GIVEN)

    def _make_verdict(self) -> dict[str, Json]:
        most = self._chance.choice((4, 6, 12, 20))
        verdicts: list[dict[str, Json]] = [
            {"type": "detect:graph", "config": {"maxIterations": most}},
            {"type": "poll:state", "config": {"resourceType": "file", "maxIterations": most}},
            {"type": "count:check", "config": {"maxChecks": 2, "maxIterations": most}},
            {"type": "count:iteration", "config": {"maxIterations": most}},
            {
                "type": "detect:structured",
                "config": {"signalType": "done", "requiredFields": [], "maxIterations": most},
            },
        ]
        return self._chance.choices(verdicts, (4, 2, 1, 1, 1))[0]

    def _make_entries(self, verdict: str) -> dict[str, Json]:
        chance, works = self._chance, [each for each in self.names if not each.startswith("closure")]
        kinds = [verdict, *chance.sample(("poll:state", "count:check", "detect:keyword"), chance.choice((0, 0, 1)))]
        if not self._is_new:
            more = {each: works[0] if chance.random() < 0.85 else chance.choice(works) for each in kinds}
            return {"entryStep": works[0]} if chance.random() < 0.4 else {"entryStepMapping": more}
        pairs: dict[str, Json] = {}
        for each in kinds:
            first = works[0] if chance.random() < 0.9 else chance.choice(works)
            second = first if chance.random() < 0.7 else chance.choice(works)
            pairs[each] = {"initial": first, "continuation": second}
        return {"entryStepMapping": pairs}

    def _make_agent(self, verdict: Json) -> dict[str, Json]:
        runner: dict[str, Json] = {
            "flow": {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}},
            "verdict": verdict,
            "logging": {"directory": "logs", "format": "jsonl"},
        }
        if not self._is_new:
            runner["boundaries"] = {"allowedTools": ["Read"], "permissionMode": "acceptEdits"}
        parameters = {
            "issue": {"type": "number", "required": True, "cli": "--issue", "description": "x"},
            "note": {"type": "string", "required": False, "default": "n", "cli": "--note", "description": "x"},
        }
        names = {"version": "1.0.0", "name": self._name, "displayName": "Demo", "description": "x"}
        return {**names, "parameters": parameters, "runner": runner}

    def _make_step(self, name: str) -> dict[str, Json]:
        chance, (kind, flow) = self._chance, name.split(".")
        step: dict[str, Json] = {"stepId": name, "name": name, "usesStdin": False}
        if self._is_new:
            step |= {"kind": _KINDS[kind], "address": {"c1": "steps", "c2": kind, "c3": flow, "edition": "default"}}
        else:
            step |= {"c2": kind, "c3": flow, "stepKind": _KINDS[kind]}
        handed = self._make_schema(name, _KINDS[kind])
        step |= self._make_gate(name, _KINDS[kind], handed)
        names, inputs = self._make_inputs(name)
        step |= {"uvVariables": names} | ({"inputs": inputs} if inputs else {})
        text = " ".join("{uv-" + each + "}" for each in names)
        self._prompts[f"prompts/steps/{kind}/{flow}/f_default.md"] = f"Do {name}. {text}"
        if self._is_new and "repeat" in step["structuredGate"]["allowedIntents"] and chance.random() < 0.6:
            step["adaptationChain"] = ["default", "again"][: chance.randint(1, 2)]
            self._prompts[f"prompts/steps/{kind}/{flow}/f_default_again.md"] = f"Again {name}. {text}"
        return step

    def _make_schema(self, name: str, kind: str) -> list[str]:
        """Make the schema of a step, and return the paths of its hand-over."""
        chance = self._chance
        intents = self._list_intents(name, kind)
        members: dict[str, Json] = {"next": {"enum": intents}}
        extra = chance.sample(("plan", "text", "why", "sum"), chance.choice((0, 1, 1, 2)))
        members |= {each: chance.choice(_VALUES) for each in extra}
        required = ["next", *(each for each in extra if chance.random() < 0.85)]
        if "jump" in intents:
            works = [each for each in self.names if not each.startswith("closure")]
            members["to"] = {"type": "string"} if chance.random() < 0.5 else {"enum": chance.sample(works, 1)}
            required.append("to")
        if kind == "closure" and self._verdicts is not None:
            members["verdict"] = {"enum": self._verdicts}
            required.append("verdict")
        schema: dict[str, Json] = {"type": "object", "required": required, "properties": members}
        if chance.random() < 0.2 and len(intents) > 1 and extra:
            chosen = {"properties": {"next": {"const": intents[0]}}}
            rest: Json = {"properties": {"next": {"enum": intents[1:]}}, "required": [extra[0]]}
            schema["oneOf"] = [chosen, rest]
        schema["$defs"] = {"word": {"type": "string", "minLength": 1}}
        if chance.random() < 0.3:
            schema["additionalProperties"] = False
        self._schemas[name] = schema
        paths = [f"{each}.why" if "required" in members[each] and chance.random() < 0.5 else each for each in extra]
        self._members[name] = [each.rpartition(".")[2] for each in paths]
        return paths

    def _list_intents(self, name: str, kind: str) -> list[str]:
        chance = self._chance
        if kind == "closure":
            return ["closing", *(["repeat"] if chance.random() < 0.3 else [])]
        following = self.names[self.names.index(name) + 1]
        must = "next" if kind == "verification" or not following.startswith("closure") else "handoff"
        others = {"work": ("next", "repeat", "jump", "handoff"), "verification": ("next", "repeat", "escalate", "jump")}
        return [
            must,
            *(each for each in others[kind] if each != must and chance.random() < (0.1 if each == "jump" else 0.25)),
        ]

    def _make_gate(self, name: str, kind: str, handed: list[str]) -> dict[str, Json]:
        intents = self._schemas[name]["properties"]["next"]["enum"]
        gate: dict[str, Json] = {
            "allowedIntents": intents,
            "intentField": "next",
            "intentSchemaRef": "#/properties/next",
            "handoffFields": handed,
        }
        moves = {each: self._make_move(name, kind, each, handed) for each in intents}
        if "jump" in intents:
            gate["targetField"] = "to"
        output = {"file": "all.json", "schema": name}
        return {"outputSchemaRef": output, "structuredGate": gate, "transitions": moves}

    def _make_move(self, name: str, kind: str, intent: str, handed: list[str]) -> Json:
        chance = self._chance
        if intent in {"closing", "repeat"}:
            return {"target": None if intent == "closing" else name}
        at = self.names.index(name)
        works = [each for each in self.names if not each.startswith("closure")]
        closures = [each for each in self.names if each.startswith("closure")]
        later = [each for each in self.names[at + 1 :] if each in works]
        pool = closures if intent == "handoff" else later or (closures if kind == "verification" else works)
        if intent == "escalate":
            pool = works
        if handed and chance.random() < 0.2:
            values = self._schemas[name]["properties"].get(handed[0], {}).get("enum", ["x"])
            cases = {each: chance.choice(pool) for each in values}
            return {"condition": handed[0].rpartition(".")[2], "targets": cases | {"default": chance.choice(pool)}}
        fallback = {"fallback": chance.choice(pool)} if chance.random() < 0.08 else {}
        return {"target": pool[0] if chance.random() < 0.7 else chance.choice(pool), **fallback}

    def _make_inputs(self, name: str) -> tuple[list[str], dict[str, Json]]:
        chance, at = self._chance, self.names.index(name)
        names = [each for each in ("issue", "note", "iteration") if chance.random() < 0.15]
        inputs: dict[str, Json] = {}
        for source in self.names[: at + 1]:
            keys = self._members.get(source, [])
            if not keys or chance.random() < 0.6:
                continue
            key, own = chance.choice(keys), f"in{len(inputs)}"
            inputs[own] = {"from": f"{source}.{key}"}
            if chance.random() < (0.2 if source == self.names[0] else 0.8) or source == name:
                inputs[own] |= chance.choice(({"required": False}, {"required": False, "default": "d"}, {"default": 0}))
            how = chance.random()
            names += [own] if how < 0.4 else [f"{source.replace('.', '_')}_{key}"] if how < 0.8 else []
        return list(dict.fromkeys(names)), inputs

    def _make_guards(self, steps: dict[str, Json]) -> dict[str, Json]:
        chance = self._chance
        if self._is_new or chance.random() < 0.6:
            return {}
        closure = next(each for each in self.names if each.startswith("closure"))
        flow, inputs = closure.partition(".")[2], steps[closure].get("inputs", {})
        self._prompts[f"prompts/steps/retry/{flow}/f_failed_bad.md"] = f"Again. {'{uv-in0}' if 'in0' in inputs else ''}"
        guard = {
            "stepId": closure,
            "name": "Check",
            "c2": "retry",
            "c3": flow,
            "validationConditions": [{"validator": "v"}],
            "onFailure": {"action": chance.choice(("retry", "abort", "skip")), "maxAttempts": chance.choice((1, 2, 3))},
        }
        validator = {"type": "command", "command": "true", "successWhen": "exitCode:0", "failurePattern": "bad"}
        pattern = {"description": "x", "edition": "failed", "adaptation": "bad"}
        return {
            "validationSteps": {closure: guard},
            "validators": {"v": validator},
            "failurePatterns": {"bad": pattern},
        }

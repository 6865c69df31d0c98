"""Step registries, made freely: every part that one may have is there or not, and nobody asks whether it is sound."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, NamedTuple

from properties.soundness.chance import Chance
from properties.soundness.free_schemas import Leaf, Placed, SchemaFiles

Json = Any


class Made(NamedTuple):
    """A project: its files, what it is made of, and for each node a schema as written with answers for it."""

    files: dict[str, str]
    marks: Counter[str]
    schemas: dict[str, Json]
    placed: dict[str, Placed]


_PHASES = {"work": ("initial", "continuation"), "verification": ("verification",), "closure": ("closure",)}
_ODD = ("Review", "prüfung", "a.b", "1", "1.0", "with-dash", "x_y", "null", "日本")
_WORDS = ("issue", "more", "again", "late", "small", "deep", "wide")
_FIELDS = ("action", "action", "next_action.action", "a.b.c")
_GIVEN = ("iteration", "max_iterations", "remaining", "completed_iterations")
_SELDOM = ("previous_summary", "completion_keyword", "max_checks", "check_count", "repository", "agent_name", "typo")
_SUCCESSES = ("empty", "exitCode:0", "exitCode:3", "contains:done", "contains:", "matches:^ok", "matches:[0-9]+$")
_EXTRACTORS = ("stdout", "stderr", "exitCode", "errorOutput", "parseChangedFiles", "extractFiles", "errors", "diff")
_PARAMETERS: tuple[dict[str, Json], ...] = (
    {"type": "number", "required": True},
    {"type": "string", "required": True},
    {"type": "string", "default": "main"},
    {"type": "number", "default": 7},
    {"type": "boolean", "default": False},
    {"type": "string", "default": ""},
    {"type": "number", "default": "seven"},
    {"type": "string"},
    {"type": "array", "default": ["a"]},
)
_VERDICTS: dict[str, dict[str, Json]] = {
    "poll:state": {"resourceType": "github-issue"},
    "count:iteration": {},
    "count:check": {"maxChecks": 2},
    "detect:keyword": {"verdictKeyword": "DONE"},
    "detect:structured": {"signalType": "x", "requiredFields": ["summary"]},
    "detect:graph": {},
    "meta:custom": {"handlerPath": "judge.ts"},
}


def free_registry(random: Chance) -> Made:
    """Return a project with one registry."""
    making = _Making(random)
    making.connect()
    making.write_steps()
    making.write_validation()
    making.write_agent()
    return making.project()


class _Step(NamedTuple):
    """A step in the making: where it may go on to, and its hand-over."""

    key: str
    kind: str
    c3: str
    ahead: list[str]
    closes: list[str]
    hands: list[str]
    sure: list[str]


class _Making:
    """Everything that one registry is made of."""

    def __init__(self, random: Chance) -> None:
        self._random = random
        self._marks: Counter[str] = Counter()
        self._schemas = SchemaFiles(random, self._marks)
        self._tidy = random.random() < 0.7
        """Whether the project has few oddities, so that it has a chance to compile."""
        self._steps: dict[str, _Step] = {}
        self._placed: dict[str, Placed] = {}
        self._texts: dict[str, str] = {}
        self._root: dict[str, Json] = {"agentId": "demo", "version": "1.0.0", "c1": "steps", "steps": {}}
        names = random.sample(("issue", "branch", "mood", "Level"), random.randint(0, 3))
        self._parameters = {name: random.choice(_PARAMETERS[:5] if self._tidy else _PARAMETERS) for name in names}

    def _mark(self, share: float, mark: str) -> bool:
        return self._schemas.chance(share, mark)

    def _slip(self, share: float, mark: str) -> bool:
        """Tell whether something is so that is often a mistake."""
        return self._mark(share / 4 if self._tidy else share, mark)

    def connect(self) -> None:
        """Make the steps, each led to by one before it, and most led on to a closure step."""
        random = self._random
        kinds = ["work", *random.choices(("work", "work", "verification"), k=random.randint(0, 5))]
        for at, kind in enumerate((*kinds, *["closure"] * random.choice((1, 1, 2)))):
            key = self._name(at, kind)
            self._steps[key] = _Step(key, kind, f"s{'abcdefghij'[at]}", [], [], [], [])
        flow = [each for each in self._steps.values() if each.kind != "closure"]
        closures = [each.key for each in self._steps.values() if each.kind == "closure"]
        for at, step in enumerate(flow[1:], 1):
            random.choice(flow[:at][-2:]).ahead.append(step.key)
        for step in flow:
            if not step.ahead or random.random() < 0.4:
                step.closes.append(random.choice(closures))
            if self._mark(0.3, "cycle"):
                step.ahead.append(random.choice(flow).key)
        for closure in closures:
            if not any(closure in step.closes for step in flow):
                flow[-1].closes.append(closure)

    def _name(self, at: int, kind: str) -> str:
        random = self._random
        phase = "initial" if at == 0 else random.choice(_PHASES[kind])
        name = random.choice(_ODD) if self._mark(0.12, "odd id") else random.choice(_WORDS)
        key = f"{phase}.{name}"
        return key if key not in self._steps else f"{key}.{'abcdefghij'[at]}"

    def write_steps(self) -> None:
        """Write every step with its schema and its prompt."""
        for at, step in enumerate(self._steps.values()):
            given = {"stepId": step.key, "name": step.key, "c2": step.key.partition(".")[0], "c3": step.c3}
            if given["c2"] not in {"initial", "continuation", "verification", "closure"} or self._mark(
                0.3, "kind said"
            ):
                given["stepKind"] = step.kind
            if step.kind == "closure" and self._mark(0.12, "program"):
                self._root["steps"][step.key] = {**given, "runner": self._runner()}
                continue
            gated = self._gated(step, at)
            self._root["steps"][step.key] = {**given, **gated, **self._supply(step, given["c2"])}
        if self._mark(0.2, "entry mapping"):
            self._root["entryStepMapping"] = dict.fromkeys(_VERDICTS, next(iter(self._steps)))
        else:
            self._root["entryStep"] = next(iter(self._steps))

    def _runner(self) -> Json:
        words = ["run.sh", *(f"${{context.{name}}}" for name in self._parameters)]
        return {"command": "bash", "args": words, "timeout": self._random.choice((1000, 30_000))}

    def _gated(self, step: _Step, at: int) -> dict[str, Json]:
        """Return the gate and the transitions of a step, and write its schema."""
        random, field = self._random, self._random.choice(_FIELDS)
        leaves: list[Leaf] = []
        needs: dict[Json, list[str]] = {}
        transitions: dict[str, Json] = {}
        self._go_on(step, leaves, needs, transitions)
        if step.kind == "closure":
            transitions["closing"] = {"target": None}
        if self._mark(0.3, "repeat"):
            transitions["repeat"] = {"target": step.key if random.random() < 0.7 else next(iter(self._steps))}
        if step.kind == "verification" and self._mark(0.4, "escalate"):
            transitions["escalate"] = {"target": next(iter(self._steps))}
        intents = [*transitions]
        if self._mark(0.06, "abort"):
            intents.append("abort")
        for name in random.sample(("summary", "report", "size", "result.note"), random.randint(0, 2)):
            leaves.append(self._schemas.free(name, required=random.random() < 0.7))
            step.hands.append(name)
            step.sure.extend([name] * leaves[-1].required)
        leaves.insert(0, self._schemas.chosen(field, tuple(intents), plainly=self._tidy))
        if self._mark(0.05, "intent may be left out"):
            leaves[0] = leaves[0]._replace(required=False)
        union = (field, {each: needs.get(each, []) for each in intents}) if needs else None
        self._placed[step.key] = self._schemas.place(f"of {at}" if at % 3 else step.key, leaves, union)
        placed = self._placed[step.key]
        gate = {
            "allowedIntents": intents,
            "intentField": field,
            "intentSchemaRef": f"#/properties/{field.replace('.', '/properties/')}",
            "handoffFields": step.hands,
            **({"targetField": "target"} if "target" in {leaf.path for leaf in leaves} else {}),
        }
        if self._mark(0.1, "fallback intent"):
            gate |= {"failFast": False, "fallbackIntent": random.choice(intents)}
        for rule in transitions.values():
            if rule.get("target") and self._slip(0.15, "fallback of a transition"):
                rule["fallback"] = random.choice([*self._steps])
        reference = {"file": placed.file, "schema": placed.name}
        return {"outputSchemaRef": reference, "structuredGate": gate, "transitions": transitions}

    def _go_on(
        self, step: _Step, leaves: list[Leaf], needs: dict[Json, list[str]], transitions: dict[str, Json]
    ) -> None:
        """Let a step go on to the steps ahead of it and to those that close the run."""
        if step.kind == "work":
            if step.ahead:
                self._lead("next", step.ahead, step, leaves, needs, transitions)
            if step.closes:
                self._lead("handoff", step.closes, step, leaves, needs, transitions)
        elif step.ahead or step.closes:
            self._lead("next", [*step.ahead, *step.closes], step, leaves, needs, transitions)

    def _lead(
        self,
        intent: str,
        targets: list[str],
        step: _Step,
        leaves: list[Leaf],
        needs: dict[Json, list[str]],
        transitions: dict[str, Json],
    ) -> None:
        """Let an intent lead always to the same step, by what is handed over, or to where the answer says."""
        random = self._random
        if (
            intent == "next"
            and all(self._steps[each].kind != "closure" for each in targets)
            and self._mark(0.2, "jump")
        ):
            is_needed = random.random() < 0.6
            leaves.append(self._schemas.chosen("target", tuple(dict.fromkeys(targets)), required=is_needed))
            if not is_needed:
                needs["jump"] = ["target"]
            if random.random() < 0.4:
                transitions["next"] = {"target": targets[0]}
            transitions["jump"] = {"target": targets[-1]}
            return
        if len(targets) == 1 and random.random() < 0.6:
            transitions[intent] = {"target": targets[0]}
            return
        self._marks["conditional"] += 1
        values = self._schemas.scalar()
        is_needed = random.random() < 0.6
        path = random.choice((f"kind-{intent}", f"detail.{intent}", f"{len(leaves)}"))
        leaves.append(self._schemas.chosen(path, values, required=is_needed))
        has_default = self._mark(0.4, "default case")
        if not is_needed and (self._tidy or random.random() < 0.5) and not has_default:
            needs[intent] = [path.partition(".")[0]]
        step.hands.append(path)
        cases = {_text(each): targets[at % len(targets)] for at, each in enumerate(values)}
        for left in targets[len(values) :]:
            cases["default"] = left
        if has_default:
            cases.setdefault("default", random.choice(targets))
        transitions[intent] = {"condition": path.rpartition(".")[2], "targets": cases}

    def _supply(self, step: _Step, c2: str) -> dict[str, Json]:
        """Return what a step reads, and write its prompt."""
        random = self._random
        variables = [name for name in self._parameters if random.random() < 0.5]
        variables += [random.choice(_GIVEN)] if self._mark(0.4, "variable of the run") else []
        variables += [random.choice(_SELDOM)] if self._slip(0.2, "variable that is not always supplied") else []
        given: dict[str, Json] = {}
        for at, giver in enumerate(self._givers(step)):
            keys = giver.sure if self._tidy else giver.hands
            if keys and self._mark(0.4, "input from another step"):
                key = random.choice(keys).rpartition(".")[2]
                lack = random.choice(({}, {"required": True}, {"required": False}, {"default": "none"}))
                given[f"in{at}"] = {"from": f"{giver.key}.{key}", **lack}
                variables.append(random.choice((f"in{at}", f"{giver.key}.{key}".replace(".", "_"))))
        if self._mark(0.04, "fallback key"):
            return {"uvVariables": variables, "fallbackKey": "initial_issue", **({"inputs": given} if given else {})}
        holes = "".join(f" {{uv-{name}}}" for name in variables if not self._slip(0.1, "variable that is not read"))
        holes += " {uv-unheard_of}" if self._slip(0.03, "hole that nobody declares") else ""
        self._texts[f"prompts/steps/{c2}/{step.c3}/f_default.md"] = f"Do {step.key}.{holes}\n"
        return {"uvVariables": variables, **({"inputs": given} if given else {})}

    def _givers(self, step: _Step) -> list[_Step]:
        """Return steps that may hand something over: the first one, which every run executes, or any."""
        steps = [*self._steps.values()]
        if self._tidy:
            return [] if step is steps[0] else steps[:1]
        return self._random.sample(steps, min(2, len(steps)))

    def write_validation(self) -> None:
        """Guard closure steps, with retry prompts that have blocks and holes."""
        random = self._random
        if not self._mark(0.45, "validators"):
            return
        parameters = ["errors", "files"]
        self._root["failurePatterns"] = {"bad": {"description": "d", "edition": "failed", "params": parameters}}
        successes = [random.choice(_SUCCESSES) for _ in range(random.randint(1, 2))]
        if self._slip(0.1, "success that is none"):
            successes[0] = random.choice(("exitcode:0", "empty ", "exitCode:zero", "matches:(", "never"))
        for each in successes:
            self._marks[f"successWhen {each.partition(':')[0]}"] += 1
        self._root["validators"] = {
            f"check{at}": {
                "type": "command",
                "command": "git status",
                "successWhen": each,
                "failurePattern": "bad",
                "extractParams": dict(zip(parameters, random.sample(_EXTRACTORS, 2), strict=True)),
            }
            for at, each in enumerate(successes)
        }
        self._root["validationSteps"] = {
            step.key: {
                "stepId": step.key,
                "name": "Guard",
                "c2": "retry",
                "c3": "issue",
                "validationConditions": [{"validator": f"check{at}"} for at in range(len(successes))],
                "onFailure": {"action": random.choice(("retry", "retry", "skip", "abort")), "maxAttempts": 2},
            }
            for step in self._steps.values()
            if step.kind == "closure"
        }
        text = "Again.{{#if errors}}{{errors}}{{/if}}{{#each files}}- {{this}}{{/each}}\n"
        if self._slip(0.1, "block that is not closed"):
            text += "{{#each files}}{{this}}"
        if not self._slip(0.1, "retry prompt that is missing"):
            self._texts["prompts/steps/retry/issue/f_failed.md"] = text

    def write_agent(self) -> None:
        """Define the agent: its parameters, and how it is judged that its work is done."""
        random = self._random
        verdict = random.choice([*_VERDICTS])
        self._marks[f"verdict {verdict}"] += 1
        config = {
            **_VERDICTS[verdict],
            "maxIterations": 1 if self._slip(0.1, "one iteration") else random.choice((8, 20, 60)),
        }
        for name, each in self._parameters.items():
            self._marks[
                f"parameter {'required' if each.get('required') else 'default' if 'default' in each else 'optional'}"
            ] += 1
            self._parameters[name] = {**each, "description": name, "cli": f"--{name.lower()}"}
        self._texts["prompts/system.md"] = "You are {uv-agent_name}.\n"
        self._texts["agent.json"] = json.dumps(
            {
                "version": "1.0.0",
                "name": "demo",
                "displayName": "Demo",
                "description": "x",
                "parameters": self._parameters,
                "runner": {
                    "flow": {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}},
                    "verdict": {"type": verdict, "config": config},
                    "boundaries": {"allowedTools": ["Read"], "permissionMode": "acceptEdits"},
                },
            }
        )

    def project(self) -> Made:
        """Return the project."""
        files = {"steps_registry.json": json.dumps(self._root, ensure_ascii=False), **self._texts}
        return Made({**files, **self._schemas.written()}, self._marks, self._schemas.files, self._placed)


def _text(given: Json) -> str:
    """Return a value as somebody writes the case for it."""
    return given if isinstance(given, str) else json.dumps(given)

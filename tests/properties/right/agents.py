"""Agents that are right by construction: their registries, in the formats of climpt 1.13 and 1.14, with all files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

Json = Any
Files = dict[str, str]
_INTENTS = ("action", "next_action.action", "plan.do.next", "next-step", "a/b.c~d")
_VALUES = (("low", "high"), ("a", "b", "c"), (True, False), (1, 2), ("n", "e", "s", "w", "Up up"))
_FIELDS: tuple[tuple[str, Json], ...] = (
    ("summary", {"type": "string", "minLength": 1}),
    ("result.note", {"type": "string", "minLength": 1}),
    ("result.count", {"type": "integer", "minimum": 0}),
    ("files", {"type": "array", "items": {"type": "string"}}),
    ("deep.er.report", {"type": "object", "properties": {"text": {"type": "string"}}}),
    ("done", {"type": "boolean"}),
)
_PHASES = {"work": "continuation", "verification": "verification", "closure": "closure"}
_PARAMETERS: dict[str, Json] = {
    "issue": {"type": "number", "required": True},
    "branch": {"type": "string", "default": "main"},
    "strict": {"type": "boolean", "default": False},
    "Labels": {"type": "array", "default": ["a"]},
}
_RUNTIME = ("iteration", "max_iterations", "remaining")
_LATE = ("completed_iterations", "previous_summary")
_VERDICTS: dict[str, dict[str, Json]] = {
    "poll:state": {"resourceType": "github-issue"},
    "count:iteration": {},
    "count:check": {"maxChecks": 40},
    "detect:keyword": {"verdictKeyword": "DONE"},
    "detect:graph": {"registryPath": "steps_registry.json", "entryStep": "initial.issue"},
    "meta:custom": {"handlerPath": "judge.ts"},
}
_SUCCESSES = ("empty", "exitCode:0", "exitCode:2", "contains:done", "matches:^ok")
_EXTRACTORS = ("stdout", "stderr", "parseChangedFiles", "extractFiles", "parseTypeErrors", "parseTestOutput")


class Step:
    """A step while an agent is made; `ways` are intents, each with the steps to which it may lead."""

    def __init__(self, key: str, kind: str, c3: str, edition: str = "default") -> None:
        self.key = key
        self.kind = kind
        self.c3 = c3
        self.edition = edition
        self.ways: dict[str, list[str]] = {}
        self.fields: dict[str, tuple[Json, bool]] = {}
        """The schemas of the members of its answer by their paths, and whether each is required."""
        self.handed: list[str] = []
        self.runner: Json = None
        self.body: Json = None

    @property
    def c2(self) -> str:
        """The first part of the id."""
        return self.key.partition(".")[0]


class Agent:
    """An agent while it is made, for one release; `verdicts` are what its closing answers may say."""

    def __init__(self, random: Random, release: str, name: str = "demo", verdicts: Sequence[str] = ()) -> None:
        self.random = random
        self.name = name
        self._is_new = release == "1.14"
        self._verdicts = verdicts
        self._steps: dict[str, Step] = {}
        self._schemas: dict[str, Json] = {}
        self._texts: Files = {}
        self._field = random.choice(_INTENTS)
        self._root: dict[str, Json] = {"agentId": name, "version": "1.0.0", "c1": "steps"}
        given = random.sample([*_PARAMETERS], random.randint(0, len(_PARAMETERS)))
        self._parameters = {each: _PARAMETERS[each] for each in given}
        self._verdict = random.choice([*_VERDICTS])
        if self._verdict == "poll:state":
            self._parameters["issue"] = _PARAMETERS["issue"]
        self._make_steps()
        for step in self._steps.values():
            self._make_answer(step)
        self._validators()
        for step in self._steps.values():
            step.body = self._write_step(step)
        self._enter()

    # -- what leads where

    def _make_steps(self) -> None:
        random = self.random
        kinds = ["work", *random.choices(("work", "verification"), k=random.randint(0, 4))]
        words = iter(random.sample(("review", "more", "draft", "long-tail", "text"), 5))
        spine = [Step("initial.issue", "work", "issue")]
        for kind in kinds[1:]:
            word = "issue" if random.random() < 0.3 else next(words)
            key = f"{_PHASES[kind]}.{word}"
            if not any(each.key == key for each in spine):
                spine.append(Step(key, kind, word))
        closures = [Step("closure.issue", "closure", "issue")]
        if random.random() < 0.3:
            closures.append(Step("closure.review", "closure", "review", random.choice(("default", "final"))))
        self._steps = {each.key: each for each in (*spine, *closures)}
        for at, step in enumerate(spine):
            self._lead_on(step, spine[: at + 1], spine[at + 1 :], closures)
        for each in closures:
            self._close(each, spine)
        if not any(closures[-1].key in targets for step in spine for targets in step.ways.values()):
            intent = "handoff" if spine[-1].kind == "work" else "next"
            spine[-1].ways.setdefault(intent, []).append(closures[-1].key)

    def _lead_on(self, step: Step, before: Sequence[Step], after: Sequence[Step], closures: Sequence[Step]) -> None:
        """Let a step lead to the one after it, perhaps to others, and the last one to where runs close."""
        random = self.random
        is_last = not after
        if after:
            targets = [after[0].key]
            targets += [each.key for each in random.sample([*before, *after[1:]], min(1, len(before)))]
            targets = targets[: random.choice((1, 1, 2))]
            step.ways["jump" if random.random() < 0.2 else "next"] = targets
            if "jump" in step.ways and random.random() < 0.5:
                step.ways["next"] = [after[0].key]
        if is_last or random.random() < 0.3:
            ends = [each.key for each in closures][: random.choice((1, 2))]
            intent = "handoff" if step.kind == "work" else "next"
            step.ways[intent] = [*dict.fromkeys((*step.ways.get(intent, ()), *ends))]
        if step.kind == "verification" and random.random() < 0.6:
            step.ways["escalate"] = [random.choice(before).key]
        self._may_repeat(step, before)

    def _may_repeat(self, step: Step, before: Sequence[Step]) -> None:
        if self.random.random() < 0.6:
            step.ways["repeat"] = [step.key if self._is_new or self.random.random() < 0.8 else before[0].key]
        if not self._is_new and self.random.random() < 0.15:
            step.ways["abort"] = []

    def _close(self, step: Step, spine: Sequence[Step]) -> None:
        random = self.random
        if random.random() < 0.15 and not self._verdicts:
            words = ["run.sh", *(f"${{context.{name}}}" for name in self._parameters)]
            step.runner = {"command": "bash", "args": words[: random.randint(0, len(words))]}
            step.runner |= random.choice(({}, {"timeout": 1000}))
            return
        step.ways["closing"] = []
        work = [each for each in spine if each.kind == "work"]
        self._may_repeat(step, [step] if self._is_new else work)

    # -- what is answered

    def _make_answer(self, step: Step) -> None:
        """Give a step the members of its answer, and say which of them it hands over."""
        random = self.random
        if step.runner is not None:
            return
        for path, schema in random.sample(_FIELDS, random.randint(0, 3)):
            step.fields[path] = (schema, random.random() < 0.8)
        if random.random() < 0.5:
            step.fields["stepId"] = ({"const": step.key}, True)
        if step.kind == "closure" and self._verdicts:
            step.fields["verdict"] = (self._choose_form(self._verdicts), True)
        handed = [path for path, (_, is_sure) in step.fields.items() if is_sure and path not in {"stepId", "verdict"}]
        step.handed = random.sample(handed, random.randint(0, len(handed)))
        if "handoff" in step.ways and not step.handed:
            step.fields["summary"] = (_FIELDS[0][1], True)
            step.handed = ["summary"]

    def _choose_form(self, values: Sequence[Json]) -> Json:
        random = self.random
        forms: list[Json] = [{"enum": [*values]}, {"oneOf": [{"const": each} for each in values]}]
        if len(values) == 1:
            forms.append({"const": values[0]})
        if all(isinstance(each, str) for each in values):
            forms.append({"type": "string", "enum": [*values]})
            forms.append({"allOf": [{"type": "string"}, {"enum": [*values]}]})
        return random.choice(forms)

    def _route(self, step: Step) -> dict[str, Json]:
        """Return the transitions of a step, and give its answer the members that decide between targets."""
        random = self.random
        transitions: dict[str, Json] = {}
        for intent, targets in step.ways.items():
            if intent == "closing":
                transitions[intent] = {"target": None}
            elif intent == "repeat" and targets == [step.key] and not self._is_new and random.random() < 0.3:
                continue
            elif intent == "jump":
                step.fields["target"] = ({"enum": [*targets]}, True)
                if random.random() < 0.5:
                    transitions[intent] = {"target": targets[0]}
            elif len(targets) == 1:
                transitions[intent] = {"target": targets[0]}
            elif targets:
                transitions[intent] = self._decide(step, intent, targets)
        return transitions

    def _decide(self, step: Step, intent: str, targets: Sequence[str]) -> Json:
        """Let a value that is handed over decide, with a default unless every value has a target."""
        random = self.random
        values = random.choice([each for each in _VALUES if len(each) >= len(targets)])
        path = random.choice((f"kind_{intent}", f"deep.{intent}-case", f"{intent}"))
        is_open = random.random() < 0.4
        schema = {"type": "string", "minLength": 1} if is_open else self._choose_form(values)
        step.fields[path] = (schema, not is_open or random.random() < 0.5)
        step.handed.append(path)
        texts = [each if isinstance(each, str) else json.dumps(each) for each in values]
        cases = {text: targets[at % len(targets)] for at, text in enumerate(texts)}
        if is_open or random.random() < 0.3:
            if not is_open and len(cases) > len(targets):
                cases.popitem()
                cases["default"] = targets[0]
            elif is_open:
                cases["default"] = random.choice(targets)
        return {"condition": path.rpartition(".")[2], "targets": cases}

    def _write_schema(self, step: Step, intents: Sequence[str]) -> Json:
        """Return the schema of an answer: closed or open, with what chooses the intent as people write it."""
        random = self.random
        fields = {**step.fields, self._field: (self._choose_form(intents), True)}
        is_closed = random.random() < 0.6
        root: Json = {"type": "object", "properties": {}, "required": []}
        objects = [root]
        for path, (schema, is_required) in fields.items():
            owner = root
            *way, last = path.split(".")
            for name in way:
                if name not in owner["properties"]:
                    owner["properties"][name] = {"type": "object", "properties": {}, "required": []}
                    objects.append(owner["properties"][name])
                if is_required and name not in owner["required"]:
                    owner["required"].append(name)
                owner = owner["properties"][name]
            owner["properties"][last] = schema
            if is_required:
                owner["required"].append(last)
        for each in objects if is_closed else ():
            each["additionalProperties"] = False
        if random.random() < 0.15 and not is_closed:
            return {"type": "object", "allOf": [{"properties": root["properties"]}, {"required": root["required"]}]}
        return root

    # -- the files

    def _write_step(self, step: Step) -> Json:
        random = self.random
        body: Json = {"stepId": step.key, "name": f"Step {step.key}", "uvVariables": [], "usesStdin": False}
        if self._is_new:
            address = {"c1": "steps", "c2": step.c2, "c3": step.c3, "edition": step.edition}
            body |= {"kind": step.kind, "address": address}
        else:
            body |= {"c2": step.c2, "c3": step.c3} | random.choice(({}, {"stepKind": step.kind}))
            body |= {"edition": step.edition} if step.edition != "default" or random.random() < 0.5 else {}
            for name in random.sample(("uvVariables", "usesStdin"), random.randint(0, 2)):
                del body[name]
        body |= random.choice(({}, {"description": "What it does", "type": "prompt"}, {"permissionMode": "plan"}))
        if step.runner is not None:
            return {**body, "runner": step.runner}
        body |= self._gate(step)
        self._prompt(step, body)
        return body

    def _gate(self, step: Step) -> dict[str, Json]:
        random = self.random
        transitions = self._route(step)
        intents = [*step.ways]
        random.shuffle(intents)
        schema = self._write_schema(step, intents)
        pointer = "/properties/".join(each.replace("~", "~0").replace("/", "~1") for each in self._field.split("."))
        gate: dict[str, Json] = {
            "allowedIntents": random.sample(intents, len(intents)),
            "intentField": self._field,
            "intentSchemaRef": f"#/properties/{pointer}",
        }
        if "allOf" in schema:
            schema = {**schema, "properties": schema["allOf"][0]["properties"]}
        if step.handed or random.random() < 0.3:
            gate["handoffFields"] = step.handed
        if "jump" in step.ways:
            gate["targetField"] = "target"
        if random.random() < 0.15:
            gate |= {"failFast": False, "fallbackIntent": random.choice(intents)}
        return {
            "outputSchemaRef": self._place_schema(step, schema),
            "structuredGate": gate,
            "transitions": transitions,
        }

    def _place_schema(self, step: Step, schema: Json) -> Json:
        """Put a schema into a file, in one of the places where it is found, and return what refers to it."""
        random = self.random
        file = random.choice(("all.schema.json", f"{step.c2}-{step.c3}.json", "deep/er.json"))
        whole = self._schemas.setdefault(file, {})
        if "." not in self._field and "allOf" not in schema and random.random() < 0.25:
            whole.setdefault("$defs", {})[f"intent-{step.key}"] = schema["properties"][self._field]
            schema["properties"][self._field] = {"$ref": f"#/$defs/intent-{step.key}"}
        place = random.choice(("$defs", "definitions", ""))
        if not place:
            whole[step.key] = schema
            return {"file": file, "schema": step.key}
        whole.setdefault(place, {})[step.key] = schema
        return {"file": file, "schema": random.choice((step.key, f"#/{place}/{step.key}"))}

    def _prompt(self, step: Step, body: Json) -> None:
        """Let a step read what there is when it starts, and write its prompts."""
        random = self.random
        is_first = step.key == "initial.issue"
        names = [each for each in self._parameters if random.random() < 0.4]
        names += [each for each in _RUNTIME if random.random() < 0.15]
        names += [] if is_first else [each for each in _LATE if random.random() < 0.15]
        inputs: dict[str, Json] = {}
        for giver, key in self._offers(step):
            if random.random() < 0.4:
                given = {"from": f"{giver.key}.{key}"} | random.choice(({}, {"required": True}, {"default": "none"}))
                inputs[f"in{len(inputs)}"] = given
                name = f"{giver.key}.{key}".replace(".", "_")
                names += [name] if name.isidentifier() else []
        if inputs:
            body["inputs"] = inputs
        if names or self._is_new:
            body["uvVariables"] = names
        holes = "".join(f" {{uv-{name}}}" for name in names)
        head = random.choice(("", "---\ntitle: x\n---\n", "---\nuvVariables: []\n---\n" if not names else ""))
        text = f'{head}Do {step.key}.{holes} {{"a": 1}}\n'
        folder = f"prompts/steps/{step.c2}/{step.c3}"
        adaptation = ""
        if random.random() < 0.15:
            adaptation = "own"
            (body["address"] if self._is_new else body)["adaptation"] = adaptation
        base = f"{folder}/f_{step.edition}.md"
        self._texts[f"{folder}/f_{step.edition}_{adaptation}.md" if adaptation else base] = text
        if self._is_new and "repeat" in step.ways:
            if random.random() < 0.7:
                body["adaptationChain"] = ["default", "twice"][: random.randint(1, 2)]
                for each in body["adaptationChain"]:
                    self._texts[f"{folder}/f_{step.edition}_{each}.md"] = text
            self._texts.setdefault(base, text)

    def _offers(self, step: Step) -> Iterator[tuple[Step, str]]:
        """Yield what was handed over before a step starts, whatever way led to it."""
        for giver in self._steps.values():
            if giver is not step and giver.runner is None and self._always_comes_before(giver, step):
                sure = [path for path in giver.handed if giver.fields[path][1]]
                yield from ((giver, path.rpartition(".")[2]) for path in sure)

    def _always_comes_before(self, giver: Step, step: Step) -> bool:
        found, todo = {"initial.issue"} - {giver.key}, ["initial.issue"]
        while todo:
            one = todo.pop()
            if one == giver.key:
                continue
            for target in (each for some in self._steps[one].ways.values() for each in some):
                if target not in found:
                    found.add(target)
                    todo.append(target)
        return step.key not in found or (step.key == giver.key)

    def _validators(self) -> None:
        """Guard closure steps, with prompts for the attempts that follow when a validation fails."""
        random = self.random
        if random.random() < 0.5:
            return
        phases = ("preflight", "postllm") if self._is_new else ("",)
        names = {f"check{at}": random.choice(phases) for at in range(random.randint(1, 3))}
        extracted = dict(zip(("errors", "files"), random.sample(_EXTRACTORS, 2), strict=True))
        pattern: Json = {"description": "What went wrong", "edition": "failed", "params": [*extracted]}
        is_adapted = random.random() < 0.5
        self._root["failurePatterns"] = {"bad": {**pattern, **({"adaptation": "bad"} if is_adapted else {})}}
        self._root["validators"] = {
            name: {
                "type": "command",
                "command": f"run {name}",
                "successWhen": random.choice(_SUCCESSES),
                "failurePattern": "bad",
                "extractParams": extracted,
                **({"phase": phase} if phase else {}),
            }
            for name, phase in names.items()
        }
        guards: dict[str, Json] = {}
        for at, step in enumerate(each for each in self._steps.values() if each.kind == "closure"):
            if at and random.random() < 0.5:
                continue
            guard: Json = {"stepId": step.key, "name": "Guard"}
            action: Json = {"action": random.choice(("retry", "skip"))} | random.choice(({}, {"maxAttempts": 2}))
            if self._is_new:
                guard["address"] = {"c1": "steps", "c2": "retry", "c3": "issue", "edition": "failed"}
                for slot, phase in (("preflightConditions", "preflight"), ("postLLMConditions", "postllm")):
                    guard[slot] = [{"validator": name} for name, each in names.items() if each == phase]
                guard |= {"onFailure": action} if guard["postLLMConditions"] else {}
            else:
                guard |= {"c2": "retry", "c3": "issue"}
                guard["validationConditions"] = [{"validator": name} for name in names]
                guard["onFailure"] = action
            guards[step.key] = guard
        self._root["validationSteps"] = guards
        file = "prompts/steps/retry/issue/f_failed_bad.md" if is_adapted else "prompts/steps/retry/issue/f_failed.md"
        self._texts[file] = "Again: {{errors}}{{#each files}}- {{this}}{{/each}}{{#if files}}x{{else}}y{{/if}}\n"

    def _enter(self) -> None:
        """Say where runs begin."""
        random = self.random
        entry = "initial.issue"
        mapped: Json = {"initial": entry, "continuation": random.choice([*self._steps])} if self._is_new else entry
        if self._is_new:
            mapped["continuation"] = entry
        if random.random() < 0.6 or self._is_new:
            self._root["entryStepMapping"] = {self._verdict: mapped}
        if "entryStepMapping" not in self._root or random.random() < 0.2:
            self._root["entryStep"] = entry
        if random.random() < 0.2:
            section: Json = {"stepId": "section.intro", "name": "Intro", "uvVariables": [], "usesStdin": False}
            address = {"c2": "section", "c3": "intro", "edition": "default"}
            section |= {"kind": "work", "address": {"c1": "steps", **address}} if self._is_new else address
            self._steps["section.intro"] = Step("section.intro", "work", "intro")
            self._steps["section.intro"].body = section
            self._texts["prompts/steps/section/intro/f_default.md"] = "Know this.\n"

    def _list_closures(self) -> list[Step]:
        return [each for each in self._steps.values() if each.kind == "closure" and each.runner is None]

    def list_closing_keys(self) -> list[str]:
        """Return the names under which the first closure step that hands anything over does so."""
        handed = next((each.handed for each in self._list_closures() if each.handed), [])
        return [path.rpartition(".")[2] for path in handed]

    def list_closing_paths(self) -> list[str]:
        """Return the paths of members that every closing answer has."""
        sure = [{path for path, (_, is_sure) in each.fields.items() if is_sure} for each in self._list_closures()]
        return sorted(set.intersection(*sure)) if sure else []

    def write(self) -> Files:
        """Return the files of the agent, below its own folder."""
        self._root["steps"] = {key: each.body for key, each in self._steps.items()}
        flow = {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}}
        config = {**_VERDICTS[self._verdict], "maxIterations": self.random.choice((40, 60))}
        runner: Json = {"flow": flow, "verdict": {"type": self._verdict, "config": config}}
        if not self._is_new:
            runner["boundaries"] = {"allowedTools": ["Read", "Bash"], "permissionMode": "acceptEdits"}
        agent = {
            "version": "1.0.0",
            "name": self.name,
            "displayName": "Demo",
            "description": "An example",
            "parameters": {
                name: {**each, "description": name, "cli": f"--{name.lower()}"}
                for name, each in self._parameters.items()
            },
            "runner": runner,
        }
        schemas = {f"schemas/{file}": json.dumps(each, indent=1) for file, each in self._schemas.items()}
        return {
            "agent.json": json.dumps(agent, indent=1),
            "steps_registry.json": json.dumps(self._root, indent=1),
            "prompts/system.md": "You are {uv-agent_name}.\n",
            **schemas,
            **self._texts,
        }


def make_registry(random: Random, release: str) -> Files:
    """Return the files of a project with one agent."""
    agent = Agent(random, release)
    files = {f".agent/demo/{file}": text for file, text in agent.write().items()}
    return {**files, **write_settings(release)}


def write_settings(release: str) -> Files:
    """Return what says which tools the agents of a project may use, where they do not say it themselves."""
    settings = {"permissions": {"allow": ["Read", "Bash(git:*)"], "defaultMode": "acceptEdits"}}
    file = ".agent/climpt/config/claude.settings.climpt.agents.json"
    return {file: json.dumps(settings)} if release == "1.14" else {}


def make_old_registry(random: Random) -> Files:
    """Return the files of a project with an agent of climpt 1.13."""
    return make_registry(random, "1.13")


def make_new_registry(random: Random) -> Files:
    """Return the files of a project with an agent of climpt 1.14."""
    return make_registry(random, "1.14")

"""Step registries, made at random with all that belongs to them: most are sound, and many are not."""

from __future__ import annotations

import json
from typing import Any

from properties.soundness.chance import Chance
from properties.soundness.schemas import Leaf, SchemaMaker
from properties.soundness.steps import Node, StepMaker, connected

Json = Any

_SPINE = (
    ("continuation.issue", "work"),
    ("verification.issue", "verification"),
    ("continuation.more", "work"),
    ("verification.more", "verification"),
    ("initial.review", "work"),
    ("continuation.review", "work"),
    ("probe.issue", "verification"),
)
_LACKS: tuple[dict[str, Json], ...] = ({}, {"required": False}, {"default": "none"}, {"required": False, "default": 3})
_KEYS = ("initial_issue", "continuation_issue", "issue_closure_default", "initial_project")
_VERDICTS: dict[str, dict[str, Json]] = {
    "poll:state": {"resourceType": "github-issue"},
    "count:iteration": {},
    "count:check": {"maxChecks": 2},
    "detect:keyword": {"verdictKeyword": "x"},
    "detect:structured": {"signalType": "x", "requiredFields": ["summary"]},
    "detect:graph": {},
    "meta:composite": {},
    "meta:custom": {"handlerPath": "judge.ts"},
}
_SUCCESSES = ("empty", "exitCode:0", "exitCode:2", "contains:done", "matches:^ok")
_EXTRACTORS = (
    *("stdout", "stderr", "exitCode", "errorOutput", "parseChangedFiles", "parseUntrackedFiles", "parseStagedFiles"),
    *("parseUnstagedFiles", "extractFiles", "files", "parseFormatOutput", "formatFiles", "parseTypeErrors", "errors"),
    *("parseLintErrors", "lintErrors", "lintFiles", "parseTestOutput", "failedTests", "generateDiff", "diff"),
    *("missingPaths", "expectedPath"),
)
_ACTIONS = ("retry", "retry", "abort", "skip")
_TRIED_AGAIN = "Again: {{errors}}{{#each files}}- {{this}}{{/each}}{{#if more}}x{{else}}y{{/if}}\n"


def registry(random: Chance) -> dict[str, bytes]:
    """Return the files of a project with one registry."""
    making = _Making(random)
    making.steps_of_flow()
    making.validators()
    making.prompts()
    if random.likely(0.85, "judge"):
        making.agent()
    if random.seldom(0.25):
        making.spoil()
    return making.files()


class _Making:
    """Everything that one registry is made of."""

    def __init__(self, random: Chance) -> None:
        self._random = random
        self._wild = 0 if random.lean else random.choice((0, 0, 0.1, 0.35))
        self._shared = SchemaMaker(random, self._wild, "#/")
        self._schemas: dict[str, Json] = {}
        self._steps: dict[str, Json] = {}
        self._texts: dict[str, str] = {}
        self._nodes: list[Node] = []
        self._variables: list[str] = []
        self._agent: Json = None
        self._root: dict[str, Json] = {"agentId": "demo", "version": "1.0.0", "c1": "steps", "steps": self._steps}

    def steps_of_flow(self) -> None:
        """Make the steps, with and without gates, and where runs begin."""
        random = self._random
        more = random.sample(_SPINE, random.randint(0, 5))
        if random.lean == "escalate":
            more = [_SPINE[1], *(each for each in more if each != _SPINE[1])]
        spine = [Node("initial.issue", "work"), *(Node(*each) for each in more)]
        guarded = ("closure.issue", "closure.review")[: random.choice((1, 1, 2))]
        closures = [Node(name, "closure") for name in guarded]
        others = [name for name in ("initial.free", "closure.late") if random.likely(0.4, "judge", "free")]
        others += ["extra.free"] if random.likely(0.05, "free") else []
        if random.likely(0.3, "program"):
            closures.append(Node("closure.run", "closure"))
        connected(random, spine, closures, others)
        self._nodes = [*spine, *closures]
        names = [each.key for each in self._nodes] + others
        maker = StepMaker(random, self._wild, names, self._shared)
        for node in self._nodes:
            self._steps[node.key] = self._program(node) if node.key == "closure.run" else self._gated(node, maker)
        self._free(others)
        self._hand_over()
        self._entries(names)

    def _gated(self, node: Node, maker: StepMaker) -> Json:
        routed, schema = maker.step(node)
        self._schemas[node.key] = schema
        reference = {"outputSchemaRef": {"file": "all.schema.json", "schema": node.key}}
        explicit = {"stepKind": node.kind} if node.key.startswith("probe.") or self._random.random() < 0.4 else {}
        return {**_named(node.key), **explicit, **reference, **routed}

    def _program(self, node: Node) -> Json:
        node.handoff = []
        rule = node.leads.get("repeat")
        runner = {
            "command": "bash",
            "args": ["run.sh", "${context.issue}"],
            "timeout": self._random.choice((1000, 0.5)),
        }
        step = {**_named(node.key), "runner": {**runner, "args": runner["args"] if self._random.random() < 0.5 else []}}
        if rule is None or self._random.random() < 0.5:
            return step
        field = {"intentField": "action", "intentSchemaRef": "#/properties/action"}
        self._schemas[node.key] = {
            "type": "object",
            "required": ["action"],
            "properties": {"action": {"enum": ["closing", "repeat"]}},
        }
        return {
            **step,
            "outputSchemaRef": {"file": "all.schema.json", "schema": node.key},
            "structuredGate": {"allowedIntents": ["closing", "repeat"], **field},
            "transitions": {"closing": {"target": None}, "repeat": {"target": rule[0]}},
        }

    def _free(self, others: list[str]) -> None:
        """Make steps without gates, and a section that belongs to prompts."""
        for name in others:
            self._steps[name] = _named(name)
            if name == "initial.free" and self._random.random() < (0.3 if self._random.lean == "free" else 0.7):
                self._steps["continuation.free"] = _named("continuation.free")
            if self._random.random() < 0.5:
                self._schemas[name] = {
                    "type": "object",
                    "properties": {"status": {"enum": ["completed", "x"]}, "summary": {"type": "string"}},
                }
                self._steps[name]["outputSchemaRef"] = {"file": "all.schema.json", "schema": name}
        if self._random.random() < 0.1:
            self._steps["section.intro"] = _named("section.intro")

    def _hand_over(self) -> None:
        """Let steps read what others hand over."""
        for step in self._steps.values():
            givers = [node for node in self._nodes if node.handoff]
            if not givers or not self._random.likely(0.4, "carried") or "runner" in step:
                continue
            giver = givers[0] if self._random.random() < 0.8 else self._random.choice(givers)
            if step["stepId"] == giver.key and self._random.random() < 0.9:
                continue
            key = self._random.choice(giver.handoff)
            given: dict[str, Json] = {"from": f"{giver.key}.{key}"}
            step["inputs"] = {"found": {**given, **self._random.choice(_LACKS)}}
            names = ("found", f"{giver.key}.{key}".replace(".", "_"))
            step["uvVariables"] = [self._random.choice(names)] if self._random.random() < 0.4 else []

    def _entries(self, names: list[str]) -> None:
        if self._random.random() < 0.75:
            self._root["entryStep"] = "initial.issue"
        else:
            self._root["entryStepMapping"] = {
                each: self._random.choice((names[0], names[0], self._random.choice(names))) for each in _VERDICTS
            }

    def validators(self) -> None:
        """Guard closure steps."""
        random = self._random
        if not random.likely(0.55, "validated"):
            return
        self._root["failurePatterns"] = {
            name: {"description": name, "edition": "failed", "adaptation": name} for name in ("dirty", "broken")
        }
        self._root["validators"] = {
            f"check{at}": {
                "type": "command",
                "command": random.choice(("git status", "run ${what} ${gone}")),
                "successWhen": each,
                "failurePattern": random.choice(("dirty", "broken")),
                "extractParams": dict(zip(("errors", "files", "more"), random.sample(_EXTRACTORS, 3), strict=True)),
            }
            for at, each in enumerate(random.sample(_SUCCESSES, 3))
        }
        for node in self._nodes:
            if node.kind == "closure" and random.random() < 0.8:
                conditions = [
                    {"validator": f"check{random.randrange(3)}", "params": {"what": 1}}
                    for _ in range(random.randint(1, 2))
                ]
                action = {
                    "action": random.choice(_ACTIONS),
                    **({"maxAttempts": random.randint(1, 4)} if random.random() < 0.7 else {}),
                }
                guard = {"stepId": node.key, "name": "Guard", "c2": "retry", "c3": "issue"}
                self._root.setdefault("validationSteps", {})[node.key] = {
                    **guard,
                    "validationConditions": conditions,
                    **({"onFailure": action} if random.random() < 0.9 else {}),
                }

    def prompts(self) -> None:
        """Write the prompts of most steps, and of the attempts that follow when a validation fails."""
        for key, step in self._steps.items():
            if "runner" in step:
                continue
            step["usesStdin"] = self._random.random() < 0.1
            variables = step.setdefault("uvVariables", [])
            late = () if key == "initial.issue" else ("previous_summary",)
            if self._random.random() < 0.5:
                variables.append(self._random.choice(("issue", "iteration", "remaining", "max_iterations", *late)))
            if self._random.random() < 0.04:
                step["fallbackKey"] = self._random.choice(_KEYS)
                continue
            read = "".join(f" {{uv-{name}}}" for name in variables)
            self._texts[_path(step)] = f"---\ntitle: x\n---\nDo {key}{read} {{input_text}}\n"
        for pattern in ("dirty", "broken"):
            self._texts[f"prompts/steps/retry/issue/f_failed_{pattern}.md"] = _TRIED_AGAIN

    def agent(self) -> None:
        """Define the agent: what it is given, and how it is judged that its work is done."""
        random = self._random
        verdict = random.choice((*_VERDICTS, "meta:composite", "meta:composite"))
        if random.lean == "judge" and random.random() < 0.8:
            verdict = random.detail
        config = dict(_VERDICTS[verdict])
        if verdict == "count:iteration" or random.random() < 0.9:
            config["maxIterations"] = random.choice((4, 8, 20, 60))
        if verdict == "meta:composite":
            kinds = random.sample([each for each in _VERDICTS if each != verdict], random.randint(1, 3))
            conditions = [{"type": each, "config": {"maxIterations": 5, **_VERDICTS[each]}} for each in kinds]
            config |= {"operator": random.choice(("and", "or", "first")), "conditions": conditions}
        flow = {"systemPromptPath": "prompts/system.md", "prompts": {"registry": "steps_registry.json"}}
        self._texts["prompts/system.md"] = (
            "You are {uv-agent_name}. {uv-verdict_criteria} {uv-completion_keyword} {uv-max_checks} {uv-check_count}\n"
        )
        issue = {"type": "number", "description": "Which", "cli": "--issue"}
        self._agent = {
            "version": "1.0.0",
            "name": "demo",
            "displayName": "Demo",
            "description": "An example",
            "parameters": {"issue": {**issue, **random.choice(({"required": True}, {"default": 7}))}},
            "runner": {
                "flow": flow,
                "verdict": {"type": verdict, "config": config},
                "boundaries": {"allowedTools": ["Read", "Bash"], "permissionMode": "acceptEdits"},
            },
        }

    def spoil(self) -> None:
        """Make a mistake, as people do."""
        random = self._random
        key = random.choice([each for each, step in self._steps.items() if "transitions" in step])
        step = self._steps[key]
        gate, transitions = step["structuredGate"], step["transitions"]
        match random.randrange(11):
            case 9:
                random.choice((gate, *transitions.values()))["note"] = "nobody knows this member"
            case 10:
                gate["allowedIntents"], gate["handoffFields"], step["transitions"] = [], [], {}
                self._schemas[key] = {"type": "object", "properties": {gate["intentField"]: {"enum": []}}}
            case 0:
                transitions.pop(random.choice([*transitions, ""]), None)
            case 1:
                transitions[random.choice(list(transitions) or ["next"])] = {
                    "target": random.choice([*self._steps, "nowhere", None])
                }
            case 2:
                gate["allowedIntents"] = gate["allowedIntents"][1:]
            case 3:
                gate["allowedIntents"] = [*gate["allowedIntents"], "jump"]
            case 4:
                del self._steps[random.choice(list(self._steps))]
            case 5:
                gate["handoffFields"] = gate.get("handoffFields", [])[1:]
            case 6:
                self._schemas[key] = self._shared.whole({gate["intentField"]: Leaf(("next", "closing", "repeat"))})
            case 7:
                self._root["entryStep"] = random.choice([*self._steps, "nowhere"])
            case _:
                for rule in transitions.values():
                    rule.get("targets", {}).pop("default", None)

    def files(self) -> dict[str, bytes]:
        """Return every file by its path."""
        given = {"steps_registry.json": self._root, "schemas/all.schema.json": {**self._schemas, **self._shared.shared}}
        if self._agent is not None:
            given["agent.json"] = self._agent
        written = {name: json.dumps(each, ensure_ascii=False) for name, each in given.items()}
        return {name: each.encode() for name, each in (*written.items(), *self._texts.items())}


def _named(key: str) -> dict[str, Json]:
    phase, _, name = key.partition(".")
    return {"stepId": key, "name": key, "c2": phase, "c3": name}


def _path(step: Json) -> str:
    return f"prompts/steps/{step['c2']}/{step['c3']}/f_default.md"

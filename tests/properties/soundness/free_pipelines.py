"""Pipelines, made freely: every part that one may have is there or not, and nobody asks whether it is sound."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from properties.soundness.chance import Chance
from properties.soundness.free_registries import Made
from properties.soundness.free_schemas import Leaf, Placed, SchemaFiles

Json = Any

_IDS = ("plan", "build-2", "x1", "a-b-c", "review", "ship", "lint", "test-all")
_ODD = ("Plan", "prüfen", "1", "1.0", "a.b", "null", "a_b")
_CONTEXT: tuple[Json, ...] = (
    {"type": "string"},
    {"type": "string", "default": "busy"},
    {"enum": ["busy", "calm"]},
    {"type": "integer"},
    {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "b": {}}},
    {},
)
_POLICIES = ("retry-later", "skip", "fail", "ask")


def free_pipeline(random: Chance) -> Made:
    """Return a project with one pipeline."""
    making = _Making(random)
    making.connect()
    making.describe()
    return making.project()


class _Making:
    """Everything that one pipeline is made of."""

    def __init__(self, random: Chance) -> None:
        self._random = random
        self._marks: Counter[str] = Counter()
        self._schemas = SchemaFiles(random, self._marks)
        self._inline: dict[str, Json] = {}
        self._placed: dict[str, Placed] = {}
        self._leaves: dict[str, list[Leaf]] = {}
        self._tidy = random.random() < 0.7
        names = random.sample(_IDS, random.randint(1, 7))
        if self._slip(0.2, "odd id"):
            names[-1] = random.choice(_ODD)
        self._names = names
        self._context = {name: random.choice(_CONTEXT) for name in ("task", "mood") if random.random() < 0.7}
        self._next: dict[str, Json] = {}
        self._before: dict[str, list[str]] = {}
        """The stages whose results a stage is handed, on one of its ways at least."""
        self._cyclic = False

    def _mark(self, share: float, mark: str) -> bool:
        return self._schemas.chance(share, mark)

    def _slip(self, share: float, mark: str) -> bool:
        """Tell whether something is so that is often a mistake."""
        return self._mark(share / 4 if self._tidy else share, mark)

    def connect(self) -> None:
        """Say what runs after what, until every stage is led to."""
        random = self._random
        for name in self._names:
            self._leaves[name] = self._members()
        left, ahead = self._names[1:], [self._names[0]]
        while ahead:
            name = ahead.pop(0)
            found = [self._target(name, left, ahead) for _ in range(random.choice((1, 1, 2))) if left]
            if found or self._mark(0.4, "case for an end"):
                self._next[name] = self._cases(name, found or [{"stages": []}])

    def _members(self) -> list[Leaf]:
        found = []
        for path in self._random.sample(("done", "level", "detail.kind", "count", "1"), self._random.randint(0, 3)):
            required = self._random.random() < 0.7
            values = self._schemas.scalar()
            if self._random.random() < 0.7:
                found.append(self._schemas.chosen(path, values, required=required))
            else:
                found.append(self._schemas.free(path, required=required))
        return found

    def _target(self, name: str, left: list[str], ahead: list[str]) -> Json:
        random = self._random
        if len(left) >= 2 and self._mark(0.3, "parallel siblings"):
            siblings = [left.pop(0) for _ in range(min(len(left), random.choice((2, 2, 3))))]
            for each in siblings if self._slip(0.4, "siblings that read") else ():
                self._before.setdefault(each, []).append(name)
            if left and self._mark(0.8, "join"):
                join = left.pop(0)
                self._before[join] = [*siblings]
                ahead.append(join)
                return {"stages": siblings, "execution": "parallel", "join": join}
            return {"stages": siblings, "execution": "parallel"}
        if len(left) >= 2 and self._mark(0.15, "chain"):
            chain = [left.pop(0), left.pop(0)]
            self._before.setdefault(chain[0], []).append(name)
            self._before.setdefault(chain[1], []).append(chain[0])
            ahead.append(chain[1])
            return {"stages": chain}
        one = left.pop(0)
        self._before.setdefault(one, []).append(name)
        ahead.append(one)
        return {"stages": [one]}

    def _cases(self, name: str, targets: list[Json]) -> Json:
        """Return cases for targets, and perhaps one for a failure."""
        cases = []
        if self._mark(0.25, "case for a failure"):
            back = self._random.choice((self._names[0], name, self._names[-1]))
            self._cyclic = True
            cases.append({"when": {"verdict": "fail"}, "stages": self._random.choice(([back], []))})
            self._before.setdefault(back, []).append(name)
        cases += [{"when": self._when(name), **each} for each in targets[:-1]]
        if self._mark(0.15, "cycle"):
            self._cyclic = True
            cases.append({"when": self._when(name), "stages": [self._names[0]]})
        last = targets[-1]
        cases.append({"when": self._when(name), **last} if self._slip(0.3, "last case with a condition") else last)
        return cases if len(cases) > 1 or "when" in cases[0] else cases[0]

    def _when(self, name: str) -> Json:
        if not self._leaves[name]:
            return {"attemptCount": 1}
        leaf = self._random.choice(self._leaves[name])
        scalars = [each for each in leaf.values if not isinstance(each, dict | list)]
        asked: list[Json] = [{"present": True}, {"present": False}] if not leaf.required or not scalars else []
        asked += [scalars[0], scalars[0], [*scalars[:2]]] if scalars else []
        return {f"parsed.{leaf.path}": self._random.choice(asked)}

    def describe(self) -> None:
        """Write what each stage hands in."""
        for at, name in enumerate(self._names):
            leaves = self._leaves[name]
            union = None
            told = [each for each in leaves if each.required and "." not in each.path and "enum" in str(each.schema)]
            rest = [each.path for each in leaves if not each.required and "." not in each.path]
            if told and rest and self._random.random() < 0.4:
                values = [each for each in told[0].values if isinstance(each, str)]
                union = (told[0].path, {each: rest[: at % 2] for at, each in enumerate(values)}) if values else None
            self._placed[name] = self._schemas.place(name, leaves, union)

    def _schema(self, name: str) -> Json:
        """Return the completion schema of a stage: a reference, or the schema itself if it refers to nothing."""
        placed = self._placed[name]
        whole = self._schemas.files[placed.file]
        schema = whole[placed.name]
        if "$ref" in json.dumps(schema) or self._random.random() < 0.4:
            self._marks["completion schema in another file"] += 1
            return {"$ref": f"../schemas/{placed.file}#/{placed.name}"}
        return {**{key: each for key, each in whole.items() if key == "$schema"}, **schema}

    def _stage(self, name: str) -> str:
        random = self._random
        members: dict[str, Json] = {
            "id": name,
            "name": name,
            "allowedTools": random.sample(("Read", "Grep"), random.randint(0, 2)),
            "completionTool": f"done_{self._names.index(name)}",
            "completionSchema": self._schema(name),
            "turnCap": 1 if self._mark(0.3, "turn cap of 1") else 3,
            "retryPolicy": {"maxAttempts": random.choice((1, 2)), "backoff": random.choice(("none", "fixed:5"))},
            "resolutionPolicy": random.choice(_POLICIES),
        }
        if self._mark(0.2, "inputsSchema"):
            members["inputsSchema"] = self._demand(name)
        return "\n".join(
            (
                "---",
                *(f"{key}: {json.dumps(each, ensure_ascii=False)}" for key, each in members.items()),
                "---",
                f"Do it.{''.join(self._reads(name))} Call {members['completionTool']}.\n",
            )
        )

    def _demand(self, name: str) -> Json:
        leaves = [leaf for each in self._before.get(name, ()) for leaf in self._leaves.get(each, ())]
        leaf = self._random.choice(leaves) if leaves else None
        inner = {"type": "object", **({"required": [leaf.path.partition(".")[0]]} if leaf else {})}
        whole = {"type": "object", "required": ["parsed"], "properties": {"parsed": inner}}
        return self._random.choice(({"type": "object", "required": ["verdict"]}, {"type": "object"}, whole))

    def _reads(self, name: str) -> list[str]:
        found = [f" {{{{ctx.{each}}}}}" for each in self._context if self._mark(0.3, "context in a prompt")]
        if self._slip(0.1, "context that nobody gives"):
            found.append(" {{ctx.tsak}}")
        for at, each in enumerate(self._before.get(name, ())[:2]):
            leaf = self._random.choice(self._leaves[each]) if self._leaves.get(each) else None
            if leaf is not None and self._mark(0.4, "result in a prompt"):
                found.append(f" {{{{ctx.upstream[{at}].parsed.{leaf.path}}}}}")
            elif self._mark(0.2, "verdict in a prompt"):
                found.append(f" {{{{ctx.upstream[{at}].verdict}}}}")
        return found

    def project(self) -> Made:
        """Return the project."""
        random = self._random
        root: dict[str, Json] = {
            "id": "demo",
            "version": "1.0.0",
            "entry": self._names[0],
            "stages": ["stages/*.md"],
            "next": self._next,
        }
        if self._mark(0.8, "declared context"):
            root["context"] = self._context
        if self._cyclic or random.random() < 0.5:
            root["maxStageExecutions"] = random.choice((8, 12, 30))
        if self._mark(0.3, "parallel bound"):
            root["maxParallel"] = random.choice((1, 2, 3))
        if self._mark(0.12, "setup hook"):
            root["hooks"] = {random.choice(self._names): {"setup": "hooks.demo:call"}}
        if self._mark(0.15, "checks"):
            name = random.choice(self._names)
            root["checks"] = {name: [{"when": self._when(name), "verdict": "retry", "reason": "no"}]}
        if self._context and self._mark(0.2, "admission"):
            root["gate"] = {random.choice(self._names): {"block": {random.choice([*self._context]): "busy"}}}
        files = {f"stages/s{at}.md": self._stage(name) for at, name in enumerate(self._names)}
        files["pipeline.json"] = json.dumps(root, ensure_ascii=False)
        return Made({**files, **self._schemas.written()}, self._marks, self._schemas.files, self._placed)

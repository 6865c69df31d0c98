"""Pipelines at random that branch: forks in forks, elements of lists, recovery, demands, gates and callables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from properties.small.project import SmallProject
from properties.small.sampling import Sampler

Json = Any
_CONTEXT: dict[str, Json] = {
    "mode": {"enum": ["calm", "busy"]},
    "goal": {"type": "string", "minLength": 1},
    "paths": {"type": "array", "maxItems": 3, "items": {"type": "string", "minLength": 1}},
}
_GIVEN: dict[str, list[Json]] = {"mode": ["calm", "busy"], "goal": ["g"], "paths": [[], ["a"], ["a", "b", "c"]]}
_PARTS: dict[str, tuple[Json, ...]] = {
    "kind": ({"enum": ["a", "b"]}, {"enum": ["a", "b", "c"]}, {"oneOf": [{"const": "a"}, {"const": "b"}]}),
    "done": ({"type": "boolean"},),
    "files": (
        {"type": "array", "maxItems": 3, "items": {"type": "string", "minLength": 1}},
        {"type": "array", "maxItems": 2, "minItems": 1, "items": {"$ref": "#/$defs/item"}},
    ),
    "count": ({"type": "integer", "minimum": 0, "maximum": 3},),
    "note": ({"type": "string"}, {"type": ["string", "null"]}),
}
_ITEM: Json = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "minLength": 1}}}


def make_branching_pipeline(chance: Random) -> SmallProject:
    """Return a pipeline that is a tree of scopes, with a few ways back."""
    return _Maker(chance).make()


class _Maker:
    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._schemas: dict[str, Json] = {}
        self._next: dict[str, Json] = {}
        self._before: dict[str, str | None] = {}
        """Whose result a stage gets, where it gets the result of one stage for certain."""
        self._items: set[str] = set()
        self._context = {each: _CONTEXT[each] for each in _CONTEXT if chance.random() < 0.6}

    def make(self) -> SmallProject:
        """Return the files, answers and inputs."""
        chance = self._chance
        entry = self._add(None)
        self._go_on(entry, chance.randint(1, 4))
        body: dict[str, Json] = {"id": "flow", "entry": entry, "stages": ["stages/*.md"], "next": self._next}
        body |= {"context": self._context, "maxStageExecutions": chance.choice((20, 40)), "maxParallel": 2}
        for table, made in (("gate", self._make_gate), ("checks", self._make_checks), ("hooks", self._make_hooks)):
            rows = {name: row for name in self._schemas if chance.random() < 0.12 and (row := made(name))}
            body |= {table: rows} if rows else {}
        files = {f"stages/{name}.md": self._write(name) for name in self._schemas}
        files["pipeline.json"] = json.dumps(body)
        answers = {name: Sampler(chance, schema).list_values() for name, schema in self._schemas.items()}
        return SmallProject(files, answers, _GIVEN)

    def _add(self, before: str | None) -> str:
        """Add a stage and return its name."""
        chance, name = self._chance, f"s{len(self._schemas)}"
        names = chance.sample(sorted(_PARTS), chance.randint(1, 3))
        members = {each: chance.choice(_PARTS[each]) for each in names}
        schema: dict[str, Json] = {"type": "object", "properties": members}
        schema["required"] = [each for each in names if chance.random() < 0.8]
        if chance.random() < 0.25 and {"kind", "note"} <= members.keys():
            one: Json = {"properties": {"kind": {"const": "a"}}, "required": ["kind", "note"]}
            schema["oneOf"] = [one, {"properties": {"kind": {"enum": ["b", "c"]}}, "required": ["kind"]}]
        if chance.random() < 0.3:
            schema["additionalProperties"] = False
        schema["$defs"] = {"item": _ITEM}
        self._schemas[name], self._before[name] = schema, before
        return name

    def _go_on(self, name: str, left: int) -> None:
        """Let something follow a stage that is in no scope."""
        chance = self._chance
        if left <= 0:
            if chance.random() < 0.5:
                self._next[name] = {"stages": []}
            return
        how, schema = chance.random(), self._schemas[name]
        if how < 0.3:
            self._next[name], after = self._fork()
        elif how < 0.6 and "files" in schema["required"]:
            self._next[name], after = self._for_each("parsed.files")
        elif how < 0.7 and "paths" in self._context:
            self._next[name], after = self._for_each("ctx.paths")
        elif how < 0.85 and "kind" in schema["required"]:
            self._next[name], after = self._cases(name, left), None
        else:
            after = self._add(name)
            self._next[name] = chance.choice((after, {"stages": [after], "execution": "sequential"}))
        if after is not None:
            self._go_on(after, left - 1)

    def _fork(self) -> tuple[Json, str]:
        siblings = [self._add(None) for _ in range(self._chance.randint(2, 3))]
        join = self._add(None)
        for each in siblings:
            self._recover(each)
        return {"stages": siblings, "execution": "parallel", "join": join}, join

    def _for_each(self, path: str) -> tuple[Json, str]:
        chance = self._chance
        stages = [self._add(None)]
        if chance.random() < 0.4:
            stages.append(self._add(stages[0]))
        self._items |= {*stages}
        join = self._add(None)
        for each in stages:
            self._recover(each)
        case: dict[str, Json] = {"forEach": path, "most": 3, "stages": stages, "join": join}
        if chance.random() < 0.4:
            case["onFailure"] = chance.choice(("abort", "collect"))
        if chance.random() < 0.3:
            case["concurrency"] = chance.choice((1, 2))
        return self._delay(case), join

    def _delay(self, case: dict[str, Json]) -> dict[str, Json]:
        """Let a case wait at times."""
        return case | {"wait": self._chance.choice(("1s", "1.5m", "365d"))} if self._chance.random() < 0.2 else case

    def _recover(self, name: str) -> None:
        """Let a stage of a scope have a branch of its own for failures, at times with a fork in it."""
        chance = self._chance
        if chance.random() > 0.3:
            return
        rescue = self._add(name)
        self._next[name] = [self._delay({"when": {"verdict": "fail"}, "stages": [rescue]})]
        if chance.random() < 0.4 and name not in self._items:
            some = [self._add(None), self._add(None)]
            join = self._add(None)
            self._next[rescue] = {"stages": some, "execution": "parallel", "join": join}

    def _cases(self, name: str, left: int) -> Json:
        chance, kind = self._chance, self._schemas[name]["properties"]["kind"]
        values = kind.get("enum", ["a", "b"])
        found = []
        for each in values:
            if chance.random() < 0.3:
                found.append({"when": {"parsed.kind": each}, "stages": []})
                continue
            ahead = self._add(name)
            self._go_on(ahead, left - 2)
            found.append(self._delay({"when": {"parsed.kind": each}, "stages": [ahead]}))
        if chance.random() < 0.3:
            found[-1] = {"stages": [name]}  # a way back
        if chance.random() < 0.3:
            found.insert(0, {"when": {"verdict": "fail"}, "stages": chance.choice(([], [name]))})
        return found

    def _make_gate(self, _name: str) -> Json:
        return {"defer": {"mode": "busy"}} if "mode" in self._context else None

    def _make_checks(self, name: str) -> Json:
        terms = [{"capHit": True}, {"attemptCount": [1]}]
        terms += [{"parsed.done": False}] if "done" in self._schemas[name]["properties"] else []
        return [{"when": self._chance.choice(terms), "verdict": self._chance.choice(("retry", "fail")), "reason": "so"}]

    def _make_hooks(self, _name: str) -> Json:
        chance = self._chance
        return dict.fromkeys(chance.sample(("setup", "gate", "assert", "exit"), chance.randint(1, 2)), "m.n:f")

    def _write(self, name: str) -> str:
        chance = self._chance
        front: dict[str, Json] = {
            "id": name,
            "name": name,
            "description": "x",
            "allowedTools": [],
            "completionTool": f"done_{name}",
            "completionSchema": self._schemas[name],
            "retryPolicy": {"maxAttempts": chance.choice((1, 2, 3)), "backoff": "none"},
            "turnCap": chance.choice((1, 2, 4)),
            "resolutionPolicy": chance.choice(("fail", "skip", "retry-later", "ask")),
        }
        before = self._before[name]
        if before is not None and chance.random() < 0.25:
            front["inputsSchema"] = self._demand(before)
        lines = [f"{key}: {json.dumps(each)}" for key, each in front.items()]
        words = " ".join("{{" + each + "}}" for each in self._list_reads(name) if chance.random() < 0.3)
        return "\n".join(("---", *lines, "---", f"Do it, then done_{name}. {words}", ""))

    def _demand(self, before: str) -> Json:
        schema = self._schemas[before]
        properties = {key: each for key, each in schema["properties"].items() if "$ref" not in json.dumps(each)}
        parsed: Json = {"type": "object", "properties": properties}
        if self._chance.random() < 0.5:
            parsed["required"] = [each for each in schema["required"] if each in properties]
        return {"type": "object", "properties": {"parsed": parsed}}

    def _list_reads(self, name: str) -> Iterator[str]:
        """Yield paths of what is there for certain, for the most part."""
        before = self._before[name]
        yield from (f"ctx.{each}" for each in self._context)
        if before is not None:
            yield "ctx.upstream[0].verdict"
            yield from (f"ctx.upstream[0].parsed.{each}" for each in self._schemas[before]["required"])
        if name in self._items:
            yield from ("ctx.item", "ctx.index")

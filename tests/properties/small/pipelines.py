"""Small pipelines at random: cases, checks, gates, hooks, forks in forks, demanded inputs, prompts that read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

from properties.small.project import SmallProject
from properties.small.values import list_answers, make_schema

Json = Any
_CONTEXT: dict[str, Json] = {
    "task": {"type": "string"},
    "mode": {"enum": ["calm", "busy"]},
    "cfg": {"type": "object", "properties": {"x": {"enum": ["a"]}, "y": {"type": "string"}}, "required": ["x"]},
    "count": {"type": "integer", "minimum": 1, "maximum": 3},
}
_GIVEN: dict[str, list[Json]] = {
    "task": ["t", ""],
    "mode": ["calm", "busy"],
    "cfg": [{"x": "a"}, {"x": "a", "y": ""}],
    "count": [1, 3],
}


def make_pipeline(chance: Random) -> SmallProject:
    """Return a pipeline of a few stages."""
    return _Maker(chance).make()


class _Maker:
    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._names = [f"s{at}" for at in range(chance.randint(1, 6))]
        self._schemas = {name: make_schema(chance, {}) for name in self._names}
        self._context = {name: _CONTEXT[name] for name in chance.sample(sorted(_CONTEXT), chance.randint(0, 4))}

    def make(self) -> SmallProject:
        chance = self._chance
        follow = {name: made for name in self._names if (made := self._make_next(name)) is not None}
        body: dict[str, Json] = {"id": "flow", "entry": "s0", "stages": ["stages/*.md"], "next": follow}
        if self._context or chance.random() < 0.5:
            body["context"] = self._context
        body["maxStageExecutions"] = chance.choice((3, 6, 12, 12))
        body["maxParallel"] = chance.choice((1, 2, 4))
        body |= {table: made for table in ("gate", "checks", "hooks") if (made := self._make_table(table))}
        files = {f"stages/{name}.md": self._write_stage(name) for name in self._names}
        files["pipeline.json"] = json.dumps(body)
        answers = {name: list_answers(schema, chance) for name, schema in self._schemas.items()}
        return SmallProject(files, answers, _GIVEN)

    def _make_table(self, table: str) -> dict[str, Json]:
        make = {"gate": self._make_gate, "checks": self._make_checks, "hooks": self._make_hooks}[table]
        some = (name for name in self._names if self._chance.random() < 0.2)
        return {name: made for name in some if (made := make(name))}

    def _make_gate(self, _name: str) -> Json:
        chance = self._chance
        whens = [{"mode": "busy"}, {"mode": ["busy"]}, {"count": 3}, {"cfg.y": {"present": True}}, {"task": ""}]
        possible = [each for each in whens if next(iter(each)).partition(".")[0] in self._context]
        if not possible:
            return None
        return {chance.choice(("defer", "block")): chance.choice(possible)}

    def _make_checks(self, name: str) -> Json:
        return [
            {"when": self._make_when(name), "verdict": self._chance.choice(("retry", "fail")), "reason": "so"}
            for _ in range(self._chance.randint(1, 2))
        ]

    def _make_hooks(self, _name: str) -> Json:
        chance = self._chance
        return dict.fromkeys(chance.sample(("setup", "gate", "assert", "exit"), chance.randint(1, 2)), "m.n:f")

    def _list_terms(self, name: str) -> Iterator[Json]:
        """Yield terms about what a result can have."""
        for member, body in self._schemas[name]["properties"].items():
            listed = body.get("enum", [body["const"]] if "const" in body else [True, False] if member == "b" else [])
            yield from ({f"parsed.{member}": each} for each in listed)
            yield {f"parsed.{member}": {"present": self._chance.random() < 0.5}}
            if "x" in body.get("properties", {}):
                yield {f"parsed.{member}.x": "a"}

    def _make_when(self, name: str) -> Json:
        chance = self._chance
        terms = [*self._list_terms(name), {"capHit": True}, {"attemptCount": [1]}, {"verdict": "ok"}]
        if chance.random() < 0.15:
            return {**chance.choice(terms), **chance.choice(terms)}
        return chance.choice(terms)

    def _make_next(self, name: str) -> Json:
        chance = self._chance
        if chance.random() < 0.25:
            return None
        if chance.random() < 0.45:
            return self._make_target(name)
        cases = []
        if chance.random() < 0.4:
            cases.append({"when": {"verdict": chance.choice(("fail", "fail", "skip"))}, **self._make_target(name)})
        listed = self._schemas[name]["properties"].get("k", {}).get("enum")
        if listed and chance.random() < 0.5:
            cases += [{"when": {"parsed.k": each}, **self._make_target(name)} for each in listed]
        else:
            cases += [{"when": self._make_when(name), **self._make_target(name)} for _ in range(chance.randint(0, 2))]
        if chance.random() < 0.7:
            cases.append(self._make_target(name))
        return cases or self._make_target(name)

    def _make_target(self, name: str) -> dict[str, Json]:
        chance, names = self._chance, self._names
        at = names.index(name)
        later = names[at + 1 :] or names
        pool = later if chance.random() < 0.85 else names
        kind = chance.random()
        if kind < 0.25 or not pool:
            return {"stages": []}
        if kind < 0.65 or len(pool) < 2:
            return {"stages": [chance.choice(pool)]}
        chosen = chance.sample(pool, min(len(pool), chance.randint(2, 3)))
        if kind < 0.75:
            return {"stages": chosen, "execution": "sequential"}
        others = [each for each in names if each not in chosen and each != name]
        join = {"join": chance.choice(others)} if others and chance.random() < 0.6 else {}
        return {"stages": chosen, "execution": "parallel", **join}

    def _write_stage(self, name: str) -> str:
        chance = self._chance
        front: dict[str, Json] = {
            "id": name,
            "name": name,
            "description": "x",
            "allowedTools": [],
            "completionTool": f"done_{name}",
            "completionSchema": self._schemas[name],
            "retryPolicy": {"maxAttempts": chance.choice((1, 1, 2)), "backoff": "none"},
            "turnCap": chance.choice((1, 2, 3)),
            "resolutionPolicy": chance.choice(("fail", "skip", "retry-later", "ask")),
        }
        if name != "s0" and chance.random() < 0.2:
            front["inputsSchema"] = self._make_demand()
        lines = [f"{key}: {json.dumps(each)}" for key, each in front.items()]
        return "\n".join(("---", *lines, "---", f"Do it with done_{name}. {self._make_reads(name)}", ""))

    def _make_demand(self) -> Json:
        chance = self._chance
        body = self._schemas[chance.choice(self._names)]
        names = list(body["properties"])
        parsed: Json = {"properties": body["properties"], "required": chance.sample(names, min(1, len(names)))}
        demands: list[Json] = [
            {"required": ["parsed"]},
            {"properties": {"parsed": parsed}},
            {"required": ["parsed"], "properties": {"parsed": parsed}},
            {"properties": {"verdict": {"const": "ok"}}},
            {"required": ["verdict", "attemptCount"], "properties": {"attemptCount": {"maximum": 1}}},
        ]
        return {"type": "object", **chance.choice(demands)}

    def _make_reads(self, name: str) -> str:
        """Return placeholders, mostly of what may be there."""
        chance = self._chance
        paths = [f"ctx.{each}" for each in self._context] + ["ctx.workflowRunId"]
        paths += ["ctx.cfg.x"] if "cfg" in self._context else []
        if chance.random() < 0.4 and name != "s0":
            other = chance.choice(self._names[: self._names.index(name)])
            at = chance.choice((0, 0, 0, 1))
            paths += [f"ctx.upstream[{at}].{each}" for each in ("verdict", "reason", "capHit")]
            paths += [f"ctx.upstream[{at}].parsed.{each}" for each in self._schemas[other]["properties"]] * 3
        return " ".join("{{" + each + "}}" for each in chance.sample(paths, min(len(paths), chance.randint(0, 2))))

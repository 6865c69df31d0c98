"""The stages of a pipeline, made at random: what each hands in, and what is said of its result."""

from __future__ import annotations

import json
from typing import Any

from properties.soundness.chance import Chance
from properties.soundness.schemas import VALUES, Leaf, SchemaMaker

Json = Any
When = dict[str, Json]

PATHS = ("done", "level", "detail.kind", "detail.more.size", "count", "rows.0")
_SCALARS = tuple(each for each in VALUES if not any(isinstance(one, dict | list) for one in each))
_POLICIES = ("retry-later", "skip", "fail", "ask")
_BACKOFFS = ("none", "fixed:5", "exponential:2")
_FAILING = frozenset({"cap", "branch", "unjoined", "mend"})
"""Leans that want stages to fail."""
TOOLS = ("Read", "Grep", "Edit", "run_tests")


class Result:
    """What a stage hands in: the leaves of its schema, by their dotted paths."""

    def __init__(self, random: Chance) -> None:
        self._random = random
        self.leaves: dict[str, Leaf] = {}
        for path in PATHS:
            if random.random() < 0.5:
                values = random.choice((None, *_SCALARS, (True, False), ("high", "low", "none")))
                self.leaves[path] = Leaf(values, random.random() < 0.75)

    def when(self) -> When:
        """Return conditions that some of the accepted results meet, mostly."""
        found = {}
        for path, leaf in self._random.sample(
            sorted(self.leaves.items()), min(len(self.leaves), self._random.choice((1, 1, 2)))
        ):
            found[f"parsed.{path}"] = self._asked(leaf)
        return found or {"attemptCount": 1}

    def split(self) -> list[When]:
        """Return conditions of which one holds of every result, where somebody can tell."""
        known = [(path, leaf) for path, leaf in self.leaves.items() if leaf.values is not None and len(leaf.values) > 1]
        if not known or self._random.random() < 0.2:
            path = f"parsed.{self._random.choice(sorted(self.leaves) or ['gone'])}"
            return [{path: {"present": True}}, {path: {"present": False}}]
        path, leaf = self._random.choice(known)
        values = [*(leaf.values or ())]
        at = self._random.randint(1, len(values) - 1)
        parts = [{f"parsed.{path}": part[0] if len(part) == 1 else part} for part in (values[:at], values[at:])]
        return parts if leaf.required else [*parts, {f"parsed.{path}": {"present": False}}]

    def _asked(self, leaf: Leaf) -> Json:
        if leaf.values is None or self._random.random() < 0.15:
            return {"present": self._random.random() < 0.6} if self._random.random() < 0.7 else "x"
        chosen = self._random.sample(leaf.values, self._random.randint(1, max(1, len(leaf.values) - 1)))
        return chosen[0] if len(chosen) == 1 else chosen


def demanded(random: Chance, results: list[Result]) -> Json:
    """Return what a stage demands of each result that it is handed, some of which may be these."""
    leaves = [(path, leaf) for each in results for path, leaf in each.leaves.items() if "." not in path]
    path, leaf = random.choice(leaves or [("done", Leaf(None))])
    member = {"enum": list(leaf.values[:1] if random.random() < 0.5 else leaf.values)} if leaf.values else {}
    handed = {"type": "object", "properties": {path: member}}
    return random.choice(
        (
            {"type": "object", "required": ["verdict"]},
            {"type": "object", "required": ["parsed"], "properties": {"parsed": handed}},
            {"type": "object", "required": ["parsed"], "properties": {"parsed": {**handed, "required": [path]}}},
        )
    )


class StageMaker:
    """Makes stage definitions; `wild` is how often something unusual is said, `names` are what the context has."""

    def __init__(self, random: Chance, wild: float, names: list[str]) -> None:
        self._random = random
        self._wild = wild
        self._names = names

    def text(self, name: str, result: Result, reads: str, conduct: Json, demand: Json) -> str:
        """Return the text of a stage definition, `reads` standing in its prompt."""
        members = {**self._members(name, result), **({"stagec": conduct} if conduct else {})}
        members |= {"inputsSchema": demand} if demand is not None else {}
        lines = "".join(f"{key}: {json.dumps(each, ensure_ascii=False)}\n" for key, each in members.items())
        return f"---\n{lines}---\nDo {name}.{self._prompt()}{reads}\nThen call submit_{name}.\n"

    def plain(self, name: str, result: Result, following: Json) -> Json:
        """Return a stage object, which says less than a stage definition."""
        members = self._members(name, result)
        said = ("id", "completionTool", "completionSchema", "turnCap")
        read = "".join(f" ${{ctx.{each}}}" for each in self._names if self._random.random() < 0.3)
        own = {"next": following} if following is not None else {}
        tools = {"allowedTools": members["allowedTools"]} if self._random.random() < 0.8 else {}
        return {**{each: members[each] for each in said}, **tools, "body": f"Do {name}.{read}", **own}

    def _members(self, name: str, result: Result) -> dict[str, Json]:
        random, maker = self._random, SchemaMaker(self._random, self._wild, "#/$defs/")
        schema = maker.whole(result.leaves)
        each = {"defer": random.choice(_POLICIES), "block": random.choice(_POLICIES)}
        if random.lean in {"policy", "skipped"} and random.detail != "":
            each = dict.fromkeys(each, random.detail)
        policy = random.choice((random.choice(_POLICIES), each, each))
        return {
            "id": name,
            "name": name.title(),
            "allowedTools": random.sample(TOOLS, random.randint(0, 3)),
            "completionTool": f"submit_{name}",
            "completionSchema": {**schema, "$defs": maker.shared} if maker.shared else schema,
            "retryPolicy": {
                "maxAttempts": random.choice((2, 3) if random.lean == "retry" else (1, 1, 2, 3)),
                "backoff": random.choice(_BACKOFFS),
            },
            "turnCap": random.choice((1, 2) if random.lean in _FAILING else (1, 2, 3, 5)),
            "resolutionPolicy": policy,
        }

    def _prompt(self) -> str:
        read = [name for name in self._names if self._random.random() < 0.3]
        braces = ' {{"{{"}}ctx.nothing}}' if len(read) == 1 else ""
        return "".join(f" {{{{ctx.{name}}}}}" for name in read) + braces

    def checks(self, result: Result) -> list[Json]:
        """Return judgements of what a stage hands in."""
        made = [
            {"when": self._checked(result), "verdict": self._random.choice(("retry", "fail")), "reason": "no"}
            for _ in range(self._random.choice((1, 1, 2)))
        ]
        return made if self._random.random() < 0.95 else [{"verdict": self._random.choice(("retry", "fail"))}]

    def _checked(self, result: Result) -> When:
        capped = {"capHit": True}
        if self._random.lean == "cap" and self._random.random() < 0.7:
            return capped
        return self._random.choice((result.when(), result.when(), capped, {"attemptCount": 1}))

    def gate(self) -> Json:
        """Return what defers or blocks a stage."""
        name = (
            self._random.choice((*self._names, "extra"))
            if self._random.random() < 0.05
            else self._random.choice(self._names or ["extra"])
        )
        terms = [{name: "busy"}, {name: ["busy", "text", "a"]}, {name: {"present": False}}, {name: {"present": True}}]
        kinds: list[str] = self._random.choice((["defer"], ["block"], ["defer", "block"]))
        return {kind: self._random.choice(terms) for kind in kinds}

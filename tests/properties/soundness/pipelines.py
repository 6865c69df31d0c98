"""Pipelines, made at random with all that belongs to them: most are sound, and many are not."""

from __future__ import annotations

import json
from typing import Any

from properties.soundness.chance import Chance
from properties.soundness.stages import TOOLS, Result, StageMaker, When, demanded

from stagec.runtime.machine.acts.hooks import KINDS, SLOTS

Json = Any

_NAMES = ("plan", "build", "test", "lint", "review", "mend", "ship", "tell")
_CONTEXTS: tuple[Json, ...] = (
    {"type": "string", "default": "busy"},
    {"type": "string"},
    {"enum": ["busy", "calm"]},
    {},
    {"type": "object", "required": ["a"], "properties": {"a": {"enum": ["busy", 1]}}},
)
_CROWDED = frozenset({"fork", "join", "branch", "chain", "mend", "unjoined", "skipped"})
"""Leans that need several stages."""
_FORKING = ("fork", "join", "unjoined", "skipped")
_HOOKS = ("setup", "gate", "assert", "exit")


def pipeline(random: Chance) -> dict[str, bytes]:
    """Return the files of a project with one pipeline."""
    making = _Making(random)
    making.routed()
    making.judged()
    if random.seldom(0.2):
        making.spoil()
    return making.files()


class _Making:
    """Everything that one pipeline is made of."""

    def __init__(self, random: Chance) -> None:
        self._random = random
        wild = 0 if random.lean else random.choice((0, 0, 0.1, 0.35))
        self._stages = [*_NAMES[: random.randint(5 if random.lean in _CROWDED else 1, 8)]]
        self._results = {name: Result(random) for name in self._stages}
        self._context = {name: random.choice(_CONTEXTS) for name in ("task", "mood") if random.random() < 0.8}
        self._maker = StageMaker(random, wild, [*self._context])
        self._siblings: set[str] = set()
        self._handed: dict[str, list[str]] = {}
        """Of each stage those whose results it is handed, as far as it has one way only."""
        self._members: dict[str, dict[str, Json]] = {"next": {}, "checks": {}, "gate": {}, "hooks": {}}
        self._root: dict[str, Json] = {
            "id": "demo",
            "version": "1.0.0",
            "entry": self._stages[0],
            "stages": ["stages/*.md"],
        }

    def routed(self) -> None:
        """Say what runs after what: every stage is led to by one before it."""
        left = self._stages[1:]
        ahead = [self._stages[0]]
        while ahead and left:
            name = ahead.pop(0)
            if name in self._siblings and self._random.likely(0.6, "branch", "unjoined"):
                ahead += [name] if not ahead else []
                self._siblings.discard(name) if not ahead[1:] else None
                self._recovery(name, left, ahead)
                continue
            self._onward(name, left, ahead)
        for name in ahead:
            self._ending(name)

    def _onward(self, name: str, left: list[str], ahead: list[str]) -> None:
        lean = self._random.lean
        many = (1, 1, 1, 2) if lean in _CROWDED else (2, 3) if lean == "output" else (1, 1, 2, 3)
        targets = [self._target(left, ahead) for _ in range(self._random.choice(many)) if left]
        cases = [*self._cases(name, targets)]
        if self._random.likely(0.25, "mend", "reason"):
            cases.insert(0, self._failing(name))
        self._members["next"][name] = self._written(cases)

    def _recovery(self, name: str, left: list[str], ahead: list[str]) -> None:
        if left and name not in self._members["next"]:
            target = self._target(left, ahead) if self._random.random() < 0.7 else self._mending(name)
            if self._random.likely(0, "unjoined"):
                target = {"stages": []}
            self._members["next"][name] = [{"when": {"verdict": "fail"}, **target}]

    def _ending(self, name: str) -> None:
        """Let a stage end the run, go back, or do one or the other."""
        random = self._random
        if name in self._members["next"] or random.likely(0.4, *_CROWDED - {"mend"}):
            return
        back = {"stages": [random.choice(self._stages)]}
        cases = [
            *self._cases(name, random.choice(([back, {"stages": []}], [{"stages": []}], [{"terminate": True}, back])))
        ]
        if random.likely(0.3, "mend", "reason"):
            cases.insert(0, self._failing(name))
        self._members["next"][name] = self._written(cases)

    def _failing(self, name: str) -> Json:
        when: When = self._random.choice(
            (
                {"verdict": "fail"},
                {"verdict": "fail", "capHit": True},
                {"verdict": "fail", "attemptCount": 1},
                {"verdict": "fail", "reason": "no"},
                {"verdict": ["fail", "ok"], "attemptCount": 1},
            )
        )
        if self._random.lean == "reason":
            when = {"verdict": "fail", "reason": "no"}
        return {"when": when, **self._mending(name)}

    def _mending(self, name: str) -> Json:
        """Return what follows a failure: one stage, several, or the end."""
        known = self._random.sample(self._stages, min(len(self._stages), 3))
        ways: list[Json] = [{"stages": known[:1]}, {"stages": known[:1]}, {"stages": []}]
        if len(known) > 2:
            fork = {"stages": known[:2], "execution": "parallel"}
            joined = {**fork, "join": known[2]}
            ways += [{"stages": known[:2]}, {"stages": known}, fork, joined, joined, joined, joined]
        return self._random.choice(ways)

    def _cases(self, name: str, targets: list[Json]) -> Any:
        """Yield cases for targets, mostly so that every accepted result has one."""
        result, random = self._results[name], self._random
        if len(targets) == 1 and random.safely(0.7):
            yield targets[0]
        elif random.random() < (0 if random.lean == "output" else 0.4):
            for at, when in enumerate(result.split()):
                yield {"when": when, **targets[at % len(targets)]}
        else:
            for each in targets[:-1]:
                yield {
                    "when": random.choice(
                        (
                            result.when(),
                            result.when(),
                            {"attemptCount": 1},
                            {"verdict": "ok", **result.when()},
                            {"verdict": {"present": True}, **result.when()},
                            *self._of_output(name),
                        )
                    ),
                    **each,
                }
            yield targets[-1] if random.safely(0.85) else {"when": result.when(), **targets[-1]}

    def _of_output(self, name: str) -> list[When]:
        """Return conditions on what a callable has made of the result, and let there be one."""
        if not self._random.likely(0.1, "output"):
            return []
        self._members["hooks"].setdefault(name, {})["exit"] = "hooks.demo:call"
        return [{"output.digest": self._random.choice((1, {"present": True}, {"present": False}))}] * 6

    def _target(self, left: list[str], ahead: list[str]) -> Json:
        """Return a target that leads to stages which nothing has led to yet, as far as there are any."""
        random = self._random
        if random.likely(0.55 if random.lean == "branch" else 0.35, *_FORKING) and len(left) >= 2:
            siblings = [left.pop(0) for _ in range(min(len(left), random.choice((2, 2, 3))))]
            join = {"join": left.pop(0)} if left and random.random() < (0.4 if random.lean == "fork" else 0.8) else {}
            self._siblings.update(siblings)
            self._handed.setdefault(join.get("join", ""), []).extend(siblings)
            ahead += [*siblings, *join.values()]
            return {"stages": siblings, "execution": "parallel", **join}
        if random.likely(0.25, "chain") and len(left) >= 2:
            chain = [
                left.pop(0) for _ in range(min(len(left), 2 if random.lean == "chain" else random.choice((2, 2, 3))))
            ]
            ahead += chain
            return {"stages": chain}
        if not left or random.random() < 0.1:
            return {"stages": [random.choice(self._stages)] if random.random() < 0.7 else []}
        name = left.pop(0)
        ahead.append(name)
        return {"stages": [name]}

    def _written(self, cases: list[Json]) -> Json:
        if len(cases) == 1 and "when" not in cases[0]:
            only = cases[0].get("stages")
            return only[0] if only is not None and len(only) == 1 and "execution" not in cases[0] else cases[0]
        return cases

    def judged(self) -> None:
        """Say how stages are judged, admitted and hooked into."""
        random, members = self._random, self._members
        for name in self._stages:
            if random.likely(0.1 if random.lean in _CROWDED else 0.25, "cap", "retry", "reason"):
                members["checks"][name] = self._maker.checks(self._results[name])
            if random.likely(0.4, "policy", "skipped"):
                members["gate"][name] = self._maker.gate()
            if random.likely(0.12, "hooks", "cap"):
                members["hooks"][name] = {
                    **members["hooks"].get(name, {}),
                    **{random.choice(_HOOKS): "hooks.demo:call" for _ in range(2)},
                    **({"assert": "hooks.demo:call"} if random.lean == "cap" and random.random() < 0.4 else {}),
                }
        if random.likely(0.15, "loop"):
            self._root["loopHooks"] = [self._loop_hook() for _ in range(random.randint(1, 4))]
        if random.likely(0.5, "mode"):
            self._root["securityMode"] = random.choice(("ask", "allowlist", "yolo"))
        if random.random() < 0.85:
            self._root["context"] = self._context
        if random.random() < 0.9:
            self._root["maxStageExecutions"] = random.choice((6, 12, 25, 40))
        if random.random() < 0.6:
            self._root["maxParallel"] = random.choice((1, 1, 2, 3))
        if random.random() < 0.8:
            self._root["tools"] = "tools.json"

    def _loop_hook(self) -> Json:
        random = self._random
        slot = random.choice([*SLOTS])
        kind = random.choice(sorted(SLOTS[slot]))
        if random.lean == "loop" and random.detail:
            slot, _, kind = random.detail.partition(", ")
        if random.random() < 0.02:
            kind = random.choice(KINDS)
        stage, _, when = slot.partition("/")
        return {"stage": stage, "when": when, "kind": kind, "call": "hooks.demo:call"}

    def spoil(self) -> None:
        """Make a mistake, as people do."""
        random, following = self._random, self._members["next"]
        name = random.choice(self._stages)
        match random.randrange(6):
            case 0:
                following.pop(name, None)
            case 1:
                following[name] = random.choice([*self._stages, "nowhere"])
            case 2:
                self._results[name].leaves.pop(random.choice([*self._results[name].leaves, ""]), None)
            case 3:
                self._stages.remove(name)
            case 4:
                self._root["maxStageExecutions"] = random.choice((1, 2))
            case _:
                self._members["checks"][name] = [{"verdict": "fail"}]

    def _reads(self, name: str) -> str:
        """Return what the prompt of a stage reads of the results it is handed."""
        given = self._handed.get(name, [])
        found = []
        for at in range(max(1, len(given))):
            leaves = self._results[given[at]].leaves if at < len(given) and given[at] in self._results else {}
            paths = ["verdict", *(f"parsed.{path}" for path, leaf in leaves.items() if leaf.required)]
            if given and self._random.random() < 0.5:
                found.append(f" {{{{ctx.upstream[{at}].{self._random.choice(paths)}}}}}")
        return "".join(found)

    def files(self) -> dict[str, bytes]:
        """Return every file by its path; what is said of a stage stands in the pipeline or with the stage."""
        texts = {}
        objects = self._random.random() < 0.15
        if objects:
            following = self._members["next"]
            self._root["stages"] = [
                self._maker.plain(name, self._results[name], following.get(name)) for name in self._stages
            ]
            self._members["next"] = {name: each for name, each in following.items() if name not in self._stages}
        for name in () if objects else self._stages:
            own = {
                member: each.pop(name)
                for member, each in self._members.items()
                if name in each and self._random.random() < 0.2
            }
            handed = [self._results[each] for each in self._handed.get(name, ()) if each in self._results]
            demand = demanded(self._random, handed) if self._random.random() < 0.25 else None
            texts[f"stages/{name}.md"] = self._maker.text(name, self._results[name], self._reads(name), own, demand)
        root = {**self._root, **{member: each for member, each in self._members.items() if each}}
        tools = {"bundled": ["Read", "Grep", "Edit"], "discovered": [{"name": TOOLS[-1], "effects": "read"}]}
        given = {"pipeline.json": root, "tools.json": tools}
        written = {name: json.dumps(each, ensure_ascii=False) for name, each in given.items()}
        return {name: each.encode() for name, each in (*written.items(), *texts.items())}

"""Pipelines that are right by construction: values fit where they flow, results have cases, and runs can complete."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from properties.right.results import ANY, Known, Result, make_result

Json = Any
Files = dict[str, str]
_ABSENT = object()
_TOOLS = ("Read", "Grep")


class Stage:
    """A stage while a pipeline is made."""

    def __init__(self, name: str, result: Result) -> None:
        self.name = name
        self.result = result
        self.attempts = 1
        self.before: list[list[Known]] = []
        """What each position of `ctx.upstream` may be; several ways to the stage add to the same positions."""
        self.ways: list[list[list[Known]]] = []
        self.is_free = True
        """Whether something may lead to it that hands it nothing."""
        self.element: Json = None
        self.gate: Json = None
        self.checks: list[Json] = []
        self.hooks: dict[str, str] = {}
        self.pipeline: Json = None
        self.policy: Json = "fail"
        self.next: Json = None
        self.is_sibling = False
        self.ends: list[Known] = []
        """What may be handed on by the stage once it is accepted or skipped."""


CONSTANTS: dict[str, Json] = {"string": "other words {{ctx.task}}", "integer": 7, "object": {"a": "of it", "b": None}}
"""What inner pipelines are given of each type."""


class Pipeline:
    """A pipeline while it is made; `inner` ones are stages of another."""

    def __init__(self, random: Random, folder: str = "", *, depth: int = 0, context: Json = None) -> None:
        self.random = random
        self.folder = folder
        self._depth = depth
        self._stages: list[Stage] = []
        self.context: dict[str, Json] = context if context is not None else self._make_context()
        self._files: Files = {}
        self._is_cyclic = False
        self._line: list[Stage] = []
        """The stages of the main way, to which later ones may go back."""
        self.last: Stage
        self._make()

    @property
    def is_inner(self) -> bool:
        return self._depth > 0

    def _make_context(self) -> dict[str, Json]:
        random = self.random
        kinds: list[Json] = [
            {"type": "string"},
            {"type": "string", "minLength": 1},
            {"type": "string", "default": "calm"},
            {"enum": ["busy", "calm"]},
            {"type": "integer", "default": 3},
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}},
            {"type": "array", "maxItems": 5, "items": {"type": "string"}},
        ]
        return {name: random.choice(kinds) for name in ("task", "mood")[: random.randint(0, 2)]}

    # -- what runs after what

    def _make(self) -> None:
        first = self._add(is_free=True)
        self._line.append(first)
        current = first
        for _ in range(self.random.randint(1, 4)):
            current = self._extend(current)
            if current.element != "all" and (not current.ways or len(current.ways[0]) == 1):  # no join
                self._line.append(current)
        self.last = current
        if not self.is_inner:
            self._finish(current)
        self._collect(current)

    def _add(self, *, is_free: bool = False, is_sibling: bool = False, listed: int | None = None) -> Stage:
        stage = Stage(f"s{len(self._stages)}", make_result(self.random, listed))
        stage.is_free = is_free
        stage.is_sibling = is_sibling
        self._stages.append(stage)
        return stage

    def _extend(self, stage: Stage) -> Stage:
        """Let something follow a stage, and return the stage to which all of it leads."""
        kinds = ["plain", "plain", "branch", "branch", "fork", "each"]
        kinds += ["inner", "inner"] if self._depth < 2 else []
        match self.random.choice(kinds):
            case "plain":
                after = self._add()
                self._route(stage, [(None, {"stages": [after.name]}, after)])
                return after
            case "branch":
                return self._branch(stage)
            case "fork":
                return self._fork(stage)
            case "inner":
                return self._call(stage)
            case _:
                return self._each(stage)

    def _branch(self, stage: Stage) -> Stage:
        """Let the result decide between ways that meet again."""
        self._prepare(stage)
        after = self._add()
        ways: list[tuple[Json, Json, Stage | None]] = []
        for _ in range(self.random.randint(1, 3)):
            target = after if self.random.random() < 0.3 else self._add()
            ways.append((self._when(stage), {"stages": [target.name]}, target))
        if self.random.random() < 0.2 and not self.is_inner:
            ways.append((self._when(stage), {"stages": []}, None))
        if self._line and self.random.random() < 0.5 and not self.is_inner:
            back = self.random.choice(self._line)
            ways.append((self._when(stage), {"stages": [back.name]}, back))
        if self.random.random() < 0.3 and stage.pipeline is None:
            mend = self._add()
            ways.insert(self.random.randint(0, len(ways)), (self._failing(), {"stages": [mend.name]}, mend))
        self.random.shuffle(ways)
        self._route(stage, [*ways, (None, {"stages": [after.name]}, after)])
        for _, _, target in ways:
            if target is not None and target.next is None and target is not after and target not in self._line:
                self._route(target, [(None, {"stages": [after.name]}, after)])
        return after

    def _fork(self, stage: Stage) -> Stage:
        self._prepare(stage)
        siblings = [self._add(is_free=True, is_sibling=True) for _ in range(self.random.randint(2, 3))]
        join = self._add()
        target = {"stages": [each.name for each in siblings], "execution": "parallel", "join": join.name}
        self._route(stage, [(None, target, None)])
        ends = []
        for each in siblings:
            self._prepare(each)
            ends.append(self._recover(each))
        join.ways.append(ends)
        return join

    def _recover(self, stage: Stage) -> list[Known]:
        """Let a sibling recover from failures, perhaps, and return what it may hand on in the end."""
        ends = self._list_results(stage)
        if self.random.random() > 0.4:
            return ends
        mend = self._add(is_sibling=True)
        cases = [(self._failing(), {"stages": [mend.name]}, mend)]
        self._route(stage, cases)
        if self.random.random() < 0.4:  # a fork in a fork
            inner = [self._add(is_free=True, is_sibling=True) for _ in range(2)]
            join = self._add(is_sibling=True)
            target = {"stages": [each.name for each in inner], "execution": "parallel", "join": join.name}
            self._route(mend, [(None, target, None)])
            join.ways.append([self._list_results(each) for each in inner])
            return [*ends, *self._list_results(join)]
        if self.random.random() < 0.4:
            more = self._add(is_sibling=True)
            self._route(mend, [(None, {"stages": [more.name]}, more)])
            return [*ends, *self._list_results(more)]
        return [*ends, *self._list_results(mend)]

    def _each(self, stage: Stage) -> Stage:
        """Run stages for the elements of a list."""
        random = self.random
        listed = [name for name, each in self.context.items() if each.get("type") == "array"]
        if listed and random.random() < 0.5:
            path, items, most = f"ctx.{listed[0]}", self.context[listed[0]]["items"], 5
        elif stage.pipeline is not None:
            return self._branch(stage)
        else:
            stage.result = make_result(random, 4)
            path, items, most = "parsed.list", stage.result.items, random.choice((4, 9))
        self._prepare(stage, may_skip=path.startswith("ctx."))
        chain = [self._add(is_free=at == 0, is_sibling=True) for at in range(random.randint(1, 2))]
        join = self._add()
        for each in chain:
            each.element = items
            self._prepare(each, may_skip=False)
        target: Json = {"forEach": path, "most": most, "stages": [each.name for each in chain], "join": join.name}
        if random.random() < 0.5:
            target["concurrency"] = random.randint(1, 3)
        if random.random() < 0.5:
            target["onFailure"] = random.choice(("collect", "abort"))
        self._route(stage, [(None, target, None)])
        handed = [self._recover_element(each, items) for each in chain]
        for each, ends in zip(chain[1:], handed, strict=False):
            each.ways.append([ends])
        join.ways = []
        join.element = "all"
        return join

    def _recover_element(self, stage: Stage, items: Json) -> list[Known]:
        ends = self._list_results(stage)
        if self.random.random() > 0.3:
            return ends
        mend = self._add(is_sibling=True)
        mend.element = items
        self._route(stage, [(self._failing(), {"stages": [mend.name]}, mend)])
        return [*ends, *self._list_results(mend)]

    def _call(self, stage: Stage) -> Stage:
        """Run another pipeline as a stage."""
        called = self._add()
        folder = f"{self.folder}{called.name}/"
        given = {f"in-{name}": each for name, each in self.context.items() if self.random.random() < 0.7}
        inner = Pipeline(self.random, folder, depth=self._depth + 1, context=given)
        called.pipeline = {
            "id": called.name,
            "pipeline": f"{called.name}/pipeline.json",
            "inputs": {name: self._give(name.removeprefix("in-"), each) for name, each in inner.context.items()},
        }
        if not given:
            del called.pipeline["inputs"]
        called.result = inner.last.result
        called.ends = self._list_results(inner.last)
        called.attempts = inner.last.attempts
        self._files |= inner.write()
        self._prepare(stage)
        self._route(stage, [(None, {"stages": [called.name]}, called)])
        return called

    def _give(self, name: str, schema: Json) -> Json:
        """Return what an inner pipeline is given: a name of this context, or a constant."""
        kind = schema.get("type")
        return {"const": CONSTANTS[kind]} if kind in CONSTANTS and self.random.random() < 0.3 else f"ctx.{name}"

    def _finish(self, stage: Stage) -> None:
        """Let the last stage end the run, or go back."""
        self._prepare(stage)
        if self.random.random() < 0.4 and self._line[:-1]:
            back = self.random.choice(self._line[:-1])
            self._route(stage, [(self._when(stage), {"stages": [back.name]}, back), (None, {"stages": []}, None)])

    # -- results and cases

    def _prepare(self, stage: Stage, *, may_skip: bool = True) -> None:
        """Give a stage what decides over its results."""
        random = self.random
        if stage.ends or stage.pipeline is not None:
            return
        stage.attempts = random.choice((1, 1, 2, 3))
        ends = [{f"parsed.{path}": known for path, known in each.items()} for each in stage.result.variants]
        ends = [{**each, "verdict": "ok", "attemptCount": at} for each in ends for at in range(1, stage.attempts + 1)]
        if random.random() < 0.3:
            ends = self._check(stage, ends)
        if may_skip and not stage.is_sibling and not self.is_inner and random.random() < 0.25:
            name = f"gate{len(self.context)}"
            self.context[name] = {"enum": ["open", "shut", "later"], **random.choice(({}, {"default": "open"}))}
            stage.gate = {random.choice(("defer", "block")): {name: random.choice(("shut", ["shut", "later"]))}}
            stage.policy = random.choice(("skip", "skip", {"defer": "skip", "block": "skip"}, "fail", "ask"))
            if "skip" in str(stage.policy):
                ends.append({"verdict": "skip"})
        if not self.is_inner and random.random() < 0.1:
            stage.hooks = {random.choice(("setup", "exit")): "hooks.own:call"}
        stage.ends = ends

    def _check(self, stage: Stage, ends: list[Known]) -> list[Known]:
        """Let checks refuse some results, and never all."""
        when = self._when(stage, ends)
        verdict = self.random.choice(("retry", "fail")) if stage.attempts > 1 else "fail"
        rest = _list_accepted(ends, when, verdict)
        if not rest or not any(matches(when, each) for each in ends):
            when, verdict = {"capHit": True}, "fail"
            rest = _list_accepted(ends, when, verdict)
        stage.checks = [{"when": when, "verdict": verdict, "reason": "not so"}]
        return rest

    def _list_results(self, stage: Stage) -> list[Known]:
        self._prepare(stage)
        return [*stage.ends]

    def _when(self, stage: Stage, ends: Sequence[Known] | None = None) -> Json:
        """Return conditions that some result meets."""
        random = self.random
        one = random.choice(ends or self._list_results(stage))
        paths = [each for each in one if each != "verdict" or one[each] != "ok"]
        if stage.attempts == 1 and "attemptCount" in paths:
            paths.remove("attemptCount")
        chosen = random.sample(paths, min(len(paths), random.choice((1, 1, 2))))
        when: Json = {}
        for path in chosen:
            others = [each[path] for each in ends or stage.ends if path in each and each[path] is not ANY]
            if one[path] is ANY:
                when[path] = {"present": True}
            elif random.random() < 0.3 and others:
                when[path] = [*{json.dumps(each): each for each in (one[path], random.choice(others))}.values()]
            else:
                when[path] = one[path] if one[path] is not None else [None]
        every = [*dict.fromkeys(path for each in ends or stage.ends for path in each if path.startswith("parsed."))]
        absent = [path for path in every if path not in one and one["verdict"] == "ok"]
        if absent and random.random() < 0.3:
            when[random.choice(absent)] = {"present": False}
        return when or {"capHit": False}

    def _failing(self) -> Json:
        return {"verdict": "fail", **self.random.choice(({}, {}, {"capHit": True}))}

    def _route(self, stage: Stage, ways: list[tuple[Json, Json, Stage | None]]) -> None:
        """Write cases, and hand to each stage the results for which its case is the first that matches."""
        left = self._list_results(stage)
        cases = []
        for when, target, after in ways:
            failing = when is not None and when.get("verdict") == "fail"
            met = [{"verdict": "fail"}] if failing else [each for each in left if when is None or matches(when, each)]
            if not met:
                continue
            rest = left if failing else [each for each in left if not any(each is other for other in met)]
            is_back = after is not None and after in self._line
            if is_back and not failing and (not rest or all(each["verdict"] == "skip" for each in rest)):
                continue
            left = rest
            self._is_cyclic = self._is_cyclic or is_back
            if after is not None:
                after.ways.append([met])
            cases.append({**({} if when is None else {"when": when}), **target})
        if len(cases) == 1 and "when" not in cases[0]:
            only = cases[0]
            stage.next = only["stages"][0] if [*only] == ["stages"] and len(only["stages"]) == 1 else only
        else:
            stage.next = cases

    # -- files

    def _collect(self, last: Stage) -> None:
        """Leave out stages to which nothing leads."""
        names = {self._stages[0].name}
        todo = [self._stages[0]]
        by_name = {each.name: each for each in self._stages}
        for stage in todo:  # grows while it is walked
            cases = stage.next if isinstance(stage.next, list) else [stage.next]
            for case in cases:
                target = {"stages": [case]} if isinstance(case, str) else case or {}
                for name in (*target.get("stages", ()), *([target["join"]] if "join" in target else [])):
                    if name not in names:
                        names.add(name)
                        todo.append(by_name[name])
        for each in self._stages:
            self._list_results(each)
        assert last.name in names, "the last stage is led to"
        self._stages = [each for each in self._stages if each.name in names]

    def write(self) -> Files:
        """Return the files of the pipeline."""
        random = self.random
        listed: list[Json] = ["stages/*.md"]
        root: Json = {"id": "demo", "entry": self._stages[0].name}
        members: dict[str, dict[str, Json]] = {"next": {}, "checks": {}, "gate": {}, "hooks": {}}
        mentioned: set[str] = set()
        files = {}
        for stage in self._stages:
            own = {"next": stage.next, "checks": stage.checks, "gate": stage.gate, "hooks": stage.hooks}
            if stage.pipeline is not None:
                listed.append(stage.pipeline)
                if stage.next is not None:
                    members["next"][stage.name] = stage.next
                given = stage.pipeline.get("inputs", {}).values()
                mentioned |= {each.removeprefix("ctx.") for each in given if isinstance(each, str)}
                continue
            for kind, given in own.items():
                if given:
                    members[kind][stage.name] = given
            mentioned |= {name for each in (stage.gate or {}).values() for name in each}
            mentioned |= {str(stage.next.get("forEach", ""))[4:]} if isinstance(stage.next, dict) else set()
            files[f"{self.folder}stages/{stage.name}.md"] = stage
        unread = [name for name in self.context if name not in mentioned]
        texts = {
            path: self._write_stage(stage, unread if at == 0 else []) for at, (path, stage) in enumerate(files.items())
        }
        root["stages"] = listed
        root |= {kind: each for kind, each in members.items() if each}
        if self.context or self.is_inner:
            root["context"] = self.context
        if self.is_inner:
            root["output"] = self.last.name
            root["tools"] = f"{'../' * self._depth}tools.yaml"
        else:
            texts["tools.yaml"] = "bundled: [Read, Grep]\n"
            if self._is_cyclic or random.random() < 0.3:
                root["maxStageExecutions"] = 150
        if random.random() < 0.3:
            root["maxParallel"] = random.randint(1, 4)
        return {**self._files, **texts, f"{self.folder}pipeline.json": json.dumps(root, indent=1)}

    def _write_stage(self, stage: Stage, unread: Sequence[str]) -> str:
        random = self.random
        schema = stage.result.schema
        path = f"schemas/{stage.name}.json"
        if random.random() < 0.15:
            self._files[f"{self.folder}{path}"] = json.dumps(schema)
            schema = {"$ref": f"../{path}"}
        members: Json = {
            "id": stage.name,
            "name": f"Stage {stage.name}",
            "allowedTools": random.sample(_TOOLS, random.randint(0, 2)),
            "completionTool": f"submit-{stage.name}",
            "completionSchema": schema,
            "retryPolicy": {"maxAttempts": stage.attempts, "backoff": random.choice(("none", "fixed:5"))},
            "turnCap": random.randint(1, 5),
            "resolutionPolicy": stage.policy,
        }
        demanded = self._demand(stage)
        if demanded is not None:
            members["inputsSchema"] = demanded
        lines = ["---", *(f"{key}: {json.dumps(each)}" for key, each in members.items()), "---", "Do it."]
        lines += [*self._reads(stage), *(f"{{{{ctx.{name}}}}}" for name in unread), f"Call `submit-{stage.name}`.", ""]
        return "\n".join(lines)

    def _positions(self, stage: Stage) -> list[list[Known]]:
        """Return what may be at each position of `ctx.upstream`, over all ways to a stage."""
        if stage.is_free or not stage.ways or stage.element == "all":
            return []
        least = min(len(each) for each in stage.ways)
        return [[known for way in stage.ways for known in way[at]] for at in range(least)]

    def _reads(self, stage: Stage) -> Iterator[str]:
        random = self.random
        yield from random.sample(["{{stage.id}}", "{{ctx.workflowRunId}}", '{{"{{"}} x }}'], random.randint(0, 1))
        if stage.element == "all":
            yield "{{ctx.upstream}}"
        elif stage.element is not None:
            yield "{{ctx.item}} {{ctx.index}}" if stage.element["type"] == "string" else "{{ctx.item.path}}"
        for name, schema in self.context.items():
            if random.random() < 0.3:
                yield f"{{{{ctx.{name}{'.a' if schema.get('type') == 'object' else ''}}}}}"
        for at, possible in enumerate(self._positions(stage)):
            for path in sorted(set.intersection(*({*each} for each in possible))):
                if random.random() < 0.5 and path != "attemptCount":
                    yield f"{{{{ctx.upstream[{at}].{path}}}}}"

    def _demand(self, stage: Stage) -> Json:
        """Return a schema that all results satisfy that the stage receives."""
        found = [each for position in self._positions(stage) for each in position]
        if not found or self.random.random() < 0.5 or (self.is_inner and stage is self._stages[0]):
            return None
        common = set.intersection(*({*each} for each in found))
        parsed: Json = {"type": "object", "properties": {}, "required": []}
        for path in sorted(common):
            head, _, name = path.partition(".")
            if head == "parsed" and "." not in name:
                parsed["required"].append(name)
                values = [*{json.dumps(each[path]): each[path] for each in found if each[path] is not ANY}.values()]
                if all(each[path] is not ANY for each in found) and self.random.random() < 0.7:
                    parsed["properties"][name] = {"enum": values}
        schema: Json = {"type": "object", "required": ["verdict"]}
        verdicts = sorted({each["verdict"] for each in found})
        schema["properties"] = {"verdict": {"enum": verdicts}}
        if any(path.startswith("parsed.") for path in common) or verdicts == ["ok"]:
            schema["required"].append("parsed")
            schema["properties"]["parsed"] = parsed
        return schema


def _list_accepted(ends: Sequence[Known], when: Json, verdict: str) -> list[Known]:
    """Return the results that a check lets pass, of the attempts that are made at all."""
    accepted: list[Known] = []
    for attempt in sorted({each["attemptCount"] for each in ends}):
        found = [each for each in ends if each["attemptCount"] == attempt]
        accepted += [each for each in found if not matches(when, each)]
        met = [each for each in ({"capHit": True, "attemptCount": attempt}, *found) if matches(when, each)]
        is_capped = any("capHit" in each for each in met)
        if not (verdict == "retry" and met) and is_capped:
            break
    return accepted


def matches(when: Json, known: Known) -> bool:
    """Tell whether a result that is known so meets all conditions."""
    return all(_meets(asked, known.get(path, _ABSENT)) for path, asked in when.items())


def _meets(asked: Json, known: Json) -> bool:
    if isinstance(asked, dict):
        return asked["present"] == (known is not _ABSENT)
    wanted: Iterable[Json] = asked if isinstance(asked, list) else [asked]
    return known is not _ABSENT and any(json.dumps(each) == json.dumps(known) for each in wanted if known is not ANY)


def make_pipeline(random: Random) -> Files:
    """Return the files of a project with a pipeline, and those that are its stages."""
    return Pipeline(random).write()

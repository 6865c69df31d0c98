"""A world that answers requests of plans by chance: well, badly and not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from random import Random
from typing import Any

Json = dict[str, Any]
Request = Mapping[str, Any]

_OUTPUTS = (
    "",
    " \n",
    "ok 1\n",
    "all is tidy\n",
    " M src/a.py\n?? b.txt\nR  old.py -> new.py\n",
    "src/login.ts(3,1): error TS2304: Cannot find name 'x'.\n  at b.ts:7\nError [no-undef]\n --> lib/c.rs:12:4\n",
    "FAILED tests/test_a.py::test_b - assert 1\n--- a\n+++ b\nnot found: docs/ä.md\r\n",
)


_NONSENSE: tuple[Any, ...] = (
    None,
    "yes",
    {},
    {"value": 1, "calls": [None, {"tool": "Read"}, {"id": 1, "arguments": []}], "text": 1},
    {"answer": None, "calls": {}},
    {"yes": "no", "done": 1, "granted": "yes", "exit": "0", "stdout": ["ok 1"]},
    {"exit": True, "stderr": "tidy", "calls": [{"id": "", "tool": "submit"}]},
)
_NUMBERS = (0.1, -0.0, 1e21, 123456789012345680000, 10**25, 2**60 + 1, 1e-7, 0.000001, -1.5e300, 5e-324, 100, 1.0e3)
_FAILS = 0.99
"""The chance that a model can be asked."""
_FITS = 0.8
"""The chance that something is what is looked for."""

Look = tuple[list[str | int], list[Any]]
"""A path, and values of which some are looked for there."""


class World:
    """Answers for one plan; what it says is made of the names and values that the plan looks at."""

    def __init__(self, plan: Mapping[str, Any], random: Random) -> None:
        self._plan, self._random = plan, random
        self._looks = [look for node in plan["nodes"].values() for look in _looks(node)]
        known = [value for _, values in self._looks for value in values]
        self._values = [*known, 0, 1.0, 2.5, True, None, "", 'Ä"\n', [], ["a", None], {"why": "DONE"}, *_NUMBERS]

    def start(self) -> Json:
        """Return the beginning of a run, mostly one that may begin."""
        entries = [*self._plan["entries"], *([None] if "entry" in self._plan else [])]
        entry = self._random.choice(entries) if self._random.random() < 0.97 else "nowhere"
        inputs = {
            name: self._input(each) for name, each in self._plan.get("inputs", {}).items() if self._is_given(each)
        }
        if self._random.random() < 0.02:
            inputs["unheard of"] = 1
        return {"is": "start", "run": "run", "inputs": inputs, **({} if entry is None else {"entry": entry})}

    def _is_given(self, declared: Mapping[str, Any]) -> bool:
        return self._random.random() < (0.97 if declared.get("required") else 0.5)

    def _input(self, declared: Mapping[str, Any]) -> Any:
        if "schema" in declared and self._random.random() < 0.97:
            return self._fitting(json.loads(self._plan["contents"][declared["schema"]]))
        return self._value()

    def answer(self, request: Request) -> Any:
        """Return an answer to a request, mostly one of the right shape."""
        if self._random.random() < 0.02:
            return self._random.choice(_NONSENSE)
        return _ANSWERS[request["is"]](self, request)

    def _asked(self, request: Request) -> Json:
        answer = self._payload(request.get("schema"))
        return {"answer": answer, **({"text": str(self._value())} if self._random.random() < 0.5 else {})}

    def _payload(self, schema: str | None) -> Any:
        chance = self._random.random()
        if chance < 0.04:
            return self._value()
        if schema is None or chance < 0.1:
            return self._object()
        return self._fitting(json.loads(self._plan["contents"][schema]))

    def _turned(self, request: Request) -> Json:
        chance, choose = self._random.random(), self._random.choice
        tools = [*request["tools"], "Foreign"]
        calls = []
        if chance < 0.6:
            calls = [self._call(request["completion"], self._payload(request["schema"]))]
        elif chance < 0.85:
            calls = [
                self._call(choice, self._object()) for choice in self._random.choices(tools, k=choose((1, 1, 2, 3)))
            ]
        elif chance < 0.92:
            calls = [self._call(choose((request["completion"], choose(tools))), {}) for _ in range(2)]
        if chance > _FAILS:
            return {"error": {"message": "no model"}}
        return {"text": "…", "calls": [{**self._id(number), **call} for number, call in enumerate(calls)]}

    def _id(self, number: int) -> Json:
        """Return the id of a call: mostly one of its own, now and then none, or one that was there before."""
        return self._random.choice(({}, {"id": str(number)}, {"id": str(self._random.random())}))

    def _call(self, tool: str, arguments: Any) -> Json:
        return {"tool": tool, "arguments": arguments if self._random.random() < 0.95 else '{"unreadable'}

    def _called(self) -> Json:
        return {"value": self._value()} if self._random.random() < 0.9 else {"error": "no"}

    def _ran(self) -> Json:
        choose = self._random.choice
        return {"exit": choose((0, 0, 0, 1, 2, None)), "stdout": choose(_OUTPUTS), "stderr": choose(_OUTPUTS)}

    def _executed(self, request: Request) -> Json:
        """Return how a process has ended: mostly well, and now and then with something that does not count."""
        chance, choose = self._random.random, self._random.choice
        names = [name for name in request["outputs"] if chance() < 0.95]
        outputs: Json = {name: {"path": request["outputs"][name], "sha256": "0", "sizeBytes": 1} for name in names}
        found: Json = {"exit": choose((0, 0, 0, 0, 0.0, 1, None, "0", True)), "outputs": outputs}
        odd: Json = {
            "interrupted": choose(("timeout", "abort", None, "other", 1)),
            "missing": choose(([], ["x"], "x", [0])),
            "changed": choose(([], ["x"], {}, None)),
            "status": choose(("success", "failed", "interrupted", None, "fine", 1)),
            "error": choose((None, "no", {"code": "E"}, False)),
            "seconds": choose((1, 0.5, "long", None)),
            "outputs": choose((None, [], {"x": {}}, {name: {"path": 1} for name in names}, outputs)),
        }
        return {**found, **{name: each for name, each in odd.items() if chance() < 0.07}}

    def _published(self) -> Json:
        return {"checkpoint": "c"} if self._random.random() < 0.93 else {"error": self._random.choice(("full", None))}

    def resume(self, nodes: Iterable[str]) -> Json:
        """Return how a run goes on: with what some stages have left, and with some consent."""
        kept, consented = ([each for each in nodes if self._random.random() < 0.6] for nodes in [list(nodes)] * 2)
        return {"is": "resume", "kept": kept, "consented": consented}

    def _said(self, name: str) -> Json:
        return {name: self._random.random() < 0.6}

    def _value(self) -> Any:
        return deepcopy(self._random.choice(self._values))

    def _object(self) -> Json:
        """Return an object with something, mostly what is looked for, at some of the paths that the plan looks at."""
        found: Json = {}
        for path, values in self._random.sample(self._looks, k=self._random.randint(0, len(self._looks))):
            is_known = bool(values) and self._random.random() < _FITS
            _put(found, path, deepcopy(self._random.choice(values)) if is_known else self._value())
        return found

    def _fitting(self, schema: Any) -> Any:
        """Return a value for a plain schema; what it does not know is left to chance."""
        if not isinstance(schema, dict):
            return self._object()
        if "const" in schema or schema.get("enum"):
            return self._random.choice(schema.get("enum", [schema.get("const")]))
        if schema.get("type") == "object" and "properties" in schema:
            names = schema["properties"]
            return {name: self._fitting(inner) for name, inner in names.items() if self._has(schema, name)}
        if schema.get("type") == "array":
            return [self._fitting(schema.get("items", {})) for _ in range(self._random.randint(0, 2))]
        kinds: dict[str, Callable[[], Any]] = {
            "boolean": lambda: self._random.random() < 0.5,
            "string": lambda: self._random.choice(("a", "b ü", "")),
            "integer": lambda: self._random.randint(0, 5),
            "number": lambda: self._random.choice((1, 2.0, 3.25)),
        }
        kind = schema.get("type")
        return kinds.get(kind if isinstance(kind, str) else "", self._object)()

    def _has(self, schema: Mapping[str, Any], name: str) -> bool:
        return name in schema.get("required", ()) or self._random.random() < 0.5


_ANSWERS: dict[str, Callable[[World, Request], Json]] = {
    "ask": World._asked,
    "turn": World._turned,
    "call": lambda world, _: world._called(),
    "run": lambda world, _: world._ran(),
    "shell": lambda world, _: world._ran(),
    "grant": lambda world, _: world._said("granted"),
    "judge": lambda world, _: world._said("done"),
    "confirm": lambda world, _: world._said("yes"),
    "wait": lambda _world, _request: {},
    "hook": lambda world, _: world._called(),
    "execute": World._executed,
    "publish": lambda world, _: world._published(),
    "preserve": lambda world, _: world._said("valid"),
    "interrupt": lambda _world, _request: {},
}


def _looks(node: Mapping[str, Any]) -> Iterator[Look]:
    """Yield where a node looks in what a model answers, and what it looks for there."""
    gate = node["gate"]
    if gate["is"] == "intent":
        named = [name for edge in node["edges"] if edge["target"]["is"] == "named" for name in edge["target"]["nodes"]]
        yield gate["field"], [*gate["intents"], *gate["intents"], "abort", "Continue", "done", "other"]
        yield gate.get("target", ["to"]), [*named, "other"]
        yield from ((path, [{"who": "b"}]) for path in gate.get("handoff", ()))
    for holder in (*node["edges"], *gate.get("checks", ())):
        yield from map(_look, holder.get("when", ()))


def _look(term: Mapping[str, Any]) -> Look:
    path = term["path"]
    values = [*term.get("values", ()), *term.get("texts", ())]
    return path[1:] if path and path[0] in {"answer", "parsed", "handoff"} else path, values


def _put(found: Any, path: list[str | int], value: Any) -> None:
    """Put a value at a path, with objects and lists around it as the path needs them."""
    for part, behind in zip(path, [*path[1:], None], strict=False):  # nothing to put at no path
        inner: Any = value if behind is None else [] if isinstance(behind, int) else {}
        if isinstance(found, dict) and isinstance(part, str):
            found = found.setdefault(part, inner) if behind is not None else found.__setitem__(part, inner)
        elif isinstance(found, list) and isinstance(part, int):
            found.extend([None] * (part + 1 - len(found)))
            found[part] = inner
            found = found[part]
        else:
            return

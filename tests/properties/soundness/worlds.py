"""The world around a run, at random: whatever the machine asks is answered, mostly as it should be."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from properties.soundness.answers import ODD, answers

from stagec.ir.plan.document import Plan
from stagec.runtime.machine.exchange import Ask, Call, Confirm, Effect, Grant, Hook, Judge, Run, Shell, Turn, Wait

Json = Any

_OUTPUTS: tuple[Json, ...] = (
    {"exit": 0, "stdout": "", "stderr": ""},
    {"exit": 0, "stdout": "ok, done\n", "stderr": ""},
    {"exit": 2, "stdout": " M src/a.py\nFAILED x - why\n", "stderr": "src/b.ts(3,4): error TS1: [no-x] no\n"},
    {"exit": 2, "stdout": "ok done", "stderr": "x"},
    {"exit": 1, "stdout": "", "stderr": "cannot"},
    {"exit": None, "stdout": "", "stderr": ""},
)
_STRANGE: tuple[Json, ...] = (
    *(2**53 + 1, 10**400, -(10**400), float("inf"), float("nan"), "\ud800", {"\ud800": 1}, {"a": [float("inf")]}),
    json.loads("[" * 400 + "]" * 400),
)
"""What parsers of JSON let through although no JSON is written so, or no plan can hold it."""
Known = dict[str | None, list[Json]]
"""Answers by the schema that they satisfy; those without a schema stand under None."""
ANYTHING: tuple[Json, ...] = ({}, {"status": "completed"}, {"type": "x", "summary": 1}, {"x": "xyz"})


class World:
    """Answers requests; a `rude` one also answers what no schema allows."""

    def __init__(self, random: Random, plan: Plan, known: Known, *, rude: bool) -> None:
        self._random = random
        self._plan = plan
        self.is_rude = rude
        self._known = known
        self.is_mute = False
        """Whether something was asked for that no answer is known for."""
        self.hasty = random.random()
        """How soon a model hands its result in."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        if self.is_rude and self._random.random() < 0.06:
            odd = self._random.choice((*ODD, *_STRANGE))
            wrapped = [{name: odd} for name in ("answer", "calls", "value", "text", "exit", "stdout", "error")]
            return self._random.choice((odd, *wrapped, {"calls": [_call("x", "Read", {"x": odd})]}))
        match effect:
            case Ask():
                return {"answer": self._one_of(effect.schema), "text": self._random.choice(("", "I did it."))}
            case Turn():
                return self._turn(effect)
            case Run() | Shell():
                return self._random.choice(_OUTPUTS)
            case Judge():
                return {"done": self._random.random() < 0.4}
            case Call():
                return self._random.choice(({"value": "text"}, {"value": {"a": [1]}}, {"error": "broken"}))
            case Grant():
                return {"granted": self._random.choice((True, True, True, False, False, None))}
            case Confirm():
                return {"yes": self._random.random() < 0.6}
            case Hook():
                return self._hook(effect)
            case Wait():
                return {}

    def _one_of(self, content: str | None) -> Json:
        if content not in self._known:
            self._known[content] = answers(self._plan.contents[str(content)], self._random)
        found = self._known[content]
        self.is_mute = self.is_mute or not found
        return self._random.choice(found) if found else {}

    def _turn(self, effect: Turn) -> Json:
        """Return the response of a model: its result, or one of all the other things that it may say."""
        random = self._random
        if random.random() < 0.4 + 0.6 * self.hasty:
            given = self._one_of(effect.schema)
            return {"text": "Done.", "calls": [_call("c", effect.completion, given)]} if isinstance(given, dict) else {}
        tools = [*effect.tools, "unheard_of"]
        calls = [_call(str(at), random.choice(tools), {"path": at}) for at in range(random.randint(1, 3))]
        unread = {"id": "u", "tool": random.choice(tools), "arguments": "{broken"}
        done = _call("c", effect.completion, {})
        return random.choice(
            (
                {"text": "Let me think."},
                {"error": "the model cannot be asked"},
                {"calls": calls},
                {"calls": calls[:1] * 2},
                {"calls": [*calls, unread]},
                {"calls": [done, *calls]},
                {"calls": [done, done]},
                {"calls": [_call("c", effect.completion, random.choice(ODD))]},
            )
        )

    def _hook(self, effect: Hook) -> Json:
        random = self._random
        if random.random() < 0.05:
            return {}
        match effect.phase:
            case "setup" if random.random() < 0.1:
                return random.choice(({"value": None}, {"value": "odd"}, {"value": None, "ctx": {"mood": "busy"}}))
            case "gate" | "assert" | "exit" if random.random() < 0.05:
                return {"value": None, "ctx": {"mood": "changed"}}
            case "setup":
                return {"value": {"extra": random.choice(ODD), "mood": random.choice(("calm", "busy"))}}
            case "gate":
                return {"value": random.choice(("proceed", "proceed", "defer", "block", None))}
            case "assert":
                verdict = random.choice(("ok", "ok", "retry", "fail"))
                return {"value": random.choice((verdict, {"verdict": verdict, "reason": "so"}, "odd"))}
            case "exit":
                return random.choice(({"value": {"digest": 1}}, {"value": random.choice(ODD)}, {}))
            case _:
                return {"value": self._at_slot(effect)}

    def _at_slot(self, effect: Hook) -> Json:
        """Return what a callable at a slot of the message loop says of what it is shown."""
        random = self._random
        if effect.given["kind"] == "guard":
            return random.choice((*[True] * 8, "NotNow", False))
        shown: Any = next(each for name, each in effect.given.items() if name in _SHOWN)
        if random.random() < 0.9:
            return shown if random.random() < 0.3 else _changed(shown)
        return random.choice(ODD)


_SHOWN = frozenset({"input", "request", "response", "text", "arguments", "result", "payload"})


def _changed(shown: Json) -> Json:
    """Return something of the same form."""
    if isinstance(shown, str):
        return f"{shown}!"
    if isinstance(shown, dict) and "transcript" in shown:
        return {**shown, "tools": shown["tools"][:1]}
    return {"value": "less"} if isinstance(shown, dict) and {"value", "error"} & shown.keys() else {"path": "another"}


def _call(name: str, tool: str, arguments: Json) -> Json:
    return {"id": name, "tool": tool, "arguments": arguments}


def given(random: Random, plan: Plan) -> dict[str, Json]:
    """Return inputs with which a run can begin."""
    found: dict[str, Json] = {}
    for name, each in plan.inputs.items():
        if each.required or random.random() < 0.6:
            possible = (
                answers(plan.contents[each.schema], random, 6) if each.schema is not None else ["text", 7, "busy"]
            )
            found |= {name: random.choice(possible)} if possible else {}
    return found

"""People who answer a run: at the terminal, or a policy that never grants anything silently."""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Callable
from enum import StrEnum
from time import monotonic

from stagec.cli.streams import put_error, say
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import quote, visible
from stagec.plan.document import Plan
from stagec.runtime.exchange import Confirm, Effect, Grant, Judge, execution_of, label_execution, read_key


class Answers(StrEnum):
    """Who answers in the name of people: somebody at the terminal, or one answer for everything."""

    ASK = "ask"
    ALLOW = "allow"
    DENY = "deny"


Question = Grant | Confirm | Judge
ReadLine = Callable[[float | None], str | None]
"""Returns the next line of the terminal; None when the seconds are over, or nobody is there any more."""


@value
class PeopleSetup:
    """Who answers, and how many seconds they have; None means that a question waits for ever."""

    answers: Answers
    seconds: float | None = None


def choose_people(answers: str | None, seconds: float | None) -> PeopleSetup:
    """Return who answers: whoever was named, else the terminal if there is one, else a policy that denies."""
    is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    usual = Answers.ASK if is_terminal else Answers.DENY
    return PeopleSetup(usual if answers is None else Answers(answers), seconds)


class People:
    """Answers what is asked of people: whether a call may be made, whether a node may act, whether the work is done."""

    def __init__(self, plan: Plan, setup: PeopleSetup, read: ReadLine | None = None) -> None:
        self._plan, self._setup = plan, setup
        self._read = _read_line if read is None else read

    def takes(self, effect: Effect) -> bool:
        """Tell whether people are asked; whether the work is done is nothing that a policy knows."""
        return isinstance(effect, Grant | Confirm) or (isinstance(effect, Judge) and self._setup.answers is Answers.ASK)

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that nobody is asked two questions at the same time."""
        return False

    def cancel(self, key: str) -> None:
        """Leave a question to who reads it: an answer that nobody waits for is dropped."""

    def close(self) -> None:
        """Hold nothing open."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a question."""
        if not isinstance(effect, Question):
            raise TypeError(effect)
        yes = self._ask(effect) if self._setup.answers is Answers.ASK else self._decide(effect)
        return {_MEMBERS[type(effect)]: yes}

    def _decide(self, effect: Question) -> bool:
        """Return the answer of the policy, and say so: nothing is granted or denied silently."""
        yes = self._setup.answers is Answers.ALLOW
        say(f"stagec: note: {self._describe(effect)}: {'yes' if yes else 'no'}, as nobody is asked")
        return yes

    def _ask(self, effect: Question) -> bool:
        """Return what somebody at the terminal answers; no answer in time is a no."""
        put_error(f"\n{visible(self._describe(effect))}?\n")
        for line in self._list_details(effect):
            put_error(f"  {visible(line)}\n")
        seconds = self._setup.seconds
        end = None if seconds is None else monotonic() + seconds
        while (word := self._read_word(end)) not in _WORDS:
            if word == "d":
                put_error(f"{visible(self._write_all(effect))}\n")
        return _WORDS[word]

    def _read_word(self, end: float | None) -> str:
        """Return what somebody types, a no when nobody has typed anything in time."""
        put_error(_PROMPT)
        line = self._read(None if end is None else max(0.0, end - monotonic()))
        if line is None:
            say("no: nobody has answered")
            return "no"
        return line.strip().lower()

    def _describe(self, effect: Question) -> str:
        key = read_key(effect.key)
        who = f"{self._plan.names.node} {quote(label_execution(key.node, key.visit))}"
        match effect:
            case Grant():
                return f"may {who} call the tool {quote(effect.tool)}, which its plan does not allow"
            case Confirm():
                return f"may {who} act: {effect.question}"
            case Judge():
                return f"is the work of {who} done"

    def _list_details(self, effect: Question) -> tuple[str, ...]:
        """Return what helps to answer, and what follows."""
        match effect:
            case Grant():
                tool = self._plan.tools.get(effect.tool)
                effects = "unknown" if tool is None else tool.effects
                shown = f"arguments: {effect.summary[:_SHOWN]}"
                return (shown, f"effects: {effects}", "no: the model is told that the call is denied, and goes on")
            case Confirm():
                return ("no: the node does not act, and its flow goes on as its policy says",)
            case Judge():
                return (f"judged by: {effect.kind}", "no: the work goes on")

    def _write_all(self, effect: Question) -> str:
        given: Json = effect.answer if isinstance(effect, Judge) else None
        if isinstance(effect, Grant):
            return f"{effect.summary}\ndigest of the arguments: {effect.digest}"
        return execution_of(effect.key) if given is None else json.dumps(given, indent=2, ensure_ascii=False)


_MEMBERS: dict[type[Question], str] = {Grant: "granted", Confirm: "yes", Judge: "done"}
_WORDS = {"y": True, "yes": True, "n": False, "no": False}
_PROMPT = "[y]es, [n]o, [d]etails: "
_SHOWN = 200
"""Characters of arguments that are shown at once."""


def _read_line(seconds: float | None) -> str | None:
    """Return the next line of standard input."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    line = sys.stdin.readline() if ready else ""
    return line or None

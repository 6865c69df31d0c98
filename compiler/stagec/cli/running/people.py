"""Ask people on behalf of a run: at the terminal, by messages, or by a policy that never grants anything silently."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable
from enum import StrEnum
from shlex import join
from threading import Lock
from time import monotonic

from stagec.cli.streams import put_error, say
from stagec.core.json import Json
from stagec.core.value import value
from stagec.core.words import visible
from stagec.drivers.local.message_watcher import AwaitedAnswer, MessageWatcher
from stagec.drivers.messages import MessageKind, RunMessage, write_message
from stagec.plan.document import Plan
from stagec.runtime.exchange import Effect, Judge
from stagec.world.questions import (
    AskedOfPeople,
    OpenQuestion,
    describe_question,
    is_for_people,
    make_answer,
    read_decision,
)
from stagec.world.tools.step_calls import is_step_call


class Answers(StrEnum):
    """Who answers in the name of people: somebody at the terminal or elsewhere, or one answer for everything."""

    ASK = "ask"
    WAIT = "wait"
    ALLOW = "allow"
    DENY = "deny"


_POLICIES = (Answers.ALLOW, Answers.DENY)
ReadLine = Callable[[float | None], str | None]
"""Returns the next line of the terminal; None when the seconds are over, or nobody is there any more."""
ReadOrWake = Callable[[float | None, int], str | None]
"""Returns the next line of the terminal; None also as soon as a descriptor can be read."""

TERMINAL = Lock()
"""Held by whoever asks somebody at the terminal: one question at a time."""


@value
class PeopleSetup:
    """Who answers, and how many seconds they have; None means that a question waits for ever.

    `run` are the words that name the run to whoever answers from elsewhere.
    """

    answers: Answers
    seconds: float | None = None
    run: tuple[str, ...] = ()

    @property
    def is_policy(self) -> bool:
        """Whether one answer holds for everything."""
        return self.answers in _POLICIES


def choose_people(answers: str | None, seconds: float | None, run: tuple[str, ...] = ()) -> PeopleSetup:
    """Return who answers: whoever was named, else the terminal if there is one, else a policy that denies."""
    is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    usual = Answers.ASK if is_terminal else Answers.DENY
    return PeopleSetup(usual if answers is None else Answers(answers), seconds, run)


class People:
    """Answers what is asked of people: whether a call may be made, whether a node may act, whether the work is done.

    Whoever answers first counts, at the terminal or elsewhere: every decision becomes a message.
    """

    def __init__(self, plan: Plan, setup: PeopleSetup, mail: MessageWatcher, read: ReadOrWake | None = None) -> None:
        self._plan, self._setup, self._mail = plan, setup, mail
        self._read = read_line if read is None else read

    def takes(self, effect: Effect) -> bool:
        """Tell whether people are asked; whether the work is done is nothing that a policy knows."""
        is_known = not isinstance(effect, Judge) or self._setup.answers not in _POLICIES
        return is_for_people(effect) and is_known

    def overlaps(self, _effect: Effect) -> bool:
        """Tell that nobody is asked two questions at the same time at a terminal."""
        return self._setup.answers is Answers.WAIT

    def cancel(self, key: str) -> None:
        """Let a question wait no more."""
        self._mail.cancel(key)

    def close(self) -> None:
        """Hold nothing open."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a question, and by whom it is."""
        if not is_for_people(effect):
            raise TypeError(effect)
        question = describe_question(self._plan, effect)
        if self._setup.answers in _POLICIES:
            return make_answer(effect, yes=self._decide(question))
        with self._mail.expect(effect) as awaited:
            message = (
                self._wait(question, awaited) if self._setup.answers is Answers.WAIT else self._ask(question, awaited)
            )
        if message is None:
            return {}
        yes = read_decision(effect, message.answer) is True
        return {**make_answer(effect, yes=yes), "by": message.by, "message": message.id}

    def _decide(self, question: OpenQuestion) -> bool:
        """Return the answer of the policy, and say so: nothing is granted or denied silently."""
        yes = self._setup.answers is Answers.ALLOW
        say(f"stagec: note: {question.sentence}: {'yes' if yes else 'no'}, without asking")
        return yes

    def _wait(self, question: OpenQuestion, awaited: AwaitedAnswer) -> RunMessage | None:
        """Return the answer that comes from elsewhere; None when nobody needs it any more.

        Only the process that executes a run knows of calls in the course of a step: elsewhere nobody can answer.
        """
        if is_step_call(question.key):
            say(f"stagec: note: {question.sentence}: no, because only a terminal can answer for calls of steps")
            return self._claim(awaited.effect, yes=False, by="nobody")
        name, *options = self._setup.run
        command = join(("stagec", "answer", name, question.key, "yes", *options))
        say(f"stagec: waits for an answer: {question.sentence}? {command}, or no")
        put_error("".join(f"  {visible(line)}\n" for line in question.rows))
        if not awaited.arrived.wait(self._setup.seconds):
            return self._deny(awaited.effect)
        return self._take(awaited)

    def _ask(self, question: OpenQuestion, awaited: AwaitedAnswer) -> RunMessage | None:
        """Return what somebody at the terminal answers, or somebody elsewhere; no answer in time is a no."""
        with TERMINAL:
            put_error(f"\n{visible(question.sentence)}?\n")
            for line in question.rows:
                put_error(f"  {visible(line)}\n")
            return self._talk(question, awaited)

    def _talk(self, question: OpenQuestion, awaited: AwaitedAnswer) -> RunMessage | None:
        end = None if self._setup.seconds is None else monotonic() + self._setup.seconds
        while True:
            put_error(_PROMPT)
            line = self._read(None if end is None else max(0.0, end - monotonic()), awaited.open_pipe())
            word = "" if line is None else line.strip().lower()
            if awaited.arrived.is_set():
                return self._take(awaited)
            if line is None:
                return self._deny(awaited.effect)
            if word in _WORDS:
                return self._claim(awaited.effect, yes=_WORDS[word], by=_TERMINAL)
            if word == "d":
                lines = (question.arguments or question.key).splitlines()
                put_error("".join(f"  {visible(line)}\n" for line in lines))

    def _deny(self, effect: AskedOfPeople) -> RunMessage:
        say("no: no answer")
        return self._claim(effect, yes=False, by="nobody")

    def _claim(self, effect: AskedOfPeople, *, yes: bool, by: str) -> RunMessage:
        """Return the decision, or the one that somebody else has sent before."""
        if is_step_call(effect.key):
            return write_message(MessageKind.ANSWER, by, effect.key, make_answer(effect, yes=yes))
        message = self._mail.claim(effect, yes=yes, by=by)
        if message.by != by:
            self._tell(effect, message)
        return message

    def _take(self, awaited: AwaitedAnswer) -> RunMessage | None:
        if awaited.message is not None:
            self._tell(awaited.effect, awaited.message)
        return awaited.message

    def _tell(self, effect: AskedOfPeople, message: RunMessage) -> None:
        """Say what somebody elsewhere has answered."""
        say(f"{'yes' if read_decision(effect, message.answer) else 'no'}: answered elsewhere, by {message.by}")


_TERMINAL = "terminal"
_WORDS = {"y": True, "yes": True, "n": False, "no": False}
_PROMPT = "[y]es, [n]o, [d]etails: "


def read_line(seconds: float | None, other: int | None = None) -> str | None:
    """Return the next line of standard input."""
    inputs = [sys.stdin] if other is None else [sys.stdin, other]
    ready, _, _ = select.select(inputs, [], [], seconds)
    line = sys.stdin.readline() if sys.stdin in ready else ""
    return line or None

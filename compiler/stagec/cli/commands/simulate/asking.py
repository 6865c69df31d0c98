"""What a request asks, and how it can be answered, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import join

from stagec.cli.commands.simulate.answering import Question
from stagec.cli.commands.simulate.ways import conditions
from stagec.cli.running.summary import request_label
from stagec.plan.act import Converse
from stagec.plan.canonical import compact
from stagec.runtime import State
from stagec.runtime.exchange import Ask, Call, Confirm, Effect, Grant, Hook, Judge, Run, Shell, Turn, Wait

_LINES = 8
"""Lines of a prompt that are shown."""
_HOW: Mapping[type, str] = {
    Ask: "a number, an outcome, or JSON; help says more",
    Turn: "JSON hands it in; say TEXT; call TOOL {…}; cap lets all turns pass",
    Call: "what comes of it, as text or JSON; error TEXT",
    Grant: "yes or no",
    Judge: "yes or no",
    Confirm: "yes or no",
    Run: "pass, fail, an exit status, or JSON with exit, stdout and stderr",
    Shell: "pass, fail, an exit status, or JSON with exit, stdout and stderr",
    Hook: "what it returns, as JSON",
    Wait: "an empty line lets the time pass",
}


def asked(question: Question, state: State) -> Iterator[str]:
    """Yield who asks for what, line by line."""
    effect = question.effect
    yield f"{request_label(effect.key)} {_sentence(question)}"
    yield from (f"  | {line}" for line in _text(effect))
    others = len(state.pending) - 1
    if others:
        yield f"  {others} more {'is' if others == 1 else 'are'} asked for at the same time"


def answers(question: Question, arrow: str) -> Iterator[str]:
    """Yield the ways on from the node, and how the request can be answered."""
    is_choice = isinstance(question.effect, Ask | Turn)
    for number, way in enumerate(question.ways, 1):
        when = f": {conditions(way.terms)}" if way.terms else ""
        yield f"{number if is_choice else '':>3}  {way.outcome}{when} {arrow} {way.leads}"
    how = _HOW.get(type(question.effect))
    if how is not None:
        yield f"  answer: {how}"


def _sentence(question: Question) -> str:
    effect = question.effect
    match effect:
        case Ask(complaint=complaint):
            return "asks the model for an answer" + ("" if complaint is None else f" again: {complaint}")
        case Turn(transcript=transcript):
            taken = sum(each.role == "assistant" for each in transcript)
            most = question.node.act.turns if isinstance(question.node.act, Converse) else 0
            return f"lets the model take turn {taken + 1}; an attempt has {most}"
        case Grant() | Judge() | Confirm():
            return _of_people(effect)
        case Call() | Run() | Shell() | Hook() | Wait():
            return _doing(effect)


def _of_people(effect: Grant | Judge | Confirm) -> str:
    match effect:
        case Grant(tool=tool):
            return f"asks people whether it may call the tool {tool}"
        case Judge(kind=kind):
            return f"asks whether the work is done ({kind})"
        case Confirm(question=text):
            return f"asks people: {text}"


def _doing(effect: Call | Run | Shell | Hook | Wait) -> str:
    match effect:
        case Call(tool=tool, arguments=arguments):
            return f"calls the tool {tool} with {compact(arguments)}"
        case Run(words=words):
            return f"runs {join(words)}"
        case Shell(command=command):
            return f"checks the work: {command}"
        case Hook(call=call, phase=phase):
            return f"calls {call} for {phase}"
        case Wait(milliseconds=milliseconds):
            return f"waits {milliseconds} ms"


def _text(effect: Effect) -> list[str]:
    """Return what the model is told, as far as it fits."""
    match effect:
        case Ask(prompt=prompt):
            text = prompt
        case Turn(transcript=transcript):
            text = transcript[-1].text
        case _:
            return []
    lines = text.strip().splitlines()
    left_out = len(lines) - _LINES
    return lines if left_out <= 1 else [*lines[:_LINES], f"({left_out} more lines)"]

"""The questions of a run to people, in words and data: the same for the terminal, for commands and for a page."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TypeGuard

from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.core.words import quote
from stagec.plan.act import Converse
from stagec.plan.document import Plan
from stagec.runtime.agent_runs import read_agent_run
from stagec.runtime.exchange import Confirm, Effect, Grant, Judge, label_execution, read_key
from stagec.runtime.program import Program, find_program

AskedOfPeople = Grant | Confirm | Judge
"""The requests that people answer, each with yes or no."""
_MEMBERS: Mapping[type[AskedOfPeople], str] = {Grant: "granted", Confirm: "yes", Judge: "done"}
_SHOWN = 200
"""Characters of arguments that are shown at once."""


@value
class OpenQuestion:
    """A question that waits for yes or no.

    `kind` is `grant`, `confirm` or `judge`; `who` is the execution that asks. The sentence has no question mark.
    `details` are lines that help to answer, `consequences` say what follows from `yes` and from `no`. `arguments` is
    everything that is known of what is asked, for whoever wants to see it all.
    """

    key: str
    kind: str
    who: str
    sentence: str
    details: tuple[str, ...]
    consequences: Mapping[str, str]
    arguments: str = ""


def is_for_people(effect: Effect | None) -> TypeGuard[AskedOfPeople]:
    """Tell whether people answer a request."""
    return isinstance(effect, AskedOfPeople)


def describe_question(plan: Plan, effect: AskedOfPeople) -> OpenQuestion:
    """Return what is asked; nothing in it looks like a secret."""
    key, redact = read_key(effect.key), Redactor().redact
    who = label_execution(key.node, key.visit)
    agent = read_agent_run(key.run)
    asking = f"{plan.names.node} {quote(who)}{'' if agent is None else f' of the agent {quote(agent.agent)}'}"
    ask = partial(OpenQuestion, effect.key, type(effect).__name__.lower(), who)
    match effect:
        case Grant():
            tool, summary = plan.tools.get(effect.tool), redact(effect.summary)
            details = (f"arguments: {summary[:_SHOWN]}", f"effects: {'unknown' if tool is None else tool.effects}")
            act = plan.nodes[key.node].act if key.node in plan.nodes else None
            is_allowed = isinstance(act, Converse) and effect.tool in act.tools  # since the plan has changed
            reach = "allows by now" if is_allowed else "does not allow"
            sentence = f"may {asking} call the tool {quote(effect.tool)}, which its plan {reach}"
            arguments = f"{summary}\ndigest of the arguments: {effect.digest}"
            return ask(sentence, details, _OF_GRANTS, arguments)
        case Confirm():
            return ask(f"may {asking} act: {redact(effect.question).rstrip(' ?')}", (), _OF_CONFIRMATIONS)
        case Judge():
            work = redact(json.dumps(effect.answer, indent=2, ensure_ascii=False))
            return ask(f"is the work of {asking} done", (f"judged by: {effect.kind}",), _OF_JUDGEMENTS, work)


_OF_GRANTS = {"yes": "the tool is called", "no": "the model learns that the call is denied, and continues"}
_OF_CONFIRMATIONS = {
    "yes": "the node acts",
    "no": "the node does not act, and the flow continues as the policy of the node says",
}
_OF_JUDGEMENTS = {"yes": "the work is over", "no": "the work continues"}


def list_open_questions(program: Program, pending: Iterable[Effect]) -> Iterator[OpenQuestion]:
    """Yield the questions among the requests of a run that nobody has answered."""
    return (describe_question(find_program(program, each.key).plan, each) for each in pending if is_for_people(each))


def question_to_json(question: OpenQuestion) -> Object:
    """Return a question as a JSON object."""
    named = ("key", "kind", "who", "sentence", "arguments")
    details, consequences = list(question.details), dict(question.consequences)
    return {**{name: getattr(question, name) for name in named}, "details": details, "consequences": consequences}


def make_answer(effect: AskedOfPeople, *, yes: bool) -> Object:
    """Return a yes or a no in the form that a request wants."""
    return {_MEMBERS[type(effect)]: yes}


def read_decision(effect: Effect | None, answer: Json) -> bool | None:
    """Return whether an answer says yes; None for one that does not fit the request."""
    given = answer.get(_MEMBERS[type(effect)]) if is_for_people(effect) and isinstance(answer, dict) else None
    return given if isinstance(given, bool) else None


def is_decision(answer: Json) -> bool:
    """Tell whether an answer is one that people give."""
    return isinstance(answer, dict) and any(isinstance(answer.get(member), bool) for member in _MEMBERS.values())

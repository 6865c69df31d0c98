"""The questions of a run to people, in words and data: the same for the terminal, for commands and for a page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import TypeGuard

from stagec.core.json import Json, Object
from stagec.core.secrets import Redactor
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.plan.act import Converse
from stagec.plan.document import Plan
from stagec.runtime.agent_runs import read_agent_run
from stagec.runtime.exchange import Confirm, Effect, Grant, Judge, execution_of, label_execution, read_key
from stagec.runtime.execution import Execution
from stagec.runtime.program import Program, find_program
from stagec.world.question_reasons import describe_refusal, explain_confirmation, explain_grant, explain_judgement
from stagec.world.shown_arguments import ShownArgument, argument_to_json, list_rows, show_arguments, spell

AskedOfPeople = Grant | Confirm | Judge
"""The requests that people answer, each with yes or no."""
_MEMBERS: Mapping[type[AskedOfPeople], str] = {Grant: "granted", Confirm: "yes", Judge: "done"}


@value
class OpenQuestion:
    """A question that waits for yes or no.

    `kind` is `grant`, `confirm` or `judge`; `who` is the execution that asks. The sentence has no question mark.
    `shown` are the arguments of a call, or the work that is judged, as people may see them; `details` are lines that
    help to answer, `consequences` say what follows from `yes` and from `no`. `arguments` is everything that is known of
    what is asked, for whoever wants to see it all.
    """

    key: str
    kind: str
    who: str
    sentence: str
    details: tuple[str, ...]
    consequences: Mapping[str, str]
    arguments: str = ""
    shown: tuple[ShownArgument, ...] = ()

    @property
    def rows(self) -> tuple[str, ...]:
        """What is shown at once, as lines: the arguments, what a call may do, and what follows from the answers."""
        follows = (f"{word}: {each}" for word, each in self.consequences.items())
        return (*list_rows(self.shown), *self.details, *follows)


def is_for_people(effect: Effect | None) -> TypeGuard[AskedOfPeople]:
    """Tell whether people answer a request."""
    return isinstance(effect, AskedOfPeople)


def describe_question(plan: Plan, effect: AskedOfPeople, execution: Execution | None = None) -> OpenQuestion:
    """Return what is asked, and by which rule; nothing in it looks like a secret.

    With the execution that asks, also the values for which it does.
    """
    key, redact = read_key(effect.key), Redactor().redact
    who = label_execution(key.node, key.visit)
    agent = read_agent_run(key.run)
    asking = f"{plan.names.node} {quote(who)}{'' if agent is None else f' of the agent {quote(agent.agent)}'}"
    ask = partial(OpenQuestion, effect.key, type(effect).__name__.lower(), who)
    match effect:
        case Grant():
            shown = show_arguments(_find_arguments(effect, redact))
            is_cut = effect.arguments is None and [each.name for each in shown] == ["beginning"]
            details = ((_UNKNOWN_REST,) if is_cut else ()) + tuple(_describe_effects(plan, effect.tool))
            details += tuple(explain_grant(plan, key.node))
            act = plan.nodes[key.node].act if key.node in plan.nodes else None
            is_allowed = isinstance(act, Converse) and effect.tool in act.tools  # since the plan has changed
            reach = "allows by now" if is_allowed else "does not allow"
            sentence = f"may {asking} call the tool '{spell(effect.tool)}', which its plan {reach}"
            arguments = "\n".join((*list_rows(shown, whole=True), f"digest of the arguments: {effect.digest}"))
            return ask(sentence, details, _OF_GRANTS, arguments, shown)
        case Confirm():
            follows = {"yes": "the node acts", "no": describe_refusal(plan, key.node)}
            reasons = tuple(explain_confirmation(plan, key.node, execution, redact))
            return ask(f"may {asking} act: {spell(redact(effect.question).rstrip(' ?'))}", reasons, follows)
        case Judge():
            work = show_arguments(_redact(effect.answer, redact))
            told = "\n".join(list_rows(work, whole=True))
            reasons = tuple(explain_judgement(effect, redact))
            return ask(f"is the work of {asking} done", reasons, _OF_JUDGEMENTS, told, work)


_EFFECTS = {
    "read": "effects: read, it changes nothing",
    "mutating": "effects: mutating, it changes something",
    "unknown": "effects: unknown, it may change anything",
}
_UNKNOWN_REST = "the rest of the arguments is not known: the run was begun by an older version"
_CUT = 200
"""Characters from which the beginning of arguments is not all of them."""


def _find_arguments(effect: Grant, redact: Callable[[str], str]) -> Json:
    """Return the arguments of a call; where only their beginning is known, as what it is."""
    if effect.arguments is not None or len(effect.summary) < _CUT:
        given = effect.arguments
        if given is None:
            with suppress(ValueError):
                given = json.loads(effect.summary)
        return _redact(effect.summary if given is None else given, redact)
    return {"beginning": redact(effect.summary)}


def _redact(given: Json, redact: Callable[[str], str]) -> Json:
    """Return a value in which nothing looks like a secret."""
    text = json.dumps(given, ensure_ascii=False)
    hidden = redact(text)
    try:
        return given if hidden == text else json.loads(hidden)
    except ValueError:
        return hidden


def _describe_effects(plan: Plan, name: str) -> Iterator[str]:
    """Yield what is known of what a tool does."""
    tool = plan.tools.get(name)
    known = None if tool is None or tool.origin == "bundled" else tool
    bundled = _BUNDLED.get(name.lower()) if known is None else None
    effects = "unknown" if tool is None else tool.effects
    yield _EFFECTS.get(effects, f"effects: {spell(effects)}")
    if bundled is not None:
        yield f"the bundled tool {bundled}"
    if known is not None and known.command:
        yield f"it runs the program: {spell(' '.join(known.command))}"
    if known is not None and known.server is not None:
        yield f"it asks the server: {spell(known.server)}"


_BUNDLED = {
    "bash": "runs the command in the working folder, with your rights",
    "write": "writes the file in the working folder, or replaces it",
    "edit": "changes the file in the working folder",
    "read": "gives the text of the file to the model",
    "glob": "gives the names of files to the model",
    "grep": "gives lines of files to the model",
}
_OF_GRANTS = {"yes": "the tool is called", "no": "the model learns that the call is denied, and continues"}
_OF_JUDGEMENTS = {"yes": "the work is over", "no": "the work continues"}


def list_open_questions(
    program: Program, pending: Iterable[Effect], active: Mapping[str, Execution] = NOTHING
) -> Iterator[OpenQuestion]:
    """Yield the questions among the requests of a run that nobody has answered; `active` are its executions."""
    for each in pending:
        if is_for_people(each):
            yield describe_question(find_program(program, each.key).plan, each, active.get(execution_of(each.key)))


def question_to_json(question: OpenQuestion) -> Object:
    """Return a question as a JSON object."""
    named = ("key", "kind", "who", "sentence", "arguments")
    told: dict[str, Json] = {name: getattr(question, name) for name in named}
    told |= {"details": list(question.details), "consequences": dict(question.consequences)}
    return {**told, "shown": [argument_to_json(each) for each in question.shown]}


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

"""Why people are asked: the rule of the plan that asks, the values for which it does, and what follows from a no."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from stagec.core.json import Json
from stagec.core.words import listing, quote
from stagec.plan.act import Converse
from stagec.plan.document import Plan
from stagec.plan.gate import Admission, Among, Exists, Term
from stagec.plan.node import Chain, Fork, Go, Node, Schedule, Stop, Target
from stagec.plan.template import Path
from stagec.runtime.acts.conversation_state import conversation_of
from stagec.runtime.exchange import Judge
from stagec.runtime.execution import Execution
from stagec.runtime.json_values import MISSING, all_hold, follow
from stagec.world.shown_arguments import spell

_SHOWN, _LONGEST = 8, 120
"""How many names are shown, and characters of a value."""
Redact = Callable[[str], str]


def explain_grant(plan: Plan, node: str) -> Iterator[str]:
    """Yield which calls need no question."""
    found = plan.nodes.get(node)
    if found is not None and isinstance(found.act, Converse):
        tools = [quote(each) for each in found.act.tools]
        more = f" and {len(tools) - _SHOWN} more" if len(tools) > _SHOWN else ""
        allowed = f"calls {', '.join(tools[:_SHOWN])}{more} without a question" if tools else "calls no tool"
        yield f"rule: {plan.names.node} {quote(node)} {allowed}; people are asked about each other call"


def explain_confirmation(plan: Plan, node: str, execution: Execution | None, redact: Redact) -> Iterator[str]:
    """Yield what keeps a node from acting at once, and the values for which it does where the execution is known."""
    found = plan.nodes.get(node)
    if found is None or found.admission is None:
        return
    scope: Json = {} if execution is None else {"ctx": dict(conversation_of(execution).context)}
    word, terms = _find_rule(found.admission, scope, is_known=execution is not None)
    hook = found.hooks.get("gate")
    reasons = [" and ".join(map(_describe_term, terms))] if terms else []
    reasons += [f"the callable {quote(hook)} says so"] if hook is not None else []
    if reasons:
        yield f"rule: the node is {word} when {', or '.join(reasons)}; then its policy is to ask"
    for term in terms if execution is not None else ():
        yield f"value: {_format_path(term.path)} is {spell(redact(_format_value(follow(scope, term.path))))}"


def explain_judgement(effect: Judge, redact: Redact) -> Iterator[str]:
    """Yield which condition of the plan asks whether the work is done."""
    settings = f", with the settings {spell(redact(_format_value(dict(effect.settings))))}" if effect.settings else ""
    yield f"rule: the condition {spell(effect.kind)} of the plan asks people{settings}"


def describe_refusal(plan: Plan, node: str) -> str:
    """Return what follows when a person does not let a node act."""
    found = plan.nodes.get(node)
    targets = [] if found is None else list(_list_targets(found))
    leads = f": {', or '.join(targets)}" if targets else ""
    return f"the node does not act, and its outcome is 'fail'{leads}"


def _list_targets(node: Node) -> Iterator[str]:
    for edge in node.edges:
        if edge.on == "fail":
            when = f" when {' and '.join(map(_describe_term, edge.when))}" if edge.when else ""
            yield f"{_describe_target(edge.target)}{when}"


def _describe_target(target: Target) -> str:
    match target:
        case Stop(outcome=outcome):
            return f"the run, or its branch, ends as {outcome}"
        case Go(node=node):
            return f"the run continues with {quote(node)}"
        case Fork(nodes=nodes) | Chain(nodes=nodes):
            return f"the run continues with {listing(nodes)}"
        case Schedule(needs=needs):
            return f"the run continues with {listing(list(needs))}"
        case _:
            return "the run continues with the node that the answer names"


def _find_rule(given: Admission, scope: Json, *, is_known: bool) -> tuple[str, tuple[Term, ...]]:
    """Return what a node is called that does not act at once, and the terms for which it is that."""
    is_blocked = given.on_block == "ask"
    if given.on_defer == given.on_block == "ask" and is_known:
        is_blocked = bool(given.block) and all_hold(given.block, scope)
    return ("blocked", given.block) if is_blocked else ("deferred", given.defer)


def _describe_term(term: Term) -> str:
    path = _format_path(term.path)
    if isinstance(term, Exists):
        return f"{path} {'exists' if term.present else 'does not exist'}"
    values = [_format_value(each) for each in (term.values if isinstance(term, Among) else term.texts)]
    return f"{path} is {' or '.join(values)}"


def _format_path(path: Path) -> str:
    return spell(".".join(map(str, path)))


def _format_value(given: object) -> str:
    if given is MISSING:
        return "absent"
    text = json.dumps(given, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"

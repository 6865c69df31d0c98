"""Which kinds of things happen in runs: edges, targets, gates, joins, conditions, policies and the like, by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from properties.soundness.scopes import of_scopes
from properties.soundness.talks import of_answer, of_told

from stagec.core.json import MISSING, follow
from stagec.ir.plan.act import Carried, Converse, Given, Prompt, Provided
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import Among, Exists, IntentGate, JudgeGate, Reads, Term
from stagec.ir.plan.node import Chain, Edge, ForEach, Fork, Go, Named, Pick, Stop, Target
from stagec.runtime.machine.exchange import Answered, Ask, Effect, Judge, Run, Shell
from stagec.runtime.machine.execution import PendingPreflight
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.gate import ALIASES
from stagec.runtime.machine.state import State, StepResult, TraceEvent


def of_edge(node: str, edge: Edge, among: tuple[Edge, ...]) -> Iterator[str]:
    """Yield the kinds of an edge that is taken: `among` are all of its outcome."""
    choice = "case" if edge.when else "default" if any(each.when for each in among) else "always"
    target = of_target(node, edge.target)
    yield f"edge {edge.on}, {choice}"
    yield f"edge {edge.on}, {target}"
    yield f"target {target}"
    yield from {f"term {of_term(each)} of a result" for each in edge.when}
    yield from {f"condition on {each.path[0]}" for each in edge.when}
    if len(edge.when) > 1:
        yield "several terms at once"


def of_target(node: str, target: Target) -> str:
    """Return what kind of target this is."""
    match target:
        case Go():
            return f"{'itself' if target.node == node else 'another'}{' or another' if target.otherwise else ''}"
        case Fork():
            return "fork with join" if target.join is not None else "fork"
        case ForEach():
            return "for each"
        case Chain():
            return "chain"
        case Named():
            return "named"
        case Pick():
            return "pick"
        case Stop():
            return target.outcome.value


def of_term(term: Term) -> str:
    """Return what kind of condition this is."""
    match term:
        case Among():
            return "among"
        case Reads():
            return "reads"
        case Exists():
            return "exists" if term.present else "absent"


def of_step(plan: Plan, before: State, event: Any, step: StepResult) -> Iterator[str]:
    """Yield the kinds of what happened in one transition."""
    effect = before.pending.get(event.key) if isinstance(event, Answered) else None
    if effect is not None:
        given = event.answer if isinstance(event.answer, dict) else {}
        yield from of_answer(plan, before, step, effect, given)
        yield from _of_answer(plan, before, step, effect, given)
    for told in step.trace:
        yield from of_told(plan, told.name, told.facts)
        yield from _of_told(plan, before, step.state, told)
    if step.state.ended is not None:
        yield f"end: {ending(step.state)}"
    if before.scopes or step.state.scopes:
        yield from of_scopes(before, step)


def ending(state: State) -> str:
    """Return the kind of a reason for which a run ended; those of nodes that an end follows are one."""
    failure = state.failure
    if failure is None:
        return f"{state.reason} ({state.ended})"
    if failure.kind is FailureKind.CANCELLED:
        return f"{failure.detail or failure.kind} ({state.ended})"
    if failure.kind is FailureKind.BOUND:
        return f"bound reached ({state.ended})"
    return f"{failure.kind if failure.kind in _OWN else 'failed'} ({state.ended})"


_OWN = {
    FailureKind.NO_EDGE,
    FailureKind.UNSTARTABLE,
    FailureKind.INVALID_ANSWER,
    FailureKind.NO_INTENT,
    FailureKind.VALIDATION,
    FailureKind.UNJOINABLE,
    FailureKind.ABORTED,
}
"""The kinds of failures that are told apart."""


def _of_told(plan: Plan, before: State, after: State, told: TraceEvent) -> Iterator[str]:
    facts: Any = told.facts
    node = plan.nodes.get(facts.get("stageId"))
    match told.name:
        case "StageEntered" if node is not None:
            yield from _of_entry(plan, before, after, facts["stageId"])
        case "StageInitFailed":
            yield f"cannot start ({plan.names.node})"
            if plan.names.node == "step" and after.ended is None:
                yield "another runs in its place"
        case "StageCheckGateResult" if (
            node is not None and node.admission is not None and facts["outcome"] != "proceed"
        ):
            yield f"policy {facts['policy']} on {facts['outcome']}"
            terms = node.admission.defer if facts["outcome"] == "defer" else node.admission.block
            if "gate" not in node.hooks:
                yield from {f"term {of_term(each)} of the context" for each in terms}
        case "ValidationFailed" if node is not None and node.validation is not None:
            given_up = facts["failures"] >= node.validation.attempts
            yield f"validation failed, {'given up' if given_up else node.validation.action}"


def _of_entry(plan: Plan, before: State, after: State, name: str) -> Iterator[str]:
    """Yield the kinds of a node that begins to act."""
    node = plan.nodes[name]
    yield f"act {type(node.act).__name__.lower()}"
    yield f"kind {node.kind}" if node.kind is not None else f"kind of a {plan.names.node} without one"
    if any(scope.join == name and key not in after.scopes for key, scope in before.scopes.items()):
        yield "join starts"
    if isinstance(node.act, Prompt):
        yield from {_SUPPLIES[type(each)] for each in node.act.variables.values()}
        yield from (_of_carried(before, each) for each in node.act.variables.values() if isinstance(each, Carried))
    if isinstance(node.act, Converse) and node.act.accepts is not None:
        yield "accepts only some results"


_SUPPLIES: dict[type, str] = {Given: "variable given", Provided: "variable provided", Carried: "variable carried"}


def _of_carried(before: State, supply: Carried) -> str:
    past = before.past.get(supply.node)
    if past is not None and past.record is not None and supply.key in past.record:
        return "variable carried, handed over"
    return f"variable carried, {'default' if supply.default is not None else 'left empty'}"


def _of_answer(plan: Plan, before: State, step: StepResult, effect: Effect, given: Any) -> Iterator[str]:
    """Yield the kinds of an answer to what a step has asked."""
    execution = before.active[effect.key.rpartition("/")[0]]
    node = plan.nodes[execution.node]
    match effect:
        case Ask() if any(isinstance(each, Ask) and each.complaint is not None for each in step.effects):
            yield "answer that is asked for again"
        case Run():
            yield f"program exits with {'0' if given.get('exit') == 0 else 'another status'}"
        case Shell() if node.validation is not None:
            is_early = isinstance(execution.progress, PendingPreflight)
            slot = node.validation.preflight if is_early else node.validation.conditions
            condition = slot[execution.progress.index]
            fails = any(each.name == "ValidationFailed" for each in step.trace)
            kind = plan.validators[condition.validator].success.kind
            yield f"validator {kind} {'fails' if fails else 'succeeds'}"
        case Judge():
            yield f"judge outside says {'done' if given.get('done') is True else 'no'}"
        case _:
            pass
    if isinstance(node.gate, IntentGate) and isinstance(given.get("answer"), dict):
        yield from _of_intent(node.gate, given["answer"])
    elif isinstance(node.gate, JudgeGate) and "answer" in given and plan.judge is not None:
        yield f"judge {plan.judge.kind}"
        if plan.judge.kind == "meta:composite":
            yield f"judge meta:composite, {plan.judge.settings.get('operator')}"


def _of_intent(gate: IntentGate, answer: Any) -> Iterator[str]:
    found = follow(answer, gate.field)
    said = str(found).lower() if found is not MISSING and found is not None else ""
    yield "gate that fails fast" if gate.fail_fast else "gate that falls back"
    if said in ALIASES and ALIASES[said] in gate.intents:
        yield "intent by another word"
        yield f"intent {ALIASES[said]} as {said}"
    elif said not in gate.intents and said != "abort" and not gate.fail_fast:
        yield "intent that was fallen back to"

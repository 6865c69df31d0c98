"""Which kinds of things happen while stages work: phases, turns, calls, grants and hooks, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import Backoff
from stagec.ir.plan.node import Node
from stagec.runtime.machine.acts.conversation_state import conversation_of
from stagec.runtime.machine.exchange import Call, Confirm, Effect, Grant, Hook, Turn, Wait
from stagec.runtime.machine.state import State, StepResult

Json = Any


def of_answer(plan: Plan, before: State, step: StepResult, effect: Effect, given: Mapping[str, Json]) -> Iterator[str]:
    """Yield the kinds of an answer to what a stage has asked."""
    execution = before.active[effect.key.rpartition("/")[0]]
    match effect:
        case Hook():
            yield from _of_hook(effect, given)
        case Grant():
            said = given.get("granted")
            yield f"grant {'given' if said is True else 'denied' if said is False else 'left open'}"
        case Confirm():
            yield f"person says {'yes' if given.get('yes') is True else 'no'}"
        case Wait():
            yield _of_wait(plan.nodes[execution.node])
            yield (
                "admission is asked for again"
                if not conversation_of(execution).result
                else "attempt on the same transcript"
            )
        case Call():
            yield f"call {'carried out' if 'value' in given else 'that fails'}"
        case Turn():
            yield f"turn {_of_turn(step, effect, given)}"
        case _:
            return


def _of_wait(node: Node) -> str:
    backoff = node.retry.backoff if node.retry is not None else Backoff()
    return f"backoff {backoff.kind}"


def _of_turn(step: StepResult, effect: Turn, given: Mapping[str, Json]) -> str:
    """Return what a model has made of a turn."""
    if "error" in given:
        return "that fails"
    listed = given.get("calls")
    calls = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    completions = sum(each.get("tool") == effect.completion for each in calls)
    if not calls:
        return "without calls"
    if not completions:
        return "with calls"
    if len(calls) > 1:
        return "with two completions" if completions == len(calls) else "with completion and calls"
    execution = step.state.active.get(effect.key.rpartition("/")[0])
    if execution is not None and conversation_of(execution).error is not None:
        return "with completion not accepted"
    return "with completion"


def _of_hook(effect: Hook, given: Mapping[str, Json]) -> Iterator[str]:
    slot = "/" in effect.phase
    yield f"hook {effect.phase}, {effect.given['kind']}" if slot else f"hook {effect.phase}"
    who = effect.given["kind"] if slot else "hook"
    if "value" not in given:
        yield f"{who} fails"
    elif who == "guard":
        yield f"guard {'allows' if given['value'] is True else 'denies'}"


def of_told(plan: Plan, name: str, facts: Mapping[str, Json]) -> Iterator[str]:
    """Yield the kinds of an event of a stage."""
    match name:
        case "ToolCallApproved":
            yield f"call allowed by {facts['source']}"
            yield from _of_mode(plan)
        case "ToolCallDenied":
            yield f"call denied: {facts['code'] if facts['source'] != 'guard' else 'guard'}"
            yield from _of_mode(plan)
        case "StageAssertOutcome" if "verdict" in facts:
            yield f"check says {facts['verdict']}{' after a cap' if facts['capHit'] else ''}"
        case "StageExited":
            yield f"stage ends as {facts['verdict']}"
        case "ToolInvocationCancelled" | "StageCancelled" | "ParallelSiblingFailure" | "HookObserverFailed":
            yield name
        case "StageInitFailed" if "phase" in facts:
            yield f"no beginning in {facts['phase']}"
        case "WorkflowExit" if "error" in facts:
            yield f"end by {facts['error']['code']}"


def _of_mode(plan: Plan) -> Iterator[str]:
    yield f"call while the mode is {plan.session.mode if plan.session is not None else None}"

"""Ask a model for one structured answer, and make an outcome of it (§ 3.6 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.act import Prompt
from stagec.plan.gate import IntentGate
from stagec.plan.node import Outcome
from stagec.runtime import gate as gates
from stagec.runtime.acts import judging, validating
from stagec.runtime.acts.supply import variables
from stagec.runtime.effect import Ask, Effect, Judge, Shell
from stagec.runtime.finished import Finished
from stagec.runtime.moment import Moment
from stagec.runtime.render import EVERYWHERE
from stagec.runtime.state import Execution

_ATTEMPTS = 2
_NOTHING: tuple[Finished, ...] = ()


def begin(moment: Moment, act: Prompt, execution: Execution) -> tuple[Finished, ...]:
    """Ask the model."""
    _ask(moment, act, execution, None)
    return _NOTHING


def answered(moment: Moment, act: Prompt, execution: Execution, effect: Effect, answer: Json) -> tuple[Finished, ...]:
    """Take the model's answer, or what the validation of an earlier one came to."""
    if type(effect) is Shell:
        return validating.checked(moment, execution, effect, answer)
    if type(effect) is Judge:
        return judging.decided(moment, execution, answer)
    given = answer.get("answer") if isinstance(answer, dict) else None
    complaint = _complaint(moment, act, given)
    if complaint is None and isinstance(answer, dict) and isinstance(given, dict):
        return _taken(moment, execution, given, answer.get("text"))
    if execution.attempt == _ATTEMPTS:
        moment.end(Outcome.FAILED, f"{execution.node} got no usable answer: {complaint}")
    else:
        _ask(moment, act, replace(execution, attempt=_ATTEMPTS, asked=0), complaint)
    return _NOTHING


def _ask(moment: Moment, act: Prompt, execution: Execution, complaint: str | None) -> None:
    given = (execution.prompt or "", _system(moment), act.schema, act.tools, act.model, act.permission, complaint)
    moment.request(execution, Ask, *given)


def _system(moment: Moment) -> str | None:
    """Return the system prompt; what has no value in it is left empty, as nothing depends on it."""
    system = moment.program.plan.system
    if system is None:
        return None
    supplied = {**dict.fromkeys(system.variables, ""), **variables(moment, system.variables, moment.executions)}
    scope = {"variable": supplied, "stdin": moment.inputs.get("stdin", "")}
    return moment.program.renderer.render(system.prompt, scope, EVERYWHERE)


def _complaint(moment: Moment, act: Prompt, given: Json) -> str | None:
    if not isinstance(given, dict):
        return "the answer is no object"
    return moment.program.payloads.complaint(act.schema, given)


def _taken(moment: Moment, execution: Execution, answer: Mapping[str, Json], said: Json) -> tuple[Finished, ...]:
    """Keep an answer, and make an outcome of it."""
    gate = moment.nodes[execution.node].gate
    kept = gates.handoff(gate, answer) if type(gate) is IntentGate else {}
    moment.remember(execution.node, record=kept or answer)
    moment.said = said if isinstance(said, str) else ""
    result = {"answer": answer, "handoff": kept}
    if type(gate) is not IntentGate:
        return judging.judge(moment, execution, result)
    intent = gates.intent(gate, answer)
    if intent is None:
        moment.end(Outcome.FAILED, f"{execution.node} answered with no intent that is allowed")
        return _NOTHING
    over = Finished(execution, intent, result, gates.target(gate, answer))
    moment.tell("StageAssertOutcome", execution, intent=intent)
    return validating.validated(moment, over)

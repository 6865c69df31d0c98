"""The act of a step: ask a model for one structured answer, and make an outcome of it (§ 3.6 of the format)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json, object_of
from stagec.core.value import replace
from stagec.plan.act import Prompt
from stagec.plan.gate import IntentGate
from stagec.runtime import gate as gates
from stagec.runtime.acts import judge, validation
from stagec.runtime.acts.variables import supply_variables
from stagec.runtime.exchange import Ask, Effect, Judge, Shell
from stagec.runtime.execution import Execution, NodeResult, PendingPreflight
from stagec.runtime.failures import FailureKind, describe_error
from stagec.runtime.readable_answers import explain_absence
from stagec.runtime.render import EVERYWHERE
from stagec.runtime.step_builder import StepBuilder

_ATTEMPTS = 2
_NOTHING: tuple[NodeResult, ...] = ()


def begin(builder: StepBuilder, act: Prompt, execution: Execution) -> tuple[NodeResult, ...]:
    """Ask the model, once it is checked whether it may be asked."""
    if not validation.begin_preflight(builder, execution):
        _ask(builder, act, execution, None)
    return _NOTHING


def resume(
    builder: StepBuilder, act: Prompt, execution: Execution, effect: Effect, answer: Json
) -> tuple[NodeResult, ...]:
    """Take the model's answer, or what the validation of an earlier one came to."""
    if type(effect) is Shell:
        return _check(builder, act, execution, effect, answer)
    if type(effect) is Judge:
        return judge.resume(builder, execution, answer)
    told = object_of(answer)
    given, complaint = _read_answer(builder, act, execution, told.get("answer"))
    why = None if complaint is None else explain_absence(told)
    if why is not None:
        complaint = f"{complaint}; {why}" if "answer" in told else why
    if complaint is None:
        return _accept(builder, execution, given, told.get("text"))
    if execution.attempt == _ATTEMPTS:
        # how an execution fails that got no answer it can use, and what is known of it
        if "answer" not in told and "error" in told:
            refusal = FailureKind.PROVIDER, describe_error(told["error"])
        else:
            refusal = FailureKind.INVALID_ANSWER, complaint or ""
        builder.fail(*refusal, execution)
    else:
        _ask(builder, act, replace(execution, attempt=_ATTEMPTS, asked=0), complaint)
    return _NOTHING


def _check(
    builder: StepBuilder, act: Prompt, execution: Execution, effect: Shell, answer: Json
) -> tuple[NodeResult, ...]:
    """Take what a validator has found, before the model is asked or after it has answered."""
    if type(execution.progress) is not PendingPreflight:
        return validation.resume(builder, execution, effect, answer)
    ready = validation.resume_preflight(builder, execution, effect, answer)
    if ready is not None:
        _ask(builder, act, ready, None)
    return _NOTHING


def _ask(builder: StepBuilder, act: Prompt, execution: Execution, complaint: str | None) -> None:
    given = (execution.prompt or "", _system(builder), act.schema, act.tools, act.model, act.permission, complaint)
    builder.request(execution, Ask, *given)


def _system(builder: StepBuilder) -> str | None:
    """Return the system prompt; what has no value in it is left empty, as nothing depends on it."""
    system = builder.program.plan.system
    if system is None:
        return None
    supplied = {
        **dict.fromkeys(system.variables, ""),
        **supply_variables(builder, system.variables, builder.now.executions),
    }
    scope = {"variable": supplied, "stdin": builder.now.inputs.get("stdin", "")}
    return builder.program.renderer.render(system.prompt, scope, EVERYWHERE)


def _read_answer(
    builder: StepBuilder, act: Prompt, execution: Execution, given: Json
) -> tuple[Mapping[str, Json], str | None]:
    """Return an answer as it counts, and what is wrong with it.

    With the intent in place of a word for it, if the schema allows that; as it is, if the schema allows only that.
    """
    if not isinstance(given, dict):
        return {}, "the answer is no object"
    gate, accepts = builder.nodes[execution.node].gate, builder.judge
    read = object_of(gates.write_intent(gate, given)) if type(gate) is IntentGate else given
    complaint = accepts(act.schema, read)
    is_better = complaint is not None and read is not given and accepts(act.schema, given) is None
    return (given, None) if is_better else (read, complaint)


def _accept(
    builder: StepBuilder, execution: Execution, answer: Mapping[str, Json], said: Json
) -> tuple[NodeResult, ...]:
    """Keep an answer, and make an outcome of it."""
    gate = builder.nodes[execution.node].gate
    kept = gates.read_handoff(gate, answer) if type(gate) is IntentGate else {}
    builder.remember(execution.node, record=kept or answer)
    builder.change(said=said if isinstance(said, str) else "")
    result = {"answer": answer, "handoff": kept}
    if type(gate) is not IntentGate:
        return judge.judge(builder, execution, result)
    intent = gates.read_intent(gate, answer)
    if intent is None:
        builder.fail(FailureKind.NO_INTENT, gates.describe_intent(gate, answer), execution)
        return _NOTHING
    over = NodeResult(execution, intent, result, gates.read_target(gate, answer))
    builder.emit("StageAssertOutcome", execution, intent=intent)
    return validation.validate(builder, over)

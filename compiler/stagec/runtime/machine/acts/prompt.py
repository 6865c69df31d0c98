"""The act of a step: ask a model for one structured answer, and make an outcome of it (§ 3.6 of the format)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stagec.core.canonical import as_text
from stagec.core.json import Json, object_of
from stagec.core.value import replace
from stagec.ir.plan.act import Carried, Given, Prompt, Supply
from stagec.ir.plan.gate import IntentGate
from stagec.runtime.machine import exchange as effects
from stagec.runtime.machine import gate as gates
from stagec.runtime.machine.acts import validation
from stagec.runtime.machine.answer_schemas import explain_absence
from stagec.runtime.machine.exchange import Ask, Effect, Judge, Shell
from stagec.runtime.machine.execution import Execution, NodeResult, PendingJudgement, PendingPreflight
from stagec.runtime.machine.failures import FailureKind, describe_error
from stagec.runtime.machine.program import EVERYWHERE, UnfilledError
from stagec.runtime.machine.step_builder import StepBuilder


class UnstartableError(Exception):
    """A node cannot start; `str()` says why."""


def render_prompt(builder: StepBuilder, act: Prompt, repeats: int = 0) -> str:
    """Return the prompt of the execution that is about to begin, or raise `UnstartableError`.

    `repeats` is how often the node has repeated itself in a row, where its act bounds that.
    """
    asked = act.repeats[repeats - 1] if act.repeats and repeats else act
    if asked.prompt is None:
        raise UnstartableError("it has no prompt")
    supplied = supply_variables(builder, asked.variables, builder.now.executions + 1) if asked.variables else {}
    for name in (*asked.variables, *act.needed):
        if name not in supplied or (name in act.needed and supplied[name] == ""):
            raise UnstartableError(f"its variable {name} has no value")
    scope = {"variable": supplied, "stdin": builder.now.inputs.get("stdin", "")}
    try:
        return builder.program.renderer.render(asked.prompt, scope)
    except UnfilledError as unfilled:
        raise UnstartableError(f"{unfilled} has no value") from unfilled


def supply_variables(builder: StepBuilder, supplies: Mapping[str, Supply], iteration: int) -> dict[str, Json]:
    """Return the variables that have a value, as texts; `iteration` is the number of the execution they are for."""
    find = ((name, _supply(builder, supply, iteration)) for name, supply in supplies.items())
    return {name: each for name, each in find if each is not None}


def _supply(builder: StepBuilder, supply: Supply, iteration: int) -> str | None:
    if isinstance(supply, Given):
        given = builder.now.inputs
        return as_text(given[supply.name]) if supply.name in given else None
    if isinstance(supply, Carried):
        record = builder.history_of(supply.node).record or {}
        if supply.key in record:
            return as_text(record[supply.key])
        if supply.default is not None:
            return as_text(supply.default)
        return None if supply.required else ""
    # a variable of the runner, or else an input of that name
    name = supply.name
    known = _RUNNERS[name](builder, iteration) if name in _RUNNERS else None
    known = builder.now.inputs.get(name) if known is None else known
    return None if known is None else as_text(known)


def _remaining(builder: StepBuilder, iteration: int) -> Json:
    most = builder.program.plan.limits.executions
    return None if most is None else most - iteration + 1


def _setting(name: str) -> Callable[[StepBuilder, int], Json]:
    def find(builder: StepBuilder, _iteration: int) -> Json:
        judge = builder.program.plan.judge
        return None if judge is None else judge.settings.get(name)

    return find


def _criteria(builder: StepBuilder, _iteration: int) -> Json:
    judge = builder.program.plan.judge
    return None if judge is None else describe_criteria(judge.kind, judge.settings)


_RUNNERS: Mapping[str, Callable[[StepBuilder, int], Json]] = {
    "iteration": lambda _builder, iteration: iteration,
    "completed_iterations": lambda _builder, iteration: iteration - 1,
    "max_iterations": lambda builder, _iteration: builder.program.plan.limits.executions,
    "remaining": _remaining,
    "completion_keyword": _setting("verdictKeyword"),
    "max_checks": _setting("maxChecks"),
    "check_count": lambda builder, _iteration: builder.now.judged,
    "previous_summary": lambda builder, _iteration: builder.now.said,
    "verdict_criteria": _criteria,
}
"""The variables of the runner, by name."""


def describe_criteria(kind: str, settings: Mapping[str, Json]) -> str:
    """Return a sentence that says what the judge looks at."""
    told = ", ".join(f"{name}: {as_text(each)}" for name, each in sorted(settings.items()))
    return f"The work is judged by {kind}" + (f" ({told})." if told else ".")


_NOTHING: tuple[NodeResult, ...] = ()
_WORLDLY = frozenset({"poll:state", "meta:custom"})
_ANY = ("or", "first")
"""Operators of composites with which one condition is enough: `first` is the first that is met."""


def judge_answer(builder: StepBuilder, execution: Execution, result: Mapping[str, Json]) -> tuple[NodeResult, ...]:
    """Judge the work after an answer: at once, or once the world has said what it knows."""
    judge = builder.program.plan.judge
    builder.change(judged=builder.now.judged + 1)
    if judge is None:
        return (NodeResult(execution, "next", result),)
    # the questions that only the world can answer, in order
    kind = judge.kind
    if kind in _WORLDLY:
        questions = [(kind, judge.settings)]
    else:
        parts = _conditions(judge.settings) if _is_composite(kind) else ()
        questions = [(each, given) for each, given in parts if each in _WORLDLY]
    return _next_question(builder, execution, PendingJudgement(result, tuple(questions)))


def resume_judge(builder: StepBuilder, execution: Execution, answer: Json) -> tuple[NodeResult, ...]:
    """Take the answer of the world."""
    judgement = execution.progress
    if not isinstance(judgement, PendingJudgement):
        return _NOTHING
    done = isinstance(answer, dict) and answer.get("done") is True
    return _next_question(builder, execution, replace(judgement, answers=(*judgement.answers, done)))


def _next_question(builder: StepBuilder, execution: Execution, judgement: PendingJudgement) -> tuple[NodeResult, ...]:
    execution = replace(execution, progress=judgement)
    result, answers = judgement.result, judgement.answers
    if len(answers) < len(judgement.questions):
        kind, settings = judgement.questions[len(answers)]
        builder.request(execution, effects.Judge, kind=kind, settings=settings, answer=result["answer"])
        return _NOTHING
    judge = builder.program.plan.judge
    said = list(answers)
    done = judge is not None and _is_done(builder, judge.kind, judge.settings, result["answer"], said)
    return validation.validate(builder, NodeResult(execution, "verdict" if done else "next", result))


def _is_done(builder: StepBuilder, kind: str, settings: Mapping[str, Json], answer: Any, said: list[bool]) -> bool:
    if kind in _WORLDLY:
        return said.pop(0)
    if not _is_composite(kind):
        return _judge_answer(builder, kind, settings, answer)
    found = [
        said.pop(0) if each in _WORLDLY else _judge_answer(builder, each, given, answer)
        for each, given in _conditions(settings)
    ]
    return any(found) if settings.get("operator") in _ANY else bool(found) and all(found)


def _is_composite(kind: str) -> bool:
    return kind == "meta:composite"


def _conditions(settings: Mapping[str, Json]) -> list[tuple[str, Mapping[str, Json]]]:
    listed = settings.get("conditions")
    given = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [(str(each.get("type")), object_of(each.get("config"))) for each in given]


def _judge_answer(builder: StepBuilder, kind: str, settings: Mapping[str, Json], answer: Any) -> bool:
    """Judge by what can be seen in the answer, or counted."""
    match kind:
        case "count:iteration":
            return _is_reached(builder.now.executions, settings.get("maxIterations"))
        case "count:check":
            return _is_reached(builder.now.judged, settings.get("maxChecks"))
        case "detect:keyword":
            keyword = settings.get("verdictKeyword")
            return isinstance(keyword, str) and any(keyword in each for each in _inside(answer) if type(each) is str)
        case "detect:structured":
            return any(_is_signal(each, settings) for each in _inside(answer))
        case "detect:graph":
            return answer.get("status") == "completed" or answer.get("complete") is True
        case _:
            return False


def _is_reached(count: int, most: Json) -> bool:
    return type(most) is int and count >= most


def _inside(answer: Any) -> list[Any]:
    """Return a value and everything in it, whatever its depth."""
    found = [answer]
    for each in found:  # grows while it is walked
        if type(each) is dict:
            found.extend(each.values())
        elif type(each) is list:
            found.extend(each)
    return found


def _is_signal(given: Any, settings: Mapping[str, Json]) -> bool:
    signal, needed = settings.get("signalType"), settings.get("requiredFields")
    fields = needed if isinstance(needed, list) else list(needed) if isinstance(needed, dict) else []
    if type(given) is not dict or type(signal) is not str or given.get("type") != signal:
        return False
    return all(type(each) is str and each in given for each in fields)


_ATTEMPTS = 2


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
        return resume_judge(builder, execution, answer)
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
    """Take the result of a validator, before the model is asked or after it has answered."""
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
        return judge_answer(builder, execution, result)
    intent = gates.read_intent(gate, answer)
    if intent is None:
        builder.fail(FailureKind.NO_INTENT, gates.describe_intent(gate, answer), execution)
        return _NOTHING
    over = NodeResult(execution, intent, result, gates.read_target(gate, answer))
    builder.emit("StageAssertOutcome", execution, intent=intent)
    return validation.validate(builder, over)

"""Run validators before `closing` counts (§ 3.11 of the format)."""

from __future__ import annotations

import re

from stagec.core.canonical import as_text
from stagec.core.json import Json
from stagec.core.value import replace
from stagec.core.words import quote
from stagec.plan.gate import Condition, Validation
from stagec.plan.surroundings import Validator
from stagec.runtime.exchange import Shell
from stagec.runtime.execution import Execution, NodeResult, PendingPreflight, PendingValidation
from stagec.runtime.extractors import Output, extract, read_output
from stagec.runtime.failures import FailureKind
from stagec.runtime.step_builder import StepBuilder

_ENDING = frozenset({"closing", "verdict"})
"""The outcomes with which a run may be completed."""
_UNGUARDED = frozenset({"repeat", "abort"})
"""The outcomes that count whatever guards a node."""
_NOTHING: tuple[NodeResult, ...] = ()
_UNRUNNABLE = frozenset({126, 127})
"""The exit statuses with which a shell says that a command may not be run, and that there is none."""
_FORBIDDEN = ("EACCES", "Permission denied")
"""What commands say that may not do what they must."""
_PARAMETER = re.compile(r"\$\{([^{}]*)\}")


def begin_preflight(builder: StepBuilder, execution: Execution) -> bool:
    """Begin to check what must hold before the model is asked, and tell whether there is anything."""
    validation = builder.nodes[execution.node].validation
    if validation is None or not validation.preflight:
        return False
    _check(builder, replace(execution, progress=PendingPreflight(0)), validation.preflight[0])
    return True


def resume_preflight(builder: StepBuilder, execution: Execution, effect: Shell, answer: Json) -> Execution | None:
    """Continue with the next condition, or end the run; return the execution when all conditions hold."""
    validation, pending = builder.nodes[execution.node].validation, execution.progress
    if validation is None or not isinstance(pending, PendingPreflight):
        return None
    output, following = read_output(answer), pending.index + 1
    validator = builder.program.plan.validators[validation.preflight[pending.index].validator]
    if not _succeeds(builder, validator, output):
        failures = builder.history_of(execution.node).failures
        builder.emit("ValidationFailed", execution, pattern=validator.pattern, failures=failures)
        builder.fail(FailureKind.PREFLIGHT, _describe(validator, effect.command, output), execution)
    elif following < len(validation.preflight):
        _check(builder, replace(execution, progress=PendingPreflight(following)), validation.preflight[following])
    else:
        return replace(execution, progress=None)
    return None


def validate(builder: StepBuilder, over: NodeResult) -> tuple[NodeResult, ...]:
    """Return an execution that is over if nothing needs to be checked; else begin to check."""
    validation = builder.nodes[over.execution.node].validation
    if validation is None or not validation.conditions:
        return (over,)
    if over.outcome not in _ENDING and (over.outcome in _UNGUARDED or not validation.every_outcome):
        return (over,)
    _check(builder, replace(over.execution, progress=PendingValidation(over, 0)), validation.conditions[0])
    return _NOTHING


def resume(builder: StepBuilder, execution: Execution, effect: Shell, answer: Json) -> tuple[NodeResult, ...]:
    """Continue with the next condition, or with the consequence of a failed one."""
    validation = builder.nodes[execution.node].validation
    pending = execution.progress
    if validation is None or not isinstance(pending, PendingValidation):
        return _NOTHING
    over, index = pending.result, pending.index
    condition, output = validation.conditions[index], read_output(answer)
    validator = builder.program.plan.validators[condition.validator]
    if not _succeeds(builder, validator, output):
        return _fail(builder, over, validator, effect.command, output)
    if index + 1 < len(validation.conditions):
        _check(
            builder, replace(execution, progress=PendingValidation(over, index + 1)), validation.conditions[index + 1]
        )
        return _NOTHING
    builder.remember(execution.node, failures=0)
    return (over,)


def _check(builder: StepBuilder, execution: Execution, condition: Condition) -> None:
    command = builder.program.plan.validators[condition.validator].command

    def fill(found: re.Match[str]) -> str:
        return as_text(condition.params[found[1]]) if found[1] in condition.params else found[0]

    builder.request(execution, Shell, command=_PARAMETER.sub(fill, command))


def _fail(
    builder: StepBuilder, over: NodeResult, validator: Validator, command: str, output: Output
) -> tuple[NodeResult, ...]:
    node = over.execution.node
    validation, failures = builder.nodes[node].validation, builder.history_of(node).failures + 1
    builder.remember(node, failures=failures)
    builder.emit("ValidationFailed", over.execution, pattern=validator.pattern, failures=failures)
    # what a failure leads to; work that is done again helps no validator that cannot run
    if validation is None or output.status in _UNRUNNABLE or any(each in output.stderr for each in _FORBIDDEN):
        action = "abort"
    else:
        action = "abort" if validation.action == "retry" and failures >= validation.attempts else validation.action
    over = replace(over, refused=validator.pattern)
    if action == "skip":
        return (over,)
    if validation is None or action != "retry":
        times = f", failure {failures} in a row" if failures > 1 else ""
        builder.fail(FailureKind.VALIDATION, f"{_describe(validator, command, output)}{times}", over.execution)
        return _NOTHING
    back = node if over.outcome not in _ENDING else builder.history_of(node).origin or node
    return (replace(over, back=back, prompt=_prompt(builder, validation, validator, command, output)),)


def _describe(validator: Validator, command: str, output: Output) -> str:
    """Return which validator refused what, and how its command ended."""
    status = "no exit status" if output.status is None else f"exit {output.status}"
    return f"{validator.pattern} by {quote(command)}, {status}"


def _prompt(builder: StepBuilder, validation: Validation, validator: Validator, command: str, output: Output) -> str:
    template = validation.prompts.get(validator.pattern)
    if template is None:
        return f"The work was checked and is not done: {command}\n\n{output.stdout}{output.stderr}"
    found = {name: extract(extractor, output) for name, extractor in validator.extract.items()}
    return builder.program.renderer.render(template, {"failure": found})


def _succeeds(builder: StepBuilder, validator: Validator, output: Output) -> bool:
    argument, kind = validator.success.argument, validator.success.kind
    if kind != "exit" and output.status != 0:  # a program that failed, or never ran, says nothing of the work
        return False
    match kind:
        case "empty":
            return not output.stdout.strip()
        case "exit":
            return output.status is not None and str(output.status) == argument
        case "contains":
            return argument in output.stdout
        case _:
            return builder.program.answer_schemas.matches(argument, output.stdout)

"""Check the world before `closing` counts (§ 3.11 of the format)."""

from __future__ import annotations

import re

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.canonical import as_text
from stagec.plan.gate import Condition, Validation
from stagec.plan.node import Outcome
from stagec.plan.surroundings import Validator
from stagec.runtime.effect import Shell
from stagec.runtime.extract import extract
from stagec.runtime.finished import Finished
from stagec.runtime.moment import Moment
from stagec.runtime.output import Output, read_output
from stagec.runtime.state import Execution

_ENDING = frozenset({"closing", "verdict"})
"""The outcomes with which a run may be completed."""
_NOTHING: tuple[Finished, ...] = ()
_UNRUNNABLE = frozenset({126, 127})
"""The exit statuses with which a shell says that a command may not be run, and that there is none."""
_FORBIDDEN = ("EACCES", "Permission denied")
"""What commands say that may not do what they must."""
_PARAMETER = re.compile(r"\$\{([^{}]*)\}")


def validated(moment: Moment, over: Finished) -> tuple[Finished, ...]:
    """Return an execution that is over if nothing needs to be checked; else begin to check."""
    if over.outcome not in _ENDING:
        return (over,)
    validation = moment.nodes[over.execution.node].validation
    if validation is None or not validation.conditions:
        return (over,)
    _check(moment, replace(over.execution, detail=(over, 0)), validation.conditions[0])
    return _NOTHING


def checked(moment: Moment, execution: Execution, effect: Shell, answer: Json) -> tuple[Finished, ...]:
    """Go on with the next condition, or with what a failed one leads to."""
    validation = moment.nodes[execution.node].validation
    if validation is None:
        return _NOTHING
    over, index = execution.detail
    condition, output = validation.conditions[index], read_output(answer)
    validator = moment.program.plan.validators[condition.validator]
    if not _succeeded(moment, validator, output):
        return _failed(moment, over, validator, effect.command, output)
    if index + 1 < len(validation.conditions):
        _check(moment, replace(execution, detail=(over, index + 1)), validation.conditions[index + 1])
        return _NOTHING
    moment.remember(execution.node, failures=0)
    return (over,)


def _check(moment: Moment, execution: Execution, condition: Condition) -> None:
    command = moment.program.plan.validators[condition.validator].command

    def filled(found: re.Match[str]) -> str:
        return as_text(condition.params[found[1]]) if found[1] in condition.params else found[0]

    moment.request(execution, Shell, command=_PARAMETER.sub(filled, command))


def _failed(moment: Moment, over: Finished, validator: Validator, command: str, output: Output) -> tuple[Finished, ...]:
    node = over.execution.node
    validation, failures = moment.nodes[node].validation, moment.past_of(node).failures + 1
    moment.remember(node, failures=failures)
    moment.tell("ValidationFailed", over.execution, pattern=validator.pattern, failures=failures)
    action = _action(validation, failures, output)
    if action == "skip":
        return (over,)
    if validation is None or action != "retry":
        moment.end(Outcome.FAILED, f"the validation of {node} failed by {validator.pattern}")
        return _NOTHING
    back = moment.past_of(node).origin or node
    return (replace(over, back=back, prompt=_prompt(moment, validation, validator, command, output)),)


def _action(validation: Validation | None, failures: int, output: Output) -> str:
    """Return what a failure leads to; work that is done again helps no validator that cannot run."""
    if validation is None or output.status in _UNRUNNABLE or any(each in output.stderr for each in _FORBIDDEN):
        return "abort"
    return "abort" if validation.action == "retry" and failures >= validation.attempts else validation.action


def _prompt(moment: Moment, validation: Validation, validator: Validator, command: str, output: Output) -> str:
    template = validation.prompts.get(validator.pattern)
    if template is None:
        return f"The work was checked and is not done: {command}\n\n{output.stdout}{output.stderr}"
    found = {name: extract(extractor, output) for name, extractor in validator.extract.items()}
    return moment.program.renderer.render(template, {"failure": found})


def _succeeded(moment: Moment, validator: Validator, output: Output) -> bool:
    argument = validator.success.argument
    match validator.success.kind:
        case "empty":
            return not output.stdout.strip()
        case "exit":
            return str(output.status) == argument
        case "contains":
            return argument in output.stdout
        case _:
            return moment.program.payloads.matches(argument, output.stdout)

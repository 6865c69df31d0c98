"""Run the program of a closure step, and make an outcome of its exit status (§§ 3.6 and 3.7 of the format)."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.plan.act import Command
from stagec.plan.template import Hole
from stagec.runtime.acts import validation
from stagec.runtime.exchange import Effect, Run, Shell
from stagec.runtime.execution import Execution, NodeResult
from stagec.runtime.extractors import read_output
from stagec.runtime.failures import FailureKind
from stagec.runtime.json_values import follow
from stagec.runtime.render import UnfilledError
from stagec.runtime.step_builder import StepBuilder

_NOTHING: tuple[NodeResult, ...] = ()


def begin(builder: StepBuilder, act: Command, execution: Execution) -> tuple[NodeResult, ...]:
    """Run the program, unless a word of its command line has no value."""
    scope = {"input": builder.now.inputs}
    render = builder.program.renderer.render
    try:
        words = tuple(render(word, scope) for word in act.words)
    except UnfilledError as unfilled:
        builder.fail(FailureKind.UNSTARTABLE, f"{unfilled} has no value", execution)
        return _NOTHING
    empty = [piece for word in act.words for piece in word if type(piece) is Hole and follow(scope, piece.path) is None]
    if empty:
        builder.fail(FailureKind.UNSTARTABLE, f"{'.'.join(map(str, empty[0].path))} is null", execution)
        return _NOTHING
    builder.request(execution, Run, words=words, milliseconds=act.milliseconds)
    return _NOTHING


def resume(
    builder: StepBuilder, _act: Command, execution: Execution, effect: Effect, answer: Json
) -> tuple[NodeResult, ...]:
    """Take the exit status, or what the validation came to."""
    if type(effect) is Shell:
        return validation.resume(builder, execution, effect, answer)
    output = read_output(answer)
    result = {"answer": {"exit": output.status, "stdout": output.stdout}}
    outcome = "closing" if output.status == 0 else "repeat"
    builder.remember(execution.node, record=result["answer"])
    builder.emit("StageAssertOutcome", execution, exit=output.status)
    return validation.validate(builder, NodeResult(execution, outcome, result))

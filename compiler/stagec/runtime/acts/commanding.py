"""Run a program, and make an outcome of its exit status (§§ 3.6 and 3.7 of the format)."""

from __future__ import annotations

from stagec.core.json import Json
from stagec.plan.act import Command
from stagec.plan.node import Outcome
from stagec.plan.template import Hole
from stagec.runtime.acts import validating
from stagec.runtime.effect import Effect, Run, Shell
from stagec.runtime.finished import Finished
from stagec.runtime.moment import Moment
from stagec.runtime.output import read_output
from stagec.runtime.render import UnfilledError
from stagec.runtime.state import Execution
from stagec.runtime.values import follow

_NOTHING: tuple[Finished, ...] = ()


def begin(moment: Moment, act: Command, execution: Execution) -> tuple[Finished, ...]:
    """Run the program, unless a word of its command line has no value."""
    scope = {"input": moment.inputs}
    render = moment.program.renderer.render
    try:
        words = tuple(render(word, scope) for word in act.words)
    except UnfilledError as unfilled:
        moment.end(Outcome.FAILED, f"{execution.node} cannot start: {unfilled} has no value")
        return _NOTHING
    empty = [piece for word in act.words for piece in word if type(piece) is Hole and follow(scope, piece.path) is None]
    if empty:
        moment.end(Outcome.FAILED, f"{execution.node} cannot start: {'.'.join(map(str, empty[0].path))} is null")
        return _NOTHING
    moment.request(execution, Run, words=words, milliseconds=act.milliseconds)
    return _NOTHING


def answered(moment: Moment, _act: Command, execution: Execution, effect: Effect, answer: Json) -> tuple[Finished, ...]:
    """Take the exit status, or what the validation came to."""
    if type(effect) is Shell:
        return validating.checked(moment, execution, effect, answer)
    output = read_output(answer)
    result = {"answer": {"exit": output.status, "stdout": output.stdout}}
    outcome = "closing" if output.status == 0 else "repeat"
    moment.remember(execution.node, record=result["answer"])
    moment.tell("StageAssertOutcome", execution, exit=output.status)
    return validating.validated(moment, Finished(execution, outcome, result))

"""Setup and Init: make the context and the prompt of a stage, or fail before anything was done (§ 3.10)."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import replace
from stagec.plan.act import Converse
from stagec.runtime.acts import phases
from stagec.runtime.acts.talk import Talk, talk_of
from stagec.runtime.effect import Message
from stagec.runtime.fault import error
from stagec.runtime.finished import Finished
from stagec.runtime.manifest import collides
from stagec.runtime.moment import Moment
from stagec.runtime.render import UnfilledError
from stagec.runtime.state import Execution


def begin(moment: Moment, act: Converse, execution: Execution) -> Execution | Finished | None:
    """Set the context up; None while a callable for that is called."""
    accepts = moment.program.payloads.complaint
    complaint = next((each for given in execution.upstream if (each := accepts(act.accepts, given))), None)
    if complaint is not None:
        return failed(moment, execution, "Setup", complaint)
    names = {name: each for name, each in moment.inputs.items() if name not in phases.RESERVED}
    execution = _with(moment, execution, names)
    return None if phases.call(moment, execution, "setup") else _initialised(moment, act, execution)


def answered(
    moment: Moment, act: Converse, execution: Execution, given: Mapping[str, Json]
) -> Execution | Finished | None:
    """Take the names that the callable for the setup provides; the reserved ones stay as they are."""
    said = phases.hear(execution, "setup", given)
    if said.failure is not None or not (said.value is None or isinstance(said.value, dict)):
        return failed(moment, execution, "Setup", "its hook has failed", said.failure or phases.FAILED)
    left = talk_of(execution).context if said.context is None else said.context
    names = {**left, **(said.value if isinstance(said.value, dict) else {})}
    provided = {name: each for name, each in names.items() if name not in phases.RESERVED}
    complaint = _complaint(moment, provided)
    if complaint is not None:
        return failed(moment, execution, "Setup", complaint)
    return _initialised(moment, act, _with(moment, execution, provided))


def failed(moment: Moment, execution: Execution, phase: str, reason: str, failure: str | None = None) -> Finished:
    """Return an execution that has failed before it could act."""
    why: dict[str, Json] = {} if failure is None else {"error": error(failure, phase=phase, stageId=execution.node)}
    moment.tell("StageInitFailed", execution, phase=phase, reason=reason, **why)
    result: dict[str, Json] = {"verdict": "fail", "reason": "init-failed", "capHit": False, "attemptCount": 0}
    return Finished(execution, "fail", result)


def _with(moment: Moment, execution: Execution, names: Mapping[str, Json]) -> Execution:
    """Return an execution whose context has some names, and those that every stage has."""
    context = {
        **names,
        "upstream": list(execution.upstream),
        "workflowRunId": moment.run,
        "stageExecutionId": execution.key,
    }
    return moment.keep(replace(execution, detail=Talk(context)))


def _complaint(moment: Moment, names: Mapping[str, Json]) -> str | None:
    """Return what is wrong with the values of names that the run declares, nothing when all are in order."""
    for name, wanted in moment.program.plan.inputs.items():
        complaint = moment.program.payloads.complaint(wanted.schema, names[name]) if name in names else None
        if complaint is not None:
            return f"{name}: {complaint}"
    return None


def _initialised(moment: Moment, act: Converse, execution: Execution) -> Execution | Finished:
    """Make the prompt, once, in a fresh transcript."""
    if collides(act.tools, act.completion):
        return failed(moment, execution, "Init", "completion-tool-collision")
    talk = talk_of(execution)
    try:
        body = moment.program.renderer.render(act.prompt, {"ctx": talk.context})
    except UnfilledError as unfilled:
        return failed(moment, execution, "Init", f"{unfilled} has no value")
    return replace(execution, detail=replace(talk, transcript=(Message("system", body),)))

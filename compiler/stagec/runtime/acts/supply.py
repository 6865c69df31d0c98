"""Variables of prompts: where their values come from, and whether a node can start (§§ 3.5 and 3.13 of the format)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stagec.core.json import Json
from stagec.plan.act import Carried, Given, Prompt, Supply
from stagec.plan.canonical import as_text
from stagec.runtime.moment import Moment
from stagec.runtime.render import UnfilledError


class UnstartableError(Exception):
    """A node cannot start; `str()` says why."""


def prompt_text(moment: Moment, act: Prompt) -> str:
    """Return the prompt of the execution that is about to begin, or raise `UnstartableError`."""
    if act.prompt is None:
        raise UnstartableError("it has no prompt")
    supplied = variables(moment, act.variables, moment.executions + 1) if act.variables else {}
    for name in (*act.variables, *act.needed):
        if name not in supplied or (name in act.needed and supplied[name] == ""):
            raise UnstartableError(f"its variable {name} has no value")
    scope = {"variable": supplied, "stdin": moment.inputs.get("stdin", "")}
    try:
        return moment.program.renderer.render(act.prompt, scope)
    except UnfilledError as unfilled:
        raise UnstartableError(f"{unfilled} has no value") from unfilled


def variables(moment: Moment, supplies: Mapping[str, Supply], iteration: int) -> dict[str, Json]:
    """Return the variables that have a value, as texts; `iteration` is the number of the execution they are for."""
    found = ((name, _supplied(moment, supply, iteration)) for name, supply in supplies.items())
    return {name: each for name, each in found if each is not None}


def _supplied(moment: Moment, supply: Supply, iteration: int) -> str | None:
    if isinstance(supply, Given):
        given = moment.inputs
        return as_text(given[supply.name]) if supply.name in given else None
    if isinstance(supply, Carried):
        return _carried(moment, supply)
    return _provided(moment, supply.name, iteration)


def _carried(moment: Moment, supply: Carried) -> str | None:
    record = moment.past_of(supply.node).record or {}
    if supply.key in record:
        return as_text(record[supply.key])
    if supply.default is not None:
        return as_text(supply.default)
    return None if supply.required else ""


def _provided(moment: Moment, name: str, iteration: int) -> str | None:
    """Return a variable of the runner, or else an input of that name."""
    known = _RUNNERS[name](moment, iteration) if name in _RUNNERS else None
    given = moment.inputs.get(name) if known is None else known
    return None if given is None else as_text(given)


def _remaining(moment: Moment, iteration: int) -> Json:
    most = moment.program.plan.limits.executions
    return None if most is None else most - iteration + 1


def _setting(name: str) -> Callable[[Moment, int], Json]:
    def found(moment: Moment, _iteration: int) -> Json:
        judge = moment.program.plan.judge
        return None if judge is None else judge.settings.get(name)

    return found


def _criteria(moment: Moment, _iteration: int) -> Json:
    judge = moment.program.plan.judge
    return None if judge is None else criteria(judge.kind, judge.settings)


_RUNNERS: Mapping[str, Callable[[Moment, int], Json]] = {
    "iteration": lambda _moment, iteration: iteration,
    "completed_iterations": lambda _moment, iteration: iteration - 1,
    "max_iterations": lambda moment, _iteration: moment.program.plan.limits.executions,
    "remaining": _remaining,
    "completion_keyword": _setting("verdictKeyword"),
    "max_checks": _setting("maxChecks"),
    "check_count": lambda moment, _iteration: moment.judged,
    "previous_summary": lambda moment, _iteration: moment.said,
    "verdict_criteria": _criteria,
}
"""The variables of the runner, by name."""


def criteria(kind: str, settings: Mapping[str, Json]) -> str:
    """Return a sentence that says what the judge looks at."""
    told = ", ".join(f"{name}: {as_text(each)}" for name, each in sorted(settings.items()))
    return f"The work is judged by {kind}" + (f" ({told})." if told else ".")

"""Variables of prompts: where their values come from, and whether a node can start (§§ 3.5 and 3.13 of the format)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stagec.core.canonical import as_text
from stagec.core.json import Json
from stagec.plan.act import Carried, Given, Prompt, Supply
from stagec.runtime.render import UnfilledError
from stagec.runtime.step_builder import StepBuilder


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

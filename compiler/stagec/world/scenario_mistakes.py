"""What in a scenario cannot be meant for a plan: nodes, inputs and callables that the plan does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.json import Json
from stagec.core.nearest import Names, hint
from stagec.core.place import Pointer
from stagec.core.value import value
from stagec.core.words import quote
from stagec.plan import Plan
from stagec.plan.act import Converse, Prompt
from stagec.world.scenario import Scenario


@value
class ScenarioMistake:
    """A member of a scenario that a plan has no use for: where its name stands, and in a sentence why."""

    pointer: Pointer
    told: str


def find_mistakes(scenario: Scenario, plan: Plan) -> Iterator[ScenarioMistake]:
    """Yield what in a scenario the plan has no use for."""
    if scenario.entry is not None and scenario.entry not in plan.entries:
        yield ScenarioMistake(
            ("entry",), f"there is no entry {quote(scenario.entry)}{hint(scenario.entry, Names(plan.entries))}"
        )
    yield from _unknown("inputs", scenario.inputs, "input", plan.inputs)
    yield from _unknown("hooks", scenario.hooks, "hook", hook_calls(plan))
    for member, given, wanted in _by_node(scenario):
        yield from _unknown(member, given, plan.names.node, plan.nodes)
        yield from _others(plan, member, given, wanted)


def hook_calls(plan: Plan) -> tuple[str, ...]:
    """Return the callables that a plan names, each once."""
    loop = plan.session.hooks if plan.session is not None else ()
    named = [call for node in plan.nodes.values() for call in node.hooks.values()]
    return tuple(dict.fromkeys((*named, *(each.call for each in loop))))


def _by_node(scenario: Scenario) -> Iterator[tuple[str, Mapping[str, Json], type | None]]:
    """Yield the members that say something by node, and which act they are about."""
    yield "answers", scenario.answers, Prompt
    yield "conversations", scenario.conversations, Converse
    for member, given in (("judge", scenario.judge), ("confirm", scenario.confirm)):
        if isinstance(given, dict):
            yield member, given, None


def _unknown(member: str, given: Iterable[str], kind: str, known: Iterable[str]) -> Iterator[ScenarioMistake]:
    names = Names(known)
    for name in given:
        if name not in names:
            yield ScenarioMistake((member, name), f"there is no {kind} {quote(name)}{hint(name, names)}")


def _others(plan: Plan, member: str, given: Iterable[str], wanted: type | None) -> Iterator[ScenarioMistake]:
    for name in given:
        node = plan.nodes.get(name)
        if wanted is not None and node is not None and not isinstance(node.act, wanted):
            home = _HOMES.get(type(node.act))
            where = "nothing is asked there" if home is None else f"it belongs under {home!r}"
            yield ScenarioMistake((member, name), f"{plan.names.node} {quote(name)} has no use for {member!r}: {where}")


_HOMES: Mapping[type, str] = {Prompt: "answers", Converse: "conversations"}

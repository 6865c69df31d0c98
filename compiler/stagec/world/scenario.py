"""Scenario files: the answers of a world, written down beforehand, and what in them a plan does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Pointer
from stagec.core.value import NOTHING, value
from stagec.core.words import quote
from stagec.plan import Plan
from stagec.plan.act import Converse, Process, Prompt


@value
class Scenario:
    """The answers by node, tool, callable and command line, as the published schema of scenarios describes them.

    Wherever a list of answers may stand, it has one for each visit of a node, and the last one repeats. `source` is
    what people call the scenario; None is the scenario of a run that was given none.
    """

    source: str | None = None
    entry: str | None = None
    inputs: Object = NOTHING
    answers: Object = NOTHING
    conversations: Object = NOTHING
    tools: Object = NOTHING
    grants: Json = None
    judge: Json = None
    confirm: Json = None
    hooks: Object = NOTHING
    commands: Object = NOTHING
    processes: Object | None = None
    skips_waits: bool = False
    pace: int = 0


def parse_scenario(given: Json, source: str) -> Scenario:
    """Return the scenario that a document means; whatever in it is not as its schema says counts as absent."""
    told = object_of(given)
    given = told.get("pace")
    milliseconds = given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else 0
    return Scenario(
        source,
        text_in(told, "entry"),
        object_of(told.get("inputs")),
        object_of(told.get("answers")),
        object_of(told.get("conversations")),
        object_of(told.get("tools")),
        told.get("grants"),
        told.get("judge"),
        told.get("confirm"),
        object_of(told.get("hooks")),
        object_of(told.get("commands")),
        object_of(told["processes"]) if "processes" in told else None,
        told.get("waits") == "skip",
        milliseconds,
    )


@value
class ScenarioMistake:
    """A member of a scenario that a plan has no use for: where its name stands, and in a sentence why."""

    pointer: Pointer
    told: str


def find_mistakes(scenario: Scenario, plan: Plan) -> Iterator[ScenarioMistake]:
    """Yield what in a scenario the plan has no use for."""
    if scenario.entry is not None and scenario.entry not in plan.entries:
        yield ScenarioMistake(
            ("entry",), f"there is no entry {quote(scenario.entry)}{hint(scenario.entry, NameIndex(plan.entries))}"
        )
    yield from _find_unknown("inputs", scenario.inputs, "input", plan.inputs)
    yield from _find_unknown("hooks", scenario.hooks, "hook", list_hook_calls(plan))
    for member, given, wanted in _list_by_node(scenario):
        yield from _find_unknown(member, given, plan.names.node, plan.nodes)
        for name in given:
            node = plan.nodes.get(name)
            if wanted is not None and node is not None and not isinstance(node.act, wanted):
                home = _HOMES.get(type(node.act))
                where = "nothing is asked there" if home is None else f"it belongs under {home!r}"
                yield ScenarioMistake(
                    (member, name), f"{plan.names.node} {quote(name)} has no use for {member!r}: {where}"
                )


def list_hook_calls(plan: Plan) -> tuple[str, ...]:
    """Return the callables that a plan names, each once."""
    loop = plan.session.hooks if plan.session is not None else ()
    named = [call for node in plan.nodes.values() for call in node.hooks.values()]
    return tuple(dict.fromkeys((*named, *(each.call for each in loop))))


def _list_by_node(scenario: Scenario) -> Iterator[tuple[str, Mapping[str, Json], type | None]]:
    """Yield the members that say something by node, and which act they are about."""
    yield "answers", scenario.answers, Prompt
    yield "conversations", scenario.conversations, Converse
    yield "processes", scenario.processes or {}, Process
    for member, given in (("judge", scenario.judge), ("confirm", scenario.confirm)):
        if isinstance(given, dict):
            yield member, given, None


def _find_unknown(member: str, given: Iterable[str], kind: str, known: Iterable[str]) -> Iterator[ScenarioMistake]:
    names = NameIndex(known)
    for name in given:
        if name not in names:
            yield ScenarioMistake((member, name), f"there is no {kind} {quote(name)}{hint(name, names)}")


_HOMES: Mapping[type, str] = {Prompt: "answers", Converse: "conversations", Process: "processes"}

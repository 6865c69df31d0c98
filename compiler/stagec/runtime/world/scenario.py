"""Scenario files: the answers of a world, written down beforehand, what a plan lacks of them, and passed deadlines."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Pointer
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Converse, Process, Prompt
from stagec.ir.plan.loader import load_agents
from stagec.runtime.machine.exchange import (
    Answered,
    deadline_key,
    execution_of,
    read_agent_run,
    run_deadline_key,
    run_of,
)


class PassedDeadlineError(Exception):
    """The deadline passes of an execution that has made a request, or that of its run; nobody answers the request."""

    def __init__(self, key: str, *, of_run: bool) -> None:
        super().__init__(key)
        self._asked = key
        self._key = run_deadline_key(run_of(key)) if of_run else deadline_key(execution_of(key))

    def find_event(self, pending: Container[str]) -> Answered:
        """Return the event; raise `Failure` if no such deadline is among the open requests."""
        if self._key not in pending:
            raise Failure(f"the scenario lets a deadline pass in {quote(self._asked)}, and there is none")
        return Answered(self._key, {})


CALLED = "called"
"""The member of a step's answer that lists the tools called for it."""
MARKED_ANSWERS = frozenset(
    map(
        frozenset,
        (("answer", "say"), ("answer", "called"), ("answer", "say", "called"), ("failed",), ("failed", "called")),
    )
)
"""The members of an answer in a step that has more than the answer itself."""


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
    agents: Object = NOTHING
    issue: Object = NOTHING

    def list_by_node(self) -> Iterator[tuple[str, Mapping[str, Json], type | None]]:
        """Yield the members that say something by node, and which act they are about."""
        yield "answers", self.answers, Prompt
        yield "conversations", self.conversations, Converse
        yield "processes", self.processes or {}, Process
        for member, given in (("judge", self.judge), ("confirm", self.confirm)):
            if isinstance(given, dict):
                yield member, given, None


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
        object_of(told.get("agents")),
        object_of(told.get("issue")),
    )


def find_told(scenario: Scenario, agent: str, run: str) -> Json:
    """Return the entry of a scenario for a run of an agent; the last one if it has fewer, None of an empty list."""
    told, named = scenario.agents.get(agent), read_agent_run(run)
    if not isinstance(told, list):
        return told
    return told[min(1 if named is None else named.number, len(told)) - 1] if told else None


def script_agent(scenario: Scenario, agent: str, run: str) -> Scenario:
    """Return the scenario of a run of an agent; what it does not say itself holds as it does for all agents."""
    told = object_of(find_told(scenario, agent, run))
    own = parse_scenario(told.get("run", told), scenario.source or "")
    return replace(
        own,
        source=scenario.source,
        tools={**scenario.tools, **own.tools},
        hooks={**scenario.hooks, **own.hooks},
        commands={**scenario.commands, **own.commands},
        grants=scenario.grants if own.grants is None else own.grants,
        judge=scenario.judge if own.judge is None else own.judge,
        confirm=scenario.confirm if own.confirm is None else own.confirm,
        skips_waits=scenario.skips_waits or own.skips_waits,
        pace=own.pace or scenario.pace,
    )


@value
class ScenarioMistake:
    """A member of a scenario that a plan has no use for: where its name stands, and in a sentence why."""

    pointer: Pointer
    told: str


def find_mistakes(scenario: Scenario, plan: Plan) -> Iterator[ScenarioMistake]:
    """Yield the parts of a scenario that the plan does not have."""
    yield from _find_own_mistakes(scenario, plan)
    yield from _find_unknown("agents", scenario.agents, "agent", plan.plans)
    agents = {name: each.plan for name, each in load_agents(plan).items()} if scenario.agents else {}
    for name, told in scenario.agents.items():
        listed = enumerate(told) if isinstance(told, list) else ((None, {"run": told}),)
        runs = ((at, object_of(each)["run"]) for at, each in listed if "run" in object_of(each))
        for at, each in runs if name in agents else ():
            way = ("agents", name) if at is None else ("agents", name, at, "run")
            for mistake in _find_own_mistakes(parse_scenario(each, ""), agents[name]):
                yield replace(mistake, pointer=(*way, *mistake.pointer))


def _find_own_mistakes(scenario: Scenario, plan: Plan) -> Iterator[ScenarioMistake]:
    """Yield the parts of a scenario that the plan does not use, except those about agents."""
    if scenario.entry is not None and scenario.entry not in plan.entries:
        yield ScenarioMistake(
            ("entry",), f"there is no entry {quote(scenario.entry)}{hint(scenario.entry, NameIndex(plan.entries))}"
        )
    yield from _find_unknown("inputs", scenario.inputs, "input", plan.inputs)
    yield from _find_unknown("hooks", scenario.hooks, "hook", list_hook_calls(plan))
    for member, given, wanted in scenario.list_by_node():
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


def _find_unknown(member: str, given: Iterable[str], kind: str, known: Iterable[str]) -> Iterator[ScenarioMistake]:
    names = NameIndex(known)
    for name in given:
        if name not in names:
            yield ScenarioMistake((member, name), f"there is no {kind} {quote(name)}{hint(name, names)}")


_HOMES: Mapping[type, str] = {Prompt: "answers", Converse: "conversations", Process: "processes"}

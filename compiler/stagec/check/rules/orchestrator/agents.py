"""Agents of phases: their definitions, verdicts and outcomes."""

from collections.abc import Iterator

from stagec.check.rules.orchestrator import report_unknown, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import object_of, text_in
from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.place import Mention, Place
from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, listing, quote
from stagec.ir.graph import build
from stagec.languages.orchestrator.document import (
    DIRECT,
    FAILED,
    SUCCESS,
    Performer,
    PerformerRole,
    PhaseType,
    Release,
    Workflow,
    find_outcomes,
    list_verdicts,
)
from stagec.sources.contract.promise import Presence


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:wf.label-phase",
        "climpt-1.14:wf.ref-fallback",
        "climpt-1.14:wf.ref-output",
        "climpt-1.14:wf.ref-outputs",
        "climpt-1.14:wf.ref-fallbacks",
        "WF-REF-002",
    ),
)
def stg2108_unknown_phase(workflow: Workflow) -> Iterator[Finding]:
    """A label or an outcome leads to a phase that does not exist.

    ## Why this matters
    climpt refuses the file, or the run ends with an error when the outcome comes.

    ## How to fix
    Correct the name, or add the phase. Phases that `projectBinding` names are told by [STG2116](STG2116.md).
    """
    if workflow.phases:  # what a file without phases lacks is told once
        yield from report_unknown(_list_lost(workflow), workflow.names, "phase")


def _list_lost(workflow: Workflow) -> Iterator[tuple[str, Mention]]:
    mentions = [(f"label {quote(label)}", mention) for label, mention in workflow.labels.items()]
    for agent in workflow.agents.values():
        user = f"of agent {quote(agent.id)}"
        mentions += ((f"outcome {quote(each.outcome)} {user}", each.phase) for each in agent.list_named())
    return ((user, mention) for user, mention in mentions if not workflow.has_phase(mention.name))


@rule(since="0.1", origin=("climpt-1.14:wf.ref-agent", "WF-REF-001", "W2"))
def stg2109_unknown_phase_agent(workflow: Workflow) -> Iterator[Finding]:
    """A phase names an agent that the file does not describe.

    ## Why this matters
    climpt refuses the file: nobody works in the phase.

    ## How to fix
    Correct the name, or describe the agent under `agents`.
    """
    phases = (each for each in workflow.phases.values() if each.agent is not None)
    lost = ((f"phase {quote(each.id)}", Mention(each.agent or "", each.at / "agent")) for each in phases)
    known = object_of(workflow.body.get("agents"))
    if isinstance(workflow.body.get("agents"), dict):
        yield from report_unknown((each for each in lost if each[1].name not in known), NameIndex(known), "agent")


@rule(since="0.1", origin=("climpt-1.14:wf.agent-missing", "A2"))
def stg2130_missing_agent_definition(workflow: Workflow) -> Iterator[Finding]:
    """An agent of the file has no definition.

    ## Why this matters
    climpt loads every agent of the file when it starts, whether or not a phase names it, and refuses to start without
    one of them.

    ## How to fix
    Add `.agent/DIRECTORY/agent.json`, or correct `directory`, which is the name of the agent where it is not written.
    """
    lost = (agent for agent in workflow.agents.values() if agent.definition is None)
    for agent in lost if workflow.has_agents else ():
        at = agent.at / "directory" if "directory" in agent.body else agent.at.key
        yield Finding(at, f"agent {quote(agent.id)} has no file '.agent/{agent.directory}/agent.json'")


@rule(since="0.1", origin=("climpt-1.14:wf.agent-missing",), severity=Severity.NOTE)
def stg2131_absent_agents(workflow: Workflow) -> Iterator[Finding]:
    """The project has no agents.

    ## Why this matters
    stagec reads the definitions and schemas of the agents to know their verdicts. Without them it judges the file
    alone.

    ## How to fix
    Run stagec on the project that has the agents. Nothing is wrong with the file.
    """
    if workflow.agents and not workflow.has_agents:
        yield Finding(workflow.at / "agents", "the project has no agents: stagec does not check their answers")


@rule(since="0.1", origin=("climpt-1.14:wf.agent-name", "W3", "A1"))
def stg2132_misnamed_agent(workflow: Workflow) -> Iterator[Finding]:
    """An agent has another name in its definition than in the file.

    ## Why this matters
    climpt knows an agent by the `name` of its `agent.json`, and looks for the name that the phase says. `directory`
    does not help.

    ## How to fix
    Use one name in both files. Two agents cannot share a definition.
    """
    first: dict[str, Performer] = {}
    for agent in workflow.agents.values():
        if agent.definition is None or agent.called is None:
            continue
        other = first.setdefault(agent.called, agent)
        related = (Related(agent.definition / "name", "the name of the definition"),)
        if other is not agent:
            both = f"agents {quote(other.id)} and {quote(agent.id)}"
            message = f"{both} are both called {quote(agent.called)} in their definitions"
            yield Finding(agent.at.key, message, related)
        elif agent.called != agent.id and agent.called not in workflow.agents:
            yield Finding(
                agent.at.key, f"agent {quote(agent.id)} is called {quote(agent.called)} in its definition", related
            )


@rule(since="0.1", origin=("climpt-1.14:wf.prioritizer-agent", "W8"))
def stg2133_unknown_prioritizer(workflow: Workflow) -> Iterator[Finding]:
    """The prioritizer is not an agent of the file.

    ## Why this matters
    climpt 1.14 loads only the agents that the file describes. It refuses to start without the prioritizer.

    ## How to fix
    Describe the agent under `agents`, or correct its name.
    """
    name = text_in(object_of(workflow.body.get("prioritizer")), "agent")
    known = object_of(workflow.body.get("agents"))
    if workflow.release is Release.OLD or not isinstance(workflow.body.get("agents"), dict):
        return  # climpt 1.13 looks for the prioritizer among all agents of the project
    if name is not None and name not in known:
        names = NameIndex(known)
        message = f"prioritizer {quote(name)} is not an agent of this file{hint(name, names)}"
        yield Finding(workflow.at / "prioritizer" / "agent", message, fix=guess(name, names))


@rule(since="0.1", origin=("climpt-1.14:wf.outcome-uncovered",))
def stg2135_uncovered_verdict(workflow: Workflow) -> Iterator[Finding]:
    """An agent can give a verdict that leads nowhere.

    ## Why this matters
    The schema of the closing answer allows the verdict. The file has no phase for it and no `fallbackPhase`, so the
    run of the file ends with an error.

    ## How to fix
    Add the verdict to `outputPhases`, or write `fallbackPhase`.
    """
    for agent in workflow.agents.values():
        verdicts = list_verdicts(workflow, agent)
        is_judged = agent.role is PerformerRole.VALIDATOR and agent.is_whole and "fallbackPhase" not in agent.body
        lost = [each for each in verdicts or () if each not in agent.outputs] if is_judged else []
        if lost:
            related = tuple(Related(each.at, "the schema of the answer") for each in workflow.called[agent.id].closings)
            message = f"agent {quote(agent.id)} can give the verdict {listing(lost, 'or')}, which leads to no phase"
            yield Finding(agent.at / "outputPhases", message, related)


@rule(since="0.1", origin=("climpt-1.14:wf.outcome-impossible",), severity=Severity.WARNING)
def stg2136_impossible_outcome(workflow: Workflow) -> Iterator[Finding]:
    """A phase is named for an outcome that the agent cannot have.

    ## Why this matters
    The schema of the closing answer does not allow the verdict. The phase never follows.

    ## How to fix
    Correct the name of the outcome, or add it to the schema of the agent.
    """
    for agent in workflow.agents.values():
        outcomes = find_outcomes(workflow, agent)
        known = NameIndex(outcomes.names)
        for outcome, at in _list_named(agent) if not outcomes.is_open else ():
            if outcome not in known:
                message = f"agent {quote(agent.id)} cannot have the outcome {quote(outcome)}{hint(outcome, known)}"
                yield Finding(at, message, _relate(workflow, agent))


def _list_named(agent: Performer) -> Iterator[tuple[str, Place]]:
    """Yield the outcomes that an agent is described with, once each."""
    if agent.role is PerformerRole.VALIDATOR:
        yield from ((each, (agent.at / "outputPhases" / each).key) for each in agent.outputs)
    yield from ((each, (agent.at / "fallbackPhases" / each).key) for each in agent.exceptions)
    condition = agent.close.condition if agent.close is not None else None
    # a validator without a phase for the outcome is told of that
    if condition is not None and agent.exceptions and condition.name not in agent.exceptions:
        yield condition.name, condition.at


def _relate(workflow: Workflow, agent: Performer) -> tuple[Related, ...]:
    called = workflow.called.get(agent.id)
    return tuple(Related(each.at, "the schema of the answer") for each in called.closings) if called is not None else ()


@rule(since="0.1", origin=("climpt-1.14:wf.verdict-undeclared",), severity=Severity.WARNING)
def stg2137_optional_verdict(workflow: Workflow) -> Iterator[Finding]:
    """A validator can answer without a verdict.

    ## Why this matters
    climpt 1.14 ends the run of the file with an error when the closing answer of a validator has no `verdict`. Its
    documents say that `fallbackPhase` follows.

    ## How to fix
    Put `verdict` into `required` of the schema of the closing answer.
    """
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        if agent.role is not PerformerRole.VALIDATOR or called is None or not called.is_whole:
            continue
        lacking = [each for each in called.closings if each.verdict not in {Presence.SURE, Presence.UNKNOWABLE}]
        if lacking:
            steps = listing([each.step for each in lacking])
            related = tuple(Related(each.at, "the schema of the answer") for each in lacking)
            yield Finding(agent.at.key, f"agent {quote(agent.id)} can answer without a verdict in {steps}", related)


@rule(since="0.1", origin=("climpt-1.14:wf.verdict-out-of-reach",))
def stg2138_verdict_out_of_reach(workflow: Workflow) -> Iterator[Finding]:
    """A validator is stopped before it can give a verdict.

    ## Why this matters
    The shortest way from its first step to a closing answer has more steps than `maxIterations`. The run ends without
    a verdict, and climpt ends the run of the file with an error.

    ## How to fix
    Raise `maxIterations` in the `agent.json` of the agent, or shorten the way.
    """
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        if (
            agent.role is not PerformerRole.VALIDATOR
            or called is None
            or called.limit is None
            or called.limit_at is None
        ):
            continue
        # of other limits the flow of the agent says the same, and says it there
        if (
            called.is_whole
            and not called.flow.open
            and called.entry in called.flow.entries
            and called.flow.bound is None
        ):
            least = build(called.flow).shortest_run(called.entry)
            if least is not None and least > called.limit:
                takes = f"agent {quote(agent.id)} needs at least {format_count(least, 'step')} for a verdict"
                related = (Related(called.limit_at, "the limit"),)
                yield Finding(agent.at.key, f"{takes}, but stops after {called.limit}", related)


@rule(since="0.1", origin=("climpt-1.14:wf.no-fallback",))
def stg2139_missing_fallback(workflow: Workflow) -> Iterator[Finding]:
    """An outcome of an agent leads nowhere.

    ## Why this matters
    A run of an agent can always fail, and a verdict can be another one than those with a phase. A validator that fails
    has no verdict, so a phase for a verdict named `failed` is not for that. Without `fallbackPhase` the whole run of
    the file ends with an error.

    ## How to fix
    Write `fallbackPhase`, such as a blocking phase.
    """
    working = {each.agent for each in workflow.phases.values()}
    for agent in workflow.agents.values():
        if agent.fallback is not None or "fallbackPhase" in agent.body or not agent.is_whole:
            continue
        if agent.id not in working and not workflow.broken:
            continue  # no run comes to it, which is told
        if agent.role is not PerformerRole.TRANSFORMER and find_outcomes(workflow, agent).is_open:
            others = f"verdicts other than {listing(agent.outputs)}" if agent.outputs else "its verdicts"
            yield Finding(agent.at.key, f"agent {quote(agent.id)} has no phase for {others}")
        elif agent.role is PerformerRole.VALIDATOR or FAILED not in {*agent.exceptions, *agent.outputs}:
            yield Finding(agent.at.key, f"agent {quote(agent.id)} has no phase for a run that fails")


@rule(since="0.1", origin=("climpt-1.14:wf.transformer-verdict",), severity=Severity.WARNING)
def stg2140_diverted_success(workflow: Workflow) -> Iterator[Finding]:
    """A transformer that succeeds can take the way of another outcome.

    ## Why this matters
    A transformer with `fallbackPhases` whose answer has a `verdict` takes this verdict for its outcome in climpt 1.14,
    also when its run succeeded. The documents say that it takes `outputPhase`.

    ## How to fix
    Let the verdict be `success`, rename the member of the answer, or make the agent a validator.
    """
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        if agent.role is PerformerRole.TRANSFORMER and agent.exceptions and called is not None and called.is_whole:
            possible = {Presence.SURE, Presence.POSSIBLE}
            odd = [each for each in called.closings if each.verdict in possible and each.verdicts != (SUCCESS,)]
            if odd:
                related = tuple(Related(each.at, "the schema of the answer") for each in odd)
                message = f"agent {quote(agent.id)} can succeed with a verdict, which climpt 1.14 reads as its outcome"
                yield Finding(agent.at / "fallbackPhases", message, related)


@rule(since="0.1", origin=("climpt-1.14:wf.close-never",), severity=Severity.WARNING)
def stg2141_ineffective_close(workflow: Workflow) -> Iterator[Finding]:
    """An agent is to close issues, and no outcome of it leads to a terminal phase.

    ## Why this matters
    climpt closes an issue only when an outcome leads to a terminal phase, and with a condition only at this outcome.
    The issue stays open.

    ## How to fix
    Lead the outcome to a terminal phase, or remove `closeBinding`.
    """
    for agent in workflow.agents.values():
        close = agent.close
        if close is None or close.channel != DIRECT or not agent.is_whole:
            continue
        wanted = close.condition.name if close.condition is not None else None
        ways = [way for way in agent.list_ways() if wanted in {None, way.outcome}]
        # an outcome without a way is told by another rule, and so is a phase that does not exist
        phases = [workflow.phases.get(way.phase.name) for way in ways]
        if phases and all(each is not None and each.type not in {PhaseType.TERMINAL, None} for each in phases):
            who = f"agent {quote(agent.id)}"
            which = (
                f"no outcome of {who} leads" if wanted is None else f"outcome {quote(wanted)} of {who} does not lead"
            )
            yield Finding(close.at, f"{which} to a terminal phase: the issue is never closed")


@rule(since="0.1", origin=("climpt-1.14:wf.phase-idle-agent",), severity=Severity.WARNING)
def stg2142_idle_phase_agent(workflow: Workflow) -> Iterator[Finding]:
    """A phase in which nobody works has an agent or a priority.

    ## Why this matters
    climpt ends the run in a terminal or blocking phase. Its agent never works there.

    ## How to fix
    Remove `agent` and `priority`, or make the phase actionable.
    """
    for phase in workflow.phases.values():
        idle = [name for name in ("agent", "priority") if phase.body.get(name) is not None]
        if phase.type is not None and not phase.is_actionable and idle:
            message = f"phase {quote(phase.id)} is {phase.type}, and nothing reads its {listing(idle)}"
            yield Finding((phase.at / idle[0]).key, message)


@rule(since="0.1", origin=("climpt-1.14:wf.agent-idle",), severity=Severity.WARNING)
def stg2143_idle_agent(workflow: Workflow) -> Iterator[Finding]:
    """An agent is described, and no phase and no prioritizer names it.

    ## Why this matters
    climpt loads the agent and refuses to start if something is wrong with it, but it never works.

    ## How to fix
    Name the agent in a phase, or remove it.
    """
    named = {phase.agent for phase in workflow.phases.values()}  # of a phase without work another rule speaks
    named.add(text_in(object_of(workflow.body.get("prioritizer")), "agent"))
    for agent in workflow.agents.values() if workflow.is_sound else ():
        if agent.id not in named:
            yield Finding(agent.at.key, f"no phase names agent {quote(agent.id)}")


@rule(since="0.1", origin=("steps-registry:agent.param-type",), severity=Severity.WARNING)
def stg2158_conflicting_parameters(workflow: Workflow) -> Iterator[Finding]:
    """Two agents take one parameter, and want values of different types.

    ## Why this matters
    A run of the orchestrator is given each input once, and every agent gets it under its name, also one that does not
    require it. No value fits two types. So one of the agents cannot begin, and the run ends as blocked.

    ## How to fix
    Give the parameters the same type, or different names.
    """
    firsts: dict[str, Finding] = {}
    for agent in workflow.agents.values():
        called = workflow.called.get(agent.id)
        for name, body in called.parameters.items() if called is not None else ():
            kind = text_in(object_of(body), "type")
            if kind is None or called is None:
                continue
            at = called.at / "parameters" / name / "type"
            first = firsts.setdefault(name, Finding(at, kind))
            if first.message != kind and {first.message, kind} != {"number", "integer"}:
                what = f"parameter {quote(name)} has the type {quote(kind)} in agent {quote(agent.id)}"
                yield Finding(
                    at, f"{what}, but {quote(first.message)} in another agent", (Related(first.at, "the other type"),)
                )

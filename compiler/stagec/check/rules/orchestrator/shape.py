"""The shape of an orchestrator's file."""

from collections.abc import Iterator, Mapping

from stagec.check.rules.orchestrator import report_shape, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.orchestrator.document import FAILED, OFF, PerformerRole, Release, Workflow, find_source_faults


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:wf.version",
        "climpt-1.14:wf.phases",
        "climpt-1.14:wf.label-mapping",
        "climpt-1.14:wf.agents",
        "climpt-1.14:wf.label-empty",
    ),
)
def stg2100_incomplete_workflow(workflow: Workflow) -> Iterator[Finding]:
    """An orchestrator file lacks one of its sections.

    ## Why this matters
    climpt reads phases, labels and agents before anything else, and refuses a file without one of them, or with an
    empty one.

    ## How to fix
    Add the section. `version` is any text.
    """
    return report_shape(workflow, "incomplete-workflow")


@rule(since="0.1", origin=("climpt-1.14:wf.source-missing", "WF-ISSUE-SOURCE-001"))
def stg2101_missing_issue_source(workflow: Workflow) -> Iterator[Finding]:
    """An orchestrator file of climpt 1.14 does not say where issues come from.

    ## Why this matters
    climpt 1.14 refuses a file without `issueSource`.

    ## How to fix
    Add `issueSource`. What climpt 1.13 did is `{"kind": "ghRepoIssues", "projectMembership": "unbound"}`.
    """
    source = workflow.body.get("issueSource")
    if workflow.release is not Release.NEW:
        return
    at = workflow.at / "issueSource"
    if "issueSource" not in workflow.body:
        yield Finding(at, "the file has no 'issueSource', which climpt 1.14 requires")
    elif not isinstance(source, dict) or not isinstance(source.get("kind"), str):
        yield Finding(at, "'issueSource' must be an object with a 'kind', such as 'ghRepoIssues'")


@rule(since="0.1", origin=("climpt-1.14:wf.source-missing",), severity=Severity.WARNING)
def stg2102_undated_workflow(workflow: Workflow) -> Iterator[Finding]:
    """An orchestrator file does not say for which release of climpt it is written.

    ## Why this matters
    climpt 1.14 requires `issueSource` and refuses this file. climpt 1.13 reads it. stagec judges it as a file of
    climpt 1.13.

    ## How to fix
    Add `issueSource` for climpt 1.14. With climpt 1.13, `closeOnComplete` of an agent shows the release.
    """
    if not workflow.is_dated:
        message = "the file has no 'issueSource': climpt 1.14 refuses it, and stagec reads it as a file of climpt 1.13"
        yield Finding(workflow.at / "issueSource", message)


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:wf.source-kind",
        "climpt-1.14:wf.source-project",
        "climpt-1.14:wf.source-ids",
        "climpt-1.14:wf.source-membership",
        "climpt-1.14:wf.source-member",
    ),
)
def stg2103_malformed_issue_source(workflow: Workflow) -> Iterator[Finding]:
    """The source of issues is not written as climpt reads it.

    ## Why this matters
    climpt refuses the file, or asks the code host for something else than was meant.

    ## How to fix
    A source is one of three:

    | kind | members |
    |---|---|
    | `ghProject` | `project`: `{"owner": …, "number": …}` or `{"id": …}`; `labels`, `state`, `limit` |
    | `ghRepoIssues` | `repo`, `labels`, `state`, `limit`, `projectMembership`: `any` or `unbound` |
    | `explicit` | `issueIds`: a list with at least one text or number |
    """
    return (Finding(each.at, each.sentence) for each in find_source_faults(workflow) if not each.is_foreign)


@rule(since="0.1", origin=("climpt-1.14:wf.source-member",), severity=Severity.WARNING)
def stg2104_foreign_source_member(workflow: Workflow) -> Iterator[Finding]:
    """The source of issues has a member of another kind of source.

    ## Why this matters
    Nothing reads the member. It has no effect.

    ## How to fix
    Remove the member, or choose the kind of source that has it.
    """
    return (Finding(each.at, each.sentence) for each in find_source_faults(workflow) if each.is_foreign)


@rule(since="0.1", origin=("climpt-1.14:wf.phase-type", "climpt-1.14:wf.phase-agent", "climpt-1.14:wf.phase-priority"))
def stg2105_malformed_phase(workflow: Workflow) -> Iterator[Finding]:
    """A phase is not written as climpt reads it.

    ## Why this matters
    climpt refuses a phase of another type, and an actionable phase without an agent or a priority: it does not know
    who works on the issue, or what goes first.

    ## How to fix
    Give each phase a `type`: `actionable`, `terminal` or `blocking`. An actionable phase also has `agent` and
    `priority`.
    """
    return report_shape(workflow, "malformed-phase")


@rule(since="0.1", origin=("climpt-1.14:wf.max-cycles", "climpt-1.14:wf.cycle-delay", "climpt-1.14:wf.consecutive"))
def stg2106_malformed_cycle_rule(workflow: Workflow) -> Iterator[Finding]:
    """A rule about cycles has a value that climpt does not accept.

    ## Why this matters
    climpt refuses a file whose issues may make no transition, and one that waits a negative time.

    ## How to fix
    `maxCycles` is a whole number from 1, `cycleDelayMs` a number from 0, `maxConsecutivePhases` a whole number from 0.
    """
    return report_shape(workflow, "malformed-cycle-rule")


@rule(since="0.1", origin=("climpt-1.14:wf.rule-unread",), severity=Severity.WARNING)
def stg2107_unread_cycle_rule(workflow: Workflow) -> Iterator[Finding]:
    """A rule about rate limits is written, and nothing reads it.

    ## Why this matters
    climpt has defaults for both numbers and drops what the file says.

    ## How to fix
    Remove the member.
    """
    given = object_of(workflow.body.get("rules"))
    for name in ("rateLimitThreshold", "rateLimitPollIntervalMs"):
        if name in given:
            message = f"climpt does not read {quote(name)} and takes its default"
            yield Finding((workflow.at / "rules" / name).key, message)


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:wf.close-kind",
        "climpt-1.14:wf.close-channel",
        "climpt-1.14:wf.close-cond",
        "A6",
        "WF-REF-005",
    ),
)
def stg2110_malformed_close_binding(workflow: Workflow) -> Iterator[Finding]:
    """The rule that closes an issue is malformed.

    ## Why this matters
    climpt closes nothing where it does not know the channel, and refuses a condition without a channel.

    ## How to fix
    Write `primary` with one of the kinds `direct`, `boundary`, `outboxPre`, `custom` and `none`. A channel of kind
    `custom` has `channel.channelId`. Remove `condition` where nothing closes.
    """
    yield from report_shape(workflow, "malformed-close-binding")
    for agent in workflow.agents.values():
        close = agent.close
        if close is not None and close.condition is not None and close.channel == OFF:
            message = f"agent {quote(agent.id)} has a condition for closing issues, but closes none"
            yield Finding(close.condition.at, message)


@rule(since="0.1", origin=("climpt-1.14:wf.close-key", "WF-REF-006"))
def stg2111_impossible_close_condition(workflow: Workflow) -> Iterator[Finding]:
    """An issue is to be closed at an outcome that the agent cannot have.

    ## Why this matters
    The issue is never closed. climpt refuses the file where a validator has no phase for the outcome.

    ## How to fix
    Name an outcome of the agent: a key of `outputPhases` of a validator; `success` or `failed` of a transformer.
    """
    for agent in workflow.agents.values():
        condition = agent.close.condition if agent.close is not None and not agent.close.is_off else None
        named = tuple(agent.outputs)
        if agent.role is PerformerRole.TRANSFORMER:
            named = (*named, FAILED)
        # the verdicts of a transformer with phases for them are not listed anywhere
        is_open = bool(agent.exceptions) or not agent.is_whole
        if condition is not None and not is_open and condition.name not in named:
            known = NameIndex(named)
            what = f"agent {quote(agent.id)} closes issues at {quote(condition.name)}, which is not one of its outcomes"
            yield Finding(condition.at, f"{what}{hint(condition.name, known)}", fix=guess(condition.name, known))


@rule(since="0.1", origin=("climpt-1.14:wf.agent-role", "climpt-1.14:wf.agent-shape"))
def stg2118_malformed_workflow_agent(workflow: Workflow) -> Iterator[Finding]:
    """An agent of an orchestrator file is not written as climpt reads it.

    ## Why this matters
    An agent of another role is loaded, and its first run ends with an error. Members of the other role are not read.

    ## How to fix
    A transformer has `outputPhase` and may have `fallbackPhases`. A validator has `outputPhases`. Both may have
    `fallbackPhase`.
    """
    yield from report_shape(workflow, "malformed-workflow-agent")
    for agent in workflow.agents.values():
        for member in _FOREIGN.get(agent.role, ()):
            if member in agent.body:
                message = f"agent {quote(agent.id)} is a {agent.role}, which has no {quote(member)}"
                yield Finding((agent.at / member).key, message)


_FOREIGN: Mapping[PerformerRole | None, tuple[str, ...]] = {
    PerformerRole.TRANSFORMER: ("outputPhases",),
    PerformerRole.VALIDATOR: ("outputPhase", "fallbackPhases"),
}


@rule(since="0.1", origin=("climpt-1.14:wf.legacy-close",))
def stg2119_legacy_close(workflow: Workflow) -> Iterator[Finding]:
    """An agent of climpt 1.14 says in the way of climpt 1.13 when issues are closed.

    ## Why this matters
    climpt 1.14 reads neither `closeOnComplete` nor `closeCondition`: it loads the file and never closes an issue.

    ## How to fix
    Write `"closeBinding": {"primary": {"kind": "direct"}}` for `"closeOnComplete": true`, and `closeCondition` as
    `condition` in it. Remove `"closeOnComplete": false`.
    """
    for agent in workflow.agents.values() if workflow.release is Release.NEW else ():
        old = [name for name in ("closeOnComplete", "closeCondition") if name in agent.body]
        if old:
            message = f"agent {quote(agent.id)} has {listing(old)}, which climpt 1.14 does not read: no issue is closed"
            yield Finding((agent.at / old[0]).key, message)


@rule(since="0.1", origin=("climpt-1.14:wf.legacy-criteria",))
def stg2120_legacy_criteria(workflow: Workflow) -> Iterator[Finding]:
    """A file of climpt 1.14 chooses issues by `criteria`.

    ## Why this matters
    climpt 1.14 does not read `criteria`: it takes other issues than those that are meant.

    ## How to fix
    Write what `criteria` says in `issueSource`: `labels`, `state` and `limit`.
    """
    if workflow.release is Release.NEW and "criteria" in workflow.body:
        message = "climpt 1.14 does not read 'criteria': 'issueSource' chooses the issues"
        yield Finding((workflow.at / "criteria").key, message)


@rule(since="0.1", origin=("climpt-1.14:wf.legacy-store", "climpt-1.14:wf.legacy-dry-run"), severity=Severity.WARNING)
def stg2121_legacy_workflow_member(workflow: Workflow) -> Iterator[Finding]:
    """A file of climpt 1.14 has a member of an earlier release.

    ## Why this matters
    climpt 1.14 does not read the member and takes the default.

    ## How to fix
    Rename `issueStore` to `subjectStore`. `--dry-run` is an option of the command line.
    """
    if workflow.release is not Release.NEW:
        return
    if "issueStore" in workflow.body:
        message = "climpt 1.14 does not read 'issueStore': the key is 'subjectStore' now"
        yield Finding((workflow.at / "issueStore").key, message)
    if "dryRun" in workflow.body:
        message = "climpt 1.14 does not read 'dryRun': it is an option of the command line"
        yield Finding((workflow.at / "dryRun").key, message)
    for handoff in workflow.handoffs:
        if handoff.body.get("persistPayloadTo") == "issueStore":
            message = f"{handoff.name} keeps its payload in 'issueStore', which climpt 1.14 calls 'subjectStore'"
            yield Finding(handoff.at / "persistPayloadTo", message)


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-shape",))
def stg2122_malformed_handoff(workflow: Workflow) -> Iterator[Finding]:
    """A hand-off is not written as climpt reads it.

    ## Why this matters
    climpt takes an absent member for nothing and stops with an error when the hand-off is due.

    ## How to fix
    Write `id`, `when` with `fromAgent` and `outcome`, `emit` with `type`, `schemaRef` and `path`, `payloadFrom` and
    `persistPayloadTo`. Each id is there once.
    """
    yield from report_shape(workflow, "malformed-handoff")
    seen: dict[str, Place] = {}
    for handoff in workflow.handoffs:
        at = handoff.at / "id"
        if handoff.id is not None and seen.setdefault(handoff.id, at) != at:
            related = (Related(seen[handoff.id], "used here first"),)
            yield Finding(at, f"two hand-offs have the id {quote(handoff.id)}", related)

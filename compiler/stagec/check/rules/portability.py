"""STG95x: what climpt makes of an orchestrator file, and other runners may not; silent until selected."""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import object_of
from stagec.core.rule import Family, Finding
from stagec.core.words import quote
from stagec.languages.orchestrator.document import Workflow

FAMILY = Family(__name__, (range(950, 1000),), Workflow, optional=True)
rule = FAMILY.rule


@rule(since="0.1", origin=("climpt-1.14:wf.close-inert",), severity=Severity.WARNING)
def stg951_inert_close_binding(workflow: Workflow) -> Iterator[Finding]:
    """A close binding that climpt 1.14 does not read.

    ## Why this matters
    Of the channels, climpt 1.14 reads `direct` alone. `boundary`, `outboxPre` and `custom` close issues at their own
    events, whatever is written here, and `cascade` does nothing.

    ## How to fix
    Nothing is wrong for other runners. With climpt 1.14, use `direct`.
    """
    for agent in workflow.agents.values():
        close = agent.close
        if close is None:
            continue
        if close.channel in {"boundary", "outboxPre", "custom"}:
            yield Finding(
                close.at / "primary" / "kind",
                f"climpt 1.14 does not read {quote(close.channel)} of agent {quote(agent.id)}",
            )
        if object_of(agent.body.get("closeBinding")).get("cascade") is True:
            yield Finding(close.at / "cascade", f"climpt 1.14 does not read 'cascade' of agent {quote(agent.id)}")


@rule(since="0.1", origin=("climpt-1.14:wf.handoff-unwired",), severity=Severity.WARNING)
def stg952_unwired_handoff(workflow: Workflow) -> Iterator[Finding]:
    """A hand-off that the command line of climpt 1.14 never writes.

    ## Why this matters
    `run-workflow` of climpt 1.14 makes no writer of artifacts: hand-offs have no effect.

    ## How to fix
    Nothing is wrong for other runners.
    """
    for handoff in workflow.handoffs:
        yield Finding(handoff.at, f"the command line of climpt 1.14 does not write the artifact of {handoff.name}")

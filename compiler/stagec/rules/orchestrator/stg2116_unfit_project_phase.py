"""A phase of the binding to projects cannot be what it is meant to be.

## Why this matters
climpt refuses the file. A project is planned and evaluated in actionable phases, and done in a terminal one; each
needs a label, by which an issue comes into the phase.

## How to fix
Name a phase of the wanted type, and give it a label in `labelMapping`.
"""

from collections.abc import Iterator

from stagec.core.guess import guess
from stagec.core.json import object_of, text_in
from stagec.core.nearest import hint
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.orchestrator.document import PhaseType, Release, Workflow
from stagec.rules.orchestrator import rule


@rule(
    since="0.1",
    origin=(
        "climpt-1.14:wf.project-done",
        "climpt-1.14:wf.project-eval",
        "climpt-1.14:wf.project-plan",
        "W6",
        "WF-PROJECT-001",
    ),
)
def check(workflow: Workflow) -> Iterator[Finding]:
    binding = object_of(workflow.body.get("projectBinding")) if workflow.release is Release.NEW else {}
    labelled = {mention.name for mention in workflow.labels.values()}
    for member, wanted in _WANTED.items():
        name = text_in(binding, member)
        if name is None or name in workflow.broken or not workflow.phases:
            continue
        at, what = workflow.at / "projectBinding" / member, f"phase {quote(name)}, which {quote(member)} names,"
        phase = workflow.phases.get(name)
        if phase is None:
            known, same = workflow.names, tuple(each.at for each in workflow.list_mentions() if each.name == name)
            yield Finding(at, f"{what} does not exist{hint(name, known)}", fix=guess(name, known), causes=same)
        elif phase.type is not None and phase.type is not wanted:
            yield Finding(at, f"{what} must be {wanted}, but is {phase.type}")
        elif workflow.has_all_labels and name not in labelled:
            yield Finding(at, f"{what} has no label in 'labelMapping'")


_WANTED = {
    "donePhase": PhaseType.TERMINAL,
    "evalPhase": PhaseType.ACTIONABLE,
    "planPhase": PhaseType.ACTIONABLE,
}

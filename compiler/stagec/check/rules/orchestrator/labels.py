"""Labels, projects and priorities of issues."""

from collections.abc import Iterator

from stagec.check.rules.orchestrator import find_limbo, list_used_labels, report_shape, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import kind_of, list_of, object_of, text_in
from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.place import Mention
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote, with_article
from stagec.languages.orchestrator.document import Phase, PhaseType, Release, Workflow


@rule(since="0.1", origin=("climpt-1.14:wf.label-spec-missing", "WF-LABEL-003"))
def stg2112_missing_label_spec(workflow: Workflow) -> Iterator[Finding]:
    """A label has no entry in `labels`, where other labels have one.

    ## Why this matters
    climpt creates the labels of `labels` at its start and refuses a file in which some are missing.

    ## How to fix
    Add the label with `color` and `description`, or remove `labels`.
    """
    specs = workflow.body.get("labels")
    if not isinstance(specs, dict):
        return
    for name, at in list_used_labels(workflow):
        if name not in specs:
            message = f"label {quote(name)} has no entry in 'labels'{hint(name, NameIndex(specs))}"
            yield Finding(at, message)


@rule(since="0.1", origin=("climpt-1.14:wf.label-orphan", "WF-LABEL-004"))
def stg2113_orphaned_label_spec(workflow: Workflow) -> Iterator[Finding]:
    """A label is described that no phase and no prioritizer uses.

    ## Why this matters
    climpt refuses the file: the label would be created and mean nothing.

    ## How to fix
    Remove the label, use it in `labelMapping`, or mark it with `"role": "marker"`.
    """
    used = {name for name, _ in list_used_labels(workflow)}
    is_mapped = isinstance(workflow.body.get("labelMapping"), dict)
    for name, body in object_of(workflow.body.get("labels")).items() if is_mapped else ():
        if name not in used and object_of(body).get("role", "routing") == "routing":
            message = f"label {quote(name)} is described, but no phase and no prioritizer uses it"
            yield Finding((workflow.at / "labels" / name).key, message)


@rule(since="0.1", origin=("climpt-1.14:wf.label-color", "climpt-1.14:wf.label-spec", "WF-LABEL-005"))
def stg2114_malformed_label_spec(workflow: Workflow) -> Iterator[Finding]:
    """A label is not described as the code host needs it.

    ## Why this matters
    climpt creates the labels at its start and refuses a color that is none.

    ## How to fix
    Write `color` as six hexadecimal digits without `#`, and a `description`. `role` is `routing` or `marker`.
    """
    return report_shape(workflow, "malformed-label-spec")


@rule(since="0.1", origin=("climpt-1.14:wf.project-shape",))
def stg2115_malformed_project_binding(workflow: Workflow) -> Iterator[Finding]:
    """The binding to projects lacks a member, or has one of the wrong type.

    ## Why this matters
    climpt plans and evaluates a project only with all of them.

    ## How to fix
    Write all five members: `donePhase`, `evalPhase`, `planPhase` and `sentinelLabel` are texts,
    `inheritProjectsForCreateIssue` is a boolean.
    """
    if workflow.release is not Release.NEW or "projectBinding" not in workflow.body:
        return
    given, at = workflow.body["projectBinding"], workflow.at / "projectBinding"
    if not isinstance(given, dict):
        yield Finding(at, f"'projectBinding' must be an object, found {with_article(kind_of(given))}")
        return
    missing = [name for name in _TYPES if name not in given]
    if missing:
        yield Finding(at / missing[0], f"'projectBinding' lacks {listing(missing)}")
    for name, wanted in _TYPES.items():
        if name in given and kind_of(given[name]) != wanted:
            found = with_article(kind_of(given[name]))
            yield Finding(at / name, f"{quote(name)} of 'projectBinding' must be {with_article(wanted)}, found {found}")


_TYPES = {
    "inheritProjectsForCreateIssue": "boolean",
    "donePhase": "string",
    "evalPhase": "string",
    "planPhase": "string",
    "sentinelLabel": "string",
}


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
def stg2116_unfit_project_phase(workflow: Workflow) -> Iterator[Finding]:
    """A phase of the binding to projects cannot play its role.

    ## Why this matters
    climpt refuses the file. A project is planned and evaluated in actionable phases, and done in a terminal one; each
    needs a label, by which an issue comes into the phase.

    ## How to fix
    Name a phase of the wanted type, and give it a label in `labelMapping`.
    """
    binding = object_of(workflow.body.get("projectBinding")) if workflow.release is Release.NEW else {}
    labelled = {mention.name for mention in workflow.labels.values()}
    for member, wanted in _WANTED.items():
        name = text_in(binding, member)
        if name is None or name in workflow.broken or not workflow.phases:
            continue
        at, what = workflow.at / "projectBinding" / member, f"{quote(member)} names phase {quote(name)}, which"
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


@rule(since="0.1", origin=("climpt-1.14:wf.project-sentinel", "WF-PROJECT-008", "WF-PROJECT-009"))
def stg2117_unfit_sentinel_label(workflow: Workflow) -> Iterator[Finding]:
    """The label of the issue that stands for a project is not a described marker.

    ## Why this matters
    climpt refuses the file: a label of role `routing` would bring the issue into a phase.

    ## How to fix
    Add the label to `labels` with `"role": "marker"`.
    """
    binding, specs = object_of(workflow.body.get("projectBinding")), workflow.body.get("labels")
    name = text_in(binding, "sentinelLabel") if workflow.release is Release.NEW else None
    if name is None or not isinstance(specs, dict):
        return
    at = workflow.at / "projectBinding" / "sentinelLabel"
    if name not in specs:
        yield Finding(at, f"label {quote(name)} is not in 'labels'{hint(name, NameIndex(specs))}")
    elif object_of(specs[name]).get("role") != "marker":
        yield Finding(at, f"label {quote(name)} stands for a project and must have the role 'marker'")


@rule(since="0.1", origin=("climpt-1.14:wf.prioritizer-default",), severity=Severity.WARNING)
def stg2134_unlisted_default_label(workflow: Workflow) -> Iterator[Finding]:
    """The default label of the prioritizer is not one of its labels.

    ## Why this matters
    An issue gets the default label where the prioritizer gives it none of its labels. With another label it has no
    place in the order.

    ## How to fix
    Add the label to `labels` of the prioritizer, or choose one of them.
    """
    given = object_of(workflow.body.get("prioritizer"))
    name, labels = text_in(given, "defaultLabel"), list_of(given.get("labels"))
    if name is not None and labels and name not in labels:
        known = NameIndex(each for each in labels if isinstance(each, str))
        message = f"default label {quote(name)} is not one of the labels of the prioritizer{hint(name, known)}"
        yield Finding(workflow.at / "prioritizer" / "defaultLabel", message, fix=guess(name, known))


@rule(since="0.1", origin=("climpt-1.14:wf.priority-tie",), severity=Severity.NOTE)
def stg2144_equal_priorities(workflow: Workflow) -> Iterator[Finding]:
    """Two phases have the same priority.

    ## Why this matters
    Of an issue that is in both, climpt takes the phase whose name comes first in the alphabet.

    ## How to fix
    Give the phases different priorities if it matters which goes first.
    """
    first: dict[float, Phase] = {}
    for phase in workflow.phases.values():
        if phase.is_actionable and phase.priority is not None:
            other = first.setdefault(phase.priority, phase)
            if other is not phase:
                goes = quote(min(phase.id, other.id))
                message = f"phases {quote(other.id)} and {quote(phase.id)} have the same priority: {goes} goes first"
                related = (Related(other.at / "priority", "the other phase"),)
                yield Finding(phase.at / "priority", message, related)


@rule(since="0.1", origin=("climpt-1.14:wf.label-choice",), severity=Severity.NOTE)
def stg2145_several_labels(workflow: Workflow) -> Iterator[Finding]:
    """Several labels stand for one phase.

    ## Why this matters
    An issue with any of them is in the phase. A transition to the phase adds the first of them and removes the others.

    ## How to fix
    Nothing is wrong. Write the label first that transitions should add.
    """
    known: dict[str, list[Mention]] = {}
    for label, mention in workflow.labels.items():
        known.setdefault(mention.name, []).append(Mention(label, mention.at))
    for phase, labels in known.items():
        if len(labels) > 1 and phase in workflow.phases:
            names = listing([each.name for each in labels])
            message = f"labels {names} stand for phase {quote(phase)}: transitions add {quote(labels[0].name)}"
            yield Finding(labels[1].at.key, message, (Related(labels[0].at.key, "the label that is added"),))


@rule(since="0.1", origin=("climpt-1.14:wf.marker-routed",), severity=Severity.NOTE)
def stg2146_routed_marker(workflow: Workflow) -> Iterator[Finding]:
    """A label of a phase is also a label that only marks issues.

    ## Why this matters
    A label of role `marker` is one that has nothing to do with phases. Here it brings issues into one.

    ## How to fix
    Remove `"role": "marker"`, or the label from `labelMapping`.
    """
    specs = object_of(workflow.body.get("labels"))
    for label, mention in workflow.labels.items():
        if object_of(specs.get(label)).get("role") == "marker":
            message = f"label {quote(label)} has the role 'marker' and stands for phase {quote(mention.name)}"
            yield Finding(mention.at.key, message)


@rule(since="0.1", origin=("climpt-1.14:wf.output-unlabelled",))
def stg2160_unlabelled_phase(workflow: Workflow) -> Iterator[Finding]:
    """An outcome leads to an actionable phase that no label stands for.

    ## Why this matters
    A transition writes the label of the phase. Without one, the next cycle does not know in which phase the issue is,
    and ends the run as blocked.

    ## How to fix
    Add a label for the phase to `labelMapping`.
    """
    for phase, first, related in find_limbo(workflow):
        if phase.is_actionable:
            message = f"no label stands for phase {quote(phase.id)}: after this outcome no agent takes the issue"
            yield Finding(first.at, message, related)


@rule(since="0.1", origin=("climpt-1.14:wf.output-unlabelled",), severity=Severity.WARNING)
def stg2161_unlabelled_end(workflow: Workflow) -> Iterator[Finding]:
    """An outcome leads to a terminal or blocking phase that no label stands for.

    ## Why this matters
    The run ends, and nothing on the issue says how. The next run takes the issue for new.

    ## How to fix
    Add a label for the phase to `labelMapping`.
    """
    for phase, first, related in find_limbo(workflow):
        if phase.type in {PhaseType.TERMINAL, PhaseType.BLOCKING}:
            message = (
                f"no label stands for {phase.type} phase {quote(phase.id)}: the issue does not show how the run ended"
            )
            yield Finding(first.at, message, related)

"""Schemas of answers: where they are found, and whether anything satisfies them."""

from collections.abc import Collection, Iterator

from stagec.check.rules.registry import MERGED, find_merged, of_steps, report_unresolved, rule
from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.registry.answers import find_schema
from stagec.languages.registry.document import OutputSchema, Registry, Step
from stagec.languages.registry.generation import Generation
from stagec.sources.contract.schemas import Miss


@rule(
    since="0.1",
    origin=(
        "steps-registry:gate.schema-load",
        "steps-registry:path.schema-file",
        "steps-registry:path.schema-name",
        "steps-registry:resolve.pointer",
        "steps-registry:resolve.missing-file",
        "steps-registry:resolve.malformed",
    ),
)
def stg210_unresolved_output_schema(registry: Registry) -> Iterator[Finding]:
    """A step's output schema cannot be found.

    ## Why this matters
    The output schema is what the model is asked to answer. Without it the answer has no shape and no intent can be
    read.

    ## How to fix
    Correct `file` (relative to the folder of schemas) or `schema`: a pointer such as `#/$defs/name`, the name of a
    definition, or the name of a member of the file.
    """
    lost = [each for each in registry.steps.values() if each.output is not None and isinstance(each.output.found, Miss)]
    named = ((f"step {quote(each.key)}", each.at / "outputSchemaRef", each.output) for each in lost)
    yield from report_unresolved(registry, ((step, at, output) for step, at, output in named if output is not None))


@rule(
    since="0.1",
    origin=("steps-registry:path.schema-file", "steps-registry:path.schema-name"),
    severity=Severity.WARNING,
)
def stg239_unresolved_validation_schema(registry: Registry) -> Iterator[Finding]:
    """The output schema that a validation step names cannot be found.

    ## Why this matters
    No runner reads `outputSchemaRef` of a validation step, so nothing fails. Readers take it for the schema that
    validates the answers and look for one that does not exist, mostly because the schema of the step was renamed.

    ## How to fix
    Write the reference that the closure step has, or take it out.
    """
    outputs = (step.output for step in registry.steps.values())
    told = {_describe_miss(each) for each in outputs if each is not None and isinstance(each.found, Miss)}
    at = registry.at / "validationSteps"
    yield from report_unresolved(
        registry,
        (
            (f"validation step {quote(key)}", at / key / "outputSchemaRef", each)
            for key, each in registry.guarded.items()
            if isinstance(each.found, Miss) and _describe_miss(each) not in told
        ),
    )


def _describe_miss(output: OutputSchema) -> tuple[object, ...]:
    """Return the missing part: a file, or a schema in it."""
    return output.found, output.file, output.name if output.found is Miss.NO_MEMBER else None


@rule(since="0.1", origin=("rulings:R20", "steps-registry:gate.schema-load"))
@of_steps
def stg276_unsatisfiable_output(steps: Collection[Step]) -> Iterator[Finding]:
    """No answer satisfies the output schema of a step.

    ## Why this matters
    An answer counts when it satisfies the schema. Where two parts of the schema exclude each other, every answer is
    refused, and every run that comes to the step fails.

    climpt does not join the parts of `allOf` as JSON Schema does: it puts the step's own properties in place of those
    of its bases. If that makes the difference, the taken part is shown.

    ## How to fix
    Change the shown part or the one that contradicts it. Common cases are a name in `required` that a closed object
    does not have, a value of another type, a lower bound above the upper one, and a part that must contain itself.
    """
    told: dict[Place, list[Step]] = {}
    for step in steps:
        if step.output is not None and step.output.void is not None and not step.is_section:
            told.setdefault(step.output.void.at, []).append(step)
    shared: dict[Place, Place] = {}  # what schemas of several steps contradict in one base, and where the first is told
    for at, users in told.items():
        void = users[0].output.void if users[0].output is not None else None
        if void is not None:
            who = f"step{'s' if len(users) > 1 else ''} {listing([each.key for each in users])}"
            why = f": nothing can be its {quote('.'.join(void.path))}" if void.path else ""
            whole = tuple(there for there in dict.fromkeys(map(find_schema, users)) if there is not None)
            first, second = _put_own_first(at, void.against, whole)
            related = () if second is None else (Related(second, "this contradicts it"),)
            message = f"no answer of {who} satisfies its output schema{why}"
            merged = find_merged(users[0], void.path[0], (first, *(each.at for each in related))) if void.path else None
            also = () if merged is None else (Related(merged, MERGED),)
            base = (second,) if second is not None and not any(second in part for part in whole) else ()
            causes = (*whole, *(shared.setdefault(each, first) for each in base))
            yield Finding(first, message, (*related, *also), causes=causes, spoils=whole)


def _put_own_first(at: Place, against: Place | None, whole: tuple[Place, ...]) -> tuple[Place, Place | None]:
    """Return two places that contradict each other, first the one in the step's own schema: others share the rest."""
    inside = [any(each in part for part in whole) for each in (at, against) if each is not None]
    return (against, at) if against is not None and inside == [False, True] else (at, against)


@rule(since="0.1", origin=("climpt-1.14:beyond.path-escape", "A5"))
def stg2046_escaping_schema_file(registry: Registry) -> Iterator[Finding]:
    """The file of an output schema leaves the folder of schemas.

    ## Why this matters
    The start of climpt 1.14 refuses a registry in which the file of an output schema has `..` in its name or begins
    with `/`, even if the file is there.

    ## How to fix
    Put the schema into the folder of schemas, or name their common folder in `schemasBase`.
    """
    for step in registry.steps.values() if registry.generation is not Generation.V1_13 else ():
        output = step.output
        if output is None or output.found in (Miss.NO_FILE, Miss.OUTSIDE):
            continue  # which is the worse mistake, and has its own rule
        if ".." in output.file or output.file.startswith("/"):
            message = f"schema file {quote(output.file)} leaves the folder {quote(registry.schemas.path)}"
            yield Finding(step.at / "outputSchemaRef" / "file", message)

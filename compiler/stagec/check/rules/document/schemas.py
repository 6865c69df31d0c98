"""JSON Schemas that are invalid, cost too much, or mean something other than they seem to."""

from collections.abc import Iterator

from stagec.check.rules.document import kinds, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.sources.shape.dialects import Dialect, range_of
from stagec.sources.tree import Fault, Tree


@rule(since="0.1", origin=("rulings:R20", "stage-definitions:completion-schema-invalid"))
def stg160_unknown_dialect(tree: Tree) -> Iterator[Finding]:
    """A schema is written in a dialect of JSON Schema that stagec does not know.

    ## Why this matters
    The dialect says what the keywords mean. stagec never fetches one, so it knows the dialects from draft-04 to
    2020-12 and no others.

    ## How to fix
    Write one of the known dialects, or leave `$schema` out: then the schema is read as 2020-12.
    """
    for fault in tree.about("unknown-dialect"):
        dialect, known = str(fault.facts["dialect"]), fault.facts["known"]
        index = NameIndex(known if isinstance(known, tuple) else ())
        message = f"stagec does not know the dialect {quote(dialect)}, and never downloads one{hint(dialect, index)}"
        yield Finding(fault.at, message, fix=guess(dialect, index))


_LIMITED = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}
_OTHERS = {
    "anyOf": "cannot have this value",
    "engine": "must be a regular expression that runs can use",
    "minItems": "must not be empty",
    "minLength": "must not be empty",
    "pattern": "must be a regular expression",
    "uniqueItems": "must not say the same twice",
}


@rule(since="0.1", origin=("rulings:R20", "steps-registry:gate.schema-load", "steps-registry:gate.ref-not-enum"))
def stg161_invalid_schema(tree: Tree) -> Iterator[Finding]:
    """A schema breaks the rules of JSON Schema.

    ## Why this matters
    A keyword with a value that it cannot have is ignored by some libraries and refused by others. In both cases it does
    not check what its author intended.

    ## How to fix
    Give the keyword a value of the kind that the message names.
    """
    for fault in tree.about("invalid-schema"):
        names = [key for key in fault.at.pointer if isinstance(key, str)]
        subject = quote(names[-1]) if names else "a schema file"
        message = f"{subject} {_describe_wanted(fault)}, found {_describe_found(fault)}"
        yield Finding(fault.at, message, fix=_guess(fault))


def _guess(fault: Fault) -> Guess | None:
    got, allowed = fault.facts.get("got"), fault.facts.get("allowed")
    is_choice = isinstance(got, str) and isinstance(allowed, tuple) and fault.reason != "type"
    return guess(str(got), NameIndex(map(str, allowed))) if is_choice and isinstance(allowed, tuple) else None


def _describe_wanted(fault: Fault) -> str:
    allowed = fault.facts.get("allowed")
    if fault.reason == "type":
        return f"must be {kinds(allowed)}"
    if fault.reason == "enum" and isinstance(allowed, tuple):
        return f"must be {listing(allowed, 'or')}"
    if fault.reason in _LIMITED:
        return f"must be {_LIMITED[fault.reason]} {allowed}"
    return _OTHERS.get(fault.reason, "has the wrong form")


def _describe_found(fault: Fault) -> str:
    got = fault.facts.get("got")
    if fault.reason == "type" or got is None:
        return kinds(fault.facts["kind"])
    return quote(got) if isinstance(got, str) else str(got)


_FOREIGN_REFERENCE_REASONS = {
    "scheme": "is an address, which stagec never opens",
    "absolute": "is an absolute path, and only relative ones are followed",
    "outside": "leads out of the project",
}


@rule(
    since="0.1",
    origin=("rulings:R20", "steps-registry:beyond.path-escape", "stage-definitions:completion-schema-ref"),
    groups=("mandatory",),
)
def stg162_foreign_reference(tree: Tree) -> Iterator[Finding]:
    """A schema refers to something outside the project.

    ## Why this matters
    References are never followed out of the project: not to the net, not to absolute paths, not above the root. Their
    targets could change or be anything, so the schema says nothing certain.

    ## How to fix
    Copy the target into the project and refer to it by a relative path, or by the `$id` of the copy.
    """
    for fault in tree.about("foreign-reference"):
        yield Finding(
            fault.at, f"the reference {quote(fault.facts['reference'])} {_FOREIGN_REFERENCE_REASONS[fault.reason]}"
        )


_COSTLY_SCHEMA_REASONS = {
    "expansion": "this schema applies more than {limit:,} schemas to one place of a value",
    "endless": "this schema refers to itself without going into the value",
    "steps": "judging this by its schema takes more than {limit:,} steps",
    "size": "the pattern {got} becomes too large when it is compiled",
    "total": "the pattern {got} brings all patterns of the project to more than can be compiled",
}


@rule(since="0.1", origin=("rulings:everywhere", "CWE-1333", "CWE-400"), groups=("mandatory",))
def stg163_costly_schema(tree: Tree) -> Iterator[Finding]:
    """Judging a value by a schema, or compiling its patterns, can take very long.

    ## Why this matters
    A reference costs a few characters and stands for a whole schema. Where every level refers twice to the next,
    thirty levels judge one value a billion times, and a run that judges an answer by them never ends. Large
    repetitions of large classes do the same to regular expressions. No plan is made of such a schema, and none is
    loaded.

    ## How to fix
    Refer once to what several parts share, keep `unevaluatedProperties` at the outermost schema only, let a recursion
    go through `properties` or `items`, and repeat classes of Unicode without a large count: `maxLength` says it
    better.
    """
    for fault in tree.about("costly-schema"):
        got = quote(fault.facts.get("got", ""))
        yield Finding(fault.at, _COSTLY_SCHEMA_REASONS[fault.reason].format(limit=fault.facts.get("limit"), got=got))


_COSTLY_PATTERN_REASONS = {
    "nested": "repeats a part that can match the same text in several ways",
    "long": "is longer than {limit} characters",
    "total": "brings the patterns of this file to more than {limit} characters, so it is not examined",
}


@rule(since="0.1", origin=("rulings:everywhere", "CWE-1333"), severity=Severity.WARNING)
def stg164_costly_pattern(tree: Tree) -> Iterator[Finding]:
    """A regular expression can take very long on a text made for it.

    ## Why this matters
    A repetition inside a repetition that can match the same characters makes many engines try every way to divide a
    text, and their number doubles with each character. Model output is such a text sooner or later.

    ## How to fix
    Make sure that each repetition can begin in one way only: `^a+$` instead of `^(a+)+$`, a separator that the
    repeated part cannot match, or `maxLength` beside a simpler pattern.
    """
    for fault in tree.about("costly-pattern"):
        reason = _COSTLY_PATTERN_REASONS[fault.reason].format(limit=fault.facts["limit"])
        yield Finding(fault.at, f"the pattern {quote(fault.facts['got'])} {reason}")


@rule(since="0.1", origin=("rulings:R20", "stage-definitions:completion-schema-invalid"), severity=Severity.WARNING)
def stg165_ineffective_keyword(tree: Tree) -> Iterator[Finding]:
    """A schema has a keyword that says nothing in its dialect.

    ## Why this matters
    Each dialect of JSON Schema has its own keywords, and ignores those of the others. Before 2019-09, it also ignores
    everything beside a `$ref`. An answer that the keyword seems to forbid is accepted: neither `validate` nor a run
    looks at it.

    ## How to fix
    Name a dialect in `$schema` that knows the keyword, or leave `$schema` out: then it is 2020-12. Or say it as the
    dialect says it: `enum` with one value for `const`, `items` with a list for `prefixItems`, `allOf` with the `$ref`
    in it.
    """
    for fault in tree.about("ineffective-keyword"):
        names, draft = fault.facts["names"], fault.facts["draft"]
        if isinstance(names, tuple) and isinstance(draft, Dialect):
            has = "has" if len(names) == 1 else "have"
            yield Finding(fault.at, f"{listing(names)} {has} no effect {_describe_draft(fault, names[0], draft)}")


def _describe_draft(fault: Fault, name: str, draft: Dialect) -> str:
    if fault.reason == "sibling":
        return f"beside '$ref' in {draft.title}"
    first, last = range_of(name)
    known = f"since {first.title}" if draft < first else f"until {last.title}"
    return f"in {draft.title}, only {known}"


@rule(since="0.1", origin=("rulings:R2", "rulings:R20"), severity=Severity.WARNING)
def stg192_repeated_enum_value(tree: Tree) -> Iterator[Finding]:
    """A schema lists one value twice.

    ## Why this matters
    The second mention allows nothing more. Most often another value was meant, which answers then cannot have.

    ## How to fix
    Delete the second mention, or write the value that was meant.
    """
    for fault in tree.about("repeated-enum-value"):
        given, first = fault.facts["got"], fault.facts["first"]
        shown = quote(given) if isinstance(given, str) else "null" if given is None else str(given).lower()
        related = (Related(first, "the first"),) if isinstance(first, Place) else ()
        fix = Fix("remove the second", (Edit(Change.REMOVE, fault.at),))
        yield Finding(fault.at, f"this 'enum' lists {shown} twice", related, fix)


@rule(since="0.1", origin=("steps-registry:beyond.success-when", "steps-registry:doc.success-when"))
def stg193_unreadable_pattern(tree: Tree) -> Iterator[Finding]:
    """A validator looks for a regular expression that cannot be read.

    ## Why this matters
    An unreadable pattern matches nothing. The validator would fail every time, and no plan can be made of it.

    ## How to fix
    Correct the regular expression; the engine is that of JSON Schema. To look for brackets and other signs as they
    are, write a backslash before each, or use `contains:`.
    """
    for fault in tree.about("unreadable-pattern"):
        yield Finding(fault.at, f"the regular expression {quote(fault.facts['got'])} cannot be read")


@rule(since="0.1", origin=("steps-registry:agent.param-default-type",))
def stg196_mistyped_default(tree: Tree) -> Iterator[Finding]:
    """The default of a parameter is of another type than the parameter.

    ## Why this matters
    A run whose caller leaves the parameter out has its default. Of another type it is not a value of the parameter: the
    run is refused, or the agent is given what it does not expect.

    ## How to fix
    Write a default of the type: `500` for a number, `"500"` for a string, `true` for a boolean, `[]` for an array.
    Without `default` there is none; `null` is of no type.
    """
    for fault in tree.about("mistyped-default"):
        facts = fault.facts
        wanted, got = kinds(facts["type"]), kinds(facts["kind"]) if facts["kind"] != "null" else "null"
        yield Finding(fault.at, f"the default of parameter {quote(facts['name'])} must be {wanted}, found {got}")


@rule(since="0.1", origin=("steps-registry:agent.param-dup-cli",))
def stg197_repeated_option(tree: Tree) -> Iterator[Finding]:
    """Two parameters of an agent have the same option.

    ## Why this matters
    The option of the command line says which parameter a value is for. With one option for two of them, one can never
    be given, and nobody knows which.

    ## How to fix
    Give each parameter an option of its own.
    """
    for fault in tree.about("repeated-option"):
        related = tuple(Related(at, why) for at, why in fault.related)
        others = ", ".join(quote(at.pointer[1]) for at, _ in fault.related)
        yield Finding(fault.at, f"option {quote(fault.facts['option'])} is that of parameter {others} already", related)


@rule(since="0.1", origin=("rulings:R20",), severity=Severity.WARNING)
def stg198_misspelt_keyword(tree: Tree) -> Iterator[Finding]:
    """A schema has a member that is not a keyword, and looks like a misspelt one.

    ## Why this matters
    JSON Schema ignores members that it does not know. The demand of the keyword is not checked, and answers that it
    should refuse are accepted.

    ## How to fix
    Write the keyword as the message names it. An annotation of your own is safe under a name that begins with `x-`.
    """
    for fault in tree.about("misspelt-keyword"):
        name, meant = str(fault.facts["name"]), str(fault.facts["meant"])
        message = f"{quote(name)} is not a keyword and has no effect; did you mean {quote(meant)}?"
        yield Finding(fault.at, message, fix=Guess(name, meant))


@rule(since="0.1", origin=("rulings:R20",), severity=Severity.WARNING)
def stg199_misspelt_requirement(tree: Tree) -> Iterator[Finding]:
    """A schema requires a member under another name than it declares it.

    ## Why this matters
    `required` and `properties` stand side by side and mean the same member, but one of them misspells it. Answers must
    then have a member of which nothing is said, and may leave out the one that the schema describes.

    ## How to fix
    Write the same name in both.
    """
    for fault in tree.about("misspelt-requirement"):
        name, meant = str(fault.facts["name"]), str(fault.facts["meant"])
        message = f"{quote(name)} is required, but 'properties' declares only {quote(meant)}, which nothing requires"
        yield Finding(fault.at, message, tuple(Related(at, text) for at, text in fault.related), Guess(name, meant))

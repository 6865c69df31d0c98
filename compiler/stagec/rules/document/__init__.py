"""STG1xx: what is wrong with one file, before anything is read into it."""

from collections.abc import Iterator, Sequence

from stagec.core.diagnostic import Severity
from stagec.core.edit import Change, Edit, Fix
from stagec.core.json import Json
from stagec.core.nearest import Names, hint
from stagec.core.place import Key, Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.words import counted, listing, quote
from stagec.sources.tree import Fault, Tree

__all__ = [
    "Change",
    "Edit",
    "Fault",
    "Finding",
    "Fix",
    "Names",
    "Related",
    "Severity",
    "Tree",
    "counted",
    "hint",
    "kinds",
    "listing",
    "misshapen",
    "named",
    "quote",
    "rule",
]

FAMILY = Family(__name__, 100, Tree)
rule = FAMILY.rule

_OWNERS = {
    "steps": "step",
    "validators": "validator",
    "failurePatterns": "failure pattern",
    "validationSteps": "validation step",
    "parameters": "parameter",
}
_LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
}
_TRUTHS = {"true": True, "false": False}


def misshapen(tree: Tree, topic: str) -> Iterator[Finding]:
    """Say of every shape fault of one topic what was expected and what was found."""
    known: dict[tuple[str, ...], Names] = {}
    for fault in tree.about(topic):
        related = tuple(Related(at, "written here") for at, _ in fault.related)
        yield Finding(fault.at, _sentence(fault, known), related, _certain(fault))


def named(at: Place) -> str:
    """Return what people call the member at a place: `step 'a'`, `'structuredGate.failFast' of step 'a'`."""
    first, *rest = at.pointer or ("",)
    if not at.pointer:
        return "the file"
    if str(first) not in _OWNERS or not rest:
        return quote(_dotted(at.pointer))
    owner = f"{_OWNERS[str(first)]} {quote(rest[0])}"
    return f"{quote(_dotted(rest[1:]))} of {owner}" if len(rest) > 1 else owner


def kinds(allowed: object) -> str:
    """Return `an object or an array` for the JSON names of kinds."""
    named_kinds = [_kind(str(each)) for each in (allowed if isinstance(allowed, tuple) else (allowed,))]
    return " or ".join([", ".join(named_kinds[:-1]), named_kinds[-1]] if len(named_kinds) > 1 else named_kinds)


def _sentence(fault: Fault, known: dict[tuple[str, ...], Names]) -> str:
    """Say what is wrong; `known` keeps the names of one kind, whose index takes longer to make than to ask."""
    facts, subject = fault.facts, named(fault.at)
    if fault.reason == "required":
        return _lacking(fault)
    if fault.reason == "unknown":
        return _unknown(fault, _kept(known, _names(fault.facts["known"])))
    if fault.reason == "type":
        return f"{subject} must be {kinds(facts['allowed'])}, found {_kind(str(facts['kind']))}"
    if fault.reason in {"enum", "const"}:
        allowed, got = _names(facts["allowed"]), str(facts["got"])
        return f"{subject} must be {listing(allowed, 'or')}, found {quote(got)}{hint(got, _kept(known, allowed))}"
    if fault.reason in _LIMITS:
        return f"{subject} must be {_LIMITS[fault.reason]} {facts['allowed']}, found {facts['got']}"
    return f"{subject} is empty" if fault.reason.startswith("min") else _unexpected(fault)


def _lacking(fault: Fault) -> str:
    owner = named(Place(fault.at.file, fault.at.pointer[:-1]))
    misspelt = fault.facts["misspelt"]
    doubt = f"; is it {quote(misspelt)}, misspelt?" if misspelt is not None else ""
    return f"{owner} lacks {listing(_names(fault.facts['missing']))}{doubt}"


def _kept(known: dict[tuple[str, ...], Names], names: tuple[str, ...]) -> Names:
    if names not in known:
        known[names] = Names(names)
    return known[names]


def _unknown(fault: Fault, known: Names) -> str:
    name = str(fault.facts["name"])
    owner = Place(fault.at.file, fault.at.pointer[:-1])
    inside = f" in {named(owner)}" if owner.pointer else ""
    return f"unknown key {quote(name)}{inside}{hint(name, known)}"


def _unexpected(fault: Fault) -> str:
    expects = fault.facts.get("expects", "of another shape")
    if "members" not in fault.facts:
        got = fault.facts["got"]
        found = quote(got) if isinstance(got, str) else _kind(str(fault.facts["kind"]))
        return f"{named(fault.at)} must be {expects}, found {found}"
    members = _names(fault.facts["members"])
    return f"{named(fault.at)} must have {expects}, found {listing(members) if members else 'neither'}"


def _certain(fault: Fault) -> Fix | None:
    """Return the change that cannot alter what was meant: another letter case, or a value written as a text."""
    got, allowed = fault.facts.get("got"), _names(fault.facts.get("allowed"))
    if not isinstance(got, str):
        return None
    if fault.reason == "enum":
        meant: list[str | bool | int] = [each for each in allowed if each.lower() == got.strip().lower()]
    else:
        meant = list(_unquoted(got, allowed)) if fault.reason == "type" else []
    return Fix(f"write {_shown(meant[0])}", (Edit(Change.REPLACE, fault.at, meant[0]),)) if len(meant) == 1 else None


def _unquoted(got: str, allowed: tuple[str, ...]) -> Iterator[bool | int]:
    if allowed == ("boolean",) and got in _TRUTHS:
        yield _TRUTHS[got]
    if allowed == ("integer",) and got.isascii() and got.isdecimal() and str(int(got[:9])) == got:
        yield int(got)


def _shown(meant: Json) -> str:
    return quote(meant) if isinstance(meant, str) else str(meant).lower()


def _names(given: object) -> tuple[str, ...]:
    return tuple(str(each) for each in given) if isinstance(given, tuple) else ()


def _dotted(pointer: Sequence[Key]) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in pointer).removeprefix(".")


def _kind(name: str) -> str:
    return name if name == "null" else f"an {name}" if name[0] in "aeiou" else f"a {name}"

"""STG1xx: what is wrong with one file, before anything is read into it."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import Json, list_of, object_of, text_in
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import Place, Pointer, spell_path
from stagec.core.rule import Family, Finding, Related, Rule, read_name
from stagec.core.words import listing, quote, with_article
from stagec.sources.tree import Fault, Tree

FAMILY = Family(__name__, (range(100, 200),), Tree)
rule = FAMILY.rule

_OWNERS = {
    "steps": "step",
    "validators": "validator",
    "failurePatterns": "failure pattern",
    "validationSteps": "validation step",
    "parameters": "parameter",
}
_PER_STAGE = frozenset({"next", "checks", "gate", "hooks", "policy", "deadline"})
"""Members of a pipeline that hold something for each stage."""
_LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
}
_TRUTHS = {"true": True, "false": False}


def shape_rule(
    *, since: str, origin: tuple[str, ...], severity: Severity = Severity.ERROR
) -> Callable[[Callable[[], None]], Rule[Tree]]:
    """Declare the rule about faults of shape whose topic is the name of the decorated function, which has its page."""

    def declare(page: Callable[[], None]) -> Rule[Tree]:
        topic = read_name(page.__name__)[1]
        return FAMILY.declare(page, partial(misshapen, topic=topic), since, origin, severity)

    return declare


def misshapen(tree: Tree, topic: str) -> Iterator[Finding]:
    """Say of every shape fault of one topic what was expected and what was found."""
    known: dict[tuple[str, ...], NameIndex] = {}
    for fault in tree.about(topic):
        related = tuple(Related(at, "written here") for at, _ in fault.related)
        sentence = _Sentence(tree, fault, known)
        yield Finding(fault.at, sentence.text(), related, _certain(fault) or sentence.guess())


def name_member(at: Place, tree: Tree | None = None) -> str:
    """Return the name of the member at a place for people: `step 'a'`, `'structuredGate.failFast' of step 'a'`."""
    if not at.pointer:
        return "the file"
    owner, rest = _owner(at.pointer, tree)
    if not owner:
        return quote(spell_path(rest))
    return f"{quote(spell_path(rest))} of {owner}" if rest else owner


def _owner(pointer: Pointer, tree: Tree | None) -> tuple[str, Pointer]:
    """Return the owner of a member, such as `stage 'plan'`, and the path from there to the member."""
    first, *rest = pointer
    if not rest and isinstance(first, str):
        return "", pointer
    if tree is None or tree.kind not in {"pipeline", "stage"}:
        kind = _OWNERS.get(str(first))
        return ("", pointer) if kind is None else (f"{kind} {quote(rest[0])}", tuple(rest[1:]))
    if first in _PER_STAGE and tree.kind == "pipeline":
        return f"stage {quote(rest[0])}", (first, *rest[1:])
    start = _START[tree.kind]
    name = _id_of(tree, (*start, pointer[len(start)])) if pointer[: len(start)] == start else None
    return ("", pointer) if name is None else (f"stage {quote(name)}", pointer[len(start) + 1 :])


_START: Mapping[str, Pointer] = {"pipeline": ("stages",), "stage": ()}
"""The places of stage objects in a file."""


def _id_of(tree: Tree, pointer: Pointer) -> str | None:
    """Return the id of a stage object in a list."""
    given: Json = tree.value
    for key in pointer:
        given = list_of(given)[key] if isinstance(key, int) else object_of(given).get(key)
    return text_in(object_of(given), "id") or None if isinstance(pointer[-1], int) else None


def kinds(allowed: object) -> str:
    """Return `an object or an array` for the JSON names of kinds."""
    named_kinds = [with_article(str(each)) for each in (allowed if isinstance(allowed, tuple) else (allowed,))]
    return " or ".join([", ".join(named_kinds[:-1]), named_kinds[-1]] if len(named_kinds) > 1 else named_kinds)


class _Sentence:
    """The words for a fault; `known` keeps the names of one kind, since an index is slow to build and fast to ask."""

    def __init__(self, tree: Tree, fault: Fault, known: dict[tuple[str, ...], NameIndex]) -> None:
        self._tree = tree
        self._fault = fault
        self._known = known

    def text(self) -> str:
        fault, facts = self._fault, self._fault.facts
        special = _SPECIAL.get(fault.reason)
        if special is not None:
            return special(self)
        subject = name_member(fault.at, self._tree)
        if fault.reason in _LIMITS:
            return f"{subject} must be {_LIMITS[fault.reason]} {facts['allowed']}, found {facts['got']}"
        if fault.reason.startswith("min") and facts["allowed"] == 1:
            return f"{subject} is empty"
        return f"{subject} is too short" if fault.reason.startswith("min") else self.describe_shape()

    def guess(self) -> Fix | Guess | None:
        """Return the fix of a misspelt name if exactly one known name is near."""
        fault, facts = self._fault, self._fault.facts
        allowed, got = _names(facts.get("allowed")), facts.get("got")
        if fault.reason == "unknown":
            return guess(str(facts["name"]), self._index(_names(facts["known"])))
        if fault.reason in {"enum", "const"} and isinstance(got, str):
            return guess(got, self._index(allowed))
        owner = Place(fault.at.file, fault.at.pointer[:-1] if fault.reason == "required" else fault.at.pointer)
        given, wanted = ("misspelt", _names(facts.get("missing"))) if fault.reason == "required" else ("members", ())
        wanted = wanted or tuple(_QUOTED.findall(str(facts.get("expects", ""))))
        near = {name: self._index(wanted).guess(name) for name in _names(facts.get(given)) if name not in wanted}
        return _rename(owner, {name: meant for name, meant in near.items() if meant is not None})

    def describe_missing(self) -> str:
        fault = self._fault
        owner = name_member(Place(fault.at.file, fault.at.pointer[:-1]), self._tree)
        missing, misspelt = _names(fault.facts["missing"]), _names(fault.facts["misspelt"])
        doubt = f"; {_doubt(len(missing), misspelt)}, misspelt?" if misspelt else ""
        return f"{owner} lacks {listing(missing)}{doubt}"

    def describe_unknown(self) -> str:
        fault, name = self._fault, str(self._fault.facts["name"])
        owner = Place(fault.at.file, fault.at.pointer[:-1])
        inside = f" in {name_member(owner, self._tree)}" if owner.pointer else ""
        return f"unknown key {quote(name)}{inside}{hint(name, self._index(_names(fault.facts['known'])))}"

    def describe_type(self) -> str:
        facts = self._fault.facts
        wanted = facts["expects"] if facts["allowed"] == ("number",) and "expects" in facts else kinds(facts["allowed"])
        return f"{name_member(self._fault.at, self._tree)} must be {wanted}, found {with_article(str(facts['kind']))}"

    def describe_choice(self) -> str:
        facts = self._fault.facts
        given = facts["allowed"]
        allowed, got = _names(given), str(facts["got"])
        if "expects" in facts or not isinstance(given, tuple):
            return self.describe_shape()
        subject = name_member(self._fault.at, self._tree)
        if not all(isinstance(each, str) for each in given):
            return f"{subject} must be {' or '.join(map(_show, given))}, found {_describe_found(facts)}"
        return f"{subject} must be {listing(allowed, 'or')}, found {quote(got)}{hint(got, self._index(allowed))}"

    def describe_shape(self) -> str:
        facts, subject = self._fault.facts, name_member(self._fault.at, self._tree)
        expects = str(facts.get("expects", "of another shape"))
        wanted = _QUOTED.findall(expects)
        if "members" not in facts or not wanted:
            return f"{subject} must be {expects}, found {_describe_found(facts)}"
        members = _names(facts["members"])
        told = tuple(each for each in members if each in wanted) or members
        near = next((each for each in members if each not in wanted and self._index(tuple(wanted)).nearest(each)), None)
        doubt = f"; is {quote(near)} misspelt?" if near is not None and not set(wanted) & set(members) else ""
        return f"{subject} must have {expects}, found {listing(told) if told else 'neither'}{doubt}"

    def _index(self, names: tuple[str, ...]) -> NameIndex:
        if names not in self._known:
            self._known[names] = NameIndex(names)
        return self._known[names]


_SPECIAL: Mapping[str, Callable[[_Sentence], str]] = {
    "required": _Sentence.describe_missing,
    "unknown": _Sentence.describe_unknown,
    "type": _Sentence.describe_type,
    "enum": _Sentence.describe_choice,
    "const": _Sentence.describe_choice,
}
_QUOTED = re.compile(r"'([^']+)'")


def _doubt(missing: int, misspelt: tuple[str, ...]) -> str:
    """Return the question whether members that are there are those that are missing."""
    if missing == len(misspelt):
        return f"{'is it' if missing == 1 else 'are they'} {listing(misspelt)}"
    return f"is {listing(misspelt)} one of them" if len(misspelt) == 1 else f"are {listing(misspelt)} among them"


def _describe_found(facts: Mapping[str, object]) -> str:
    """Return the value found: a text or a number as it is, of anything else its kind."""
    got = facts["got"]
    if isinstance(got, str):
        return quote(got)
    return with_article(str(facts["kind"])) if got is None else _show(got)


def _certain(fault: Fault) -> Fix | None:
    """Return the change that cannot alter what was meant: another letter case, or a value written as a text."""
    got, allowed = fault.facts.get("got"), _names(fault.facts.get("allowed"))
    if not isinstance(got, str):
        return None
    if fault.reason == "enum":
        meant: list[str | bool | int] = [each for each in allowed if each.lower() == got.strip().lower()]
    else:
        meant = list(_unquote(got, allowed)) if fault.reason == "type" else []
    return Fix(f"write {_show(meant[0])}", (Edit(Change.REPLACE, fault.at, meant[0]),)) if len(meant) == 1 else None


def _rename(owner: Place, names: Mapping[str, str]) -> Fix | None:
    """Return the fix that gives members of an object the names that they were meant to have."""
    if not names or len({*names.values()}) < len(names):
        return None
    edits = tuple(Edit(Change.RENAME, owner / name, meant) for name, meant in names.items())
    return Fix(f"rename {listing(names)} to {listing(names.values())}", edits, is_safe=False)


def _unquote(got: str, allowed: tuple[str, ...]) -> Iterator[bool | int]:
    if allowed == ("boolean",) and got in _TRUTHS:
        yield _TRUTHS[got]
    if allowed in {("integer",), ("number",)} and got.isascii() and got.isdecimal() and str(int(got[:9])) == got:
        yield int(got)


def _show(meant: object) -> str:
    return quote(meant) if isinstance(meant, str) else str(meant).lower()


def _names(given: object) -> tuple[str, ...]:
    return tuple(str(each) for each in given) if isinstance(given, tuple) else ()


def name_value(fault: Fault) -> str:
    """Return a name for the value with a fault."""
    key = fault.facts.get("key")
    if not key:
        return "this value"
    return f"an item of {quote(key)}" if fault.facts.get("item") else f"the value of {quote(key)}"

"""Syntax errors of JSON, YAML and frontmatter, and values that mean something other than they seem to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stagec.check.rules.document import name_value, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.sources.tree import Fault, Tree

_ORIGIN = ("steps-registry:agent.invalid-json", "steps-registry:reg.unreadable", "steps-registry:gate.schema-load")
_INVALID_JSON_SENTENCES = {
    "bad-escape": "{found} is not an escape in JSON; write a backslash itself twice",
    "bad-number": "{found} is not a number; put it in double quotes if it is text",
    "bare-exponent": "the exponent of {found} has no digits",
    "bare-point": "the number {found} needs a digit before and after its point",
    "colon-in-array": "found ':' in an array, whose elements have no names; expected ',' or ']'",
    "comment": "found a comment, which JSON does not have; remove it",
    "conflict-marker": "found {found}, which is left of a conflict that git could not merge; remove the line",
    "control-character": "the character {character} inside a string must be written as an escape",
    "digit-separator": "the number {found} must be written without underscores",
    "extra-bracket": "found {found}, but no bracket is open here",
    "extra-comma": "found ',' where a value or a name was expected",
    "foreign-literal": "{found} is not a JSON value; did you mean {expected}?",
    "foreign-space": "the character {found} is not white space in JSON; use an ordinary space",
    "key-not-string": "a member's name must be a string in double quotes, found {found}",
    "leading-zero": "the number {found} must not begin with a zero",
    "lone-key": "{key} has no ':' and no value",
    "mismatched-bracket": "found {found} where {expected} was expected",
    "missing-colon": "expected ':' between {key} and its value",
    "missing-comma": "expected ',' before {found}",
    "missing-key": "found ':' without a name before it",
    "missing-value": "{key} has no value: found {found} after its ':'",
    "newline-in-string": "a string continues on the next line; write the line break as an escape, or close the string",
    "no-number": "{found} cannot be written in JSON; use null, or a text in double quotes",
    "other-base": "the number {found} must be written in decimal digits",
    "plus-sign": "{found} must not begin with '+'",
    "single-quotes": "{found} must stand in double quotes",
    "smart-quotes": "{found} in typographic quotes must stand in plain double quotes",
    "stray-bracket": "found {found} where a value or a name was expected; remove it, or the ',' before it",
    "text-after": "found {found} after the end of the document",
    "trailing-comma": "found ',' before {closer}; JSON allows no comma after the last member",
    "unclosed-array": "the file ends inside an array: expected {expected}",
    "unclosed-object": "the file ends inside an object: expected {expected}",
    "unclosed-string": "this string has no closing quote on its line",
    "unexpected-character": "found {found}, which means nothing in JSON here",
    "unexpected-colon": "found ':' where none was expected",
    "unquoted-key": "the name {found} must stand in double quotes",
    "unquoted-text": "{found} must stand in double quotes, or be a number, true, false or null",
}


@rule(since="0.1", origin=_ORIGIN, groups=("mandatory",))
def stg106_invalid_json(tree: Tree) -> Iterator[Finding]:
    """A file is not JSON.

    ## Why this matters
    A file that cannot be read cannot be checked or run. JSON has no comments, trailing commas or single quotes (RFC
    8259).

    ## How to fix
    Correct what the message names, at the place shown.
    """
    for fault in tree.about("invalid-json"):
        facts = {name: quote(str(given)) for name, given in fault.facts.items()}
        related = tuple(Related(at, "opened here") for at, _ in fault.related)
        more = f", and so must {fault.facts['more']} more" if "more" in fault.facts else ""
        yield Finding(fault.at, _INVALID_JSON_SENTENCES[fault.reason].format_map(facts) + more, related)


_INVALID_YAML_SENTENCES = {
    "after-bracket": "{character} follows the closing {bracket} of {subject}; put the whole value {value} in quotes",
    "after-quote": (
        "{character} follows the closing {quote} of {subject}; "
        "put the whole value in {others}, or write each {quote} inside it as {escaped}"
    ),
    "after-key": "{character} stands between a closing quote and ':'; put the whole key {key} in other quotes",
    "alias": "{subject} begins with '*', which YAML reads as a reference to an anchor; put {value} in quotes",
    "anchor": "{subject} begins with '&', which YAML reads as the name of an anchor; put {value} in quotes",
    "block-header": (
        "{subject} continues after {character}, where its line must end; "
        "begin the text on the next line, or put {value} in quotes"
    ),
    "block-indentation": "this line is indented less than the blank line that begins its block",
    "bullet": "{character} begins no list in YAML; write {written}",
    "colon": "{subject} holds {held}, which ends a key in YAML; put the value in quotes",
    "colon-below": (
        "this line continues the value of {key} and holds ': '; put the whole value in quotes, "
        "or write '|' behind {key} and the text indented below it"
    ),
    "control": "the control character {code} in {subject} must be written as an escape in double quotes",
    "dash": "{subject} begins with '- ', as a list does; begin the list on the line below, or put {value} in quotes",
    "directive": "a line that begins with '%' is a directive and must stand above a line '---'; a key needs quotes",
    "escape": "{escape} in {subject} is not an escape; write the backslash twice, or put the value in single quotes",
    "extra-bracket": "there is one {character} too many in {subject}",
    "flow-colon": "{subject} holds a second ': ' inside brackets; put the text around it in quotes",
    "foreign-colon": "{character} ({code}) is not ':'; write {written}",
    "foreign-sign": "{character} gives no key a value in YAML; write {written}",
    "foreign-space": "the space behind ':' is none that YAML knows ({code}); write {written}",
    "indentation": "{text} is indented by {indent}, and the lines above it by {allowed}; they must line up",
    "key-not-text": "{subject} has {character} where YAML expects a key; put {value} in quotes",
    "key-start": "no key can begin with {character}; put {key} in quotes",
    "list-after-value": (
        "{text} begins a list below {key}, which has a value already; "
        "remove one of them, or indent the line if it continues the value"
    ),
    "lost-break": (
        "{text} stands in the value of {key}; begin a line with it if it is a key, else put the whole value in quotes"
    ),
    "missing-colon": "{text} is not 'key: value'; add the ':'",
    "missing-comma": "a ',' or a closing bracket is missing before {character} in {subject}",
    "missing-space": "a space must follow {character} in {text}; write {written}",
    "nested": (
        "{text} is indented below {key}, which has a value already; "
        "indent it like {key}, or put the whole value in quotes"
    ),
    "other": "YAML cannot be read here: {problem}",
    "question": "{subject} begins with '? ', as a key does; put {value} in quotes",
    "remark": "{text} is not a comment in YAML; begin it with '#'",
    "reserved": "{subject} begins with {character}, which no unquoted value can; put {value} in quotes",
    "stray": "{character} behind the closing {quote} of {subject} has no meaning; remove it",
    "tab": "a tab stands before {text}; indent it with spaces",
    "tag": "{subject} has the tag {tag}, which is not part of the core schema; put it in quotes if it is text",
    "text-after": "found {character} after the end of the document",
    "unclosed-bracket": "the {character} of {subject} is never closed",
    "unclosed-quote": "the {character} that begins {subject} is never closed",
    "unindented": "{text} is not 'key: value'; indent it if it continues the value of {key}, else add the ':'",
}


_BARE = {"code", "escaped"}
"""Facts that stand in a sentence as they are."""
_QUOTES = {'"': "single quotes", "'": "double quotes"}
"""The quotes for a text that contains the other kind."""


def sentence(fault: Fault) -> str:
    """Return the sentence for a fault of a YAML text."""
    facts = {name: given if name in _BARE else _show(given) for name, given in fault.facts.items()}
    return _INVALID_YAML_SENTENCES[fault.reason].format_map(
        facts | {"subject": name_value(fault), "others": _QUOTES.get(str(fault.facts.get("quote")))}
    )


def _show(given: object) -> str:
    if isinstance(given, tuple):
        return " or ".join(str(each) for each in given)
    return str(given) if isinstance(given, int) else quote(given)


@rule(since="0.1", origin=("rulings:everywhere", "stage-definitions:frontmatter-yaml"), groups=("mandatory",))
def stg107_invalid_yaml(tree: Tree) -> Iterator[Finding]:
    """A text is not YAML.

    ## Why this matters
    A file that no parser can read means nothing, and parsers stop far from the mistake: a colon in an unquoted
    description hides everything below it. stagec reads YAML 1.2 by its core schema.

    ## How to fix
    Correct what the message names, at the place shown. Most often a text needs quotes: put it in double quotes, or
    write it as a block after `|`. Where only one reading of a value makes sense, `stagec validate --fix` puts the
    quotes there.
    """
    for fault in tree.about("invalid-yaml"):
        again = tuple(Related(at, "this is wrong as well") for at, why in fault.related if why == "again")
        yield Finding(fault.at, sentence(fault), again, _fix(fault))


def _fix(fault: Fault) -> Fix | None:
    """Offer quotes around what was surely meant as text."""
    places = [at for at, why in fault.related if why == "quotable"]
    meant = fault.facts.get("meant")
    if not places or not isinstance(meant, str):
        return None
    return Fix(f"put {quote(meant)} in quotes", (Edit(Change.REPLACE, places[0], meant),))


_INVALID_FRONTMATTER_SENTENCES = {
    "anchor": (
        "{subject} begins with {character}, as an anchor or alias does, which frontmatter must not have; "
        "put {value} in quotes, or repeat what it stands for"
    ),
    "misspelt": "no line of this frontmatter is a key with a value; write {written}",
    "not-a-mapping": "frontmatter must consist of 'key: value' lines",
    "tag": "{subject} begins with {character}, as a tag does, which frontmatter must not have; put {value} in quotes",
    "unclosed": "the frontmatter that begins here is not closed by a second line '---'",
}


@rule(since="0.1", origin=("rulings:everywhere", "stage-definitions:frontmatter-yaml"), groups=("mandatory",))
def stg108_invalid_frontmatter(tree: Tree) -> Iterator[Finding]:
    """The frontmatter of a Markdown file cannot be used.

    ## Why this matters
    Frontmatter is what a program learns from a prompt or stage file. Where it is not closed, or is not a mapping, most
    readers take all of it for prose and say nothing.

    ## How to fix
    Write `key: value` lines between two lines `---`, the first of which is the first line of the file. Repeat a value
    instead of referring to it with an anchor, and leave out tags.
    """
    for fault in tree.about("invalid-frontmatter"):
        facts = {name: given if isinstance(given, int) else quote(given) for name, given in fault.facts.items()}
        related = tuple(Related(at, f"{quote(found)} is not '---'") for at, found in fault.related)
        yield Finding(
            fault.at,
            _INVALID_FRONTMATTER_SENTENCES[fault.reason].format_map(facts | {"subject": name_value(fault)}),
            related,
        )


_RELATED = {"first": "first written here", "again": "another key that is written twice"}


@rule(since="0.1", origin=("RFC8259-4",), groups=("mandatory",))
def stg109_repeated_key(tree: Tree) -> Iterator[Finding]:
    """A key is written twice in one object.

    ## Why this matters
    Most parsers keep the last value and drop the others without a word, so what its author sees is not what runs.

    ## How to fix
    Keep one of the members, or give the later one the name it was meant to have.
    """
    for fault in tree.about("repeated-key"):
        name = fault.facts.get("key", fault.at.pointer[-1] if fault.at.pointer else "")
        related = tuple(Related(at, _RELATED[why]) for at, why in fault.related)
        message = f"the key {quote(name)} is written twice in one object"
        yield Finding(fault.at, message, related, spoils=_list_doubtful(tree, fault))


def _list_doubtful(tree: Tree, fault: Fault) -> tuple[Place, ...]:
    """Return the place of a value that may be the wrong one of two; what is in an object or a list is judged itself."""
    given: Any = tree.value
    try:
        for key in fault.at.pointer:
            given = given[key]
    except (LookupError, TypeError):  # the text cannot be read, or another value has taken the place of the object
        return ()
    return () if isinstance(given, dict | list) else (Place(fault.at.file, fault.at.pointer),)


@rule(since="0.1", origin=("RFC8259-9",), groups=("mandatory",))
def stg110_deep_nesting(tree: Tree) -> Iterator[Finding]:
    """Objects and arrays are nested too deep.

    ## Why this matters
    No document of a workflow needs that many levels, and many programs crash on them, so the file is not read at all.

    ## How to fix
    Flatten the document, or raise the `depth` budget in the configuration when the nesting is meant.
    """
    for fault in tree.about("deep-nesting"):
        limit = fault.facts["limit"]
        yield Finding(fault.at, f"objects and arrays are nested deeper than the {limit} levels allowed")


@rule(since="0.1", origin=("rulings:everywhere",), groups=("mandatory",))
def stg111_alias_expansion(tree: Tree) -> Iterator[Finding]:
    """Aliases stand for too much, or for themselves.

    ## Why this matters
    Ten lines of YAML can stand for a billion values when each line refers several times to the one above. Such a file
    is refused, not expanded.

    ## How to fix
    Write the value out, or refer to it less often.
    """
    for fault in tree.about("alias-expansion"):
        alias = quote(f"*{fault.facts['alias']}")
        if fault.reason == "recursive":
            yield Finding(fault.at, f"{alias} stands inside the value that it refers to")
        else:
            limit = fault.facts["limit"]
            yield Finding(fault.at, f"with {alias}, the aliases expand to more than the {limit:,} values allowed")


@rule(since="0.1", origin=("RFC8259-6",))
def stg112_number_out_of_range(tree: Tree) -> Iterator[Finding]:
    """A number is too large to be held, or is none.

    ## Why this matters
    Programs read such a number as infinity, round it, or refuse the file; no two agree what it means.

    ## How to fix
    Write a smaller number, or put it in double quotes when it is not meant to be calculated with.
    """
    for fault in tree.about("number-out-of-range"):
        yield Finding(fault.at, _describe_number(fault))


def _describe_number(fault: Fault) -> str:
    if fault.reason == "digits":
        found = f"an integer of {fault.facts['digits']} digits" if "digits" in fault.facts else "this integer"
        return f"{found} is too long; at most {fault.facts.get('limit', 4300)} digits can be read"
    if fault.reason == "no-number":
        return f"{quote(fault.facts['number'])} is a number that JSON cannot hold"
    found = f"the number {quote(fault.facts['number'])}" if "number" in fault.facts else "this number"
    return f"{found} is too large; the largest that can be held is about 1.8e308"


@rule(since="0.1", origin=("RFC8259-8.2",))
def stg113_lone_surrogate(tree: Tree) -> Iterator[Finding]:
    """A text contains half of a surrogate pair.

    ## Why this matters
    Characters beyond U+FFFF are written as two escapes that belong together. One alone is not a character: it cannot be
    stored, printed or sent, and a program that tries fails at that point.

    ## How to fix
    Write the missing half, or the character itself.
    """
    for fault in tree.about("lone-surrogate"):
        found = f"the escape {quote(fault.facts['escape'])}" if "escape" in fault.facts else "this escape"
        yield Finding(fault.at, f"{found} is half of a surrogate pair, not a character")


@rule(since="0.1", origin=("rulings:everywhere",), groups=("mandatory",))
def stg114_several_documents(tree: Tree) -> Iterator[Finding]:
    """A YAML file holds more than one document.

    ## Why this matters
    Only the first document of a file is read. Text below the second `---` would be ignored without a word.

    ## How to fix
    Put each document into its own file. If the `---` is meant as a separating line, write it as a comment.
    """
    for fault in tree.about("several-documents"):
        yield Finding(fault.at, "a second document begins here, and only the first one is read")


@rule(since="0.1", origin=("stage-definitions:frontmatter-missing",))
def stg169_missing_frontmatter(tree: Tree) -> Iterator[Finding]:
    """A stage definition has no frontmatter.

    ## Why this matters
    The frontmatter says what the stage is called, which tools it may use and how it hands in its result. A file
    without it is a prompt and nothing more; no pipeline can run it.

    ## How to fix
    Begin the file with a line `---`, write the members of a stage definition as YAML, and close them with another line
    `---`. If the file is not a stage definition, leave it out of the `stages` of the pipeline.
    """
    for fault in tree.about("missing-frontmatter"):
        must = "must begin with its members between two lines '---'"
        if fault.reason == "late":
            must = "must begin on the first line, and there are blank lines before '---'"
        yield Finding(fault.at, f"this stage definition has no frontmatter: it {must}")


@rule(since="0.1", origin=("RFC7493-2.2", "RFC8785-3.2.2.3"))
def stg187_inexact_number(tree: Tree) -> Iterator[Finding]:
    """A whole number is too large to be the same for every program.

    ## Why this matters
    Many programs hold numbers as floats, which beyond 9007199254740991, up and down, take one whole number for
    another. A plan is read by all kinds of programs, so it has no such numbers. In a JSON Schema they are fine: a plan
    holds its text.

    ## How to fix
    Write a smaller number, or put it in double quotes when it is not meant to be calculated with, such as an id.
    """
    for fault in tree.about("inexact-number"):
        number, limit = int(str(fault.facts["number"])), int(str(fault.facts["limit"]))
        least = f"the largest that can is {limit}" if number > 0 else f"the smallest that can is -{limit}"
        yield Finding(fault.at, f"the whole number {quote(number)} cannot be held exactly; {least}")


@rule(since="0.1", origin=("RFC7493-2.2", "RFC8785-3.2.2.3"), severity=Severity.WARNING)
def stg188_rounded_number(tree: Tree) -> Iterator[Finding]:
    """A schema compares values with a whole number that runs do not hold exactly.

    ## Why this matters
    Runs hold numbers as floats, like most programs that read JSON. Beyond 9007199254740991, up and down, these take
    one whole number for another: the number of the schema and those of answers alike. An answer with a neighbour of
    the number is accepted in its place.

    ## How to fix
    Write a smaller number. A value that is no quantity, such as an id, is better a text in double quotes.
    """
    for fault in tree.about("rounded-number"):
        number, held = fault.facts["number"], fault.facts["held"]
        yield Finding(fault.at, f"runs cannot distinguish the whole number {number} from {held}")

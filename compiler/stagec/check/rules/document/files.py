"""Files that cannot be read, hold nothing, or do not belong to the project."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from stagec.check.rules.document import rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.sources.tree import Fault, Tree


@rule(
    since="0.1",
    origin=(
        "steps-registry:reg.unreadable",
        "steps-registry:agent.unreadable",
        "steps-registry:path.schema-unreadable",
    ),
    groups=("mandatory",),
)
def stg101_unreadable_file(tree: Tree) -> Iterator[Finding]:
    """A file or folder cannot be read.

    ## Why this matters
    An unreadable file cannot be checked, and a runner cannot read it either.

    ## How to fix
    Give the user of stagec the right to read the file, replace a device or a pipe by a regular file, and repair or
    remove links to nothing. A folder that nobody should look at belongs into `exclude`.
    """
    for fault in tree.about("unreadable-file"):
        yield Finding(fault.at, _describe_unreadable_file(fault))


def _describe_unreadable_file(fault: Fault) -> str:
    file = quote(fault.at.file)
    if fault.reason == "not-regular":
        return f"{file} is not a regular file, so it is not read"
    if fault.reason == "dangling":
        return f"{file} is a link to {quote(fault.facts['target'])}, which does not exist"
    verb = "listed" if fault.reason == "folder" else "read"
    return f"{file} cannot be {verb}: {fault.facts['error']}"


@rule(since="0.1", origin=("steps-registry:beyond.path-escape",), groups=("mandatory",))
def stg102_outside_project(tree: Tree) -> Iterator[Finding]:
    """A file lies outside the project.

    ## Why this matters
    A project must mean the same wherever it is checked out, and checking it must not reveal what else lies on a
    machine. A file behind a link that leads out of the project is therefore never opened.

    ## How to fix
    Put a copy of the file into the project, or begin the project further up with `--root`.
    """
    for fault in tree.about("outside-project"):
        target = quote(fault.facts["target"])
        yield Finding(fault.at, f"{quote(fault.at.file)} is a link that leads out of the project, to {target}")


@rule(since="0.1", origin=("rulings:everywhere",), groups=("mandatory",))
def stg103_oversized_file(tree: Tree) -> Iterator[Finding]:
    """A file is larger than the limit.

    ## Why this matters
    Nobody writes a workflow of several megabytes by hand. A file that large is mostly there by accident, and reading
    it would make every run slow.

    ## How to fix
    Remove the parts that do not belong in the file. If it is right as it is, raise the limit in `stagec.toml`:
    `budgets.file-size`, in bytes.
    """
    for fault in tree.about("oversized-file"):
        size, limit = fault.facts.get("size"), fault.facts["limit"]
        if fault.reason == "values":
            yield Finding(fault.at, f"file has more values than the {limit:,} that are read of one file")
        else:
            yield Finding(fault.at, f"file has {size:,} bytes, more than the {limit:,} that 'budgets.file-size' allows")


@rule(
    since="0.1",
    origin=("steps-registry:reg.unreadable", "steps-registry:agent.unreadable", "steps-registry:gate.schema-load"),
    groups=("mandatory",),
)
def stg104_not_utf8(tree: Tree) -> Iterator[Finding]:
    """A file is not encoded in UTF-8.

    ## Why this matters
    JSON is UTF-8 by its standard, and for YAML and Markdown every other encoding is a guess: the same bytes would be
    read as different texts on different machines.

    ## How to fix
    Save the file as UTF-8 in your editor. `iconv -f WINDOWS-1252 -t UTF-8` does it for many files.
    """
    for fault in tree.about("not-utf8"):
        yield Finding(fault.at, _describe_encoding(fault))


def _describe_encoding(fault: Fault) -> str:
    if fault.reason == "utf16":
        return "file looks like UTF-16 or UTF-32, expected UTF-8"
    return f"byte 0x{fault.facts['byte']:02x} at offset {fault.facts['offset']} is not UTF-8"


@rule(since="0.1", origin=("RFC 8259 section 8.1",), severity=Severity.WARNING)
def stg105_byte_order_mark(tree: Tree) -> Iterator[Finding]:
    """A file begins with a byte order mark.

    ## Why this matters
    The mark says nothing in UTF-8, and many programs take it for a character of the text: strict JSON parsers refuse
    the file, and the first line of a Markdown file no longer opens its frontmatter.

    ## How to fix
    Save the file as "UTF-8", not as "UTF-8 with BOM".
    """
    for fault in tree.about("byte-order-mark"):
        fix = Fix("remove it", (Edit(Change.REMOVE, fault.at),))
        yield Finding(fault.at, "file begins with a byte order mark, which UTF-8 does not need", fix=fix)


_SENTENCES = {
    "blank": "the file holds nothing but white space",
    "comments": "the file holds nothing but comments",
}


@rule(
    since="0.1",
    origin=("steps-registry:agent.invalid-json", "steps-registry:reg.unreadable", "steps-registry:gate.schema-load"),
)
def stg115_empty_file(tree: Tree) -> Iterator[Finding]:
    """A file that should hold a document is empty.

    ## Why this matters
    An empty file is not a document, so files that refer to it get nothing. Most often a write was interrupted.

    ## How to fix
    Restore the file's content, or delete the file with all references to it.
    """
    for fault in tree.about("empty-file"):
        yield Finding(fault.at, _SENTENCES.get(fault.reason, "the file is empty"))


@rule(since="0.1", origin=("rulings:everywhere",), severity=Severity.WARNING)
def stg116_unknown_document(tree: Tree) -> Iterator[Finding]:
    """A file named on the command line is none that stagec reads.

    ## Why this matters
    Whoever names a file expects it to be checked. A run that says nothing about it looks like a run that found nothing
    wrong.

    ## How to fix
    Name a step registry or an agent definition, or the folder it lies in.
    """
    for fault in tree.about("unknown-document"):
        yield Finding(fault.at, f"{quote(tree.file)} contains nothing that stagec can check")


@rule(since="0.1", origin=("steps-registry:beyond.path-escape",), severity=Severity.NOTE)
def stg117_link_out_of_project(tree: Tree) -> Iterator[Finding]:
    """A link to a folder leads out of the project.

    ## Why this matters
    stagec does not follow it, so agents that lie behind it are not checked. That is usually intended, but the report
    must say it.

    ## How to fix
    Nothing, if the target of the link is not a part of the project; naming the link in `exclude` ends the note.
    Otherwise move the folder into the project, or begin the project further up with `--root`.
    """
    for fault in tree.about("link-out-of-project"):
        file, target = quote(fault.at.file), quote(fault.facts["target"])
        yield Finding(fault.at, f"{file} leads out of the project, to {target}: stagec does not look into it")


@rule(since="0.1", origin=("git:conflict-markers",), groups=("mandatory",))
def stg118_conflict_markers(tree: Tree) -> Iterator[Finding]:
    """A file has the markers of a conflict that git could not merge.

    ## Why this matters
    The file says two different things at once. JSON and YAML with markers cannot be read. Text with markers can: a
    model would get both versions of a prompt, and the markers.

    ## How to fix
    Keep the right parts of both versions, and remove the lines that begin with `<<<<<<<`, `|||||||`, `=======` and
    `>>>>>>>`. `git diff` shows all conflicts that are left.

    Text that only shows such lines stands in a code block between fences (three backticks). There they are no mistake.
    """
    for fault in tree.about("conflict-markers"):
        count = fault.facts["count"]
        found = "a conflict that git could not merge" if count == 1 else f"{count} conflicts that git could not merge"
        related = tuple(Related(at, f"the line with {quote(mark)}") for at, mark in fault.related)
        message = f"the file has {found}: keep one version, and remove the lines with the markers"
        yield Finding(fault.at, message, related)


_TAG = "\U000e0000-\U000e007f"
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_MARKS = "\u061c\u200e\u200f"
"""Marks of direction, which are no text but count as such in Unicode."""
_HIDDEN = re.compile(
    f"(?P<tags>[{_TAG}]+)|(?P<selectors>[\U000e0100-\U000e01ef]{{2,}})"
    f"|(?P<blank>[\u200b-\u200d\u2060-\u2064\ufeff]+)|(?P<mark>[{_MARKS}]+)|(?P<turn>[\u202a-\u202e\u2066-\u2069])"
)
_FROM_RIGHT = frozenset({"R", "AL"})
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\u1b00-\u1bff\ua980-\ua9ff\uaa60-\uaadf]")
"""Thai, Lao, Burmese, Khmer, Javanese, Balinese and others, which mark where a line can break."""


_MOST = 20
"""So many findings are told of one file."""


@rule(since="0.1", origin=("agent-files:hidden-characters",), severity=Severity.WARNING)
def stg119_hidden_characters(tree: Tree) -> Iterator[Finding]:
    """A text has characters that a model reads and nobody sees.

    ## Why this matters
    Characters for tags, of no width, or for the direction of writing can hold instructions, or make a line look like
    another one. A reviewer sees nothing of them.

    ## How to fix
    Remove the characters. The message says what they spell. Emoji, languages that need joiners, and texts from right
    to left are no mistake.
    """
    return islice(_list_findings(tree), _MOST) if tree.may_hide else iter(())


def _list_findings(tree: Tree) -> Iterator[Finding]:
    text = _FLAG.sub(lambda flag: " " * len(flag[0]), tree.data.decode(errors="replace"))
    start, is_any_from_right = 0, _is_from_right(text)
    for line in text.split("\n"):
        is_from_right = is_any_from_right and _is_from_right(line)
        for found in _HIDDEN.finditer(line, 0 if start else 1):
            needs_marks = is_any_from_right if found["mark"] else is_from_right  # a mark may end a line of digits
            message = _describe(found, line, is_from_right=needs_marks)
            if message is not None:
                at = Place(tree.file, range=(start + found.start(), start + found.end()))
                yield Finding(at, message)
        start += len(line) + 1


def _is_from_right(text: str) -> bool:
    letters = (each for each in text if each not in _MARKS) if not text.isascii() else ""
    return any(unicodedata.bidirectional(each) in _FROM_RIGHT for each in letters)


def _describe(found: re.Match[str], line: str, *, is_from_right: bool) -> str | None:
    """Describe the text that some characters hide; nothing for those that their language needs."""
    start, end = found.span()
    if found["tags"]:
        return f"{len(found[0])} invisible characters spell {quote(_spell(found[0]))}"
    if found["selectors"]:
        return f"{len(found[0])} invisible characters stand here one after the other"
    names = ", ".join(f"U+{ord(each):04X}" for each in sorted(set(found[0])))
    if found["blank"]:
        around = line[max(start - 1, 0) : start] + line[end : end + 1]
        is_joiner = not around.isascii() and (_UNSPACED.search(around) or "\u200b" not in found[0])
        return None if is_joiner and end - start == 1 else f"people do not see {names}, but a model reads it"
    if found["mark"] and not is_from_right:
        return f"people do not see {names}, but a model reads it; the file has no text from right to left"
    return None if is_from_right else f"{names} turns the direction of a line that has no text from right to left"


def _spell(tags: str) -> str:
    plain = (chr(ord(each) - 0xE0000) for each in tags)
    return "".join(each for each in plain if each.isprintable())

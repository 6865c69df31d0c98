"""Frontmatter that its tool does not read as it is meant."""

from collections.abc import Iterator

from stagec.check.rules.agent_files import rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.sources.tree import Fault

_SENTENCES = {
    "closing": "{owner} ends the frontmatter here, but other tools find no line '---'",
    "repeated": "{key} is written twice: {owner} takes the last, stricter tools refuse the file",
    "other": "{subject} is not valid YAML: {owner} accepts it at a second try, stricter tools refuse the file",
}


@rule(since="0.1", origin=("agent-files:unportable-frontmatter",), severity=Severity.WARNING)
def stg3101_unportable_frontmatter(document: AgentFiles) -> Iterator[Finding]:
    """A frontmatter is read by the tool that owns the file, and refused by others.

    ## Why this matters
    Claude Code and OpenCode try again where a frontmatter is not valid YAML: they put plain values in quotes. Claude
    Code also takes the first `---` for the end, wherever it is, and the last of repeated keys. Codex, Copilot CLI and
    the tools that install skills read the same file as YAML once, and skip it.

    ## How to fix
    Put the value in quotes, as `stagec validate --fix` does, write a key once, and end the frontmatter with a line
    `---`.
    """
    for file in document.files:
        fault = file.reading.unportable
        if fault is not None:
            related = tuple(Related(at, "written here") for at, why in fault.related if why == "first")
            yield Finding(fault.at, _describe(file, fault), related, _add_quotes(file))


def _describe(file: AgentFile, fault: Fault) -> str:
    key = str(fault.facts.get("key") or "")
    subject = f"the value of {quote(key)}" if key else "this frontmatter"
    reason = "repeated" if fault.topic == "repeated-key" else fault.reason
    sentence = _SENTENCES.get(reason, _SENTENCES["other"])
    return sentence.format(owner=file.kind.owner, key=quote(key), subject=subject)


def _add_quotes(file: AgentFile) -> Fix | None:
    """Return the quotes that the owner puts there itself."""
    mends = file.reading.mends
    if not mends:
        return None
    edits = tuple(Edit(Change.REPLACE, at, text) for at, text in mends)
    return Fix(f"put {listing([text for _, text in mends])} in quotes", edits)


@rule(since="0.1", origin=("agent-files:displaced-frontmatter",))
def stg3102_displaced_frontmatter(document: AgentFiles) -> Iterator[Finding]:
    """Text before a frontmatter hides it from every tool.

    ## Why this matters
    A frontmatter is one only at the very beginning of a file. Behind a blank line, a comment or the mark of a code
    block it is text: the name, the description and the limits to tools that it gives are not there.

    ## How to fix
    Move the frontmatter to the first line. Remove the marks of a code block round the whole file. `stagec validate
    --fix` takes blank lines before it and the marks of such a code block away.
    """
    for file in document.files:
        displaced = file.reading.displaced
        if displaced is not None:
            at = Place(file.at.file, range=(displaced.start, displaced.end))
            cause = "the mark of a code block precedes" if displaced.is_fenced else "something precedes"
            where = "the first line '---' is missing" if displaced.is_headless else f"{cause} this frontmatter"
            refusal = displaced.refusal
            related = () if refusal is None else (Related(refusal.at, "the frontmatter is not valid YAML either"),)
            yield Finding(at, f"{where}, so {file.kind.owner} reads it as text", related, _move_frontmatter(file))


def _move_frontmatter(file: AgentFile) -> Fix | None:
    """Return how the file begins with its frontmatter: without what stands before, or without the code block."""
    displaced = file.reading.displaced
    if displaced is not None and displaced.is_headless:
        start = Place(file.at.file, range=(displaced.start, displaced.start))
        return Fix("begin with '---'", (Edit(Change.WRITE, start, "---\n"),))
    if displaced is None or not (displaced.is_harmless or displaced.is_fenced):
        return None
    taken = [(0, displaced.start), *([displaced.last_line] if displaced.last_line else [])]
    made = tuple(Edit(Change.WRITE, Place(file.at.file, range=each), "") for each in taken)
    return Fix("let the file begin with its frontmatter", made)


@rule(since="0.1", origin=("agent-files:cut-frontmatter",))
def stg3103_cut_frontmatter(document: AgentFiles) -> Iterator[Finding]:
    """A frontmatter ends at a `---` inside of a value or a comment, and the keys below it are lost.

    ## Why this matters
    Claude Code takes the first `---` behind the opening line for the end of a frontmatter, also in the middle of a
    line. Keys below are text: without its `tools` an agent may use every tool.

    ## How to fix
    Write the value without three dashes in a row.
    """
    for file in document.files:
        if file.reading.cut is not None:
            at = Place(file.at.file, range=file.reading.cut)
            yield Finding(at, f"{file.kind.owner} ends the frontmatter at this '---': what follows is lost")

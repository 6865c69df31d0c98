"""Something stands before a frontmatter, so that no tool reads it.

## Why this matters
A frontmatter is one only at the very beginning of a file. Behind a blank line, a comment or the mark of a code block
it is text: the name, the description and the limits to tools that it gives are not there.

## How to fix
Move the frontmatter to the first line. Remove the marks of a code block round the whole file. `stagec validate --fix`
takes blank lines before it and the marks of such a code block away.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:displaced-frontmatter",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.files:
        displaced = file.reading.displaced
        if displaced is not None:
            at = Place(file.at.file, range=(displaced.start, displaced.end))
            cause = "the mark of a code block stands" if displaced.is_fenced else "something stands"
            where = "the first line '---' is missing" if displaced.is_headless else f"{cause} before this frontmatter"
            refusal = displaced.refusal
            related = () if refusal is None else (Related(refusal.at, "the frontmatter is no YAML either"),)
            yield Finding(at, f"{where}, so {file.kind.owner} takes it for text", related, _fix(file))


def _fix(file: AgentFile) -> Fix | None:
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

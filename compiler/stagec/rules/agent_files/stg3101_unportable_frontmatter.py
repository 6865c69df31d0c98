"""A frontmatter is read by the tool that owns the file, and refused by others.

## Why this matters
Claude Code and OpenCode try again where a frontmatter is no YAML: they put plain values in quotes. Claude Code also
takes the first `---` for the end, wherever it is, and the last of repeated keys. Codex, Copilot CLI and the tools
that install skills read the same file as YAML once, and skip it.

## How to fix
Put the value in quotes, as `stagec validate --fix` does, write a key once, and end the frontmatter with a line `---`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.agent_files.document import AgentFile, AgentFiles
from stagec.rules.agent_files import rule
from stagec.sources.tree import Fault

_SENTENCES = {
    "closing": "{owner} takes this for the end of the frontmatter, other tools want a line '---' and find none",
    "repeated": "{key} is written twice: {owner} takes the last, stricter tools refuse the file",
    "other": "{subject} is no YAML: {owner} reads it at a second try, stricter tools refuse the file",
}


@rule(since="0.1", origin=("agent-files:unportable-frontmatter",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.files:
        fault = file.reading.unportable
        if fault is not None:
            related = tuple(Related(at, "written here") for at, why in fault.related if why == "first")
            yield Finding(fault.at, _describe(file, fault), related, _fix(file))


def _describe(file: AgentFile, fault: Fault) -> str:
    key = str(fault.facts.get("key") or "")
    subject = f"the value of {quote(key)}" if key else "this frontmatter"
    reason = "repeated" if fault.topic == "repeated-key" else fault.reason
    sentence = _SENTENCES.get(reason, _SENTENCES["other"])
    return sentence.format(owner=file.kind.owner, key=quote(key), subject=subject)


def _fix(file: AgentFile) -> Fix | None:
    """Return the quotes that the owner puts there itself."""
    mends = file.reading.mends
    if not mends:
        return None
    edits = tuple(Edit(Change.REPLACE, at, text) for at, text in mends)
    return Fix(f"put {listing([text for _, text in mends])} in quotes", edits)

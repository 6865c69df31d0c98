"""The `applyTo` of Copilot's instructions is no text, so nothing ever attaches them.

## Why this matters
VS Code reads one text there, with commas between the globs. Any other value is no value, and the instructions count
only where somebody attaches them by hand.

## How to fix
Write one text: `applyTo: '**/*.ts, **/*.tsx'`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import Json, kind_of
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import with_article
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.loaders import LoadOutcome
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unapplied-instructions",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("copilot-instructions"):
        given, at = file.members.get("applyTo"), file.at / "applyTo"
        if given is not None and not isinstance(given, str):
            found = with_article(kind_of(given))
            message = (
                f"'applyTo' must be one text with commas between the globs, found {found}: nothing attaches the file"
            )
            yield Finding(at, message, fix=_join(given, at))
        elif given is None and file.reading.outcome in {LoadOutcome.READ, LoadOutcome.ABSENT}:
            where = (file.at / "globs").key if "globs" in file.members else file.at
            why = "'globs' is a key of Cursor" if "globs" in file.members else "it has no 'applyTo'"
            told = f"no path attaches this file, because {why}"
            yield Finding(where, told, severity=Severity.WARNING)


def _join(given: Json, at: Place) -> Fix | None:
    globs = [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
    if not globs or not isinstance(given, list) or len(globs) < len(given) or any("," in each for each in globs):
        return None
    return Fix("join the globs with commas", (Edit(Change.REPLACE, at, ", ".join(globs)),))

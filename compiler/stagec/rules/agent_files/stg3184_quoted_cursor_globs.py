"""The `globs` of a Cursor rule are in quotes or brackets.

## Why this matters
The frontmatter of a Cursor rule is no YAML. The part of Cursor that matches files takes quotes and brackets for parts
of the globs, and then no file matches.

## How to fix
Write the globs bare, with commas between them: `globs: *.ts,*.tsx`.
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_GLOBS = re.compile(r"^globs:[ \t]*(?P<mark>['\"\[])[^\r\n]*", re.MULTILINE)


@rule(since="0.1", origin=("agent-files:quoted-cursor-globs",), severity=Severity.NOTE, groups=("pedantic",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("cursor-rule"):
        found = _GLOBS.search(file.text) if "globs" in file.members else None
        if found is not None:
            at = Place(file.at.file, range=found.span())
            yield Finding(at, f"Cursor takes {found['mark']} for a part of the globs, and no file matches them")

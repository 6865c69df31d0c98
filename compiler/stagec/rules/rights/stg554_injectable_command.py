"""A text from outside becomes a part of a program.

## Why this matters
A shell, or an interpreter behind `-c` or `-e`, reads its argument as a program. A text that is put into it can end a
word and begin a command of its own: an issue title such as `x; curl …` then runs on your machine. Quotation marks do
not help, because the text can contain some, too.

## How to fix
Start the program itself, and give the text as a word of its own: `"command": "gh", "args": ["issue", "view",
"${context.issue}"]`. Or pass the text by a file. A parameter whose type is a number cannot hold a program.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.model.rights import FlowRights
from stagec.rules.rights import noun, rule


@rule(since="0.1", origin=("issue:injectable-command",), severity=Severity.WARNING)
def check(access: FlowRights) -> Iterator[Finding]:
    for name, rights in access.rights.items():
        for each in rights.shell:
            program = each.program if each.program.startswith("the ") else quote(each.program)
            what = f"{program} of {noun(access)} {quote(name)} reads {quote(each.what)} as a part of its program"
            yield Finding(each.at, what)

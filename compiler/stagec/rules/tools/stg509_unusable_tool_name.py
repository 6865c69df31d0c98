"""A tool has a name that no model can call it by.

## Why this matters

The names of tools travel in requests to models, and these take letters, digits, `_`, `-`, `.` and `/` only, at most
128 of them. A tool of another name is refused, and often the whole request with it.

## How to fix

Rename the tool. In a catalogue, write the bare name: what a tool may be called with, as in `Bash(git *)`, is a matter
of permissions and not part of its name.
"""

import re
from collections.abc import Iterator

from stagec.catalogue import Catalogue, Tool
from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.rules.tools import name_origin, rule

_USABLE = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_LONGEST = 128


@rule(since="0.1", origin=("stage-definitions:allowed-tools-empty-name",), severity=Severity.WARNING)
def check(catalogue: Catalogue) -> Iterator[Finding]:
    for tool in catalogue.tools:
        if _USABLE.fullmatch(tool.name) is None:
            yield Finding(tool.at, f"{_name(tool)} has {_wrong(tool.name)}")


def _name(tool: Tool) -> str:
    return f"tool {quote(tool.name)}{f' of {name_origin(tool)}' if tool.server is not None else ''}"


def _wrong(name: str) -> str:
    if len(name) > _LONGEST:
        return f"a name of {len(name)} characters; {_LONGEST} are the most that models take"
    strange = next((each for each in name if _USABLE.fullmatch(each) is None), "")
    return f"{quote(strange)} in its name, which models do not take" if strange else "no name"

"""What a diagnostic is recognised by after its file has changed: no line, no column, no index."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256

from stagec.core.diagnostic import Diagnostic
from stagec.core.place import Pointer

VERSION = "stagec/v1"
"""The name of this way to make fingerprints; another way has another name."""

_SUGGESTION = re.compile(r"; (?:did you mean|is|are) .*\?\Z", re.DOTALL)
"""What a sentence suggests depends on the other names that there are."""


def fingerprint(
    diagnostics: Iterable[Diagnostic], name_file: Callable[[str], str] = str
) -> Iterator[tuple[Diagnostic, str]]:
    """Yield diagnostics, each with its fingerprint: 64 hexadecimal digits that no two of them share."""
    seen: Counter[str] = Counter()
    for each in diagnostics:
        identity = identify(each.code, name_file(each.at.file), each.at.pointer, each.message)
        seen[identity] += 1
        yield each, digest(identity, seen[identity])


def identify(code: str, file: str, pointer: Pointer, message: str) -> str:
    """Return what a finding has in common with itself after an edit elsewhere.

    That is the rule, the file, the members that lead to the place, and the sentence without its suggestion. Lines and
    indices of arrays do not count: they change with what is written above.
    """
    members = [part for part in pointer if isinstance(part, str)]
    return json.dumps([code, file, members, _SUGGESTION.sub("", message)])


def digest(identity: str, number: int = 1) -> str:
    """Return the fingerprint of the finding with some number among those of one identity."""
    return sha256(f"{identity}#{number}".encode()).hexdigest()

"""Baselines: the findings that a project had when somebody wrote them down; fingerprints recognise them again.

A fingerprint is what stays when a file changes elsewhere: no line, no column, no index.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

from stagec.core.diagnostic import Diagnostic
from stagec.core.json import Json
from stagec.core.place import Pointer
from stagec.core.value import value

VERSION = "stagec/v1"
"""The name of this way to make fingerprints; another way has another name."""

_SUGGESTION = re.compile(r"; (?:did you mean|is|are) .*\?\Z", re.DOTALL)
"""The suggestions of a message, which depend on the other names that there are."""


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
    """Return the fingerprint of a finding, which stays the same after an edit elsewhere.

    That is the rule, the file, the members that lead to the place, and the sentence without its suggestion. Lines and
    indices of arrays do not count: they change with what is written above.
    """
    members = [part for part in pointer if isinstance(part, str)]
    return json.dumps([code, file, members, _SUGGESTION.sub("", message)])


def digest(identity: str, number: int = 1) -> str:
    """Return the fingerprint of the finding with some number among those of one identity."""
    return sha256(f"{identity}#{number}".encode()).hexdigest()


_FORMAT = 1
_MOST = 1_000_000_000
_FINGERPRINT = re.compile(r"[0-9a-f]{64}")
_RULE = re.compile(r"STG[0-9]{3,4}")
_LARGEST_NUMBER = 10
"""Digits of a count; Python refuses to read very long numbers in an error of its own."""


class BaselineError(ValueError):
    """A text that is not a baseline; the message says why."""


@value
class BaselineEntry:
    """Findings with one fingerprint: how many there are, and what people recognise them by.

    `member` is a JSON Pointer without indices.
    """

    file: str
    rule: str
    member: str
    message: str
    fingerprint: str
    count: int = 1


@value
class Baseline:
    """Entries, sorted by file, rule, member and message; no two have one fingerprint."""

    entries: tuple[BaselineEntry, ...] = ()

    @property
    def count(self) -> int:
        """How many findings it accepts."""
        return sum(each.count for each in self.entries)


def make_baseline(entries: Iterable[BaselineEntry]) -> Baseline:
    """Return the baseline of some entries: sorted, and those with one fingerprint added up."""
    known: dict[str, BaselineEntry] = {}
    for each in entries:
        before = known.get(each.fingerprint)
        total = each.count + (before.count if before else 0)
        known[each.fingerprint] = BaselineEntry(
            each.file, each.rule, each.member, each.message, each.fingerprint, min(total, _MOST)
        )
    return Baseline(tuple(sorted(known.values(), key=_order)))


def _order(entry: BaselineEntry) -> tuple[str, ...]:
    return entry.file, entry.rule, entry.member, entry.message, entry.fingerprint


def write_baseline(baseline: Baseline) -> bytes:
    """Return the text of a baseline: a line for each entry, so that changes are read and merged line by line."""
    by_file: dict[str, list[str]] = {}
    for each in baseline.entries:
        described: dict[str, Json] = {"rule": each.rule, "member": each.member, "message": each.message}
        described |= {"count": each.count} if each.count > 1 else {}
        by_file.setdefault(each.file, []).append(json.dumps({**described, "fingerprint": each.fingerprint}))
    files = ",\n".join(f"  {json.dumps(file)}: [\n   {_JOINT.join(rows)}\n  ]" for file, rows in by_file.items())
    inside = f"{{\n{files}\n }}" if files else "{}"
    return f'{{\n "version": {_FORMAT},\n "fingerprints": "{VERSION}",\n "findings": {inside}\n}}\n'.encode()


_JOINT = ",\n   "


def read_baseline(data: bytes) -> Baseline:
    """Return the baseline that a text holds, or raise `BaselineError`."""
    try:
        found = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_refuse_repeated, parse_int=_read_number)
    except UnicodeDecodeError as error:
        raise BaselineError(f"is not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}") from error
    except json.JSONDecodeError as error:
        conflict = "; a merge conflict?" if b"<<<<<<<" in data else ""
        said = f"{error.msg[:1].lower()}{error.msg[1:]}"
        raise BaselineError(f"is not JSON: line {error.lineno}, column {error.colno}: {said}{conflict}") from error
    except RecursionError as error:
        raise BaselineError("is nested too deeply") from error
    if not isinstance(found, dict) or not isinstance(found.get("version"), int):
        raise BaselineError("is not a baseline: it has no 'version'")
    if found["version"] != _FORMAT:
        raise BaselineError(f"has version {found['version']} of baselines, and this stagec reads version {_FORMAT}")
    if found.get("fingerprints") != VERSION:
        raise BaselineError(f"has other fingerprints than {VERSION!r}; 'stagec baseline write' makes it again")
    return make_baseline(_read_entries(found.get("findings")))


def _refuse_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; refuse one with a repeated member, which a bad merge leaves and which would lose entries."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BaselineError(f"has the member {twice[:80]!r} twice in one object")
    return members


def _read_number(text: str) -> int:
    return int(text) if len(text) <= _LARGEST_NUMBER else _MOST + 1


def _read_entries(findings: object) -> Iterator[BaselineEntry]:
    if not isinstance(findings, dict):
        raise BaselineError("is not a baseline: 'findings' must be an object of files")
    for file, entries in findings.items():
        if not isinstance(entries, list):
            raise BaselineError(f"is not a baseline: {file[:80]!r} must be an array of findings")
        yield from (_read_entry(file, each) for each in entries)


def _read_entry(file: str, given: object) -> BaselineEntry:
    members = given if isinstance(given, dict) else {}
    texts = [members.get(name) for name in ("rule", "member", "message", "fingerprint")]
    rule, member, message, digits = (each if isinstance(each, str) else None for each in texts)
    count = members.get("count", 1)
    is_number = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= _MOST
    is_known = rule is not None and _RULE.fullmatch(rule) and digits is not None and _FINGERPRINT.fullmatch(digits)
    if rule is None or member is None or message is None or digits is None or not is_known or not is_number:
        raise BaselineError(
            f"is not a baseline: a finding of {file[:80]!r} must have the texts 'rule', 'member' and 'message', a"
            " 'fingerprint' of 64 hexadecimal digits, and at most a 'count'"
        )
    return BaselineEntry(file, rule, member, message, digits, count)

"""A log in the Static Analysis Results Interchange Format, for code scanning: SARIF 2.1.0, and what GitHub asks for.

Files are named from the top of the repository. Columns count code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote_from_bytes

from stagec.check.reporters import Diagnostic, Report, Reporter
from stagec.core.diagnostic import Edit, Fix
from stagec.core.place import START, Span
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.core.words import visible
from stagec.sources.project.baseline import VERSION, fingerprint
from stagec.sources.tree import Lines, Tree


@value
class Replacement:
    """A stretch of a text, and the new text."""

    span: Span
    text: str


def find_replacement(tree: Tree, edits: Iterable[Edit]) -> Replacement | None:
    """Return the smallest stretch of a file in which edits change something; None if they cannot be made."""
    old = tree.data.decode(errors="replace")
    try:
        new = tree.format.apply(old, edits)
    except ValueError:
        return None
    if new == old:
        return None
    start = _count_equal(old, new)
    end = _count_equal(old[start:][::-1], new[start:][::-1])
    return Replacement(Lines(old).span(start, len(old) - end), new[start : len(new) - end])


def _count_equal(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_BASES = {_ROOT: {"description": {"text": "The top of the repository."}}}


@value
class _SarifWriter:
    """Writes a report as an object of the format."""

    report: Report

    def render(self) -> str:
        """Return the text of the report."""
        from json import dumps  # not needed by other reporters

        ranks = {each.code: each for each in self.report.diagnostics}
        rules = {code: number for number, code in enumerate(sorted(ranks))}
        fixable = self._choose_fixable()
        site = {"informationUri": self.report.documentation} if self.report.documentation else {}
        run = {
            "tool": {
                "driver": {
                    "name": "stagec",
                    **site,
                    **dict.fromkeys(("version", "semanticVersion"), __version__),
                    "rules": [self._describe_rule(ranks[code]) for code in rules],
                }
            },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": _BASES,
            "automationDetails": {"id": "stagec/"},
            "results": [
                self._describe_result(each, digest, rules[each.code])
                | (self._describe_fix(each.fix) if each.fix and id(each) in fixable else {})
                for each, digest in fingerprint(self.report.diagnostics, self.report.name_in_repository)
            ],
        }
        return dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1).replace("##", "#\\u0023") + "\n"

    def _choose_fixable(self) -> set[int]:
        """Return the identities of the first diagnostics that have a fix."""
        return {id(each) for each in [each for each in self.report.diagnostics if each.fix][:_MOST_FIXES]}

    def _describe_rule(self, each: Diagnostic) -> dict[str, Any]:
        """Return the facts about the rule of a diagnostic; GitHub shows `help`, and finds rules by their tags."""
        page = self.report.explain(each.code).strip()
        summary = page.partition("\n")[0]
        linked = each.name if each.url is None else f"[{each.name}]({each.url})"
        return {
            "id": each.code,
            "name": "".join(word.capitalize() for word in each.name.split("-")),
            "shortDescription": {"text": summary},
            "fullDescription": {"text": summary},
            **({"helpUri": each.url} if each.url else {}),
            "help": {
                "text": "\n".join((page, "", *each.pages())),
                "markdown": f"{page}\n\n{each.code}: {linked} (`{each.help}`)",
            },
            "defaultConfiguration": {"level": each.severity},
            "properties": {"tags": ["correctness", each.name], "precision": "very-high"},
        }

    def _describe_result(self, each: Diagnostic, digest: str, rule: int) -> dict[str, Any]:
        related = [
            {"id": number, "message": _message(also.message), **self._locate(also.at.file, also.span)}
            for number, also in enumerate(each.related)
        ]
        return {
            "ruleId": each.code,
            "ruleIndex": rule,
            "level": each.severity,
            "message": _message(each.message),
            "locations": [self._locate(each.at.file, each.span)],
            **({"relatedLocations": related} if related else {}),
            "partialFingerprints": {VERSION: digest},
        }

    def _describe_fix(self, fix: Fix) -> dict[str, Any]:
        """Return the fix of a result as replacements of text, one for each file."""
        files = dict.fromkeys(edit.at.file for edit in fix.edits)
        found = {file: self._replace(file, [edit for edit in fix.edits if edit.at.file == file]) for file in files}
        changes = [change for change in found.values() if change is not None]
        whole = len(changes) == len(files)
        return {"fixes": [{"description": _message(fix.message), "artifactChanges": changes}]} if whole else {}

    def _replace(self, file: str, edits: list[Edit]) -> dict[str, Any] | None:
        tree = self.report.trees.get(file)
        found = find_replacement(tree, edits) if tree is not None and len(tree.data) <= _LARGEST else None
        if found is None:
            return None
        start, end = found.span.start, found.span.end
        region = {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
        where = self._locate(file, found.span)["physicalLocation"]["artifactLocation"]
        return {
            "artifactLocation": where,
            "replacements": [{"deletedRegion": region, "insertedContent": {"text": found.text}}],
        }

    def _locate(self, file: str, span: Span) -> dict[str, Any]:
        uri = quote_from_bytes(self.report.name_in_repository(file).encode(errors="surrogateescape"))
        return {
            "physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": _ROOT}, "region": _describe_region(span)}
        }


_LARGEST = 200_000
"""Bytes of a file whose fixes are shown as text: each of them costs a reading of the file."""
_MOST_FIXES = 100
"""Fixes that are shown as text."""


def _describe_region(span: Span) -> dict[str, int]:
    """Return a region that holds at least a character: one without any is shown nowhere."""
    start, end = span.start, span.end
    if span == START:  # the file as a whole
        return {"startLine": 1}
    is_empty = (start.line, start.column) == (end.line, end.column)
    return {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column + 1 if is_empty else end.column,
    }


def _message(text: str) -> dict[str, str]:
    """Return a message whose brackets are no link."""
    return {"text": re.sub(r"[\\\[\]]", r"\\\g<0>", visible(text))}


REPORTER = Reporter("sarif", lambda report: _SarifWriter(report).render())

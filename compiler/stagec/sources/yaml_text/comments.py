"""The comments of a YAML text that suppress findings, and the line that each of them speaks for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from stagec.core.budgets import Budgets
from stagec.core.place import Place
from stagec.sources.suppression import Suppression, match_comment, may_have_comments, read_comment
from stagec.sources.tree import Lines
from stagec.sources.yaml_text.compose import compose, nodes_of
from stagec.sources.yaml_text.members import line_end, line_start

_NO_CONTENT = re.compile(r"(?:[ \t]*+(?:#[^\r\n]*+|---[ \t]*+)?(?:\r\n|\n|\r))*+[ \t]*+(?:#[^\r\n]*+)?")
"""Lines that say nothing: blank ones, comments, the beginning of a document."""


def read_suppressions(file: str, text: str, within: tuple[int, int, int] | None = None) -> tuple[Suppression, ...]:
    """Return what the comments of a text suppress.

    A comment beside something speaks for its own line, one on a line of its own for the next line that says something.
    `within` are the offsets where the YAML of a Markdown file begins and ends, and where the text below it begins; a
    comment behind everything in the YAML speaks for that text.
    """
    start, end, body = within or (0, len(text), None)
    inside = text[start:end]
    if not may_have_comments(inside):
        return ()
    lines, last = Lines(text), len(inside.rstrip())
    found: list[Suppression] = []
    content = -1
    for match in _find_comments(inside):
        is_alone = not inside[line_start(inside, match.start()) : match.start()].strip()
        if is_alone and content < match.start():
            skipped = _NO_CONTENT.match(inside, match.start())
            content = skipped.end() if skipped else len(inside)
        is_last = is_alone and content >= last
        if is_last:
            line = 0 if body is None else lines.position(body).line
        else:
            line = lines.position(start + (content if is_alone else match.start())).line
        found.extend(read_comment(match, Place(file, range=(start, end)), line, below=is_last and body is not None))
    return tuple(found)


_HASH = re.compile(r"(?<![^\s])#")


def _find_comments(text: str) -> Iterator[re.Match[str]]:
    """Yield the comments that suppress findings; what stands in a quoted or indented text is none."""
    root = compose(text, Budgets()).root
    texts = sorted(
        (line_end(text, node.start) if node.style in {"|", ">"} else node.start, node.end)
        for node in (nodes_of(root) if root else ())
        if node.style in {"|", ">", '"', "'"}
    )
    end = 0
    for sign in _HASH.finditer(text):
        start = sign.start()
        before = bisect_right(texts, (start, len(text))) - 1
        if start < end or (before >= 0 and start < texts[before][1]):
            continue
        end = line_end(text, start)
        match = match_comment(text, start)
        if match is not None:
            yield match

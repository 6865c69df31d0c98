"""The pages of the handbook, by the names of their files: the same bytes for the same sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from stagec.cli.commands.handbook.chapter import Chapter, draw_linked
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.words import format_count, visible
from stagec.picture.document import forms_of
from stagec.pipeline import Compilation

MARK = b'<meta name="generator" content="stagec handbook">'
"""What tells a page of the handbook from other files."""


def name_pages(flows: Iterable[str]) -> list[str]:
    """Return the names of the pages of flows: those that every file system has, of ids that hold any character."""
    names: list[str] = []
    for flow in flows:
        plain = re.sub(r"[^a-z0-9]+", "-", flow.lower()).strip("-")[:_LONGEST]
        name, number = f"flow-{plain}.html", 1
        while name in names:
            number += 1
            name = f"flow-{plain}-{number}.html"
        names.append(name)
    return names


_LONGEST = 80
"""Characters of the name of a page."""


def write_site(shown: Compilation, troubles: Sequence[str], chapters: Sequence[Chapter]) -> dict[str, bytes]:
    """Return every page: the first one, and one for each flow. `troubles` is why files of tests cannot be run."""
    site = _Site(shown, troubles, chapters)
    return {"index.html": site.write_index(), **{each.file: site.write_chapter(each) for each in chapters}}


class _Site:
    """What all pages share."""

    def __init__(self, shown: Compilation, troubles: Sequence[str], chapters: Sequence[Chapter]) -> None:
        from base64 import b64encode
        from hashlib import sha256

        from stagec.svg.style import read_style
        from stagec.templates import render

        self._chapters = chapters
        self._found = shown.diagnostics
        self._accepted = 0 if shown.acceptance is None else shown.acceptance.known
        self._troubles = troubles
        self._style = read_style() + render(__package__, "page.css.jinja")
        self._digest = f"sha256-{b64encode(sha256(self._style.encode()).digest()).decode()}"

    def write_index(self) -> bytes:
        """Return the first page."""
        flows = [
            {
                "chapter": each,
                "nodes": len(each.flow.nodes),
                "found": _count_severities(each.found),
            }
            for each in self._chapters
        ]
        return self._render(
            "index.html.jinja",
            "index.html",
            "Handbook",
            flows=flows,
            found=_sort(self._found),
            accepted=format_count(self._accepted, "finding") if self._accepted else "",
            troubles=self._troubles,
        )

    def write_chapter(self, chapter: Chapter) -> bytes:
        """Return the page of a flow."""
        from stagec.svg.legend import legend

        pictures = (chapter.picture,)
        pages = {each.flow.id: each.file for each in self._chapters}
        return self._render(
            "flow.html.jinja",
            chapter.file,
            chapter.title,
            chapter=chapter,
            drawing=draw_linked(chapter),
            legend=tuple(legend(pictures, forms_of(pictures))),
            anchors=chapter.anchors,
            pages=pages,
            found=_sort(chapter.found),
            sources=chapter.plan.sources if chapter.plan is not None else {},
        )

    def _render(self, template: str, file: str, title: str, **values: Any) -> bytes:
        from stagec.templates import render

        ids = Counter(each.flow.id for each in self._chapters)
        values |= {"file": file, "title": visible(title), "style": self._style, "digest": self._digest}
        values |= {"chapters": self._chapters, "repeated": {name for name, count in ids.items() if count > 1}}
        return render(__package__, template, **values).encode("utf-8", "replace")


def _sort(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return findings, the heaviest first."""
    return sorted(found, key=lambda each: -each.severity.weight)


def _count_severities(found: Sequence[Diagnostic]) -> str:
    counts = Counter(each.severity for each in found)
    told = [format_count(counts[each], each.value) for each in Severity if counts[each]]
    return ", ".join(told) or "none"

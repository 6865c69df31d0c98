"""The pages of the repository: every link leads somewhere, and every page of the documentation can be reached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from laws.modules import TOP

DOCS = TOP / "docs"
FENCED = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?P<path>[^)\s#]*)(?:#(?P<anchor>[^)\s]+))?\)")


def pages() -> list[Path]:
    """Return the pages that people read in the repository; those of rules are written when somebody wants them."""
    own = [path for path in DOCS.rglob("*.md") if path.parent != DOCS / "rules"]
    return sorted([*TOP.glob("*.md"), *(TOP / "registries").rglob("README.md"), *own])


@cache
def prose(path: Path) -> str:
    """Return a page without its examples."""
    return FENCED.sub("", path.read_text(encoding="utf-8"))


@cache
def anchors(path: Path) -> set[str]:
    """Return what the headings of a page are called in addresses."""
    headings = re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links_in(path: Path) -> Iterator[str]:
    for link in LINK.finditer(re.sub(r"`[^`\n]*`", "", prose(path))):
        if re.match(r"[a-z]+:", link["path"]):
            continue
        there = path.parent / unquote(link["path"]) if link["path"] else path
        if not there.exists():
            yield f"{path.relative_to(TOP)}: {link['path']} leads nowhere"
        elif link["anchor"] and there.suffix == ".md" and link["anchor"] not in anchors(there):
            yield f"{path.relative_to(TOP)}: {link['path']}#{link['anchor']} names no heading"


def test_every_link_leads_somewhere() -> None:
    assert [fault for path in pages() for fault in broken_links_in(path)] == []


def linked_by(path: Path) -> set[Path]:
    """Return the pages of the documentation that a page links."""
    there = {(path.parent / unquote(link["path"])).resolve() for link in LINK.finditer(prose(path)) if link["path"]}
    return {each for each in there if each.suffix == ".md" and each.is_relative_to(DOCS) and each.is_file()}


def test_every_page_is_two_clicks_from_the_home_page_of_the_documentation() -> None:
    """Its sections are the navigation of the site; the index of decisions links each decision."""
    first = linked_by(DOCS / "index.md")
    reached = first.union(*map(linked_by, first))
    own = {path.resolve() for path in pages() if path.is_relative_to(DOCS)} - {DOCS / "index.md"}
    assert {path.relative_to(DOCS) for path in own - reached} == set()
    assert {path.relative_to(DOCS) for path in own - first if path.parent.name != "decisions"} == set()

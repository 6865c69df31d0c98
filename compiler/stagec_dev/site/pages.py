"""What the site is built from: every page of `docs/` and of every rule, written as the generator reads it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from stagec.core.value import value
from stagec_dev.rule_pages import pages

_FENCE = re.compile(r"(?P<lead>`{3,})(?P<kind>\w*)(?: (?P<file>\S+).*)?")
_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<path>(?:\.\./)+[^)\s#]+)\)")
_PLAIN = {"csv", "diagnostics", "link", "log"}
"""What stands behind fences and is no language."""


@value
class Sources:
    """The pages of the site by path, as Markdown, and the files that are published as they are."""

    pages: Mapping[str, str]
    files: Mapping[str, bytes]


def read_sources(root: Path) -> Sources:
    """Return what the site of a checkout is built from."""
    docs = root / "docs"
    rules = {path.relative_to(docs).as_posix(): text for path, text in pages(root).items()}
    written = {path.relative_to(docs).as_posix(): path for path in sorted(docs.rglob("*")) if path.is_file()}
    own = {name: path for name, path in written.items() if not name.startswith("rules/")}
    texts = {name: path.read_text(encoding="utf-8") for name, path in own.items() if name.endswith(".md")}
    published = {f"schemas/{path.name}": path.read_bytes() for path in sorted((root / "schemas").glob("*.json"))}
    pictures = {name: path.read_bytes() for name, path in own.items() if name.startswith("pictures/")}
    return Sources(
        {name: convert_page(name, text) for name, text in {**texts, **rules}.items()}, {**published, **pictures}
    )


def convert_page(name: str, text: str) -> str:
    """Return a page with its fences and links as the generator understands them.

    It begins with its title. The file that a fence names becomes the title of the fence. A link to a schema leads to
    the published one; of any other link out of the documentation the text is left, with the path in the repository.
    """
    lines: list[str] = []
    end = ""
    for line in text.splitlines():
        fence = _FENCE.fullmatch(line)
        if end:
            end = "" if line.rstrip() == end else end
            lines.append(line)
        elif fence:
            end = fence["lead"]
            lines.append(_open_fence(fence))
        else:
            lines.append(_LINK.sub(lambda link: _convert_link(name, link), line))
    first = next((number for number, line in enumerate(lines) if line.startswith("# ")), 0)
    return "".join(f"{line}\n" for line in lines[first:])


def _open_fence(fence: re.Match[str]) -> str:
    kind = "text" if fence["kind"] in _PLAIN else fence["kind"]
    return f'{fence["lead"]}{kind} title="{fence["file"]}"' if fence["file"] else fence["lead"] + kind


def _convert_link(name: str, link: re.Match[str]) -> str:
    folder = posixpath.dirname(name)
    there = posixpath.normpath(posixpath.join("docs", folder, link["path"]))
    if there.startswith("docs/"):
        return link[0]
    if re.fullmatch(r"schemas/\w+\.schema\.json", there):
        return f"[{link['text']}]({posixpath.relpath(there, folder or '.')})"
    return f"{link['text']} (`{there}` in the repository)"


@value
class Section:
    """One part of the navigation: a title, and the paths of its pages."""

    title: str
    pages: tuple[str, ...]


def read_navigation(sources: Mapping[str, str]) -> tuple[Section, ...]:
    """Return the sections of the home page with the pages that each links, then all decisions."""
    sections = [
        Section(title, tuple(dict.fromkeys(re.findall(r"\]\(([\w/-]+\.md)\)", text))))
        for title, text in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", sources["index.md"], re.MULTILINE)
    ]
    decisions = tuple(sorted(name for name in sources if name.startswith("decisions/")))
    return (*(each for each in sections if each.pages), Section("Decisions", decisions))

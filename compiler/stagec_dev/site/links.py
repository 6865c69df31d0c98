"""Every address in a built site: what leads nowhere, and what would be asked of another host."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "object": "data"}
"""The attribute of each tag whose address a browser asks for by itself."""
_NOT_LOADED = {"canonical", "next", "prev"}
_IN_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?(?P<url>[^"')\s]+)""")


class Page(HTMLParser):
    """The addresses and anchors of one page: what is `loaded` with it, what it `leads` to, and its `anchors`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.leads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what the attributes of a tag name."""
        given = {name: found or "" for name, found in attrs}
        if "id" in given:
            self.anchors.add(given["id"])
        if tag == "a" and "href" in given:
            self.leads.append(given["href"])
        if _LOADED.get(tag, "") in given and given.get("rel") not in _NOT_LOADED:
            self.loaded.append(given[_LOADED[tag]])


def find_faults(site: Path) -> Iterator[str]:
    """Yield a sentence for each address that leads nowhere, and for each that another host would be asked for."""
    found = {path.relative_to(site).as_posix(): path for path in sorted(site.rglob("*")) if path.is_file()}
    pages = {name: Page(path.read_text("utf-8")) for name, path in found.items() if name.endswith(".html")}
    styles = {name: path.read_text("utf-8") for name, path in found.items() if name.endswith(".css")}
    loaded = {name: page.loaded for name, page in pages.items()}
    loaded |= {name: [match["url"] for match in _IN_STYLE.finditer(text)] for name, text in styles.items()}
    for name, urls in loaded.items():
        yield from (f"{name}: {url} is loaded from another host" for url in urls if _is_foreign(url))
    for name, page in pages.items():
        for url in (*page.loaded, *page.leads) if name != "404.html" else ():  # which is shown at any address
            if not _is_foreign(url) and not urlsplit(url).scheme:
                yield from _follow(found, pages, name, url)


def _is_foreign(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.netloc) and parts.scheme in {"", "http", "https"}


def _follow(found: Mapping[str, Path], pages: Mapping[str, Page], name: str, url: str) -> Iterator[str]:
    parts = urlsplit(url)
    there = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path))) if parts.path else name
    served = next((each for each in (there, posixpath.normpath(f"{there}/index.html")) if each in found), None)
    if served is None:
        yield f"{name}: {url} leads nowhere"
    elif parts.fragment and served in pages and unquote(parts.fragment) not in pages[served].anchors:
        yield f"{name}: {url} names no place of that page"

"""What the site is built from: every page of `docs/` and of every rule, written as the generator reads it."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from urllib.parse import unquote, urlsplit

from stagec.core.value import value
from stagec_dev.rule_pages import pages

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


_SCRIPT = "assets/javascripts/offline.js"
_HREF = re.compile(r'(?P<lead><a\b[^>]*?\bhref=")(?P<path>(?![a-z+]+:|/|#)[^"#?]*)(?P<rest>[^"]*")')
_FOLDER = re.compile(r'(?P<lead>"location":")(?P<path>[^"#]*)')


def complete(site: Path) -> None:
    """Let the links of a site name the file in each folder, and let its search work where nothing is served.

    The addresses of folders stay valid: `rules/STG201/` is served from the file that the links name.
    """
    index = (site / "search.json").read_text(encoding="utf-8")
    index = _FOLDER.sub(lambda each: each["lead"] + _name_file(each["path"]), _trim_index(index))
    (site / "search.json").write_text(index, encoding="utf-8")
    (site / "search.js").write_text(f"var __index = {index}", encoding="utf-8")
    (site / _SCRIPT).write_bytes(files("stagec_dev.site").joinpath("offline.js").read_bytes())
    for path in site.rglob("*.html"):
        top = "../" * (len(path.relative_to(site).parts) - 1)
        text = _HREF.sub(_complete_link, path.read_text(encoding="utf-8"))
        if path.name != "404.html":
            text = text.replace("</head>", f'<script src="{top}{_SCRIPT}"></script></head>', 1)
        path.write_text(text, encoding="utf-8")


_BY_NAME = ("rules/", "decisions/")
"""Pages that are found by their title: their texts would hide the pages about tasks."""
_MARKUP = re.compile(r"<pre\b.*?</pre>|<[^>]*>", re.DOTALL)


def _trim_index(text: str) -> str:
    """Return the index of the search without examples and markup; some pages are found by their titles alone."""
    index = json.loads(text)
    kept = [each for each in index["items"] if not _is_inside(each["location"])]
    found = [{**each, "text": _strip(each)} for each in kept]
    tasks = sorted(found, key=lambda each: each["location"].startswith(_BY_NAME))
    return json.dumps({**index, "items": tasks}, ensure_ascii=False, separators=(",", ":"))


def _is_inside(location: str) -> bool:
    return location.startswith(_BY_NAME) and "#" in location


def _strip(item: Mapping[str, str]) -> str:
    return "" if item["location"].startswith(_BY_NAME) else " ".join(_MARKUP.sub(" ", item.get("text", "")).split())


def _complete_link(link: re.Match[str]) -> str:
    return link["lead"] + _name_file(link["path"]) + link["rest"]


def _name_file(path: str) -> str:
    if path in {".", ".."} or path.endswith("/.."):
        return f"{path}/index.html"
    return f"{path}index.html" if path.endswith("/") else path


_FENCE = re.compile(r"(?P<lead>`{3,})(?P<kind>\w*)(?: not run: .*| (?P<file>\S+).*)?")
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
        Section(title, tuple(dict.fromkeys(re.findall(r"\]\(((?!decisions/)[\w/-]+\.md)\)", text))))
        for title, text in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", sources["index.md"], re.MULTILINE)
    ]
    decisions = sorted((name for name in sources if name.startswith("decisions/")), key=_put_index_first)
    return (*(each for each in sections if each.pages), Section("Decisions", tuple(decisions)))


def _put_index_first(name: str) -> tuple[bool, str]:
    return not name.endswith("/index.md"), name

"""The documentation as a site: staged from the pages of a checkout, built by Zensical, and every link checked."""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

from stagec.core.extras import explain_missing_extra
from stagec.core.failure import Failure
from stagec.core.value import value
from stagec_dev.checkout import ROOT
from stagec_dev.rule_pages import pages
from stagec_dev.tools import DeveloperTool

_SCHEMAS_FOLDER = "schemas/"
_SUFFIX = ".schema.json"
CATALOGUED: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "steps_registry": ("stagec step registry", "Steps of an agent and their transitions", ("steps_registry.json",)),
    "pipeline": ("stagec pipeline", "Stages of models, their order and limits", ("pipeline.yaml",)),
    "tools": ("stagec tools", "Tools that the stages of a project may call", ("tools.yaml",)),
    "tools_lock": ("stagec tools lock", "Tools that MCP servers offer", ("tools.lock.json",)),
    "workflow": ("stagec orchestrator", "Phases of an issue and their agents", ("**/.agent/workflow.json",)),
    "flow_test": (
        "stagec flow tests",
        "Scenarios of a flow with expectations",
        ("*.flow-test.yaml", "*.flow-test.yml", "*.flow-test.json"),
    ),
    "stagec": ("stagec configuration", "What stagec checks, and how", ("stagec.toml",)),
}
"""The documents that people write and that are known by their names: title, description, and patterns of paths."""


def publish_schemas(files: Mapping[str, bytes], address: str | None) -> dict[str, bytes]:
    """Return the files of a site with schemas that name their addresses, and with the catalogue of these.

    Where nobody knows the address, the files are as they were: an address that leads nowhere helps nobody.
    """
    if address is None:
        return dict(files)
    top = address.rstrip("/") + "/"
    found = {name: name.removeprefix(_SCHEMAS_FOLDER).removesuffix(_SUFFIX) for name in files if _is_schema(name)}
    own = {name: _set_address(files[name], top + name) for name in found}
    entries = [
        {
            "name": title,
            "description": description,
            "fileMatch": [*patterns],
            "url": f"{top}{_SCHEMAS_FOLDER}{name}{_SUFFIX}",
        }
        for name, (title, description, patterns) in CATALOGUED.items()
        if name in found.values()
    ]
    head = {"$schema": "https://json.schemastore.org/schema-catalog.json", "version": 1, "schemas": entries}
    return {**files, **own, f"{_SCHEMAS_FOLDER}catalog.json": _write(head)}


def _is_schema(name: str) -> bool:
    return name.startswith(_SCHEMAS_FOLDER) and name.endswith(_SUFFIX)


def _set_address(data: bytes, address: str) -> bytes:
    schema: dict[str, Any] = json.loads(data)
    return _write({**schema, "$id": address})


def _write(given: Mapping[str, Any]) -> bytes:
    return (json.dumps(given, indent=2, ensure_ascii=False) + "\n").encode()


_LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src", "object": "data"}
"""The attribute of each tag whose address a browser asks for by itself."""
_NOT_LOADED = {"canonical", "next", "prev"}
_IN_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?(?P<url>[^"')\s]+)""")


_SILENT = re.compile(r"""</(?!script|style)[\w-]+>|<(?!script|style)\w+(?: class="[^"<>]*")?>""")
"""Tags that have no address and are no anchor. Without them a page is parsed in a third of the time."""


class Page(HTMLParser):
    """The addresses and anchors of one page: what is `loaded` with it, what it `leads` to, and its `anchors`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.leads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(_SILENT.sub("", text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the names in the attributes of a tag."""
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
_PAGES_FOLDER = re.compile(r'(?P<lead>"location":")(?P<path>[^"#]*)')


def complete(site: Path) -> None:
    """Let the links of a site name the file in each folder, and let its search work where nothing is served.

    The addresses of folders stay valid: `rules/STG201/` is served from the file that the links name.
    """
    index = (site / "search.json").read_text(encoding="utf-8")
    index = _PAGES_FOLDER.sub(lambda each: each["lead"] + _name_file(each["path"]), _trim_index(index))
    (site / "search.json").write_text(index, encoding="utf-8")
    (site / "search.js").write_text(f"var __index = {index}", encoding="utf-8")
    (site / _SCRIPT).write_bytes(files("stagec_dev").joinpath("offline.js").read_bytes())
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
"""Words behind fences that are no languages."""


@value
class SiteSources:
    """The pages of the site by path, as Markdown, and the files that are published as they are."""

    pages: Mapping[str, str]
    files: Mapping[str, bytes]


def read_sources(root: Path) -> SiteSources:
    """Return the sources of the site of a checkout."""
    docs = root / "docs"
    rules = {path.relative_to(docs).as_posix(): text for path, text in pages(root).items()}
    written = {path.relative_to(docs).as_posix(): path for path in sorted(docs.rglob("*")) if path.is_file()}
    own = {name: path for name, path in written.items() if not name.startswith("rules/")}
    texts = {name: path.read_text(encoding="utf-8") for name, path in own.items() if name.endswith(".md")}
    published = {f"schemas/{path.name}": path.read_bytes() for path in sorted((root / "schemas").glob("*.json"))}
    pictures = {name: path.read_bytes() for name, path in own.items() if name.startswith("pictures/")}
    return SiteSources(
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
class SiteSection:
    """One part of the navigation: a title, and the paths of its pages."""

    title: str
    pages: tuple[str, ...]


def read_navigation(sources: Mapping[str, str]) -> tuple[SiteSection, ...]:
    """Return the sections of the home page with the pages that each links, then all decisions."""
    sections = [
        SiteSection(title, tuple(dict.fromkeys(re.findall(r"\]\(((?!decisions/)[\w/-]+\.md)\)", text))))
        for title, text in re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", sources["index.md"], re.MULTILINE)
    ]
    decisions = sorted((name for name in sources if name.startswith("decisions/")), key=_put_index_first)
    return (*(each for each in sections if each.pages), SiteSection("Decisions", tuple(decisions)))


def _put_index_first(name: str) -> tuple[bool, str]:
    return not name.endswith("/index.md"), name


_CONFIGURATION = """\
[project]
site_name = "stagec"
site_description = "The compiler for declarative agent workflows"
docs_dir = "docs"
site_dir = "site"
use_directory_urls = true
{address}nav = [
{navigation}]

[project.theme]
language = "en"
font = false # no request to another host
features = ["content.code.copy", "navigation.footer", "navigation.top", "search.highlight", "toc.follow"]

[[project.theme.palette]]
media = "(prefers-color-scheme)"
toggle = {{ icon = "lucide/sun-moon", name = "Switch to light mode" }}

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle = {{ icon = "lucide/sun", name = "Switch to dark mode" }}

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle = {{ icon = "lucide/moon", name = "Switch to the mode of the system" }}

[project.plugins.search]

[project.validation]
invalid_links = true
invalid_link_anchors = true

# few extensions: the pages are written for readers of Markdown, and say what they mean without any
[project.markdown_extensions]
"tables" = {{}}
"toc" = {{ permalink = true, slugify = {{ object = "pymdownx.slugs.slugify", kwds = {{ case = "lower" }} }} }}
"pymdownx.highlight" = {{ pygments_lang_class = true }}
"pymdownx.superfences" = {{}}
"sane_lists" = {{}}
"""


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def build(sources: SiteSources, folder: Path, address: str | None) -> Path:
    """Let the generator make a site in a folder that is used for nothing else, and return where it lies.

    `address` is where the site will be published, if that is known. Raise `Failure` when there is no generator, or when
    it finds fault with a page.
    """
    if find_spec("zensical") is None:
        raise explain_missing_extra("the site needs", "site")
    files = publish_schemas(sources.files, address)
    for name, content in {**{name: text.encode() for name, text in sources.pages.items()}, **files}.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "zensical.toml").write_text(configure(sources, address), encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--clean"]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if ended.returncode:
        told = _COLOUR.sub("", f"{ended.stdout}{ended.stderr}")
        raise Failure(f"the generator refused the pages:\n{told}".rstrip())
    return folder / "site"


def configure(sources: SiteSources, address: str | None = None) -> str:
    """Return the configuration of the generator."""
    rules = SiteSection("Rules", ("rules/index.md",))
    rows = [f'  {{ "Home" = {_quote("index.md")} }},\n']
    rows += [_write_section(each, sources) for each in (*read_navigation(sources.pages), rules)]
    published = f"site_url = {_quote(address.rstrip('/') + '/')}\n" if address else ""
    return _CONFIGURATION.format(address=published, navigation="".join(rows))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _write_section(section: SiteSection, sources: SiteSources) -> str:
    if len(section.pages) == 1:
        return f"  {{ {_quote(section.title)} = {_quote(section.pages[0])} }},\n"
    pages = ", ".join(_write_page(name, sources.pages[name].splitlines()) for name in section.pages)
    return f"  {{ {_quote(section.title)} = [{pages}] }},\n"


def _write_page(name: str, lines: Iterable[str]) -> str:
    title = next((line.removeprefix("# ").replace("`", "") for line in lines if line.startswith("# ")), name)
    return f"{{ {_quote(title)} = {_quote(name)} }}"


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--output", type=Path, default=ROOT / "site", help="the folder that is replaced (default: site)"
    )
    parser.add_argument("--address", help="where the site will be published")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")


def _run(options: Namespace) -> int:
    if options.output.exists() and not (options.output / "search.json").is_file():
        sys.stderr.write(f"{options.output} exists and is no site\n")
        return 2
    with TemporaryDirectory() as folder:
        try:
            site = build(read_sources(options.root), Path(folder), options.address)
        except Failure as failure:
            sys.stderr.write(f"{failure}\n")
            return 1
        complete(site)
        faults = [*find_faults(site)]
        sys.stdout.writelines(f"{fault}\n" for fault in faults)
        pages = sum(1 for _ in site.rglob("*.html"))
        shutil.rmtree(options.output, ignore_errors=True)
        shutil.copytree(site, options.output)
    sys.stdout.write(f"{pages} pages in {options.output}\n")
    return int(bool(faults))


SITE = DeveloperTool(_declare, _run)

"""Zensical, the generator: its configuration, and how it is run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from stagec.core.extras import explain_missing_extra
from stagec.core.failure import Failure
from stagec_dev.site.pages import Section, Sources, read_navigation
from stagec_dev.site.schemas import publish_schemas

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


def build(sources: Sources, folder: Path, address: str | None) -> Path:
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


def configure(sources: Sources, address: str | None = None) -> str:
    """Return the configuration of the generator."""
    rules = Section("Rules", ("rules/index.md",))
    rows = [f'  {{ "Home" = {_quote("index.md")} }},\n']
    rows += [_write_section(each, sources) for each in (*read_navigation(sources.pages), rules)]
    published = f"site_url = {_quote(address.rstrip('/') + '/')}\n" if address else ""
    return _CONFIGURATION.format(address=published, navigation="".join(rows))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _write_section(section: Section, sources: Sources) -> str:
    if len(section.pages) == 1:
        return f"  {{ {_quote(section.title)} = {_quote(section.pages[0])} }},\n"
    pages = ", ".join(_write_page(name, sources.pages[name].splitlines()) for name in section.pages)
    return f"  {{ {_quote(section.title)} = [{pages}] }},\n"


def _write_page(name: str, lines: Iterable[str]) -> str:
    title = next((line.removeprefix("# ").replace("`", "") for line in lines if line.startswith("# ")), name)
    return f"{{ {_quote(title)} = {_quote(name)} }}"

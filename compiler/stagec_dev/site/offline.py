"""What makes a built site work from a folder too: links that name files, and a search that needs no server."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

_SCRIPT = "assets/javascripts/offline.js"
_HREF = re.compile(r'(?P<lead><a\b[^>]*?\bhref=")(?P<path>(?![a-z+]+:|/|#)[^"#?]*)(?P<rest>[^"]*")')
_FOLDER = re.compile(r'(?P<lead>"location":")(?P<path>[^"#]*)')


def complete(site: Path) -> None:
    """Let the links of a site name the file in each folder, and let its search work where nothing is served.

    The addresses of folders stay valid: `rules/STG201/` is served from the file that the links name.
    """
    index = (site / "search.json").read_text(encoding="utf-8")
    index = _FOLDER.sub(lambda each: each["lead"] + _name_file(each["path"]), index)
    (site / "search.json").write_text(index, encoding="utf-8")
    (site / "search.js").write_text(f"var __index = {index}", encoding="utf-8")
    (site / _SCRIPT).write_bytes(files("stagec_dev.site").joinpath("offline.js").read_bytes())
    for path in site.rglob("*.html"):
        top = "../" * (len(path.relative_to(site).parts) - 1)
        text = _HREF.sub(_complete_link, path.read_text(encoding="utf-8"))
        if path.name != "404.html":
            text = text.replace("</head>", f'<script src="{top}{_SCRIPT}"></script></head>', 1)
        path.write_text(text, encoding="utf-8")


def _complete_link(link: re.Match[str]) -> str:
    return link["lead"] + _name_file(link["path"]) + link["rest"]


def _name_file(path: str) -> str:
    if path in {".", ".."} or path.endswith("/.."):
        return f"{path}/index.html"
    return f"{path}index.html" if path.endswith("/") else path

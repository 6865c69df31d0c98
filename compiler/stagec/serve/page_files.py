"""The files of the page, read once: they hold nothing about any run."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from stagec.svg.style import read_style

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_DRAWING = "drawing.css"
"""The styles of drawings, which the page shares with the files of `stagec graph --format html`."""


def list_page_routes() -> list[Route]:
    """Return the requests for files of the page."""
    return [
        Route("/", show_page),
        Route("/login", show_page),
        Route("/static/{name}", show_file),
    ]


def show_page(_request: Request) -> Response:
    """Answer with the page, which asks for everything that it shows."""
    return Response(_read_all()["index.html"], media_type="text/html")


def show_file(request: Request) -> Response:
    """Answer with a style or a script of the page."""
    name = str(request.path_params["name"])
    data = _read_all().get(name)
    if data is None:
        return Response(b"", 404)
    return Response(data, media_type=_TYPES[name.rpartition(".")[2]])


@cache
def _read_all() -> dict[str, bytes]:
    """Return every file by its name."""
    page = files("stagec.serve").joinpath("page")
    found = {
        each.name: each.read_text("utf-8").encode() for each in page.iterdir() if each.name.rpartition(".")[2] in _TYPES
    }
    return {**found, _DRAWING: read_style().encode()}

"""Show a plan, or one node of it, as text or as JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from stagec.cli.commands.plan.node_page import draw_node_page
from stagec.cli.commands.plan.overview import draw_overview
from stagec.cli.running.inputs import verify_file
from stagec.cli.sheet import Sheet
from stagec.cli.streams import find_canvas, put, put_bytes, put_lines
from stagec.core.failure import Exit, Failure
from stagec.core.json import Json
from stagec.core.nearest import NameIndex, hint
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.plan import Loaded, Plan
from stagec.plan.node_codecs import NODE
from stagec.plan.plan_codec import PLAN
from stagec.plan.references import dangling


def format_plan(loaded: Loaded) -> str:
    """Return a plan and its digest, with blanks."""
    return _format({"digest": loaded.digest, "plan": PLAN.write(loaded.plan)})


def format_node(plan: Plan, name: str) -> str:
    """Return a node and the contents that it refers to, with blanks."""
    node = plan.nodes[name]
    alone = replace(plan, nodes={name: node}, contents={}, inputs={}, tools={}, system=None)
    needed = sorted(each for table, each in dangling(alone) if table == "contents")
    return _format({"id": name, "node": NODE.write(node), "contents": {each: plan.contents[each] for each in needed}})


def _format(given: Json) -> str:
    text = json.dumps(given, indent=2) + "\n"
    return text.replace("##", "#\\u0023")  # build services obey `##[…]` wherever it stands; only strings hold it


@value
class ShowRequest:
    """The arguments and options as given; None where one is absent."""

    path: Path
    node: str | None = None
    content: str | None = None
    output_format: str = "text"


def show(request: ShowRequest) -> None:
    """Print what was asked for; raise `Failure` for a plan that is refused, and for what is not in it."""
    if request.content is not None and (request.node is not None or request.output_format == "json"):
        raise Failure("--content prints a text as it is: --node and --format do not go with it")
    loaded = verify_file(request.path, Exit.FINDINGS)
    if request.content is not None:
        # the one text whose digest begins so, with or without `sha256:`
        wanted = f"sha256:{request.content.removeprefix('sha256:').lower()}"
        found = [name for name in loaded.plan.contents if name.startswith(wanted)]
        if len(found) != 1:
            why = f"the digests of {len(found)} texts begin with" if found else "no text has the digest"
            raise Failure(f"{why} {quote(request.content)}")
        _put_content(loaded.plan.contents[found[0]])
        return
    if request.node is not None:
        node = request.node
        if node not in loaded.plan.nodes:
            raise Failure(f"no node is called {quote(node)}{hint(node, NameIndex(loaded.plan.nodes))}")
    put(_format_json(loaded, request.node) if request.output_format == "json" else _draw(loaded, request.node))


def _draw(loaded: Loaded, node: str | None) -> str:
    sheet = Sheet(find_canvas(sys.stdout, os.environ))
    if node is None:
        draw_overview(sheet, loaded)
    else:
        draw_node_page(sheet, loaded.plan, node)
    return sheet.text()


def _format_json(loaded: Loaded, node: str | None) -> str:
    try:
        return format_plan(loaded) if node is None else format_node(loaded.plan, node)
    except RecursionError as error:
        raise Failure("a value of the plan is nested too deeply to be printed") from error


def _put_content(text: str) -> None:
    """Print exact bytes for programs, and nothing that could play tricks to a terminal."""
    if sys.stdout.isatty():
        put_lines(*(line.expandtabs() for line in text.removesuffix("\n").split("\n")))
    else:
        put_bytes(text.encode())

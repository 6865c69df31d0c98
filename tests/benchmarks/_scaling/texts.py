"""What a YAML file can be full of; faulty where the everyday reader leaves it to the parser."""

from __future__ import annotations

import json
from collections.abc import Callable

from benchmarks._scaling._pipeline import pipeline, stage
from stagec.core.json import Json
from stagec_dev.cost import Dimension, Dimensions, Files

_UNUSUAL = "odd: &odd 1\n"
"""An anchor: whatever else a file holds, the parser reads it."""


def _full_of(line: Callable[[int], str], begin: str = "", end: str = "\n") -> Callable[..., Files]:
    """Return what makes a pipeline whose file has so many lines of a kind behind its own members."""

    def make(count: int, *, faulty: bool) -> Files:
        files = pipeline({"first": stage("first")}, [])
        text = f"{files['pipeline.yaml']}{_UNUSUAL if faulty else ''}{begin}{''.join(map(line, range(count)))}{end}"
        return {**files, "pipeline.yaml": text}

    return make


def _patterns(count: int, *, faulty: bool) -> Files:
    """Make patterns of stage files beside a hundred files; faulty where each finds nothing."""
    files = pipeline({"first": stage("first")}, [])
    ending = "txt" if faulty else "md"
    patterns = json.dumps([f"stages/**/*{'' if faulty else '*'}{at}*.{ending}" for at in range(count)])
    beside = {f"stages/{at}/{number}.md": "Prose.\n" for at in range(10) for number in range(10)}
    return {
        **files,
        **beside,
        "pipeline.yaml": f"{files['pipeline.yaml']}".replace("stages:", f"stages: {patterns}\nx:"),
    }


def _servers(count: int, *, faulty: bool) -> Files:
    """Make servers of `.mcp.json`; faulty where nothing can start them."""
    one: Json = {"url": 1} if faulty else {"command": "serve"}
    text = json.dumps({"mcpServers": {f"server_{at}": one for at in range(count)}}, indent=1)
    return {**pipeline({"first": stage("first")}, []), ".mcp.json": text}


TEXTS = Dimensions(
    (
        Dimension("unknown keys of a pipeline", _full_of(lambda at: f"key{at}: 1\n"), 80_000),
        Dimension("`?` keys", _full_of(lambda at: f"? key{at}\n: 1\n"), 65_000),
        Dimension("repeated `?` keys", _full_of(lambda _: "? key\n"), 160_000),
        Dimension("tags of YAML", _full_of(lambda _: "- !!str a\n", "many:\n"), 95_000),
        Dimension("elements of a flow list", _full_of(lambda _: "a, ", "many: [", "]\n"), 330_000),
        Dimension("members of a flow map", _full_of(lambda at: f"a{at}: 1, ", "many: {", "}\n"), 85_000),
        Dimension("anchors and aliases", _full_of(lambda at: f"- &a{at} b\n- *a{at}\n", "many:\n"), 45_000),
        Dimension("lines of a plain scalar", _full_of(lambda at: f"word{at}\n  ", "many: "), 80_000),
        Dimension("lines of a quoted scalar", _full_of(lambda at: f"word{at}\n  ", 'many: "', '"\n'), 80_000),
        Dimension("comments", _full_of(lambda _: "# comment\n"), 98_000),
        Dimension("elements of a block list", _full_of(lambda _: "- a\n", "many:\n"), 245_000),
        Dimension("repeated keys of YAML", _full_of(lambda _: "key: 1\n"), 140_000),
        Dimension("numbers out of range", _full_of(lambda _: "- 1e999\n", "many:\n"), 120_000),
        Dimension("patterns of stage files", _patterns, 400),
        Dimension("servers of a catalogue", _servers, 20_000),
    )
)

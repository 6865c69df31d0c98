"""Drawings with everything a format has to show, and with names that nobody should have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.place import START, Place
from stagec.core.value import replace
from stagec.ir.flow import Concerns
from stagec.ir.graph import build
from stagec.sources.project.configuration import configure
from stagec.views.picture.document import Box, Fate, Line, Picture, Role, Stroke
from stagec.views.picture.draw import draw

REGISTRIES = Path(__file__).parents[2] / "registries"

HOSTILE: Mapping[str, str] = {
    "markup": "<script>alert(1)</script><b>&lt;&amp;#x41;",
    "quotes": '"]; A["b\'`c`',
    "backslashes": '\\N \\" \\',
    "newlines": "one\ntwo\r\nend\n  evil --> p0n0",
    "directions": "\u202eevil\u2066 \u200f",
    "escapes": "\x1b[31mred\x1b]0;title\x07\x00\x7f",
    "long": "x" * 10_000,
    "service": "##vso[task.complete]##[error]",
    "keyword": "subgraph end graph %%{init: {}}%%",
    "empty": "",
    "blank": "   ",
    "astral": "\U0001f600 \ud800",
}


def diagnostic(severity: Severity, name: str = "rule", message: str = "wrong") -> Diagnostic:
    """Return a diagnostic of some weight."""
    return Diagnostic("STG999", name, severity, (), Place(name), START, message, (), 0, None, "https://example.org")


def _named(name: str) -> Picture:
    found = (diagnostic(Severity.ERROR, name, name),)
    boxes = [
        Box("s", name, Role.START),
        Box(f"node:{name}", name, Role.NODE, name, found=found, details={"prompt": name, name: [name]}),
        Box("m", name, Role.MISSING),
        Box("g", name, Role.GROUP, members=(name,) * 7),
    ]
    line = Line("s", f"node:{name}", Stroke.GO, (name,) * 7, found)
    return Picture(name, name, {box.id: box for box in boxes}, (line,), (name,), found)


def _compare(picture: Picture, name: str) -> Picture:
    """Return a drawing in which something has become of everything, and a name tells what."""
    fates = (Fate.ADDED, Fate.CHANGED, Fate.REMOVED, Fate.SAME)
    boxes = {
        each: replace(box, fate=fate, changes=(name, f"{name}\n+ {name}"))
        for fate, (each, box) in zip(fates, picture.boxes.items(), strict=True)
    }
    lines = tuple(replace(line, fate=Fate.CHANGED, before=(f"was {name}",)) for line in picture.lines)
    return replace(picture, boxes=boxes, lines=lines, fate=Fate.CHANGED, changes=(name, name))


@pytest.fixture(params=[*HOSTILE, *(f"{name} compared" for name in HOSTILE)])
def hostile(request: pytest.FixtureRequest) -> Picture:
    """Return a drawing in which every text of a user is hostile."""
    key, _, compared = request.param.partition(" ")
    picture = _named(HOSTILE[key])
    return _compare(picture, HOSTILE[key]) if compared else picture


@pytest.fixture
def every() -> Picture:
    """Return a drawing with every role, stroke, kind and weight."""
    kinds = ("work", "verification", "closure", "mystery", None)
    boxes = [Box(role.value, role.value, role) for role in Role if role is not Role.NODE]
    boxes += [Box(f"n{at}", f"node {at}", Role.NODE, kind) for at, kind in enumerate(kinds)]
    boxes.append(Box("join", "join", Role.NODE, "work", is_join=True))
    boxes.append(Box("lost", "lost", Role.NODE, "work", is_reached=False))
    boxes += [Box(each.value, each.value, Role.NODE, found=(diagnostic(each),)) for each in Severity]
    lines = [Line("start", "n0", stroke, (stroke.value, "twice")) for stroke in Stroke]
    lines += [Line("lost", "n0", Stroke.GO), Line("n0", "missing", Stroke.GO, found=(diagnostic(Severity.ERROR),))]
    lines.append(Line("n0", "n1", Stroke.GO, ("meant",), is_guess=True))
    return Picture("every", "every", {box.id: box for box in boxes}, tuple(lines), ("a remark",))


def _pictures(example: str) -> tuple[Picture, ...]:
    folder = REGISTRIES / example
    settings = configure((folder,), folder).settings
    compilation = compile_project(Project(folder, (folder,), settings))
    flows, found = compilation.flows, compilation.diagnostics
    return tuple(draw(build(flow), Concerns(flows, found).of(flow), compilation.trees) for flow in flows)


@pytest.fixture
def pictures() -> Callable[[str], tuple[Picture, ...]]:
    """Return what draws the flows of an example."""
    return _pictures

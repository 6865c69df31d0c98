"""The example of a rule: a finding as `validate` prints it, and the change after which nothing is reported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from stagec.check.reporters import Report
from stagec.check.reporters.text.block import Blocks
from stagec.core.diagnostic import Diagnostic, Fix, Remark, Severity
from stagec.core.place import Place, Position, Span
from stagec.core.rule import AnyRule
from stagec.core.terminal import Canvas, Paint, Style
from stagec.core.words import visible

_FILE = "rule_examples.json"
"""Written by `python -m stagec_dev docs` from the specifications of the rules."""
_STYLES = {"+": Style.ADDED, "-": Style.REMOVED, "@": Style.GUTTER}


def read_example(rule: AnyRule) -> Mapping[str, Any]:
    """Return the example of a rule: its `findings`, the `lines` that they mark, and the `change` as a unified diff."""
    return _read_all()[rule.code]


@cache
def _read_all() -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = json.loads(files(__package__).joinpath(_FILE).read_text("utf-8"))
    return found


def draw_wrong(rule: AnyRule, example: Mapping[str, Any], canvas: Canvas) -> str:
    """Return the findings of an example as `validate` prints them."""
    excerpts = {file: {int(number): line for number, line in lines.items()} for file, lines in example["lines"].items()}
    found = tuple(_read_finding(rule, each) for each in example["findings"])
    blocks = Blocks(Report(found, canvas=canvas, excerpts=excerpts, explained=frozenset({rule.code})))
    return "\n\n".join(blocks.draw(each) for each in found) + "\n"


def _read_finding(rule: AnyRule, found: Mapping[str, Any]) -> Diagnostic:
    fix = found.get("fix")
    return Diagnostic(
        code=rule.code,
        name=rule.name,
        severity=Severity(found["severity"]),
        origin=rule.origin,
        at=Place(found["file"]),
        span=_read_span(found["span"]),
        message=found["message"],
        related=tuple(
            Remark(Place(each["file"]), _read_span(each["span"]), each["message"]) for each in found["related"]
        ),
        folded=0,
        fix=Fix(fix["message"], (), fix["safe"]) if fix else None,
    )


def _read_span(numbers: list[int]) -> Span:
    line, column, end, stop = numbers
    return Span(Position(line, column), Position(end, stop))


def draw_change(example: Mapping[str, Any], canvas: Canvas) -> str:
    """Return the change that makes an example right, as a unified diff."""
    paint = Paint(canvas.colour)
    return "".join(f"{paint(visible(line, canvas.encoding), _STYLES.get(line[:1]))}\n" for line in example["change"])

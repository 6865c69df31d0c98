"""Every rule with its family: found by what users call it, listed in a table, or printed as a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from textwrap import fill, wrap
from typing import Any

from stagec.check.reporters import Report
from stagec.check.reporters.text.block import Blocks
from stagec.core.diagnostic import Diagnostic, Fix, Remark, Severity
from stagec.core.failure import Failure
from stagec.core.nearest import NameIndex, hint
from stagec.core.place import Place, Position, Span
from stagec.core.rule import AnyFamily, AnyRule
from stagec.core.terminal import Canvas, Paint, Style
from stagec.core.value import value
from stagec.core.version import DOCUMENTATION, locate_page
from stagec.core.words import listing, quote, visible
from stagec.sources.project.settings import names_of

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


@value
class CataloguedRule:
    """One rule and the family it belongs to."""

    family: AnyFamily
    rule: AnyRule

    @property
    def summary(self) -> str:
        """The first line of the rule's page."""
        return self.rule.explanation.strip().partition("\n")[0]

    @property
    def url(self) -> str | None:
        """The address of the rule's page of this version, if it is published."""
        return locate_page(DOCUMENTATION, self.rule.code)

    def facts(self) -> dict[str, Any]:
        """Return the facts about the rule, for printing as JSON."""
        return {
            "code": self.rule.code,
            "name": self.rule.name,
            "severity": self.rule.severity,
            "origin": list(self.rule.origin),
            "groups": list(self.rule.groups),
            "since": self.rule.since,
            "family": self.family.name,
            "optional": self.family.asks_first(self.rule),
            "summary": self.summary,
            "url": self.url,
        }


def list_rules(families: Iterable[AnyFamily]) -> tuple[CataloguedRule, ...]:
    """Return every rule of some families, by code."""
    return tuple(CataloguedRule(family, rule) for family in families for rule in family.rules())


def find_rules(every: Iterable[CataloguedRule], called: str) -> tuple[CataloguedRule, ...]:
    """Return the rules that a code, prefix, name, family or group means; raise `Failure` when it means none."""
    known = tuple(every)
    for wanted in (called, called.upper(), called.lower()):
        found = tuple(each for each in known if wanted in names_of(each.family, each.rule))
        if found:
            return found
    names = {name for each in known for name in (each.rule.code, each.rule.name, each.family.name, *each.rule.groups)}
    inside = sorted(name for name in names if called.lower() in name) if called else []
    near = hint(called, NameIndex(sorted(names))) or (f"; it is a part of {listing(inside)}" if inside else "")
    near = near or "; 'stagec explain' lists them"
    raise Failure(f"no rule, family or group is called {quote(called)}{near}")


_NARROWEST = 24
"""Columns without which a summary goes below its rule instead of beside it."""


def draw_table(every: Iterable[CataloguedRule], width: int | None) -> str:
    """Return the code, name, severity (in brackets where a rule must be asked for) and summary of every rule.

    On a terminal of some width, summaries are broken to fit.
    """
    rows: list[tuple[str, ...]] = []
    for each in every:
        severity = f"({each.rule.severity})" if each.family.asks_first(each.rule) else str(each.rule.severity)
        rows.append((each.rule.code, each.rule.name, severity, each.summary))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines: list[str] = []
    for row in rows:
        lead = "  ".join(f"{cell:<{column}}" for cell, column in zip(row, widths, strict=False)) + "  "
        if width is None:
            lines.append(f"{lead}{row[-1]}")
        elif width - len(lead) < _NARROWEST:
            lines.append(lead.rstrip())
            lines.append(fill(row[-1], width, initial_indent="    ", subsequent_indent="    "))
        else:
            lines.append(fill(row[-1], width, initial_indent=lead, subsequent_indent=" " * len(lead)))
    return "".join(f"{line}\n" for line in lines)


def draw_page(each: CataloguedRule, canvas: Canvas) -> str:
    """Return the rule's name, its page, its example, and where it comes from."""
    rule = each.rule
    when = ", only when selected" if each.family.asks_first(rule) else ""
    title = f"{rule.code} {rule.name} ({rule.severity}{when})"
    facts = {
        "family": [each.family.name],
        "groups": rule.groups,
        "since": [rule.since],
        "origin": rule.origin,
        "url": [each.url] if each.url else [],
    }
    lines = [visible(line, canvas.encoding) for line in fill_prose(rule.explanation, canvas.width).splitlines()]
    body = [_embolden(line, canvas) if line.startswith("#") else line for line in lines]
    about = [
        f"{'' if index else f'{name}:':<8}{text}" for name, texts in facts.items() for index, text in enumerate(texts)
    ]
    example = read_example(rule)
    shown = [
        *(_embolden("## A wrong example", canvas), draw_wrong(rule, example, canvas)),
        *(_embolden("## The same, right", canvas), draw_change(example, canvas).rstrip("\n")),
    ]
    return "".join(f"{line}\n" for line in (_embolden(title, canvas), "", *body, "", *shown, "", *about))


def write_page(each: CataloguedRule) -> str:
    """Return the rule's page in Markdown, with its example."""
    rule = each.rule
    example = read_example(rule)
    when = " It applies only when it is selected." if each.family.asks_first(rule) else ""
    origin = f" Comes from: {', '.join(f'`{slug}`' for slug in rule.origin)}." if rule.origin else ""
    return f"""\
# {rule.code} {rule.name}

{rule.explanation.strip()}

## A wrong example

```text
{draw_wrong(rule, example, _MARKDOWN)}```

## The same, right

```diff
{draw_change(example, _MARKDOWN)}```

Since {rule.since}. Default severity: {rule.severity}.{when} Family: {each.family.name}.{origin}
"""


_MARKDOWN = Canvas(width=100)
"""A page shows a finding in so many columns."""


def _embolden(line: str, canvas: Canvas) -> str:
    return f"\x1b[1m{line}\x1b[0m" if canvas.colour else line


_ITEM = re.compile(r"(?P<lead>\s*(?:[-*]|\d+\.)\s+)(?P<text>.*)")
_LINK = re.compile(r"\[([^\]]+)\]\([^()\s]+\)")
_WIDEST = 100


def fill_prose(page: str, width: int | None) -> str:
    """Return a page with its paragraphs and list items filled, and links by their texts; all else stays as it is."""
    room = min(width or _WIDEST, _WIDEST)
    lines: list[str] = []
    for block in _split_blocks(page):
        if block[0] == "":
            lines.append(block[1])
            continue
        item = _ITEM.fullmatch(block[0])
        lead = item["lead"] if item else ""
        text = _LINK.sub(r"\1", " ".join(part.strip() for part in block)[len(lead.lstrip()) :])
        blanks = " " * len(lead)
        filled = wrap(text, room, initial_indent=lead, subsequent_indent=blanks, break_long_words=False)
        lines.extend(filled or [""])
    return "".join(f"{line}\n" for line in lines)


def _split_blocks(page: str) -> Iterator[list[str]]:
    """Group the lines that are filled together; an untouchable line is a group of its own, marked by its indent."""
    block: list[str] = []
    fenced = False
    for line in page.strip().splitlines():
        fence = line.lstrip().startswith("```")
        alone = fenced or fence or not line.strip() or line.startswith(("#", "|", "    "))
        if alone or _ITEM.match(line):
            if block:
                yield block
            block = []
        if alone:
            yield ["", line]
        else:
            block.append(line)
        fenced ^= fence
    if block:
        yield block

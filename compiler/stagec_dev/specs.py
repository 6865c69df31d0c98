"""Specifications of rules: sections, each a case, of files and of the diagnostics that a rule reports in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from stagec.core.rule import AnyFamily, AnyRule

_FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<info>.*)$")


class Block(NamedTuple):
    """One fenced block: the words of its info string, its body, and the lines its body occupies in the file."""

    info: tuple[str, ...]
    body: str
    start: int
    end: int


class Section(NamedTuple):
    """One test of a specification."""

    title: str
    line: int
    prose: str
    inputs: tuple[Block, ...]
    expected: Block


def find_spec(root: Path, family: AnyFamily, rule: AnyRule) -> Path:
    """Return the path of a rule's specification in a checkout."""
    return root / "tests" / "rules" / family.name / f"{rule.code.lower()}_{rule.name.replace('-', '_')}.md"


def read_sections(path: Path) -> tuple[Section, ...]:
    """Return the sections of a specification, or raise a sentence about what is wrong with it."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    blocks = tuple(_blocks(lines))
    inside = {number for block in blocks for number in range(block.start, block.end)}
    starts = [number for number, line in enumerate(lines) if line.startswith("## ") and number not in inside]
    found = tuple(
        _section(path, lines, blocks, (start, end))
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    )
    if len({section.title for section in found}) < len(found):
        raise ValueError(f"{path}: two sections have the same title")
    return found


def _section(path: Path, lines: list[str], blocks: tuple[Block, ...], bounds: tuple[int, int]) -> Section:
    start, end = bounds
    title = lines[start].removeprefix("## ").strip()
    own = [block for block in blocks if start < block.start < end]
    if not own or own[-1].info != ("diagnostics",):
        raise ValueError(f"{path}:{start + 1}: section {title!r} does not end with a block of diagnostics")
    bad = [block for block in own[:-1] if not block.info[1:] or ".." in block.info[1].split("/")]
    if bad:
        raise ValueError(f"{path}:{bad[0].start}: an input needs a language and a path inside the project")
    prose = "".join(lines[start + 1 : own[0].start - 1]).strip()
    if not prose:
        raise ValueError(f"{path}:{start + 1}: section {title!r} does not say what it shows")
    return Section(title, start, prose, tuple(own[:-1]), own[-1])


def _blocks(lines: list[str]) -> Iterator[Block]:
    start, info, ticks = 0, None, ""
    for number, line in enumerate(lines):
        if info is None:
            match = _FENCE.match(line.rstrip())
            if match is not None:
                start, info, ticks = number + 1, tuple(match["info"].split()), match["ticks"]
        elif line.rstrip() == ticks:
            yield Block(info, "".join(lines[start:number]), start, number)
            info = None

"""The example of each rule: the case of its specification that least separates from a case without a finding."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

from stagec.check.pipeline import list_families
from stagec_dev.checkout import ROOT
from stagec_dev.specs import Section, find_spec, read_sections

_FOUND = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+)-(?P<end>\d+):(?P<stop>\d+) (?P<severity>\w+) STG\d+ (?P<message>.*)"
)
_RELATED = re.compile(r"  related (?P<file>.+?):(?P<line>\d+):(?P<column>\d+) (?P<message>.*)")
_FIX = re.compile(r"  (?P<unsafe>unsafe )?fix: (?P<message>.*)")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\w./@-]+|.')
_LONGEST = 240
"""Characters of a line beyond which it is no example for people."""
_ROOM = 76
"""Characters of a changed line that a terminal of 80 columns shows."""


def find_examples_file(root: Path = ROOT) -> Path:
    """Return the path of the file with all examples."""
    return root / "compiler" / "stagec" / "cli" / "rule_examples.json"


def write_examples(root: Path = ROOT) -> str:
    """Return the text of the file with the example of every rule, one in a line."""
    every = [(rule.code, find_spec(root, family, rule)) for family in list_families() for rule in family.rules()]
    rows = (f"{json.dumps(code)}: {json.dumps(_choose(path), ensure_ascii=False)}" for code, path in every)
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _choose(path: Path) -> dict[str, Any]:
    sections = read_sections(path)
    wrong = [each for each in sections if each.expected.body]
    right = [each for each in sections if not each.expected.body]
    pairs = [(before, _compare(before, after)) for before in wrong for after in right]
    section, change = min(pairs, key=lambda pair: _weigh(*pair))
    found = [*_parse(section)]
    return {"findings": found, "lines": _excerpt(_texts(section), found), "change": [*_shorten(change)]}


def _weigh(section: Section, change: list[str]) -> int:
    long = sum(len(line) > _LONGEST for line in change)
    findings = len(re.findall(r"^\S", section.expected.body, re.MULTILINE))
    changed = sum(line.startswith(("-", "+")) for line in change)
    return 3 * changed + len(change) + 4 * findings + 20 * long


def _texts(section: Section) -> Mapping[str, str]:
    return {block.info[1]: block.body for block in section.inputs}


def _trust(section: Section) -> Mapping[str, str]:
    return {block.info[1]: " ".join(block.info[2:]) or "local" for block in section.inputs}


def _compare(wrong: Section, right: Section) -> list[str]:
    before, after = _texts(wrong), _texts(right)
    trust, later = (
        {each.info[1]: " ".join(each.info[2:]) or "local" for each in some.inputs} for some in (wrong, right)
    )
    told = [file for file in trust if before[file] == after.get(file) and trust[file] != later[file]]
    lines = [f"{sign}{file}: {words[file]}" for file in told for sign, words in (("-", trust), ("+", later))]
    for file in dict.fromkeys((*before, *after)):
        old, new = before.get(file, "").splitlines(), after.get(file, "").splitlines()
        names = (file if file in before else "/dev/null", file if file in after else "/dev/null")
        lines += unified_diff(old, new, *names, n=2, lineterm="")
    return lines


def _shorten(change: list[str]) -> Iterator[str]:
    """Cut long lines to the part that differs from the line that replaces them, or to their beginning."""
    for line in change:
        if len(line) <= _ROOM:
            yield line.rstrip()
            continue
        other = {"-": "+", "+": "-"}.get(line[0], "")
        twins = [each for each in change if other and each.startswith(other) and len(each) > _ROOM]
        start = max((_count_equal(line[1:], each[1:]) for each in twins), default=0)
        first = max(1, min(start - _ROOM // 3, len(line) - _ROOM))
        last = first + _ROOM
        yield f"{line[0]}{'…' if first > 1 else ''}{line[first:last]}{'…' if last < len(line) else ''}"


def _count_equal(one: str, other: str) -> int:
    """Return how many characters two lines begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (mine, its) in pairs if mine != its), min(len(one), len(other)))


def _parse(section: Section) -> Iterator[dict[str, Any]]:
    texts = _texts(section)
    found: dict[str, Any] | None = None
    for line in section.expected.body.splitlines():
        if match := _FOUND.fullmatch(line):
            if found is not None:
                yield found
            places = [int(match[name]) for name in ("line", "column", "end", "stop")]
            about = {"file": match["file"], "severity": match["severity"], "message": match["message"]}
            found = {**about, "span": places, "related": []}
        elif found is not None and (match := _RELATED.fullmatch(line)):
            start, column = int(match["line"]), int(match["column"])
            end = column + _measure(texts.get(match["file"], ""), start, column)
            also = {"file": match["file"], "span": [start, column, start, end], "message": match["message"]}
            found["related"].append(also)
        elif found is not None and (match := _FIX.fullmatch(line)):
            found["fix"] = {"message": match["message"], "safe": match["unsafe"] is None}
        elif found is None:
            raise ValueError(f"a diagnostic of {section.title!r} cannot be read: {line}")
    if found is not None:
        yield found


def _measure(text: str, line: int, column: int) -> int:
    lines = text.splitlines()
    token = _TOKEN.match(lines[line - 1], column - 1) if line <= len(lines) else None
    return len(token[0]) if token else 1


def _excerpt(texts: Mapping[str, str], found: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Return the lines that findings mark, and the line between two that are marked, by file and number."""
    kept: dict[str, dict[str, str]] = {}
    for place in (place for each in found for place in (each, *each["related"])):
        lines = texts.get(place["file"], "").splitlines()
        first = place["span"][0]
        near = range(max(1, first - 1), min(len(lines), first + 1) + 1)
        kept.setdefault(place["file"], {}).update({str(number): lines[number - 1] for number in near})
    return kept

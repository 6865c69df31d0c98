"""Pages that are written from the rules and the kinds of changes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

from stagec.change.comparison.kind import ChangeKind, Grade
from stagec.change.comparison.situation import list_kinds
from stagec.check.pipeline import list_families
from stagec.cli.rule_catalogue import CataloguedRule, write_page
from stagec.core.rule import AnyFamily, AnyRule
from stagec_dev.checkout import ROOT
from stagec_dev.table import table

_FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<info>.*)$")


class FencedBlock(NamedTuple):
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
    inputs: tuple[FencedBlock, ...]
    expected: FencedBlock


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


def _section(path: Path, lines: list[str], blocks: tuple[FencedBlock, ...], bounds: tuple[int, int]) -> Section:
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


def _blocks(lines: list[str]) -> Iterator[FencedBlock]:
    start, info, ticks = 0, None, ""
    for number, line in enumerate(lines):
        if info is None:
            match = _FENCE.match(line.rstrip())
            if match is not None:
                start, info, ticks = number + 1, tuple(match["info"].split()), match["ticks"]
        elif line.rstrip() == ticks:
            yield FencedBlock(info, "".join(lines[start:number]), start, number)
            info = None


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


_HEAD = "<!-- written by `python -m stagec_dev docs`; edit the rule or its spec instead -->\n"


def pages(root: Path = ROOT) -> Mapping[Path, str]:
    """Return every generated page, by path."""
    folder = root / "docs" / "rules"
    every = [(family, rule) for family in list_families() for rule in family.rules()]
    written = {folder / f"{rule.code}.md": _page(root, family, rule) for family, rule in every}
    return {folder / "index.md": _index(every), **written}


def _page(root: Path, family: AnyFamily, rule: AnyRule) -> str:
    spec = find_spec(root, family, rule)
    _, found, cases = spec.read_text(encoding="utf-8").partition("\n## ") if spec.exists() else ("", "", "")
    tested = f"\n## Tested cases\n\n### {cases.replace(f'{chr(10)}## ', f'{chr(10)}### ')}" if found else ""
    return f"{_HEAD}{write_page(CataloguedRule(family, rule))}{tested}"


def _index(every: list[tuple[AnyFamily, AnyRule]]) -> str:
    """Return a page with a list for each family; lists fit a narrow screen."""
    sections = ["# Rules", _INDEX]
    for family in dict.fromkeys(family for family, _ in every):
        rules = (rule for owner, rule in every if owner is family)
        lines = (f"- [{rule.code} {rule.name}]({rule.code}.md) ({rule.severity}): {_summary(rule)}" for rule in rules)
        codes = ", ".join(f"STG{each.start:03} to STG{each[-1]:03}" for each in family.numbers)
        title = f"## {family.name.replace('_', ' ').capitalize()}: {codes}"
        sections += [title, "\n".join(lines)]
    return "\n\n".join(sections) + "\n"


_INDEX = (
    "Find a rule by its code or its name with the search of this site or of your browser. `stagec explain CODE` prints "
    "the same page in a terminal."
)


def _summary(rule: AnyRule) -> str:
    return rule.explanation.strip().partition("\n")[0]


BEGIN = "<!-- from here on written by `python -m stagec_dev docs`; edit the kinds in `comparison/kinds` instead -->\n"
_LEADS = {
    Grade.BREAKING: "Some state of a run in flight has no meaning after the change, or that cannot be excluded.",
    Grade.COMPATIBLE: "Runs in flight continue, and behave differently from then on.",
    Grade.ADDITIVE: "Runs in flight continue as before.",
}


def find_changes_page(root: Path = ROOT) -> Path:
    """Return the path of the page."""
    return root / "docs" / "kinds-of-change.md"


def write_changes_page(root: Path = ROOT) -> tuple[Path, str]:
    """Return the path of the page and its text with the kinds as they are now."""
    path = find_changes_page(root)
    head, _, _ = path.read_text(encoding="utf-8").partition(BEGIN)
    return path, head + BEGIN + "\n" + "\n".join(_write_kinds())


def _write_kinds() -> Iterator[str]:
    for grade in Grade:
        kinds = [each for each in list_kinds() if each.grade is grade]
        yield f"## {grade.value.capitalize()} changes\n\n{_LEADS[grade]}\n"
        if grade is Grade.BREAKING:
            yield from map(_write_section, kinds)
        else:
            rows = [(each.code, each.name, each.explanation.partition("\n")[0]) for each in kinds]
            yield table(("code", "name", "what has changed"), rows)


def _write_section(kind: ChangeKind) -> str:
    page = kind.explanation.strip().replace("\n## ", "\n#### ")
    return f"### {kind.code} {kind.name}\n\n{page}\n"

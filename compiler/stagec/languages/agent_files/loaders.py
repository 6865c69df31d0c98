"""The way in which the tools that own agent files read them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import partial

from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Edit
from stagec.core.failure import Failure
from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.place import START, Place, Position, Span
from stagec.core.value import NOTHING, replace, value
from stagec.sources.formats.markdown import FORMAT, shift_span, split
from stagec.sources.project.toml import line_of, parse
from stagec.sources.tree import Fault, Format, Lines, Parsed, Tree


class LoadOutcome(Enum):
    """The result of reading a frontmatter in the tool that owns the file."""

    READ = "read"
    REPAIRED = "read at a second try"
    LOST = "lost"
    ABSENT = "absent"


@value
class OwnerReading:
    """A frontmatter as the tool that owns it reads it.

    `members` are its keys and values; `faults` are what makes it lost, for the rules about documents. `displaced` is
    a frontmatter that does not count because something stands before it, and `cut` is where one ends too early.
    `unportable` is what stricter tools refuse in it, and `mends` are the stretches that would have to stand in quotes,
    with their texts. A `format` finds places in a text that the usual one cannot read.
    """

    outcome: LoadOutcome
    members: Object = NOTHING
    faults: tuple[Fault, ...] = ()
    displaced: Displaced | None = None
    cut: tuple[int, int] | None = None
    unportable: Fault | None = None
    mends: tuple[tuple[Place, str], ...] = ()
    format: Format | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the tool receives the whole frontmatter, so that a missing member is really absent."""
        return self.outcome in {LoadOutcome.READ, LoadOutcome.REPAIRED} and self.cut is None

    @property
    def is_bare(self) -> bool:
        """Whether nothing in the file was meant as frontmatter."""
        return self.outcome is LoadOutcome.ABSENT and self.displaced is None


Loader = Callable[[Tree, Budgets], OwnerReading]
"""Reads the tree of a file, as the format of its suffix left it, by the rules of the tool that owns the file."""


_FIRST_LINE = re.compile(r"^[ \t]*---[ \t]*$", re.MULTILINE)
_HEADLESS = re.compile(
    r"(?:\ufeff)?(?P<keys>[a-z][\w-]*:[^\n]*\n(?:[a-z][\w-]*:[^\n]*\n|[ \t]+[^\n]*\n){0,40})---[ \t]*(?:\r?\n|\Z)"
)
"""Keys from the first line on, and a line that ends them."""
_HTML_REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
_FENCE = re.compile(r"\s*(?P<marks>```+|~~~+)[^\n`]*\n\s*")
_MOST_BEFORE = 3
"""Lines with something in them before a frontmatter; behind more of them it is an example in a text."""
_FURTHEST = 2_000


@value
class Displaced:
    """The beginning and the end of a frontmatter that nobody reads.

    `is_harmless` tells whether only blanks stand before it, `is_fenced` whether one code block holds all of the file;
    `last_line` is the last line of that block. `refusal` is why it is no YAML.
    `is_headless` tells that only its first line is missing.
    """

    start: int
    end: int
    is_harmless: bool = False
    is_fenced: bool = False
    last_line: tuple[int, int] | None = None
    refusal: Fault | None = None
    is_headless: bool = False


def find_displaced(file: str, text: str, budgets: Budgets) -> Displaced | None:
    """Return the frontmatter that stands behind a few lines or in one code fence with all of the file."""
    headless = _HEADLESS.match(text)
    if headless is not None and any(f"\n{name}:" in f"\n{headless['keys']}" for name in _TELLING):
        return Displaced(headless.start("keys"), headless.end(), is_headless=True)
    opening = _FIRST_LINE.search(text, 0, _FURTHEST)
    before = "" if opening is None else text[: opening.start()]
    closing = None if opening is None else _FIRST_LINE.search(text, opening.end())
    if opening is None or closing is None:
        return None
    fence = _FENCE.fullmatch(_HTML_REMARK.sub("", before))
    said = [line for line in _HTML_REMARK.sub("", before).splitlines() if line.strip()]
    if len(said) > _MOST_BEFORE or (fence is None and any("```" in line or "~~~" in line for line in said)):
        return None
    inside = text[opening.end() : closing.start()]
    parsed = read_block(FrontmatterBlock(file, inside, opening.end()), budgets)
    refusal = find_refusal(parsed)
    members = parsed.value if isinstance(parsed.value, dict) else {}
    if not any(name in members for name in _TELLING) and refusal is None:
        return None
    if not members and not _KEY.search(inside):
        return None
    is_bare = fence is not None and not _HTML_REMARK.search(before)
    last = None if fence is None else _find_last_fence(text, fence["marks"])
    return Displaced(opening.start(), closing.end(), not before.strip(), is_bare and last is not None, last, refusal)


def _find_last_fence(text: str, marks: str) -> tuple[int, int] | None:
    """Return the bounds of the last line of a text, if it ends the code block that begins with some marks."""
    found = re.search(rf"\n[ ]{{0,3}}{marks}[`~]*\s*\Z", text)
    return None if found is None else (found.start() + 1, len(text))


_TELLING = ("name", "description", "tools", "mode", "agent", "applyTo", "allowed-tools", "argument-hint", "model", "on")
_KEY = re.compile(r"^(?:name|description|tools|allowed-tools|applyTo|mode)[ \t]*:", re.MULTILINE)


OF_YAML = frozenset({"invalid-yaml", "invalid-frontmatter", "repeated-key", "alias-expansion", "several-documents"})
"""Topics of faults that say what stagec's own reading of a frontmatter found."""
_REFUSED = frozenset({"invalid-yaml", "alias-expansion", "several-documents", "oversized-file", "deep-nesting"})
"""Topics of faults with which a text has no value."""


@value
class FrontmatterBlock:
    """The text of a frontmatter, and where in its file it begins."""

    file: str
    text: str
    start: int


def read_block(block: FrontmatterBlock, budgets: Budgets) -> Parsed:
    """Return the value of a frontmatter, `{}` of an empty one; ranges of faults count from the start of the file."""
    from stagec.sources.yaml_text.reading import read

    parsed = read(block.file, block.text, budgets)
    if any(fault.topic == "empty-file" for fault in parsed.faults):
        return Parsed({})
    moved: list[Fault] = []
    for fault in parsed.faults:
        related = tuple((shift_span(at, block.start), why) for at, why in fault.related)
        moved.append(replace(fault, at=shift_span(fault.at, block.start), related=related))
    return Parsed(parsed.value, tuple(moved))


def find_refusal(parsed: Parsed) -> Fault | None:
    """Return the fault because of which a text has no value."""
    return next((fault for fault in parsed.faults if fault.topic in _REFUSED), None)


def keep_others(tree: Tree) -> tuple[Fault, ...]:
    """Return the faults of a tree that are not about YAML, such as a byte order mark."""
    return tuple(fault for fault in tree.faults if fault.topic not in OF_YAML)


@value
class Quoted:
    """A frontmatter with quotes round some of its values: what they stand round, and where.

    `ranges` are offsets of the values in the text as it is written, `moved` those of the same values with their quotes
    in `text`; both count from the start of the frontmatter.
    """

    block: FrontmatterBlock
    text: str
    ranges: tuple[tuple[int, int], ...] = ()
    moved: tuple[tuple[int, int], ...] = ()

    def find_offset(self, at: int) -> int:
        """Return the offset in the written text of an offset in the text with quotes."""
        index = bisect_right([start for start, _ in self.moved], at) - 1
        if index < 0:
            return at
        (start, end), (begin, stop) = self.ranges[index], self.moved[index]
        return end + at - stop if at >= stop else min(start + at - begin, end)


def quote_values(block: FrontmatterBlock, find_value: Callable[[str], re.Match[str] | None]) -> Quoted:
    """Return a frontmatter with quotes round the values that are found in its lines, as the group `value`."""
    ranges: list[tuple[int, int]] = []
    moved: list[tuple[int, int]] = []
    lines: list[str] = []
    at = shift = 0
    for line in block.text.split("\n"):
        found = find_value(line)
        shown = line
        if found is not None:
            start, end = found.span("value")
            quoted = '"{}"'.format(line[start:end].replace("\\", "\\\\").replace('"', '\\"'))
            shown = f"{line[:start]}{quoted}{line[end:]}"
            ranges.append((at + start, at + end))
            moved.append((at + shift + start, at + shift + start + len(quoted)))
        lines.append(shown)
        shift += len(shown) - len(line)
        at += len(line) + 1
    return Quoted(block, "\n".join(lines), tuple(ranges), tuple(moved))


def move_back(fault: Fault, quoted: Quoted) -> Fault:
    """Return a fault of the text with quotes, whose ranges count from its start, as one of the file."""
    at, start = fault.at, quoted.block.start
    if at.range is None:
        return fault
    first, last = (quoted.find_offset(each) for each in at.range)
    return replace(fault, at=replace(at, range=(start + first, start + max(first, last))), related=())


def make_format(quoted: Quoted) -> Format:
    """Return the format of one file whose frontmatter is found, member by member, in the text with quotes."""
    return replace(FORMAT, suffixes=(), locate=partial(_locate, quoted), apply=partial(_apply, quoted))


def _locate(quoted: Quoted, data: bytes, places: Iterable[Place]) -> Mapping[Place, Span]:
    from stagec.sources.yaml_text.compose import compose
    from stagec.sources.yaml_text.members import find_range
    from stagec.sources.yaml_text.nodes import Finder

    lines, wanted = Lines(data.decode(errors="replace")), tuple(places)
    is_asked = any(place.range is None for place in wanted)
    root = compose(quoted.text, Budgets()).root if is_asked else None
    finder = Finder(root) if root else None
    found: dict[Place, Span] = {}
    for place in wanted:
        here = place.range
        if here is None and finder is not None:
            first, last = find_range(finder, place, 0)
            here = (quoted.block.start + quoted.find_offset(first), quoted.block.start + quoted.find_offset(last))
        found[place] = lines.span(*here) if here else START
    return found


def _apply(quoted: Quoted, text: str, edits: Iterable[Edit]) -> str:
    """Make edits of stretches; members cannot be edited before the frontmatter is YAML."""
    every = tuple(edits)
    if any(edit.at.range is None for edit in every):
        raise ValueError("a frontmatter that is no YAML has no members")
    start, end = quoted.block.start, quoted.block.start + len(quoted.block.text)
    from stagec.sources.yaml_text.members import change

    inside = [replace(edit, at=shift_span(edit.at, -start)) for edit in every]
    return text[:start] + change(text[start:end], inside) + text[end:]


def list_needed(quoted: Quoted) -> tuple[tuple[tuple[int, int], str], ...]:
    """Return the ranges, in the file, of the values that mean something else without their quotes, and their texts.

    There are none where a value is a list or a map by itself: its author did not mean a text.
    """
    from stagec.sources.yaml_text.quick import quick

    found: list[tuple[tuple[int, int], str]] = []
    for start, end in quoted.ranges:
        written = quoted.block.text[start:end]
        alone = object_of(quick(f"value: {written}", 3)).get("value")
        if isinstance(alone, list | dict):
            return ()
        if alone != written:
            found.append(((quoted.block.start + start, quoted.block.start + end), written))
    return tuple(found)


_OWN_LIMITS = frozenset({"anchor", "tag"})
"""Reasons for which stagec refuses frontmatter of its own that is good YAML."""


def load_strict(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return the frontmatter of a file as a tool reads it that tries once."""
    if not tree.readable and any(map(_is_own_limit, tree.faults)):
        return _read_as_yaml(tree, budgets)
    if isinstance(tree.value, dict):
        return OwnerReading(LoadOutcome.READ, object_of(tree.value), tree.faults)
    if tree.faults and not tree.readable:
        return OwnerReading(LoadOutcome.LOST, faults=tree.faults)
    displaced = find_displaced(tree.file, tree.data.decode(errors="replace"), budgets)
    return OwnerReading(LoadOutcome.ABSENT, faults=tree.faults, displaced=displaced)


def _is_own_limit(fault: Fault) -> bool:
    return fault.topic == "invalid-frontmatter" and fault.reason in _OWN_LIMITS


def _read_as_yaml(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return the content of a frontmatter with anchors or tags in YAML."""
    text = tree.data.decode(errors="replace")
    fenced = split(text)
    if fenced is None:
        return OwnerReading(LoadOutcome.LOST, faults=tree.faults)
    parsed = read_block(FrontmatterBlock(tree.file, text[fenced.start : fenced.end], fenced.start), budgets)
    faults = (*keep_others(tree), *parsed.faults)
    if find_refusal(parsed) is not None or not isinstance(parsed.value, dict):
        return OwnerReading(LoadOutcome.LOST, faults=faults or tree.faults)
    return OwnerReading(LoadOutcome.READ, parsed.value, faults)


def read_quoted(quoted: Quoted, refused: Fault, budgets: Budgets) -> OwnerReading:
    """Return the content of a frontmatter with added quotes; `refused` is the fault without them."""
    file = quoted.block.file
    parsed = read_block(FrontmatterBlock(file, quoted.text, 0), budgets)
    trouble = find_refusal(parsed)
    if trouble is not None or not isinstance(parsed.value, dict):
        told = move_back(trouble, quoted) if trouble is not None and trouble.reason == "unindented" else refused
        return OwnerReading(LoadOutcome.LOST, faults=(told,))
    return OwnerReading(
        LoadOutcome.REPAIRED,
        parsed.value,
        tuple(move_back(fault, quoted) for fault in parsed.faults if fault.topic != "repeated-key"),
        unportable=refused,
        mends=tuple((Place(file, range=where), text) for where, text in list_needed(quoted)),
        format=make_format(quoted),
    )


_UNREADABLE = frozenset({"unreadable-file", "outside-project", "oversized-file", "not-utf8"})
_OPENING = re.compile(r"---\s*\n")
_CLOSING = "---"
_MERGE = "<<"
_CONTINUED = re.compile(
    r"""^(?P<key>[^\s#'"\[{][^\n:]*):[ \t]+"""
    r"""(?:"(?:[^"\\\n]|\\.)*\n(?:[ \t][^"\n]*\n|\n)*(?=[^\s])"""
    r"""|'(?:[^'\n]|'')*\n(?:[ \t][^'\n]*\n|\n)*(?=[^\s])"""
    r"""|[\[{][^\]}\n]*\n(?:[ \t][^\]}\n]*\n|\n)*(?=[^\s\]},#]))(?P<line>[^\n]*)""",
    re.MULTILINE,
)
"""A value in quotes or brackets that goes on at the beginning of a line, which other readers of YAML let pass."""
_OWN_LINE = re.compile(r"[ \t]*-{3,}[ \t]*")
_CLAUDE_CODE_VALUE = re.compile(
    r"[a-zA-Z_-]+:\s+(?P<value>"
    r"""(?!"[^\n]*"$|'[^\n]*'$)"""
    r"(?=[^\n]*(?:[{}\[\]*&#!|>%@`]|: ))"
    r"[^\n\r\u2028\u2029]+)"
)
"""A line that the second try puts in quotes: not one with a carriage return, which Claude Code does not find."""


@value
class _Fenced:
    """A text and its frontmatter as Claude Code finds it; `closing` is the line that ends it."""

    tree: Tree
    text: str
    start: int
    end: int
    closing: str

    @property
    def block(self) -> FrontmatterBlock:
        """The frontmatter without its fences."""
        return FrontmatterBlock(self.tree.file, self.text[self.start : self.end], self.start)

    @property
    def is_line(self) -> bool:
        """Whether every other tool finds the same end."""
        return self.closing.rstrip() == _CLOSING and self.text[self.end - 1] == "\n"

    @property
    def is_cut(self) -> bool:
        """Whether the end is inside of something that goes on, as another tool reads the same text."""
        is_meant = _OWN_LINE.fullmatch(self.closing) is not None
        return not self.is_line and (isinstance(self.tree.value, dict) or not is_meant)

    def read(self, budgets: Budgets) -> OwnerReading:
        """Return the content of the file as its owner reads it."""
        block = self.block
        parsed = read_block(block, budgets)
        refused = find_refusal(parsed)
        if refused is not None and refused.topic != "several-documents":
            return _read_again(self, refused, budgets)
        if refused is not None or not isinstance(parsed.value, dict):
            at = Place(block.file, range=(self.start, self.end))
            fault = Fault("invalid-frontmatter", at, "not-a-mapping", {"value": str(parsed.value)})
            return OwnerReading(LoadOutcome.LOST, faults=(refused or fault,))
        repeated = next((fault for fault in parsed.faults if fault.topic == "repeated-key"), None)
        unusual = Fault("unportable-frontmatter", Place(block.file, range=(self.end, self.end + 3)), "closing")
        return OwnerReading(
            LoadOutcome.READ,
            parsed.value,
            tuple(fault for fault in parsed.faults if fault.topic != "repeated-key"),
            unportable=repeated if self.is_line else unusual,
            format=None if self.is_line else make_format(Quoted(block, block.text)),
        )


def load_claude_code(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return the frontmatter of a file as Claude Code reads it, which merges maps behind `<<`."""
    reading = _load_fenced(tree, budgets)
    if _MERGE not in reading.members:
        return reading
    given = reading.members[_MERGE]
    merged: dict[str, Json] = {}
    for each in reversed(list_of(given) or [given]):
        merged.update(object_of(each))
    own = {key: each for key, each in reading.members.items() if key != _MERGE}
    return replace(reading, members={**merged, **own})


def _load_fenced(tree: Tree, budgets: Budgets) -> OwnerReading:
    if any(fault.topic in _UNREADABLE for fault in tree.faults):
        return OwnerReading(LoadOutcome.LOST, faults=tree.faults)
    text = tree.data.decode()
    fenced = _find_fences(tree, text)
    if fenced is None:
        return _read_nothing(tree, text, budgets)
    continued = _CONTINUED.search(text, fenced.start, fenced.end)
    if continued is not None and not fenced.is_cut:
        facts = {"text": continued["line"], "key": continued["key"]}
        fault = Fault("invalid-yaml", Place(tree.file, range=continued.span("line")), "unindented", facts)
        reading = _read_again(fenced, fault, budgets)
        is_lost = reading.outcome is LoadOutcome.LOST
        return replace(reading, faults=(*keep_others(tree), *((fault,) if is_lost else reading.faults)))
    is_the_same = fenced.is_line and isinstance(tree.value, dict) and not tree.faults
    reading = OwnerReading(LoadOutcome.READ, object_of(tree.value)) if is_the_same else fenced.read(budgets)
    if fenced.is_cut:
        reading = replace(reading, cut=(fenced.end, fenced.end + len(_CLOSING)), faults=(), unportable=None)
    return replace(reading, faults=(*keep_others(tree), *reading.faults))


def _find_fences(tree: Tree, text: str) -> _Fenced | None:
    opening = _OPENING.match(text)
    end = -1 if opening is None else text.find(_CLOSING, opening.end())
    if opening is None or end < 0:
        return None
    first, last = text.rfind("\n", 0, end) + 1, text.find("\n", end)
    return _Fenced(tree, text, opening.end(), end, text[first : len(text) if last < 0 else last].rstrip("\r"))


def _read_nothing(tree: Tree, text: str, budgets: Budgets) -> OwnerReading:
    """Return the reading of a file without a frontmatter that Claude Code finds."""
    others = keep_others(tree)
    unclosed = tuple(fault for fault in tree.faults if fault.reason == "unclosed")
    if unclosed:
        return OwnerReading(LoadOutcome.LOST, faults=(*others, *unclosed))
    if isinstance(tree.value, dict) and tree.value:  # another line ends it for other tools, such as `...`
        at = Place(tree.file, range=(0, len(_CLOSING)))
        return OwnerReading(LoadOutcome.LOST, faults=(*others, Fault("invalid-frontmatter", at, "unclosed")))
    return OwnerReading(LoadOutcome.ABSENT, faults=others, displaced=find_displaced(tree.file, text, budgets))


def _read_again(fenced: _Fenced, refused: Fault, budgets: Budgets) -> OwnerReading:

    quoted = quote_values(fenced.block, _CLAUDE_CODE_VALUE.fullmatch)
    if _CONTINUED.search(quoted.text):  # it stands as it is
        return OwnerReading(LoadOutcome.LOST, faults=(refused,))
    return read_quoted(quoted, refused, budgets)


_OPENCODE_VALUE = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\s*:\s*(?P<value>(?![\"'])[^:\r\n]*:[^\r\n]*?)\s*")


def load_opencode(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return the frontmatter of a file as OpenCode reads it."""
    reading = load_strict(tree, budgets)
    text = tree.data.decode(errors="replace")
    fenced = split(text) if any(fault.topic == "invalid-yaml" for fault in reading.faults) else None
    if reading.outcome is not LoadOutcome.LOST or fenced is None:
        return reading
    block = FrontmatterBlock(tree.file, text[fenced.start : fenced.end], fenced.start)
    refused = next(fault for fault in reading.faults if fault.topic == "invalid-yaml")
    again = read_quoted(quote_values(block, _OPENCODE_VALUE.fullmatch), refused, budgets)
    return reading if again.outcome is LoadOutcome.LOST else replace(again, faults=(*keep_others(tree), *again.faults))


_MEMBER = re.compile(r"^(?P<key>[A-Za-z]+):[ \t]*(?P<value>.*?)[ \t]*$", re.MULTILINE)


def load_cursor(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return the lines between the marks of a rule as Cursor reads them."""
    text = tree.data.decode(errors="replace")
    fenced = split(text)
    faults = keep_others(tree)
    if fenced is None or not fenced.closed:
        return OwnerReading(LoadOutcome.ABSENT, faults=faults)
    inside = text[fenced.start : fenced.end]
    members: dict[str, Json] = {found["key"]: found["value"] for found in _MEMBER.finditer(inside)}
    return OwnerReading(LoadOutcome.READ, members, faults)


def load_json(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return the members of a JSON object; another value is nothing."""
    if isinstance(tree.value, dict):
        return OwnerReading(LoadOutcome.READ, tree.value, tree.faults)
    return OwnerReading(LoadOutcome.LOST, faults=tree.faults)


_REMARK = re.compile(rb'"(?:[^"\\\n]|\\.)*"|(?P<remark>//[^\n]*|/\*.*?(?:\*/|\Z))', re.DOTALL)
_LAST_COMMA = re.compile(rb'"(?:[^"\\\n]|\\.)*"|(?P<remark>,)(?=\s*[\]}])')


def load_jsonc(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return the members of a JSON object that can have remarks, and commas behind the last members."""
    data = _blank(_LAST_COMMA, _blank(_REMARK, tree.data))
    parsed = tree.format.parse(tree.file, data, budgets)
    format_ = replace(tree.format, suffixes=(), locate=lambda _, places: tree.format.locate(data, places))
    outcome = LoadOutcome.READ if isinstance(parsed.value, dict) else LoadOutcome.LOST
    return OwnerReading(outcome, object_of(parsed.value), parsed.faults, format=format_)


def _blank(pattern: re.Pattern[bytes], data: bytes) -> bytes:
    """Return a text of the same length, in which blanks replace the comments that a pattern finds."""
    return pattern.sub(lambda found: re.sub(rb"[^\n]", b" ", found[0]) if found["remark"] else found[0], data)


def load_prose(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return nothing of Markdown without frontmatter: all of it is text."""
    return OwnerReading(LoadOutcome.ABSENT, faults=keep_others(tree))


def load_unread(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return the content of a file that its tool does not read, without its mistakes."""
    return OwnerReading(LoadOutcome.ABSENT, object_of(tree.value))


_LINE = re.compile(r".*?:(?P<line>\d+): (?P<what>.*)", re.DOTALL)


def load_toml(tree: Tree, _budgets: Budgets) -> OwnerReading:
    """Return the tables of a TOML file; one that is no TOML is lost."""
    text = tree.data.decode(errors="replace")
    format_ = replace(tree.format, suffixes=(), locate=partial(_locate_lines, text))
    try:
        return OwnerReading(LoadOutcome.READ, parse(tree.file, text), tree.faults, format=format_)
    except Failure as failure:
        told = _LINE.fullmatch(str(failure))
        lines = text.splitlines(keepends=True) or [""]
        number = min(int(told["line"]), len(lines)) - 1 if told else 0
        start = len("".join(lines[:number]))
        at = Place(tree.file, range=(start, start + len(lines[number].rstrip("\r\n"))))
        fault = Fault("unstartable-configuration", at, facts={"what": told["what"] if told else str(failure)})
        return OwnerReading(LoadOutcome.LOST, faults=(*tree.faults, fault), format=format_)


def _locate_lines(text: str, _data: bytes, given: Iterable[Place]) -> Mapping[Place, Span]:
    """Return the whole line of each key, and stretches as they are."""
    lines, places = text.split("\n"), tuple(given)
    found: dict[Place, Span] = {place: Lines(text).span(*place.range) for place in places if place.range}
    for place in (each for each in places if not each.range):
        number = line_of(text, tuple(map(str, place.pointer)))
        found[place] = Span(Position(number, 1), Position(number, len(lines[number - 1]) + 1))
    return found

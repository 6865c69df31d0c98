"""Claude Code: the first `---` closes a frontmatter, and what is no YAML is tried again with quotes."""

from __future__ import annotations

import re

from stagec.core.budgets import Budgets
from stagec.core.json import object_of
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.frontends.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.frontends.agent_files.loaders.displaced import find_displaced
from stagec.frontends.agent_files.loaders.frontmatter import FrontmatterBlock, find_refusal, keep_others, read_block
from stagec.sources.tree import Fault, Tree

_UNREADABLE = frozenset({"unreadable-file", "outside-project", "oversized-file", "not-utf8"})
_OPENING = re.compile(r"---\s*\n")
_CLOSING = "---"
_CONTINUED = re.compile(
    r"""^(?P<key>[^\s#'"\[{][^\n:]*):[ \t]+"""
    r"""(?:"(?:[^"\\\n]|\\.)*\n(?:[ \t][^"\n]*\n|\n)*(?=[^\s])"""
    r"""|'(?:[^'\n]|'')*\n(?:[ \t][^'\n]*\n|\n)*(?=[^\s])"""
    r"""|[\[{][^\]}\n]*\n(?:[ \t][^\]}\n]*\n|\n)*(?=[^\s\]},#]))(?P<line>[^\n]*)""",
    re.MULTILINE,
)
"""A value in quotes or brackets that goes on at the beginning of a line, which other readers of YAML let pass."""
_OWN_LINE = re.compile(r"[ \t]*-{3,}[ \t]*")
_VALUE = re.compile(
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
        """Return what the owner of the file reads in it."""
        from stagec.frontends.agent_files.loaders.quoting import Quoted, make_format

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


def load(tree: Tree, budgets: Budgets) -> OwnerReading:
    """Return the frontmatter of a file as Claude Code reads it."""
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
    """Return what becomes of a file without a frontmatter that Claude Code finds."""
    others = keep_others(tree)
    unclosed = tuple(fault for fault in tree.faults if fault.reason == "unclosed")
    if unclosed:
        return OwnerReading(LoadOutcome.LOST, faults=(*others, *unclosed))
    if isinstance(tree.value, dict) and tree.value:  # another line ends it for other tools, such as `...`
        at = Place(tree.file, range=(0, len(_CLOSING)))
        return OwnerReading(LoadOutcome.LOST, faults=(*others, Fault("invalid-frontmatter", at, "unclosed")))
    return OwnerReading(LoadOutcome.ABSENT, faults=others, displaced=find_displaced(tree.file, text, budgets))


def _read_again(fenced: _Fenced, refused: Fault, budgets: Budgets) -> OwnerReading:
    from stagec.frontends.agent_files.loaders.quoting import quote_values
    from stagec.frontends.agent_files.loaders.second_try import read_quoted

    quoted = quote_values(fenced.block, _VALUE.fullmatch)
    if _CONTINUED.search(quoted.text):  # it stands as it is
        return OwnerReading(LoadOutcome.LOST, faults=(refused,))
    return read_quoted(quoted, refused, budgets)

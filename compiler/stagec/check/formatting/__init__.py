"""Canonical order and layout of the documents of a project; what they say never changes."""

from __future__ import annotations

import json
import re
from collections import Counter

from stagec.check.formatting.reading import (
    AS_WRITTEN,
    LayoutReader,
    MemberOrder,
    UnusualLayoutError,
    find_nodes,
    read_order,
)
from stagec.check.formatting.writing import write_document
from stagec.core.budgets import Budgets
from stagec.core.value import value
from stagec.sources.formats.markdown import Fenced, split
from stagec.sources.read import BOM
from stagec.sources.tree import Tree
from stagec.sources.yaml_text.compose import compose_quickly, nodes_of
from stagec.sources.yaml_text.nodes import Kind, YamlNode

_DEEPEST = 100
"""Containers inside each other, whatever the budget: each is read and written by a call inside a call."""

_ORDERS = {
    "registry": ("steps_registry",),
    "agent": ("agent",),
    "pipeline": ("pipeline",),
    "stage": ("stage_object",),
    "configuration": ("state_machine_config",),
    "tools": ("tools",),
    "stage_plan": ("stage_plan",),
    "envelope": ("stage_plan", "envelope"),
    "workflow": ("workflow",),
}
"""The published schema, or the definition in it, whose order the documents of a kind have."""
_FRONTMATTER = ("stage_definition",)
_LAYOUT_ONLY = frozenset({"schema", "mcp"})
"""Kinds of documents whose members stay in their order: it is their author's, or another program's."""

_MARKER_LIKE = re.compile(rf"---|\.\.\.|{BOM.decode()}")
_MARKER = re.compile(r"^(?:---|%)[^\n]*\n", re.MULTILINE)
_END = re.compile(r"^\.\.\.", re.MULTILINE)


@value
class FormattedFile:
    """The bytes of a file before and after; `unusual` is the line of a form because of which it is left as it is."""

    file: str
    before: bytes
    after: bytes
    unusual: int = 0


def is_laid_out(tree: Tree) -> bool:
    """Tell whether stagec lays out a file; prompts, locks and what is no document it leaves alone."""
    return tree.format.name != "plain" and (tree.kind in _ORDERS or tree.kind in _LAYOUT_ONLY)


def format_file(file: str, tree: Tree, budgets: Budgets) -> FormattedFile:
    """Return a readable file with its bytes in canonical order and layout."""
    before = (BOM if any(tree.about("byte-order-mark")) else b"") + tree.data
    try:
        return FormattedFile(file, before, format_tree(tree, budgets))
    except UnusualLayoutError as error:
        return FormattedFile(file, before, before, error.line)


def format_tree(tree: Tree, budgets: Budgets) -> bytes:
    """Return the bytes of a readable file in canonical order and layout.

    A text in a form that is left as it is raises `UnusualLayoutError`.
    """
    text = tree.data.decode()
    is_markdown = tree.format.name == "markdown"
    fenced = split(text) if is_markdown else Fenced(0, len(text), len(text))
    if fenced is None:
        raise ValueError(f"{tree.file} has no frontmatter")
    order = find_order(tree.kind, is_markdown=is_markdown) or AS_WRITTEN
    inside = text[fenced.start : fenced.end]
    try:
        laid_out = _lay_out(inside, order, budgets, tree.format.name)
    except UnusualLayoutError as error:
        raise UnusualLayoutError(error.line + bool(fenced.start)) from error
    after = text[: fenced.start] + laid_out + text[fenced.end :]
    if after != text:
        _refuse_changes(tree, text, after, budgets)
    return (BOM if any(tree.about("byte-order-mark")) else b"") + after.encode()


def find_order(kind: str, *, is_markdown: bool) -> MemberOrder | None:
    """Return the order of the members of documents of a kind, which is that of their published schema, if any is."""
    names = _FRONTMATTER if is_markdown and kind == "stage" else _ORDERS.get(kind)
    return read_order(*names) if names else None


def _lay_out(text: str, order: MemberOrder, budgets: Budgets, syntax: str) -> str:
    """Return a text in canonical order and layout, with the ends of lines that most of its lines have."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    is_json = syntax == "json"
    root = find_nodes(plain) if is_json else compose_quickly(plain, budgets)
    if root is None or root.kind is Kind.SCALAR:
        return text
    start, end = (0, len(plain)) if is_json else _find_bounds(plain, root)
    _refuse_depth(plain, root)
    # an alias has to stay behind its anchor
    is_sortable = is_json or not any(node.anchor for node in nodes_of(root))
    reader = LayoutReader(plain[:end], start, has_padding=is_json, keeps_order=not is_sortable)
    document = reader.read(root, order)
    if reader.is_open_ended:  # the last text has no line break at its end, and would get one anywhere else
        document = LayoutReader(plain, start, has_padding=False, keeps_order=True).read(root, order)
    written = [*reader.above, *write_document(document), *reader.below]
    if any(map(_MARKER_LIKE.match, written)):  # a key that became the first text of its line
        raise UnusualLayoutError(1)
    lines = "\n".join(written) + ("" if reader.is_open_ended else "\n")
    return (plain[:start] + lines + plain[end:]).replace("\n", _choose_line_end(text))


def _refuse_depth(text: str, root: YamlNode) -> None:
    level, depth = [root], 0
    while level and depth < _DEEPEST:
        depth += 1
        level = [item for node in level if node.kind is not Kind.ALIAS for item in node.items]
    if level:
        raise UnusualLayoutError(text.count("\n", 0, level[0].start) + 1)


def _find_bounds(text: str, root: YamlNode) -> tuple[int, int]:
    """Return the bounds of a document: its beginning behind the directives and the marker, and its end."""
    markers = [match.end() for match in _MARKER.finditer(text, 0, root.start)]
    end = _END.search(text, root.end)
    return markers[-1] if markers else 0, end.start() if end else len(text)


def _choose_line_end(text: str) -> str:
    pairs = text.count("\r\n")
    feeds, returns = text.count("\n") - pairs, text.count("\r") - pairs
    return max((feeds, "\n"), (pairs, "\r\n"), (returns, "\r"), key=lambda each: each[0])[1]


def _refuse_changes(tree: Tree, before: str, after: str, budgets: Budgets) -> None:
    """Raise an error of stagec's own if a text means something else than before, or more than blanks came or went."""
    read = (tree.format.parse(tree.file, text.encode(), budgets).value for text in (before, after))
    meant, means = (json.dumps(each, sort_keys=True) for each in read)
    if meant != means or _count(before) != _count(after):
        raise RuntimeError(f"the layout of {tree.file} would change what it says")


def _count(text: str) -> Counter[str]:
    return Counter("".join(text.split()))

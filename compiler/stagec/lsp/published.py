"""The published schemas that describe the documents of a project, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from stagec.core.json import Object
from stagec.core.place import Pointer
from stagec.flow_tests.document import is_flow_test
from stagec.formatting import find_order
from stagec.formatting.member_order import MemberOrder, read_order
from stagec.lsp.workspace import CheckedProject
from stagec.sources.formats import format_of

_NEWER = {"registry": "steps_registry_1_14", "agent": "agent_1_14"}
_SIGNS = {"registry": '"address"', "agent": '"adaptation"'}
"""The schemas of the later release of climpt, and what only documents of that have."""
_SCENARIO = "scenario"


def find_syntax(file: str) -> str:
    """Return the name of the format of a file."""
    form = format_of(file)
    return "plain" if form is None else form.name


def find_kind(project: CheckedProject, file: str) -> str:
    """Return what the project takes a file for; the empty text where that is not known."""
    if is_flow_test(file):
        return "flow test"
    tree = project.find_tree(file)
    return "" if tree is None else tree.kind


def find_schemas(project: CheckedProject, file: str, text: str, pointer: Pointer) -> Iterator[Object]:
    """Yield the parts of published schemas that describe the object or the value at a pointer into a text."""
    for order, rest in _list_orders(project, file, text, pointer):
        names = (key if isinstance(key, str) else None for key in rest)
        yield from reduce(MemberOrder.below, names, order).schemas


def _list_orders(
    project: CheckedProject, file: str, text: str, pointer: Pointer
) -> Iterator[tuple[MemberOrder, Pointer]]:
    kind = find_kind(project, file)
    if kind == "flow test":
        yield read_order("flow_test"), pointer
        if _SCENARIO in pointer[:3]:
            yield read_order(_SCENARIO), pointer[pointer.index(_SCENARIO) + 1 :]
        return
    if kind in _NEWER and _SIGNS[kind] in text:
        yield read_order(_NEWER[kind]), pointer
        return
    order = find_order(kind, is_markdown=find_syntax(file) == "markdown")
    if order is not None:
        yield order, pointer

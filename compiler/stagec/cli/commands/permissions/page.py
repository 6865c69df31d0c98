"""Permissions for people: a page for a terminal, and one in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from stagec.cli.commands.permissions.collect import (
    CallEvidence,
    FlowPermissions,
    NodePermissions,
    ToolPermission,
    list_least,
)
from stagec.cli.differences import quote_markdown
from stagec.cli.sheet import Row, Sheet
from stagec.cli.wording import join_names, shorten
from stagec.core.words import format_count
from stagec.model.rights import Teller

_TOLD: Mapping[Teller, str] = {
    Teller.CATALOGUE: "says the catalogue",
    Teller.LIST: "says stagec's list",
    Teller.LOCK: "says its server",
    Teller.NOBODY: "nobody says what it does",
}
_UNKNOWN: Mapping[CallEvidence, str] = {
    CallEvidence.NOT_RUN: "no test runs it",
    CallEvidence.NOT_SEEN: "no test sees its calls",
    CallEvidence.NO_TESTS: "no tests",
}
NameFile = Callable[[str], str]
_HEAD = ("| {noun} | tool | reads and does | who says so | allowed at | tests |", "|---|---|---|---|---|---|")


def draw_flow(sheet: Sheet, given: FlowPermissions, name_file: NameFile) -> None:
    """Write what the nodes of a flow may do, and what of it its tests need."""
    sheet.heading(shorten(given.id))
    sheet.row("from", name_file(given.file))
    sheet.row("tests", _describe_tests(given))
    rows: list[Row] = []
    for node in given.nodes:
        mode = f" ({node.mode})" if node.mode is not None else ""
        if not node.tools:
            rows.append(((f"{node.node}{mode}", "any tool" if node.is_open else "nothing", ""), ()))
        for at, each in enumerate(node.tools):
            name = f"{node.node}{mode}" if at == 0 else ""
            rows.append(((name, each.name, _describe_labels(each)), (_describe_rest(node, each, name_file),)))
    if rows:
        sheet.table(rows)
    least = [f"{shorten(node)}: {join_names(names)}" for node, names in list_least(given)]
    sheet.row("least", *least)
    surplus = [f"{shorten(each.node)}: {join_names(each.surplus)}" for each in given.nodes if each.surplus]
    sheet.row("surplus", *surplus)


def write_comment(flows: Iterable[FlowPermissions], name_file: NameFile) -> str:
    """Return the permissions in Markdown; what people have written stands in it as code and never as markup."""
    return "\n".join(line for each in flows for line in _write_flow(each, name_file)) + "\n"


def _write_flow(given: FlowPermissions, name_file: NameFile) -> Iterator[str]:
    yield f"### Permissions of {quote_markdown(given.id)}\n\n{_describe_tests(given).capitalize()}.\n"
    yield from (line.format(noun=given.noun) for line in _HEAD)
    for node in given.nodes:
        mode = f" ({quote_markdown(node.mode)})" if node.mode is not None else ""
        if not node.tools:
            what = "any tool" if node.is_open else "nothing"
            yield f"| {_cell(node.node)}{mode} | {what} | | | | |"
        for each in node.tools:
            place = _cell(f"{name_file(each.at.file)}:{each.position.line}")
            told = (_cell(node.node) + mode, _cell(each.name), _describe_labels(each), _TOLD[each.teller], place)
            yield f"| {' | '.join(told)} | {_describe_use(node, each)} |"
    surplus = [each for each in given.nodes if each.surplus]
    if surplus:
        yield "\nAllowed, and called by no test:\n"
        for node in surplus:
            yield f"- {quote_markdown(node.node)}: {', '.join(map(quote_markdown, node.surplus))}"
    yield ""


def _cell(text: str) -> str:
    return quote_markdown(shorten(text)).replace("|", "\\|")


def _describe_tests(given: FlowPermissions) -> str:
    if not given.tests:
        return "none, so nothing is known of what is needed"
    failing = f", {given.failing} of which {'fails' if given.failing == 1 else 'fail'}" if given.failing else ""
    return f"{format_count(given.tests, 'test')}{failing}"


def _describe_labels(given: ToolPermission) -> str:
    if given.labels:
        return ", ".join(given.labels)
    return "unknown" if given.teller is Teller.NOBODY else "none"


def _describe_rest(node: NodePermissions, given: ToolPermission, name_file: NameFile) -> str:
    place = f"{name_file(given.at.file)}:{given.position.line}:{given.position.column}"
    use = "" if node.evidence is CallEvidence.NO_TESTS else f"{_describe_use(node, given)}; "
    return f"{use}{_TOLD[given.teller]}; {place}"


def _describe_use(node: NodePermissions, given: ToolPermission) -> str:
    if given.tests is None:
        return _UNKNOWN[node.evidence]
    return f"called by {format_count(given.tests, 'test')}" if given.tests else "called by no test"

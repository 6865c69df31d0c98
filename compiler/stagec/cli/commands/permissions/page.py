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
    Teller.CATALOGUE: "labels from the catalogue",
    Teller.LIST: "labels from stagec's list",
    Teller.LOCK: "labels from its server",
    Teller.NOBODY: "no labels",
}
NameFile = Callable[[str], str]
_HEAD = ("| {noun} | tool | reads and does | source | allowed at | tests |", "|---|---|---|---|---|---|")


def draw_flow(sheet: Sheet, given: FlowPermissions, name_file: NameFile) -> None:
    """Write what the nodes of a flow may do, and what of it its tests and runs need."""
    sheet.heading(shorten(given.id))
    sheet.row("from", name_file(given.file))
    sheet.row("tests", _describe_tests(given))
    rows: list[Row] = []
    for node in given.nodes:
        mode = f" ({node.mode})" if node.mode is not None else ""
        if not node.tools:
            rows.append(((f"{node.node}{mode}", _describe_open(node, "any tool"), ""), ()))
        for at, each in enumerate(node.tools):
            name = f"{node.node}{mode}" if at == 0 else ""
            rows.append(((name, each.name, _describe_labels(each)), (_describe_rest(given, node, each, name_file),)))
        if node.tools and node.is_open:
            rows.append((("", _describe_open(node, "any other tool"), ""), ()))
    if rows:
        sheet.table(rows)
    sheet.row("unknown", *_group_unknown(given))
    least = [f"{shorten(node)}: {join_names(names)}" for node, names in list_least(given)]
    sheet.row("least", *least)
    surplus = [f"{shorten(each.node)}: {join_names(each.surplus)}" for each in given.nodes if each.surplus]
    sheet.row("surplus", *surplus)


def _describe_open(node: NodePermissions, tools: str) -> str:
    """Say which tools a node may call that nobody lists."""
    without = f" but {join_names(node.without)}" if node.without else ""
    return f"{tools}{without}" if node.is_open else "nothing"


def write_comment(flows: Iterable[FlowPermissions], name_file: NameFile) -> str:
    """Return the permissions in Markdown; what people have written stands in it as code and never as markup."""
    return "\n".join(line for each in flows for line in _write_flow(each, name_file)) + "\n"


def _write_flow(given: FlowPermissions, name_file: NameFile) -> Iterator[str]:
    yield f"### Permissions of {quote_markdown(given.id)}\n\n{_describe_tests(given).capitalize()}.\n"
    yield from (line.format(noun=given.noun) for line in _HEAD)
    for node in given.nodes:
        mode = f" ({quote_markdown(node.mode)})" if node.mode is not None else ""
        if not node.tools:
            what = _describe_open(node, "any tool")
            yield f"| {_cell(node.node)}{mode} | {what} | | | | |"
        for each in node.tools:
            place = _cell(f"{name_file(each.at.file)}:{each.position.line}")
            told = (_cell(node.node) + mode, _cell(each.name), _describe_labels(each), _TOLD[each.teller], place)
            yield f"| {' | '.join(told)} | {_describe_use(given, node, each)} |"
        if node.tools and node.is_open:
            yield f"| {_cell(node.node)}{mode} | {_describe_open(node, 'any other tool')} | | | | |"
    unknown = [*_group_unknown(given, _code)]
    if unknown and given.tests + given.runs:
        yield "\nThe needs of these nodes are not known:\n"
        yield from (f"- {each}" for each in unknown)
    surplus = [each for each in given.nodes if each.surplus]
    if surplus:
        yield f"\nAllowed, and called by {_name_nobody(given)}:\n"
        for node in surplus:
            yield f"- {quote_markdown(node.node)}: {', '.join(map(quote_markdown, node.surplus))}"
    yield ""


def _cell(text: str) -> str:
    return quote_markdown(shorten(text)).replace("|", "\\|")


def _code(text: str) -> str:
    return quote_markdown(shorten(text))


def _describe_tests(given: FlowPermissions) -> str:
    if not given.has_flow:
        return "none: no flow runs this file"
    if not given.tests and not given.runs:
        return "none, so the needs are not known"
    failing = f", {given.failing} of which {'fails' if given.failing == 1 else 'fail'}" if given.failing else ""
    recorded = f", and {format_count(given.runs, 'recorded run')}" if given.runs else ""
    return f"{format_count(given.tests, 'test')}{failing}{recorded}"


def _group_unknown(given: FlowPermissions, name: Callable[[str], str] = shorten) -> Iterator[str]:
    """Yield why it is not known what nodes need that may do something; the nodes of one reason together."""
    nodes: dict[str, list[str]] = {}
    for each in given.nodes:
        why = _explain(given, each) if each.tools or each.is_open else ""
        if why:
            nodes.setdefault(why, []).append(each.node)
    for why, names in nodes.items():
        yield f"{join_names(names) if name is shorten else ', '.join(map(name, names))}: {why}"


def _explain(given: FlowPermissions, node: NodePermissions) -> str:
    """Return why nothing is known of what a node needs, and what would tell it; nothing where it is known."""
    match node.evidence:
        case CallEvidence.NOT_RUN:
            return "no test runs it" if not given.runs else "no test and no recorded run reaches it"
        case CallEvidence.NOT_SEEN:
            silent = (
                f"{node.silent} of {format_count(node.asked, 'answer')}" if node.silent < node.asked else "no answer"
            )
            verb = "do not say" if node.silent < node.asked and node.silent > 1 else "does not say"
            verb = "says" if silent == "no answer" else verb
            return f"{silent} {verb} which tools were called; 'called' in a scenario and runs with --model do"
        case _:
            return ""


def _name_nobody(given: FlowPermissions) -> str:
    if not given.runs:
        return "no test"
    return "no test and no run" if given.tests else "no run"


def _describe_labels(given: ToolPermission) -> str:
    if given.labels:
        return ", ".join(given.labels)
    return "unknown" if given.teller is Teller.NOBODY else "none"


def _describe_rest(flow: FlowPermissions, node: NodePermissions, given: ToolPermission, name_file: NameFile) -> str:
    place = f"{name_file(given.at.file)}:{given.position.line}:{given.position.column}"
    use = "" if node.evidence is CallEvidence.NO_TESTS else f"{_describe_use(flow, node, given)}; "
    return f"{use}{_TOLD[given.teller]}; {place}"


def _describe_use(flow: FlowPermissions, node: NodePermissions, given: ToolPermission) -> str:
    counted = ((given.tests, "test"), (given.runs, "run"))
    callers = [format_count(count, noun) for count, noun in counted if count]
    if callers:
        return f"called by {' and '.join(callers)}"
    if node.evidence is CallEvidence.CALLS:
        return f"called by {_name_nobody(flow)}"
    return _UNKNOWN[node.evidence]


_UNKNOWN: Mapping[CallEvidence, str] = {
    CallEvidence.NOT_RUN: "nothing runs it",
    CallEvidence.NOT_SEEN: "its calls are not seen",
    CallEvidence.NO_TESTS: "no tests",
}

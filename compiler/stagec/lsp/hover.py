"""Hover texts: the rule of a finding, the meaning of a name, and the documentation of a key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce

from stagec.change.flow_tests.document import is_flow_test
from stagec.check.formatting import find_order
from stagec.check.formatting.reading import MemberOrder, read_order
from stagec.check.pipeline import list_families
from stagec.core.diagnostic import Diagnostic
from stagec.core.json import Json, Object, object_of
from stagec.core.place import Place, Pointer
from stagec.core.value import value
from stagec.core.words import format_duration
from stagec.ir.flow import NODES, Flow, NameKind, Occurrence, Read, WrittenEdge
from stagec.ir.plan.node import ForEach, Fork, Named, Stop, list_opened, list_targets
from stagec.lsp.cursor import find_cursor
from stagec.lsp.name_places import find_flow, read_places
from stagec.lsp.positions import Point, Stretch, TextLines
from stagec.lsp.workspace import CheckedProject
from stagec.sources.contract.promise import Promise
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
    """Return the kind of a file in the project; empty if unknown."""
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


_MOST = 12
"""Lines of one list; whoever needs more opens the drawing."""


@value
class Shown:
    """A text in Markdown, and what it is about."""

    text: str
    where: Stretch | None = None


def describe(project: CheckedProject, file: str, text: str, point: Point) -> Shown | None:
    """Return the description of a position in the text of a file, None without any."""
    return _Position(project, file, text, point).describe()


class _Position:
    """One position, and the names of its project."""

    def __init__(self, project: CheckedProject, file: str, text: str, point: Point) -> None:
        self._project = project
        self._file = file
        self._text = text
        self._point = point
        self._places = read_places(project)

    def describe(self) -> Shown | None:
        parts: list[str] = []
        where: Stretch | None = None
        lines = self._project.lines(self._file)
        for each in self._project.found:
            stretch = lines.stretch_of(each.span)
            if each.at.file == self._file and stretch.holds(self._point):
                parts.append(self._describe_finding(each))
                where = where or stretch
        placed, read = self._places.find(self._file, self._point), self._find_read()
        if read is not None:
            parts.append(self._describe_read(*read))
        elif placed is not None:
            parts.append(self._describe_name(placed.occurrence))
            where = where or placed.spot.where
        return Shown("\n\n---\n\n".join(parts), where) if parts else self._describe_key()

    def _describe_finding(self, each: Diagnostic) -> str:
        page = next(rule.explanation for family in list_families() for rule in family.rules() if rule.code == each.code)
        link = f"\n\n[{each.code} on the site]({each.url})" if each.url is not None else ""
        return f"**{each.code} {each.name}**\n\n{page.strip()}{link}"

    def _describe_name(self, each: Occurrence) -> str:
        if each.kind is NameKind.FILE:
            return f"file `{each.name}`"
        flow = find_flow(self._project, each.owner) if each.kind in NODES else None
        if flow is not None and each.name in flow.nodes:
            return self._describe_node(flow, each)
        lines = [f"{each.kind} **{each.name}**"]
        for known in self._places.list_of_subject(each.subject):
            if known.whole is not None and known.kind is not NameKind.COMPLETION_TOOL:
                lines += self._quote(known.whole)
        return "\n\n".join(lines)

    def _describe_node(self, flow: Flow, named: Occurrence) -> str:
        name = named.name
        node = flow.nodes[name]
        word = flow.names.get("node", "node")
        head = f"{word} **{name}**" + (f", {node.kind}" if node.kind else "")
        parts = [head]
        begun = ["begins runs"] if any(each.node == name for each in flow.begun) else []
        edges = [edge for each in flow.nodes.values() for edge in each.edges if name in list_targets(edge.target)]
        comes = [*begun, *(f"`{edge.source}` — {edge.on}" for edge in edges)]
        goes = [f"{edge.on} → {name_target(edge)}" for edge in node.edges]
        for schedule in flow.schedules.values():
            comes += [f"needs `{need}`" for need in schedule.needs.get(name, ())]
            goes += [f"`{other}` needs it" for other, needs in schedule.needs.items() if name in needs]
        parts += [_list("Comes from", comes), _list("Leads to", goes)]
        parts.append(_list("Made of", [f"{part}: `{at.file}`" for part, at in node.parts]))
        parts.append(_list("Tools", [f"`{tool}`" for tool in self._list_tools(named)]))
        return "\n\n".join(part for part in parts if part)

    def _list_tools(self, named: Occurrence) -> Iterator[str]:
        places = self._places
        for whole in (each.whole for each in places.list_of_subject(named.subject) if each.whole is not None):
            for each in (placed.occurrence for placed in places.list_in(whole.file)):
                if each.kind in {NameKind.TOOL, NameKind.COMPLETION_TOOL} and each.at in whole:
                    yield each.name

    def _quote(self, whole: Place) -> Iterator[str]:
        """Yield the text of a thing, cut if it is long."""
        spots = self._places.locate(whole.file, [Place(whole.file, whole.pointer)])
        for spot in spots.values():
            lines = self._project.lines(whole.file)
            text = lines.text[lines.offset(spot.where.start) : lines.offset(spot.where.end)]
            shown = text.splitlines()
            more = ["…"] if len(shown) > _MOST else []
            fence = "```" if "```" not in text else "````"
            yield "\n".join([fence, *shown[:_MOST], *more, fence])

    def _find_read(self) -> tuple[Flow, Read] | None:
        """Return the read of a placeholder in the results of other nodes."""
        flows = () if self._project.compilation is None else self._project.compilation.flows
        for flow in flows:
            own = [each for each in flow.reads if each.at.file == self._file and each.at.range is not None]
            spots = self._places.locate(self._file, [each.at for each in own]) if own else {}
            for each in own:
                if each.at in spots and spots[each.at].where.holds(self._point):
                    return flow, each
        return None

    def _describe_read(self, flow: Flow, read: Read) -> str:
        word = flow.names.get("node", "node")
        path = ".".join(map(str, read.path))
        lines = [f"`{source.node}`{_describe_promise(source.promised)}" for source in read.sources]
        return f"`{path}` of the result of a {word}\n\n{_list('Made by', lines)}"

    def _describe_key(self) -> Shown | None:
        lines = TextLines(self._text)
        cursor = find_cursor(self._text, lines.offset(self._point), find_syntax(self._file))
        if cursor is None or not cursor.is_key or not cursor.key:
            return None
        schemas = find_schemas(self._project, self._file, self._text, cursor.pointer)
        found = sorted({described for each in schemas if (described := describe_member(each, cursor.key))})
        where = lines.stretch(cursor.start, cursor.end)
        return Shown("\n\n".join([f"**{cursor.key}**", *found]), where) if found else None


def name_target(edge: WrittenEdge) -> str:
    """Return the target of an edge, in Markdown."""
    target = edge.target
    if isinstance(target, Stop):
        return f"the end: {target.outcome}"
    nodes = list_opened(target)
    after = f", after {format_duration(edge.edge.wait)}" if edge.edge.wait else ""
    if isinstance(target, Named):
        return "one of " + ", ".join(f"`{each}`" for each in nodes[:_MOST])
    joined = f", then `{target.join}`" if isinstance(target, Fork | ForEach) and target.join else ""
    if isinstance(target, ForEach):
        return f"{', then '.join(f'`{each}`' for each in nodes)} for {target.elements}{joined}{after}"
    return " and ".join(f"`{each}`" for each in nodes) + joined + after


def _list(title: str, items: Iterable[str]) -> str:
    every = list(dict.fromkeys(items))
    shown = [f"- {each}" for each in every[:_MOST]] + (
        [f"- and {len(every) - _MOST} more"] if len(every) > _MOST else []
    )
    return f"{title}:\n" + "\n".join(shown) if every else ""


def _describe_promise(promise: Promise | None) -> str:
    if promise is None:
        return ""
    schemas = [object_of(end.value) for group in promise.ends for end in group]
    types = sorted({str(each["type"]) for each in schemas if "type" in each})
    return f": {' or '.join(types)}" * bool(types) + f" ({promise.presence})"


def describe_member(schema: Object, name: str) -> str:
    """Return the description of a member in a published schema: its meaning, its type, and its values."""
    members = schema.get("properties")
    member: Json = members.get(name) if isinstance(members, dict) else None
    if not isinstance(member, dict) or "description" not in member:
        return ""
    kind = member.get("type")
    listed = member.get("enum")
    said = [str(member["description"])]
    if isinstance(kind, str | list):
        said.append(f"Type: {kind if isinstance(kind, str) else ' or '.join(map(str, kind))}")
    if isinstance(listed, list):
        said.append("Values: " + ", ".join(f"`{each}`" for each in listed))
    return "\n\n".join(said)

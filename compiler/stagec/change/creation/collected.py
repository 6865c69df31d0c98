"""Find agent files in a folder by the places where their tools look for them, each read as its own tool reads it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from stagec.change.creation.new_project import Loss
from stagec.core.json import Object, list_of, object_of
from stagec.core.memo import Memo
from stagec.core.value import NOTHING, value
from stagec.ir.catalogue import read_catalogue
from stagec.languages.agent_files import FRONTEND
from stagec.languages.agent_files.kinds import AgentKind, Where, list_kinds
from stagec.languages.agent_files.known import Known, read_data
from stagec.languages.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.languages.agent_files.read import find_kind
from stagec.languages.stages.recognise import MARKDOWN, is_stage
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

SERVERS = ".mcp.json"
_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
TAKEN = frozenset({SERVERS, *_SETTINGS})
"""Files that are no stages; what counts of them is taken over, and the rest is told key by key."""
_BARE = re.compile(r"[\w-]+")


@value
class Around:
    """The known facts about the tools of a project.

    `denied` are those that its settings deny to every agent. `offered` has the tools of each server that counts, None
    where no lock says them. `losses` is what the settings say and no stage can.
    """

    known: Known
    denied: frozenset[str] = frozenset()
    offered: Mapping[str, tuple[str, ...] | None] = NOTHING
    losses: tuple[Loss, ...] = ()


def look_around(sources: Sources, *, with_servers: bool) -> Around:
    """Return the facts in the root of a project; its servers count if the new project lies in it."""
    losses: list[Loss] = []
    denied: set[str] = set()
    for file in _SETTINGS:
        tree = sources.tree(file, "file")
        if tree is not None and isinstance(tree.value, dict):
            text = tree.data.decode(errors="replace")
            rules = object_of(tree.value.get("permissions"))
            denied |= {each for each in list_of(rules.get("deny")) if isinstance(each, str) and _BARE.fullmatch(each)}
            for key, why in _list_lost(tree.value, rules):
                losses.append(Loss(file, text.count("\n", 0, max(text.find(f'"{key}"'), 0)) + 1, key, why))
    offered = dict(_list_offered(sources)) if with_servers and sources.exists(SERVERS) else {}
    return Around(Known(read_data(), Memo()), frozenset(denied), offered, tuple(losses))


def _list_lost(settings: Object, rules: Object) -> Iterator[tuple[str, str]]:
    """Yield the keys of settings that a stage has nothing for."""
    limited = [each for each in list_of(rules.get("deny")) if isinstance(each, str) and not _BARE.fullmatch(each)]
    if limited:
        yield "deny", f"a stage allows a tool whatever its arguments: {', '.join(limited)} is lost"
    if rules.get("ask"):
        yield "ask", "a stage calls its tools without asking a person"
    if settings.get("hooks"):
        yield "hooks", "hooks do not run in stages: a guard that refuses calls of tools is lost"


def _list_offered(sources: Sources) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    catalogue = read_catalogue(sources, SERVERS)
    if catalogue is None:
        return
    unlocked = {each.name for each in (*catalogue.unlocked, *catalogue.stale)}
    for name in catalogue.servers:
        tools = tuple(each.name for each in catalogue.tools if each.server == name)
        yield name, None if name in unlocked else tools


_KINDS = (".agent", ".prompt", ".chatmode", ".instructions")
_LONGEST = 80
"""Characters of an id; it also names a file."""


def make_id(name: str) -> str:
    """Return the id of a stage for a name: words in lower case, joined by hyphens; nothing if it has none."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name)
    return re.sub(r"[^a-z0-9]+", "-", apart.lower()).strip("-")[:_LONGEST].strip("-")


def name_file(file: str) -> str:
    """Return the name of a file: a skill has that of its folder, others lose the endings of their kind."""
    path = Path(file)
    if path.stem == "SKILL":
        return path.parent.name or path.stem
    return next((path.stem.removesuffix(kind) for kind in _KINDS if path.stem.endswith(kind)), path.stem)


STAGE, COLLECTION = "stage", "collection"
"""Kinds of files that no tool looks for: stage definitions, and agent files that lie anywhere."""
_PLACES = frozenset({".claude", ".github", ".opencode", ".agents", ".cursor"})
_MANIFEST = Path(".claude-plugin", "plugin.json")
_WORKFLOW = re.compile(r"(?:.*/)?\.github/workflows/(?P<name>[^/]+)\.md")
WORKFLOW = "gh-aw-workflow"
_USUAL = "claude-agent"
"""The kind of agent files in unusual places."""
_TELLING = frozenset({"name", "description"})
_FENCE = "---"
_OPENING = re.compile(r"---\s*\n")
_CLOSED = frozenset({"unreadable-file", "outside-project", "oversized-file", "not-utf8", "conflict-markers"})


@value
class AgentText:
    """One agent file: its kind, the name that its path gives it, and its frontmatter and body as its tool reads them.

    `is_lost` tells that its tool can read none of the frontmatter; `start` is where the body begins.
    """

    file: str
    kind: str
    called: str
    members: Object
    text: str
    start: int
    is_lost: bool = False

    @property
    def is_agent(self) -> bool:
        """Whether a stage can be made of it; of a frontmatter that nobody can read there is at least a body."""
        if self.is_lost:
            return self.kind != COLLECTION and bool(self.body.strip())
        if self.kind == WORKFLOW:
            return "on" in self.members  # another one is a part of others, or a page about them
        is_told = not self.members.keys().isdisjoint(_TELLING)
        return is_told or self.kind not in {_USUAL, COLLECTION}  # others are what their path says

    def is_called(self, name: str) -> bool:
        """Tell whether a name means this file, as it is written or called by a user."""
        meant = make_id(name.removeprefix("/"))
        return bool(meant) and meant in {make_id(self.called), make_id(str(self.members.get("name") or ""))}

    @property
    def body(self) -> str:
        """The text below the frontmatter."""
        return self.text[self.start :]

    def find_line(self, key: str, said: str | None = None) -> int:
        """Return the line of a key of the frontmatter, the first one if it is not found.

        With what is `said` there, the key may also be one inside of another.
        """
        before, after = ("^", "") if said is None else (r"\b", rf"[ \t]*[\"']?{re.escape(said)}")
        pattern = rf"{before}[\"']?{re.escape(key)}[\"']?[ \t]*:{after}"
        found = re.search(pattern, self.text[: self.start], re.MULTILINE)
        return self.count_lines(found.start()) if found is not None else 1

    def count_lines(self, offset: int) -> int:
        """Return the line of an offset."""
        return self.text.count("\n", 0, offset) + 1


def find_top(folder: Path) -> Path:
    """Return the folder from which the places of agent files count: that of a project, or of a plugin, or itself."""
    real = folder.resolve()
    for each in (real, *real.parents):
        if each.name in _PLACES:
            return each.parent
    return next((each for each in (real, real.parent) if (each / _MANIFEST).is_file()), real)


def name_project(folder: Path) -> str:
    """Return the id of a project with agent files: the name of the folder that is not one of a tool."""
    real = folder.resolve()
    named = next((each.name for each in (real, *real.parents) if each.name not in {*_PLACES, "agents"}), "")
    return make_id(named) or "agents"


def collect(sources: Sources, folder: str, converted: Container[str]) -> Iterator[AgentText | str]:
    """Yield the agent files below a folder, by path; of a file that cannot be read, its name.

    Where none of a kind that is `converted` is at a place of a tool, every Markdown file with a name or a description
    is one.
    """
    files = [file for file in sources.below(folder, "") if file.endswith((*MARKDOWN, ".mdc")) or FRONTEND.claims(file)]
    found = [(file, _find_kind(sources, file)) for file in files]
    are_placed = any(each is not None and each[0].name in converted for _, each in found)
    for file, each in found:
        if each is not None:
            yield read_placed(sources, file, each) or file
        elif not are_placed and file.endswith((*MARKDOWN, ".mdc")):
            yield read_anywhere(sources, file) or file


def read_named(sources: Sources, file: str) -> AgentText | None:
    """Return a file that somebody named, None if it cannot be read."""
    found = _find_kind(sources, file)
    return read_placed(sources, file, found) if found is not None else read_anywhere(sources, file)


def _find_kind(sources: Sources, file: str) -> tuple[AgentKind, Where] | None:
    found = find_kind(sources, file)
    workflow = _WORKFLOW.fullmatch(file)
    if found is None and workflow is not None:  # one that is not compiled yet
        return next(each for each in list_kinds() if each.name == WORKFLOW), Where("", workflow["name"])
    return found


def read_placed(sources: Sources, file: str, found: tuple[AgentKind, Where]) -> AgentText | None:
    """Return a file as the tool reads it that looks for it where it is."""
    kind, where = found
    tree = _read_tree(sources, file)
    if tree is None:
        return None
    if is_stage(tree.value) and not tree.faults:
        return _make(tree, STAGE, where.name, OwnerReading(LoadOutcome.READ, object_of(tree.value)))
    return _make(tree, kind.name, where.name, kind.load(tree, sources.budgets))


def read_anywhere(sources: Sources, file: str) -> AgentText | None:
    """Return a file that is at no place of a tool, read as most of its kind are."""
    tree = _read_tree(sources, file)
    if tree is None:
        return None
    usual = next(each for each in list_kinds() if each.name == _USUAL)
    is_own = is_stage(tree.value) and not tree.faults
    reading = OwnerReading(LoadOutcome.READ, object_of(tree.value)) if is_own else usual.load(tree, sources.budgets)
    return _make(tree, STAGE if is_own else COLLECTION, "", reading)


def _read_tree(sources: Sources, file: str) -> Tree | None:
    tree = sources.tree(file, "file")
    is_closed = tree is None or any(fault.topic in _CLOSED for fault in tree.faults)
    return None if is_closed else tree


def _make(tree: Tree, kind: str, called: str, reading: OwnerReading) -> AgentText:
    text = tree.data.decode(errors="replace")
    start = tree.body[0] if tree.body is not None else 0
    opening = _OPENING.match(text)
    takes_first = reading.cut is not None or (reading.format is not None and not kind.startswith("opencode"))
    if takes_first and opening is not None:
        closing = text.find(_FENCE, opening.end()) + len(_FENCE)  # Claude Code takes the first there is
        start = closing if reading.cut is not None else max(text.find("\n", closing) + 1, closing)
    is_lost = reading.outcome is LoadOutcome.LOST or reading.displaced is not None
    named = name_file(tree.file) if kind == _USUAL or not called else called
    return AgentText(tree.file, kind, named, reading.members, text, start, is_lost)

"""Read the files of Claude Code, and resolve the files of the project that they refer to."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.place import Place
from stagec.core.value import value
from stagec.languages.agent_files.claude_project import (
    ClaudeProject,
    ClaudeSettings,
    LostPath,
    McpServer,
    NameClash,
    OwnedHooks,
    read_servers,
    read_settings,
)
from stagec.languages.agent_files.document import AgentFile
from stagec.languages.agent_files.hooks import list_local_scripts, list_scripts, read_hooks
from stagec.languages.agent_files.known import CLAUDE_CODE, COPILOT, Known
from stagec.languages.agent_files.loaders import LoadOutcome
from stagec.languages.agent_files.workflows import LockState, find_lock, judge_lock, list_imports, resolve_import
from stagec.sources.read import Sources, join

CLAUDE_MANIFEST = ".claude-plugin/plugin.json"
COPILOT_MANIFEST = ".github/plugin/plugin.json"
_CLAUDE_MARKET = ".claude-plugin/marketplace.json"
_COPILOT_MARKET = ".github/plugin/marketplace.json"


def find_plugin_owner(sources: Sources, root: str) -> str | None:
    """Return the tool whose plugin a folder is, if it is one.

    Copilot also takes the manifest of Claude Code. A plugin with this manifest alone is Copilot's where only a
    marketplace of Copilot lists it.
    """

    def decide() -> str | None:
        is_of_copilot = sources.exists(posixpath.join(root, COPILOT_MANIFEST))
        if sources.exists(posixpath.join(root, CLAUDE_MANIFEST)):
            is_for_copilot = not is_of_copilot and _is_listed(sources, root, _COPILOT_MARKET)
            return COPILOT if is_for_copilot and not _is_listed(sources, root, _CLAUDE_MARKET) else CLAUDE_CODE
        if is_of_copilot or _is_listed(sources, root, _COPILOT_MARKET):
            return COPILOT
        return CLAUDE_CODE if _is_listed(sources, root, _CLAUDE_MARKET) else None  # a manifest can be absent

    return sources.memo.once(("plugin owner", root), decide)


def read_manifest(sources: Sources, root: str) -> Object:
    """Return the manifest of a plugin of Claude Code."""
    return read_aside(sources, posixpath.join(root, CLAUDE_MANIFEST))


def _is_listed(sources: Sources, root: str, market: str) -> bool:
    """Tell whether a marketplace in the folder of a plugin, or above it, lists the plugin."""
    folders = [root]
    while folders[-1]:
        folders.append(posixpath.dirname(folders[-1]))
    listing = partial(_list_plugins, sources, market)
    return any(root in sources.memo.once((market, folder), partial(listing, folder)) for folder in folders)


def _list_plugins(sources: Sources, market: str, folder: str) -> frozenset[str]:
    """Return the folders of the plugins that the marketplace of a folder lists, as far as they are in the project."""
    given = read_aside(sources, posixpath.join(folder, market))
    base = text_in(object_of(given.get("metadata")), "pluginRoot") or ""
    named = [source for entry in list_of(given.get("plugins")) if (source := text_in(object_of(entry), "source"))]
    found = {join(folder, posixpath.join(start, source)) for source in named for start in ("", base)}
    return frozenset("" if each == "." else each for each in found if each is not None)


def read_aside(sources: Sources, file: str) -> Object:
    """Return the content of a file that helps only to understand others: no rule judges it."""
    is_known = sources.find_tree(file) is not None
    tree = sources.tree(file, "file")
    if not is_known:
        sources.forget(file)
    return object_of(tree.value) if tree is not None else {}


_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})[^\n]*$", re.MULTILINE)
_TICKS = re.compile(r"`+")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_INDENTED = re.compile(r"^(?:\t| {4})[^\n]*", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_IMPORT = re.compile(r"(?<!\S)@(?P<path>(?:[^\s\\]|\\ )+)")
_TRAILING = ".,;:!?)]}'\""
_NAMED = re.compile(
    r"(?:\.\.?/)+[\w./-]+\.\w+|[\w.][\w./-]*\.(?:md|mdc|markdown|txt)|[\w-]+\.(?:json|ya?ml|toml)", re.ASCII
)
"""Texts that certainly mean a file: other words behind an `@` are handles, packages and decorators."""


@value
class MemoryImport:
    """One import: the path as written, without `@`, and where."""

    path: str
    at: Place


def list_memory_imports(text: str, file: str) -> Iterator[MemoryImport]:
    """Yield the imports of a text that are certainly paths of files."""
    prose = _COMMENT.sub(_blank, blank_spans(_INDENTED.sub(_blank, blank_fences(text))))
    for found in _IMPORT.finditer(prose):
        path = found["path"].rstrip(_TRAILING)
        if _NAMED.fullmatch(path):
            start = found.start("path")
            yield MemoryImport(path, Place(file, range=(start - 1, start + len(path))))


def resolve_memory_import(path: str, file: str) -> str | None:
    """Return the file of the project that an import means; nothing for one that lies outside."""
    found = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
    return None if found.startswith(("../", "/")) else found


def blank_fences(text: str) -> str:
    """Return a text with blanks in place of its fenced blocks of code, of the same length."""
    kept, position = [], 0
    while (opening := _FENCE.search(text, position)) is not None:
        mark = opening["mark"]
        closing = re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
        end = closing.search(text, opening.end())
        stop = len(text) if end is None else end.end()
        kept += [text[position : opening.start()], " " * (stop - opening.start())]
        position = stop
    return "".join((*kept, text[position:]))


def blank_spans(text: str) -> str:
    """Return a text in which blanks replace each code span: the text between equal runs of backticks."""
    ends = [found.start() for found in _PARAGRAPH.finditer(text)]
    runs = list(_TICKS.finditer(text))
    closing: dict[tuple[int, int], list[int]] = {}
    numbered = [(bisect(ends, run.start()), len(run[0])) for run in runs]
    for index, key in enumerate(numbered):
        closing.setdefault(key, []).append(index)
    kept, position, index = [], 0, 0
    while index < len(runs):
        later = closing[numbered[index]]
        rank = bisect(later, index)
        if rank < len(later):
            start, index = runs[index].start(), later[rank]
            kept += [text[position:start], " " * (runs[index].end() - start)]
            position = runs[index].end()
        index += 1
    return "".join((*kept, text[position:]))


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


_CONTENT = re.compile(r"\{file:(?P<path>[^{}\\\n]{1,300})\}")
_ADDRESS = "ANTHROPIC_BASE_URL"
_OWNER = "Claude Code"
_SETTINGS = (".claude/settings.json", ".claude/settings.local.json")
_SERVERS = ".mcp.json"
_LINK = re.compile(
    r"(?<!!)\[[^\]\[\n]{0,300}\]"
    r"\((?P<path>(?!path/|example)[\w.][\w./-]{0,300}\.\w{1,20})(?:#[^)\s]{0,300})?\)"
)
"""A link to a file, relative to the skill: no address, no page of a site, and nothing that a call fills in."""
_SKILL_FILE, _COMMAND_FILE = ".claude/skills/{}/SKILL.md", "commands/{}.md"
"""The file that comes first in a project, and in a plugin, by the name of both."""
_HEADER, _LONGEST_PART = 64 * 1024, 1024 * 1024
"""How many bytes of a compiled file, and of a file that a workflow imports, are read for its digest."""
_PARTS = ("agents", "commands", "skills", "hooks", "mcpServers", "lspServers", "outputStyles")
"""Keys of a manifest that name files and folders of the plugin."""
_BUNDLES = (".mcpb", ".dxt")
"""Suffixes of files that are made of servers, not written."""
_SKILL = "SKILL.md"
_LISTED = frozenset({"commands", "skills"})
"""Keys with which the manifest of a plugin lists what it has."""


def read_claude_project(sources: Sources, files: tuple[AgentFile, ...], known: Known) -> ClaudeProject:
    """Return the files of a project, read together."""
    servers = tuple(server for each in files for server in _list_servers(each, known))
    homes = sorted({"", *(each.where.home for each in files if each.kind.owner == _OWNER)})
    # what counts for a file counts also where nobody asked to check it
    configured = [posixpath.join(home, name) for home in homes for name in _SETTINGS]
    named = [
        (file, read_aside(sources, file).get("mcpServers"))
        for file in (posixpath.join(home, _SERVERS) for home in homes)
    ]
    beside = [
        McpServer(name, Place(file) / name, object_of(one))
        for file, given in named
        for name, one in object_of(given).items()
    ]
    hooks = tuple(owned for each in files for owned in _list_hooks(each))
    read = tuple(
        (each.where.home, read_settings(each.tree, known, is_object=each.reading.outcome is LoadOutcome.READ))
        for each in files
        if each.kind.name == "claude-settings"
    )
    named_parts = (
        lost for each in files if each.kind.name in _LOSERS for lost in _LOSERS[each.kind.name](sources, each)
    )
    workflows = [each for each in files if each.kind.name == "gh-aw-workflow"]
    return ClaudeProject(
        settings=read,
        hooks=hooks,
        servers=servers,
        lost=(*_find_lost_scripts(sources, hooks), *named_parts, *_find_lost_agents(read, files, known)),
        imported=frozenset(_list_imported(sources, files)),
        locks={each.at.file: _judge_lock(sources, each) for each in workflows if "on" in each.members},
        shadowed_commands=tuple(_find_clashes(sources, files, "claude-command", _SKILL_FILE, is_plugin=False)),
        shadowed_skills=tuple(_find_clashes(sources, files, "claude-skill", _COMMAND_FILE, is_plugin=True)),
        declared=frozenset(each.tool_name for each in (*servers, *beside)),
        is_redirected=any(_ADDRESS in object_of(read_aside(sources, file).get("env")) for file in configured),
    )


def _list_imported(sources: Sources, files: tuple[AgentFile, ...]) -> Iterator[str]:
    """Yield the workflows of gh-aw that others import, also those that were not selected."""
    known = {each.at.file: each.members for each in files if each.kind.name == "gh-aw-workflow"}
    folders = {posixpath.dirname(file) for file, members in known.items() if "on" not in members}
    others = {file for folder in folders for file in sources.below(folder, ".md")} - known.keys()
    for file, members in (*known.items(), *((each, read_aside(sources, each)) for each in sorted(others))):
        for named in list_imports(members.get("imports"), Place(file)):
            meant = resolve_import(named.name, file)
            if meant is not None:
                yield meant


def _find_clashes(
    sources: Sources, files: tuple[AgentFile, ...], kind: str, beside: str, *, is_plugin: bool
) -> Iterator[NameClash]:
    """Yield the files of a kind that nobody can call, because a file beside them has their name and comes first.

    In plugins a skill may have another name than its folder, and a manifest that lists what there is may leave out
    either file.
    """
    for each in files:
        name, home = each.where.name, each.where.home
        other = posixpath.join(home, beside.format(name))
        is_meant = each.kind.name == kind and each.where.is_plugin is is_plugin and "/" not in name
        if not is_meant or not sources.exists(other):
            continue
        is_called_so = each.members.get("name", name) == name
        if not is_plugin or (is_called_so and _LISTED.isdisjoint(read_manifest(sources, home))):
            yield NameClash(name, each.at, other)


_HOOKED = frozenset({"claude-agent", "claude-skill", "claude-command"})


def _list_hooks(file: AgentFile) -> Iterator[OwnedHooks]:
    name, given = file.kind.name, file.members.get("hooks")
    if name == "claude-plugin":  # a manifest names files of hooks, or has maps of them
        at = file.at / "hooks"
        for each, place in ((given, at), *((each, at / index) for index, each in enumerate(list_of(given)))):
            if isinstance(each, dict):
                yield OwnedHooks(read_hooks(each, place), file.where.home, name, is_plugin=True)
        return
    counts = name in {"claude-settings", "claude-hooks"} or (name in _HOOKED and not file.where.is_plugin)
    is_passed_over = isinstance(given, str | int | float | None) and not given
    is_lost = name == "claude-agent" and not is_passed_over  # elsewhere the type of `hooks` is judged for other kinds
    if counts and (isinstance(given, dict) or is_lost):
        yield OwnedHooks(read_hooks(given, file.at / "hooks"), file.where.home, name, file.where.is_plugin)


def _list_servers(file: AgentFile, known: Known) -> Iterator[McpServer]:
    if file.kind.name == "claude-servers":
        yield from read_servers(file.tree, known)
    elif file.kind.name == "claude-agent":
        for index, each in enumerate(list_of(file.members.get("mcpServers"))):
            for name, given in object_of(each).items():
                yield McpServer(name, file.at / "mcpServers" / index / name, object_of(given))


def _find_lost_scripts(sources: Sources, every: tuple[OwnedHooks, ...]) -> Iterator[LostPath]:
    """Yield the scripts of hooks that are in no folder in which a session may have begun."""
    for each in every:
        parts = each.home.split("/") if each.home else []
        homes = ["/".join(parts[:length]) for length in range(len(parts), -1, -1)]
        for script in list_scripts(each.hooks, is_plugin=each.is_plugin):
            is_absolute = script.name.startswith("/")  # `""/x` is `/x` to a shell, which no project has
            if is_absolute or not any(sources.exists(posixpath.join(home, script.name)) for home in homes):
                use = "script of a plugin" if each.is_plugin else "script"
                yield LostPath(use, posixpath.join(each.home, script.name), script.at)

        for script in list_local_scripts(each.hooks) if each.is_plugin else ():
            if sources.exists(posixpath.normpath(posixpath.join(each.home, script.name))):
                yield LostPath("local script", script.name, script.at)


def _find_lost_contents(sources: Sources, file: AgentFile) -> Iterator[LostPath]:
    """Yield the files whose text a configuration of OpenCode wants, and that are not there.

    OpenCode looks for the marks in the text of the file; only a line that is all comment has none.
    """
    folder, start = posixpath.dirname(file.at.file), 0
    for line in file.text.splitlines(keepends=True):
        for found in () if line.lstrip().startswith("//") else _CONTENT.finditer(line):
            meant = posixpath.normpath(posixpath.join(folder, found["path"]))
            is_inside = found["path"][0] not in "~/" and not meant.startswith("../")
            if is_inside and not sources.exists(meant):
                first, last = found.span("path")
                yield LostPath("content", found["path"], Place(file.at.file, range=(start + first, start + last)))
        start += len(line)


def _find_lost_memory(sources: Sources, file: AgentFile) -> Iterator[LostPath]:
    """Yield the imports of a `CLAUDE.md` that read nothing."""
    for found in list_memory_imports(file.text, file.at.file):
        meant = resolve_memory_import(found.path, file.at.file)
        if meant is not None and not sources.exists(meant):
            yield LostPath("import", found.path, found.at)


def _find_lost_links(sources: Sources, file: AgentFile) -> Iterator[LostPath]:
    """Yield the files that the text of a skill links, and that are neither beside it nor in the project."""
    folder = posixpath.dirname(file.at.file)
    for found in _LINK.finditer(blank_spans(blank_fences(file.text))):
        meant = posixpath.normpath(posixpath.join(folder, found["path"]))
        if not meant.startswith("../") and not sources.exists(meant) and not sources.exists(found["path"]):
            yield LostPath("link", found["path"], Place(file.at.file, range=found.span("path")))


def _find_lost_plugin_parts(sources: Sources, file: AgentFile) -> Iterator[LostPath]:
    """Yield the paths of a manifest that are not in the plugin, and the plugins of a marketplace that are not there."""
    root, at = file.where.home, file.at
    listed = [("part", file.members.get(key), at / key) for key in _PARTS]
    listed += [
        ("plugin", object_of(each).get("source"), at / "plugins" / index / "source")
        for index, each in enumerate(list_of(file.members.get("plugins")))
    ]
    for use, given, place in listed:
        every: list[tuple[Json, Place]] = [(given, place)] if isinstance(given, str) else []
        every += [(each, place / index) for index, each in enumerate(list_of(given))]
        for path, where in every:
            meant = posixpath.normpath(posixpath.join(root, path)) if isinstance(path, str) else ""
            is_inside = isinstance(path, str) and path.startswith("./") and not meant.startswith("../")
            is_there = meant in {"", "."} or sources.exists(meant)
            if is_inside and not is_there and not meant.endswith(_BUNDLES):
                yield LostPath(use, str(path), where)
            elif is_inside and where.pointer[:1] == ("skills",) and meant.endswith(f"/{_SKILL}"):
                yield LostPath("skill file", str(path), where)


def _find_lost_agents(
    settings: tuple[tuple[str, ClaudeSettings], ...], files: tuple[AgentFile, ...], known: Known
) -> Iterator[LostPath]:
    """Yield the agents that shared settings begin with, and that neither the project nor Claude Code has."""
    agents = {(each.where.home, str(each.members.get("name"))) for each in files if each.kind.name == "claude-agent"}
    for home, each in settings:
        name = each.members.get("agent")
        is_own = isinstance(name, str) and bool(name) and ":" not in name and name not in known.names("built-in-agents")
        if is_own and each.at.file.endswith("settings.json") and not each.is_lost and (home, name) not in agents:
            yield LostPath("agent", str(name), each.at / "agent")


def _find_lost_parts(sources: Sources, file: AgentFile) -> Iterator[LostPath]:
    """Yield the imports of a workflow of gh-aw that are in no file of the project."""
    for named in list_imports(file.members.get("imports"), file.at / "imports"):
        meant = resolve_import(named.name, file.at.file)
        if meant is not None and not sources.exists(meant):
            yield LostPath("workflow import", named.name, named.at)


_LOSERS: Mapping[str, Callable[[Sources, AgentFile], Iterator[LostPath]]] = {
    **dict.fromkeys(("claude-skill", "shared-skill", "opencode-skill"), _find_lost_links),
    **dict.fromkeys(("claude-plugin", "claude-marketplace"), _find_lost_plugin_parts),
    "claude-memory": _find_lost_memory,
    "opencode-config": _find_lost_contents,
    "gh-aw-workflow": _find_lost_parts,
}


def _judge_lock(sources: Sources, file: AgentFile) -> LockState:
    lock = find_lock(file.at.file)
    if not sources.exists(lock):
        return LockState.MISSING
    begin = sources.glance(lock, _HEADER)
    return judge_lock(file.text, file.members, file.at.file, begin, lambda each: sources.glance(each, _LONGEST_PART))

"""From trees to agent files: each is read as the tool that owns it reads it, nothing is judged."""

from __future__ import annotations

from stagec.core.memo import Memo
from stagec.core.value import replace
from stagec.languages.agent_files.claude_reading import find_plugin_owner, read_claude_project, read_manifest
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.kinds import AgentKind, Where, list_kinds
from stagec.languages.agent_files.known import Known, read_data
from stagec.languages.agent_files.loaders import LoadOutcome, OwnerReading
from stagec.sources.read import TOPIC as CONFLICT
from stagec.sources.read import Sources
from stagec.sources.suppression import SIGN

KIND = "agent-file"
"""The kind of the trees of agent files."""
_UNREAD = "file"
_HEAD = 4_000
"""Characters of a file that are searched for its kind if the path does not tell it."""
_AGENT, _MANIFEST = "claude-agent", "claude-plugin"
_COLLECTION = "agents"
"""The name of a folder whose files count as agents if a user names it."""
_SKILL = "SKILL.md"
_OTHER_SUFFIXES = frozenset({"prompt", "instructions", "chatmode"})
"""Suffixes of files of Copilot that are no agents."""


def find_kind(sources: Sources, file: str) -> tuple[AgentKind, Where] | None:
    """Return the kind of the agent file that a path means, if it means any: the same whatever a user named."""
    for kind in list_kinds():
        for where in kind.find(file):
            if _counts(sources, file, kind, where):
                return kind, where
    return _find_collected(sources, file)


def _counts(sources: Sources, file: str, kind: AgentKind, where: Where) -> bool:
    """Tell whether a file is what its path may mean."""
    if where.plugin_of is not None and (kind.is_read or find_plugin_owner(sources, where.home) != where.plugin_of):
        return find_plugin_owner(sources, where.home) == where.plugin_of
    if where.plugin_of is not None and "skills" in read_manifest(sources, where.home):
        return False  # the manifest says where skills are
    if kind.is_shared or kind.name == _MANIFEST:  # in a plugin of another tool it is not for this one
        return find_plugin_owner(sources, where.home) in {None, kind.owner}
    if where.refutation is not None and sources.exists(where.refutation):
        return False
    is_proved = not where.proofs or any(map(sources.exists, where.proofs))
    return is_proved or (where.sign is not None and where.sign.match(sources.glance(file, _HEAD)) is not None)


def _find_collected(sources: Sources, file: str) -> tuple[AgentKind, Where] | None:
    """Return the kind of a file that no tool looks for: an agent, if a user named its folder `agents` or a part of it.

    A suffix of Copilot tells that it is Copilot's; without one it must say what agents of Claude Code say.
    """
    *folders, name = file.split("/")
    is_named = any(_COLLECTION in each.split("/") and f"{file}/".startswith(f"{each}/") for each in sources.named)
    is_of_tool = any(folder.startswith(".") for folder in folders)
    if not is_named or is_of_tool or _COLLECTION not in folders or name == _SKILL or not name.endswith(".md"):
        return None
    suffix = name.removesuffix(".md").rpartition(".")[2]
    begin = sources.glance(file, _HEAD)
    is_agent = begin.startswith(b"---") and b"\nname:" in begin and b"\ndescription:" in begin
    if suffix in _OTHER_SUFFIXES or not (is_agent or suffix == "agent"):
        return None
    kind = next(each for each in list_kinds() if each.name == ("copilot-agent" if suffix == "agent" else _AGENT))
    start = folders.index(_COLLECTION)
    called = "/".join((*folders[start + 1 :], name.removesuffix(".md").removesuffix(".agent")))
    return kind, Where("/".join(folders[:start]), called)


def read_all(sources: Sources, files: tuple[str, ...]) -> tuple[AgentFiles, ...]:
    """Return the agent files among some files as one document; what another system has read is none of them."""
    found = tuple(each for file in files if (each := _read_file(sources, file)) is not None)
    if not found:
        return ()
    by_kind: dict[str, list[AgentFile]] = {}
    for each in found:
        by_kind.setdefault(each.kind.name, []).append(each)
    grouped = {name: tuple(each) for name, each in by_kind.items()}
    known = Known(read_data(), Memo(), sources.own_names)
    files_read = tuple(each for each in found if each.kind.is_read)
    return (AgentFiles(files_read, known, grouped, read_claude_project(sources, files_read, known)),)


def _read_file(sources: Sources, file: str) -> AgentFile | None:
    meant = find_kind(sources, file)
    before = sources.find_tree(file)
    if meant is None or (before is not None and before.kind != _UNREAD and not meant[0].is_shared):
        return None
    tree = sources.tree(file, _UNREAD)
    if tree is None:
        return None
    kind, where = meant
    real = sources.find_real_path(file)
    conflict = next(iter(tree.about(CONFLICT)), None)
    if conflict is not None and not isinstance(tree.value, dict):
        reading = OwnerReading(LoadOutcome.LOST, faults=tree.faults)
    else:
        reading = kind.load(tree, sources.budgets)
    if conflict is not None and conflict not in reading.faults:
        reading = replace(reading, faults=(*reading.faults, conflict))
    if kind.is_shared:
        return AgentFile(kind, where, tree, reading, real)
    is_lost = (bool(reading.faults) and not reading.members) or reading.displaced is not None
    tree = replace(
        tree,
        kind=KIND,
        value=None if is_lost else dict(reading.members),
        faults=reading.faults,
        readable=not is_lost and (tree.readable or reading.faults != tree.faults),
        format=reading.format or tree.format,
    )
    if reading.format is not None and SIGN in tree.data:
        tree = replace(tree, suppressions=tree.format.take_suppressions(file, tree.data, tree.value))
    sources.replace(tree)
    return AgentFile(kind, where, tree, reading, real)

"""Plugins: mistakes for which a plugin is refused, and files of it that nobody reads."""

from collections.abc import Iterator

from stagec.check.rules.agent_files import describe_hook_fault, list_lost, list_misfits, rule
from stagec.core.diagnostic import Severity
from stagec.core.json import Object, list_of, object_of
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.languages.agent_files.document import AgentFile, AgentFiles
from stagec.languages.agent_files.values import find_misfits

_IGNORED = ("hooks", "mcpServers", "permissionMode")


@rule(since="0.1", origin=("agent-files:ignored-plugin-key",), severity=Severity.WARNING)
def stg3119_ignored_plugin_key(document: AgentFiles) -> Iterator[Finding]:
    """An agent of a plugin has a key that counts only for agents of a project.

    ## Why this matters
    Claude Code does not let plugins widen rights: it ignores `hooks`, `mcpServers` and `permissionMode` in their
    agents. A guard that is written there does not run.

    ## How to fix
    Give the plugin a `hooks/hooks.json` or a `.mcp.json`, or move the agent to `.claude/agents` of the project.
    """
    for file in document.of("claude-agent"):
        ignored = (key for key in _IGNORED if key in file.members) if file.where.is_plugin else ()
        for key in ignored:
            yield Finding((file.at / key).key, f"Claude Code ignores {quote(key)} in an agent of a plugin")


@rule(since="0.1", origin=("agent-files:accidental-agent",), severity=Severity.WARNING)
def stg3129_accidental_agent(files: AgentFiles) -> Iterator[Finding]:
    """A page in the folder of a plugin's agents is an agent itself.

    ## Why this matters
    In a plugin every Markdown file below `agents` is an agent, also one without a frontmatter: it has every tool, and
    the model may choose it.

    ## How to fix
    Move the page out of the folder.
    """
    pages = files.known.names("plugin-pages")
    for file in files.of("claude-agent"):
        name = file.where.name.rpartition("/")[2]
        if file.where.is_plugin and name.upper() in pages and "name" not in file.members:
            message = f"Claude Code loads this page as the agent {quote(name)} of the plugin, with every tool"
            yield Finding(file.at, message)


_UNREAD_FILE_KINDS = {
    "claude-unread-servers": "Claude Code reads '.mcp.json' in the root of the project, not in '.claude'",
    "cursor-unread-rule": "Cursor reads rules that end with '.mdc', and no '.md'",
}


@rule(since="0.1", origin=("agent-files:unread-file",), severity=Severity.WARNING)
def stg3143_unread_file(files: AgentFiles) -> Iterator[Finding]:
    """A file is where its tool does not look for it.

    ## Why this matters
    Nothing of the file counts, and nobody says so.

    ## How to fix
    Move or rename the file as the message says.
    """
    for name, message in _UNREAD_FILE_KINDS.items():
        for file in files.of(name):
            is_rule = name != "cursor-unread-rule" or bool(file.members)
            if is_rule:  # a page without a frontmatter is meant for people
                yield Finding(file.at, message)


_REFUSED_PLUGIN_KINDS = {"claude-plugin": "plugin", "claude-marketplace": "marketplace", "claude-hooks": "hooks-file"}
_HOOKED = frozenset({"claude-plugin", "claude-hooks"})


@rule(since="0.1", origin=("agent-files:refused-plugin",))
def stg3144_refused_plugin(files: AgentFiles) -> Iterator[Finding]:
    """A plugin, a marketplace or a file of hooks has a value for which Claude Code refuses it.

    ## Why this matters
    Claude Code checks the file as a whole. One value of a wrong type, a path without `./` or an unknown member of a
    strict object, and nothing of the plugin is there: no agent, no skill, no hook. A malformed hook before the use of a
    tool costs the plugin, too. In a marketplace, a wrong value of one plugin costs this plugin.

    ## How to fix
    Write a value that the message names. `agents` lists files that end with `.md`; `skills` and `commands` list paths
    that begin with `./`. `claude plugin validate` checks the same.
    """
    for file, wrong in list_misfits(files, _REFUSED_PLUGIN_KINDS):
        is_based = "pluginRoot" in object_of(file.members.get("metadata"))  # then sources are written without './'
        if file.reading.is_whole and wrong.cost != "nothing" and not (is_based and wrong.key.endswith(".source")):
            refused = "this plugin of the marketplace" if wrong.cost == "entry" else f"the {file.title}"
            yield Finding(wrong.at, f"Claude Code refuses {refused}: {wrong}")
    for file in files.of("claude-plugin"):
        for servers, at in _list_inline(file, "mcpServers"):
            for wrong in find_misfits(servers, at, files.known, "agent-servers"):
                yield Finding(wrong.at, f"Claude Code refuses the plugin: in 'mcpServers', {wrong}")
    for each in files.claude.hooks:
        for fault in each.hooks.faults if each.kind in _HOOKED else ():
            if fault.costs_file:
                reason = describe_hook_fault(fault, files.known)
                yield Finding(fault.at, f"Claude Code refuses the plugin, because {reason}")


def _list_inline(file: AgentFile, key: str) -> Iterator[tuple[Object, Place]]:
    """Yield the maps that a manifest has itself, instead of the path of a file, with their places."""
    given, at = file.members.get(key), file.at / key
    every = [(given, at), *((each, at / index) for index, each in enumerate(list_of(given)))]
    yield from ((each, place) for each, place in every if isinstance(each, dict))


_SENTENCES = {
    "part": "the plugin has no {path}",
    "skill file": "Claude Code takes no skill from {path}: an entry of 'skills' is the folder that has the 'SKILL.md'",
    "plugin": "the marketplace lists a plugin in {path}, which does not exist",
    "link": "the skill links {path}, which does not exist",
    "agent": "the project has no agent {path}: Claude Code starts the session without its limits",
}


@rule(since="0.1", origin=("agent-files:absent-part",), severity=Severity.WARNING)
def stg3146_absent_part(files: AgentFiles) -> Iterator[Finding]:
    """A file names a part of the project that is not there.

    ## Why this matters
    The tool goes on without it. With an `agent` in the settings that nobody finds, the session has every tool.

    ## How to fix
    Correct the name or the path, or add the part.
    """
    return list_lost(files, _SENTENCES)

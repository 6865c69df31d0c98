"""A plugin, a marketplace or a file of hooks has a value for which Claude Code refuses it.

## Why this matters
Claude Code checks the file as a whole. One value of a wrong type, a path without `./` or an unknown member of a strict
object, and nothing of the plugin is there: no agent, no skill, no hook.

## How to fix
Write a value that the message names. `agents` lists files that end with `.md`; `skills` and `commands` list paths that
begin with `./`. `claude plugin validate` checks the same.
"""

from collections.abc import Iterator

from stagec.core.json import object_of
from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import list_misfits, rule

_KINDS = {"claude-plugin": "plugin", "claude-marketplace": "marketplace", "claude-hooks": "hooks-file"}


@rule(since="0.1", origin=("agent-files:refused-plugin",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for file, wrong in list_misfits(files, _KINDS):
        is_based = "pluginRoot" in object_of(file.members.get("metadata"))  # then sources are written without './'
        if file.reading.is_whole and not (is_based and wrong.key.endswith(".source")):
            yield Finding(wrong.at, f"Claude Code refuses the {file.title}: {wrong}")

"""A plugin, a marketplace or a file of hooks has a value for which Claude Code refuses it.

## Why this matters
Claude Code checks the file as a whole. One value of a wrong type, a path without `./` or an unknown member of a strict
object, and nothing of the plugin is there: no agent, no skill, no hook.

## How to fix
Write a value that the message names. `agents` lists files that end with `.md`; `skills` and `commands` list paths that
begin with `./`. `claude plugin validate` checks the same.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.values import find_misfits
from stagec.rules.agent_files import rule

_KINDS = {
    "claude-plugin": ("plugin", "plugin"),
    "claude-marketplace": ("marketplace", "marketplace"),
    "claude-hooks": ("hooks-file", "hooks of the plugin"),
}


@rule(since="0.1", origin=("agent-files:refused-plugin",))
def check(files: AgentFiles) -> Iterator[Finding]:
    for name, (rows, what) in _KINDS.items():
        for file in files.of(name):
            base = file.members.get("metadata")
            is_based = isinstance(base, dict) and "pluginRoot" in base  # then sources are written without './'
            for wrong in find_misfits(file.members, file.at, files.known, rows) if file.reading.is_whole else ():
                if not (is_based and wrong.key.endswith(".source")):
                    yield Finding(wrong.at, f"Claude Code refuses the {what}: {wrong}")

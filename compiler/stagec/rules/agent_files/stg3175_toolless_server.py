"""An agent of Copilot lists the name of an MCP server as a tool.

## Why this matters
Copilot ignores names that are no tools. Of a server it takes `SERVER/TOOL`, or `SERVER/*` for all of its tools.

## How to fix
Write `SERVER/*`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import object_of
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.tool_names import list_tools
from stagec.rules.agent_files import rule

_ENDING = "-mcp-server"


@rule(since="0.1", origin=("agent-files:toolless-server",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("copilot-agent"):
        servers = object_of(file.members.get("mcp-servers"))
        for each in list_tools(file, files.known):
            if each.name in servers or each.name.endswith(_ENDING):
                is_alone = len(each.at.pointer) > 1
                fix = Fix("name all of its tools", (Edit(Change.REPLACE, each.at, f"{each.name}/*"),), is_safe=False)
                message = f"{quote(each.name)} gives no tool of the server; write {quote(each.name + '/*')} for all"
                yield Finding(each.at, message, fix=fix if is_alone else None)

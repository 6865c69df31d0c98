"""Some of an agent's tools name nothing.

## Why this matters
Claude Code drops names that it does not know in silence: the agent does less than its author thinks. Names are exact,
also in their case. Some tools were renamed or taken away.

## How to fix
Write the name that the message suggests, or take the entry away. `stagec validate --fix` corrects the case of names,
and takes those away whose tools are gone. Names of your own go to `agent-files` in the
[configuration](../configuration.md#agent-files).
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.frontends.agent_files.tool_names import ToolEntry, ToolGroup, find_case, list_tools
from stagec.rules.agent_files import correct_entry, rule


@rule(since="0.1", origin=("agent-files:unknown-agent-tool",), severity=Severity.WARNING)
def check(document: AgentFiles) -> Iterator[Finding]:
    known = document.known
    for file in document.of("claude-agent"):
        entries = list_tools(file, known)
        unknown = [each for each in entries if each.group is not ToolGroup.KNOWN]
        if len(unknown) == len(entries):
            continue  # then the agent has no tools at all
        for each in unknown:
            yield Finding(each.at, _describe(each, known), (), correct_entry(file, each, known))


def _describe(entry: ToolEntry, known: Known) -> str:
    near = find_case(entry.name, known) or known.names("tools").slip(entry.name)
    if entry.group is ToolGroup.GONE:
        now = known.aliases("gone-tools").get(entry.name)
        instead = f"; {quote(now)} does its work" if now else ""
        return f"{quote(entry.name)} is no tool of {known.version()} any more{instead}"
    doubt = f"; did you mean {quote(near)}?" if near else ""
    return f"{quote(entry.name)} is no tool of {known.version()}, which drops it{doubt}"

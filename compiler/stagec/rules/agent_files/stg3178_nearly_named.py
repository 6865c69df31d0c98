"""A name is nearly that of a skill, an agent or a server of the project.

## Why this matters
Names are exact. The tool finds nothing, and goes on without it.

## How to fix
Write the name that the message suggests.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.guess import Guess
from stagec.core.json import text_in
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.handoffs import list_handoff_targets
from stagec.frontends.agent_files.server_mentions import fold_server, list_undeclared_servers
from stagec.rules.agent_files import list_names, rule


@rule(since="0.1", origin=("agent-files:nearly-named",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    skills = [skill.where for skill in files.of("claude-skill")]
    for file in files.of("claude-agent"):
        known = NameIndex(each.name for each in skills if each.home == file.where.home)
        for name, at in list_names(file, "skills") if not file.where.is_plugin else ():
            yield from _judge("skill", name, at, known)
    agents = tuple(files.of("copilot-agent", "copilot-chat-mode", "claude-agent"))
    named = (called for each in agents if (called := text_in(each.members, "name")) is not None)
    every = NameIndex((*(each.where.name for each in agents), *named))
    for file in agents:
        for target in list_handoff_targets(file.members.get("handoffs"), file.at / "handoffs"):
            yield from _judge("agent", target.name, target.at, every)
    servers = NameIndex(sorted(files.claude.declared))
    folded = {fold_server(each) for each in servers}
    for mention in list_undeclared_servers(files):
        if fold_server(mention.name) not in folded:  # another rule speaks of those
            yield from _judge("MCP server", mention.name, mention.at, servers)


def _judge(what: str, name: str, at: Place, known: NameIndex) -> Iterator[Finding]:
    meant = None if name in known else known.slip(name)
    if meant is not None:
        is_alone = at.pointer[-1:] != ("skills",) and what != "MCP server"
        told = f"the project has no {what} {quote(name)}; did you mean {quote(meant)}?"
        yield Finding(at, told, (), Guess(name, meant) if is_alone else None)

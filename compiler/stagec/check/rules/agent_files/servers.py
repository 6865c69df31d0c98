"""MCP servers that a tool cannot start, reach or tell apart."""

from collections.abc import Iterator

from stagec.check.rules.agent_files import list_repeated, rule
from stagec.core.diagnostic import Change, Edit, Fix, Severity
from stagec.core.json import object_of
from stagec.core.nearest import hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import quote
from stagec.languages.agent_files.claude_project import McpServer, ServerFault
from stagec.languages.agent_files.document import AgentFiles
from stagec.languages.agent_files.known import Known
from stagec.languages.agent_files.tool_names import fold_server, list_tools, list_undeclared_servers


@rule(since="0.1", origin=("agent-files:folded-server",), severity=Severity.WARNING)
def stg3147_folded_server(files: AgentFiles) -> Iterator[Finding]:
    """Two MCP servers have the same name in the names of their tools.

    ## Why this matters
    Characters other than letters, digits, `-` and `_` become `_`. Tools of both servers are `mcp__NAME__TOOL` then,
    and permissions for one count for the other.

    ## How to fix
    Rename one of the servers.
    """
    for each, other in list_repeated(((each.at.file, each.tool_name), each) for each in files.claude.servers):
        if other.name != each.name:
            related = (Related(other.at.key, "the other server"),)
            prefix = quote(f"mcp__{each.tool_name}__")
            told = f"tools of {quote(each.name)} and {quote(other.name)} begin with {prefix}"
            yield Finding(each.at.key, told, related)


@rule(since="0.1", origin=("agent-files:untyped-server-address",))
def stg3158_untyped_server_address(files: AgentFiles) -> Iterator[Finding]:
    """A server in `.mcp.json` has an address and no type.

    ## Why this matters
    Claude Code takes a server without a type for a program that it starts. It finds no command, and leaves the server
    out with all its tools. Other hosts read the address and are satisfied.

    ## How to fix
    Add `"type": "http"`, or `"type": "sse"` for a server that speaks the older protocol.
    """
    for server in files.claude.servers:
        for fault in server.faults:
            if fault.reason == "untyped":
                message = f"MCP server {quote(server.name)} has a 'url' without a 'type': Claude Code leaves it out"
                yield Finding(server.at.key, message, fix=_add_server_type(server.at, fault))


def _add_server_type(at: Place, fault: ServerFault) -> Fix:
    """Return the type to add; behind `/sse` most servers speak the older protocol, which is a guess."""
    is_old = fault.found.rstrip("/").endswith("/sse")
    kind = "sse" if is_old else "http"
    return Fix(f"add the type {quote(kind)}", (Edit(Change.INSERT, at / "type", kind),), is_safe=not is_old)


@rule(since="0.1", origin=("agent-files:unreadable-server",))
def stg3159_unreadable_server(files: AgentFiles) -> Iterator[Finding]:
    """Claude Code cannot use a server of `.mcp.json` as it is written.

    ## Why this matters
    The server is left out with all its tools, or it is started with a variable that nobody has filled in. The other
    servers of the file still work.

    ## How to fix
    Give the server the type `stdio`, `sse`, `http` or `ws`, a name that Claude Code does not keep for itself, and its
    address under `url`. Variables are `${NAME}` and `${NAME:-default}`; `${env:NAME}` is read by other programs.
    """
    for server in files.claude.servers:
        for fault in server.faults:
            said = _describe(fault, files.known)
            if said is not None:
                yield Finding(
                    fault.at, f"MCP server {quote(server.name)} {said}", fix=_fix_unreadable_server(server, fault)
                )


def _describe(fault: ServerFault, known: Known) -> str | None:
    """Describe the fault, unless a rule about tools or shapes does."""
    if fault.reason == "reserved":
        return f"has a name that {known.version()} reserves: it leaves the server out"
    if fault.reason == "type":
        types = known.names("server-types")
        doubt = hint(fault.found, types)
        return (
            f"has the type {quote(fault.found)}, which {known.version()} does not know: it leaves the server out{doubt}"
        )
    if fault.reason == "foreign address":
        return f"has its address under {quote(fault.found)}, which Claude Code does not read: it leaves the server out"
    if fault.reason == "foreign variable":
        return f"has {quote(fault.found)} in it, which Claude Code does not fill in"
    return None


def _fix_unreadable_server(server: McpServer, fault: ServerFault) -> Fix | None:
    if fault.reason == "foreign address":
        return Fix("rename it to 'url'", (Edit(Change.RENAME, server.at / fault.found, "url"),), is_safe=False)
    return None


@rule(since="0.1", origin=("agent-files:misread-server-switch",), severity=Severity.NOTE)
def stg3160_misread_server_switch(files: AgentFiles) -> Iterator[Finding]:
    """A server of `.mcp.json` is switched off by a key that Claude Code does not read.

    ## Why this matters
    Claude Code starts the server all the same. stagec and some editors read the key.

    ## How to fix
    Name the server in `disabledMcpjsonServers` of `.claude/settings.json`, or remove it from the file.
    """
    for server in files.claude.servers:
        for fault in server.faults:
            if fault.reason == "disabled":
                message = f"Claude Code does not read 'disabled': it starts the MCP server {quote(server.name)}"
                yield Finding(fault.at.key, message)


@rule(since="0.1", origin=("agent-files:undeclared-server",), severity=Severity.WARNING)
def stg3172_misspelt_server(files: AgentFiles) -> Iterator[Finding]:
    """A tool name has an MCP server whose declaration spells it differently.

    ## Why this matters
    Claude Code compares the names of tools letter by letter. Capital letters count, and `-` is not `_`. The name means
    no tool, so an agent does not get it, and a permission rule matches nothing.

    ## How to fix
    Write the server as `.mcp.json` does. Characters other than letters, digits, `-` and `_` become `_`.
    """
    declared = {fold_server(each.tool_name): each for each in files.claude.servers}
    for each in list_undeclared_servers(files):
        meant = declared.get(fold_server(each.name))
        if meant is not None:
            related = (Related(meant.at.key, "declared here"),)
            yield Finding(
                each.at, f"no MCP server is called {quote(each.name)}; is it {quote(meant.tool_name)}?", related
            )


_ENDING = "-mcp-server"


@rule(since="0.1", origin=("agent-files:toolless-server",), severity=Severity.WARNING)
def stg3175_toolless_server(files: AgentFiles) -> Iterator[Finding]:
    """An agent of Copilot lists the name of an MCP server as a tool.

    ## Why this matters
    Copilot ignores names that are no tools. Of a server it takes `SERVER/TOOL`, or `SERVER/*` for all of its tools.

    ## How to fix
    Write `SERVER/*`.
    """
    for file in files.of("copilot-agent"):
        servers = object_of(file.members.get("mcp-servers"))
        for each in list_tools(file, files.known):
            if each.name in servers or each.name.endswith(_ENDING):
                is_alone = len(each.at.pointer) > 1
                fix = Fix("name all of its tools", (Edit(Change.REPLACE, each.at, f"{each.name}/*"),), is_safe=False)
                message = f"{quote(each.name)} allows no tool of the server; write {quote(each.name + '/*')} for all"
                yield Finding(each.at, message, fix=fix if is_alone else None)


@rule(since="0.1", origin=("agent-files:undeclared-server",), severity=Severity.NOTE, groups=("pedantic",))
def stg3180_undeclared_server(files: AgentFiles) -> Iterator[Finding]:
    """A tool is named of an MCP server that no file of the project declares.

    ## Why this matters
    Claude Code also knows the servers of the user, of plugins and of claude.ai, which are not in the project. On
    another machine the server may not be there, and then the name means no tool.

    ## How to fix
    Declare the server in `.mcp.json`, or ignore this rule if everybody who works on the project has it.
    """
    declared = {fold_server(each.tool_name) for each in files.claude.servers}
    for each in list_undeclared_servers(files):
        if fold_server(each.name) not in declared:
            yield Finding(each.at, f"no file of the project declares the MCP server {quote(each.name)}")

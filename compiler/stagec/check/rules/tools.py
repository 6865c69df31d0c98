"""STG50x to STG54x: what a catalogue of tools says by itself: names, schemas, servers and their lock."""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import Json
from stagec.core.nearest import NameIndex, guess, hint
from stagec.core.place import Place
from stagec.core.rule import Family, Finding, Related
from stagec.core.secrets import has_literal_secret, is_literal_secret, literal_arguments
from stagec.core.words import listing, quote
from stagec.ir.catalogue import Catalogue, CatalogueServer, CatalogueTool, Origin
from stagec.ir.catalogue.read import ADDRESSES
from stagec.sources.contract.combinations import types_of
from stagec.sources.contract.schemas import Miss, Schema

FAMILY = Family(__name__, (range(500, 550),), Catalogue)
rule = FAMILY.rule


def namesakes(catalogue: Catalogue) -> tuple[tuple[CatalogueTool, CatalogueTool], ...]:
    """Return every tool whose name an earlier one has, with that one."""
    if len(catalogue.by_name) == len(catalogue.tools):
        return ()
    firsts = ((catalogue.by_name[tool.name], tool) for tool in catalogue.tools)
    return tuple((first, tool) for first, tool in firsts if first is not tool)


def name_origin(tool: CatalogueTool) -> str:
    """Return the origin of a tool in words: `bundled`, `MCP server 'files'`."""
    return str(tool.origin) if tool.server is None else f"MCP server {quote(tool.server)}"


@rule(since="0.1", origin=("stage-definitions:allowed-tools-duplicate", "stage-definitions:completion-tool-collision"))
def stg501_repeated_tool_name(catalogue: Catalogue) -> Iterator[Finding]:
    """A catalogue lists a tool twice.

    ## Why this matters

    Tools are called by their names and nothing else. Of two tools with one name only one can be called, and which one
    depends on the host; when one says that it only reads and the other that it changes something, neither can be
    believed.

    ## How to fix

    Remove one of the entries, or rename the project's own tool.
    """
    for first, tool in namesakes(catalogue):
        if tool.origin is not Origin.MCP:
            message = f"tool {quote(tool.name)} is already listed under {quote(first.origin)}"
            yield Finding(tool.at, message, (Related(first.at, "listed here"),))


@rule(since="0.1", origin=("stagec:tools",))
def stg502_unresolved_tool_schema(catalogue: Catalogue) -> Iterator[Finding]:
    """The schema of a tool's input does not exist.

    ## Why this matters

    Without the schema nobody can tell whether a call of the tool is well formed, and hosts refuse to register the
    tool.

    ## How to fix

    Correct the path, which is relative to the folder of the catalogue, or write the schema. A part of a file is named
    by a pointer behind `#`. Files outside the project are never read.
    """
    for tool in catalogue.tools:
        if isinstance(tool.schema, Miss) and tool.schema is not Miss.UNKNOWABLE:
            yield Finding(
                tool.entry / "schema",
                f"{_explain_missing_schema(tool)}{f'; did you mean {tool.near!r}?' if tool.near else ''}",
            )


def _explain_missing_schema(tool: CatalogueTool) -> str:
    written = quote(tool.reference)
    if tool.schema is Miss.OUTSIDE:
        return f"schema {written} of tool {quote(tool.name)} lies outside the project"
    if tool.schema is Miss.NO_MEMBER:
        return f"schema {written} of tool {quote(tool.name)} names a part that its file does not have"
    return f"there is no schema file {written} for tool {quote(tool.name)}"


@rule(since="0.1", origin=("stage-definitions:completion-schema-root",))
def stg503_tool_schema_without_object(catalogue: Catalogue) -> Iterator[Finding]:
    """The schema of a tool's input allows no object.

    ## Why this matters

    The arguments of a tool are always an object: a member for each. A schema of another type can never be met, and
    model providers refuse the tool.

    ## How to fix

    Make the root of the schema `type: object` and put what the tool takes under `properties`.
    """
    for tool in catalogue.tools:
        types = _types(tool.schema.value) if isinstance(tool.schema, Schema) else ()
        if isinstance(tool.schema, Schema) and types and "object" not in types:
            message = (
                f"the input of tool {quote(tool.name)} must be an object, "
                f"but its schema requires {listing(types, 'or')}"
            )
            yield Finding(tool.entry / "schema", message, (Related(tool.schema.at / "type", "its schema"),))


def _types(schema: Json) -> tuple[str, ...]:
    """Return the types that a schema allows, none where it does not say, or not well."""
    given = schema.get("type") if isinstance(schema, dict) else None
    types = given if isinstance(given, list) else [given]
    return () if types_of({"type": given}) is None else tuple(map(str, types))


@rule(since="0.1", origin=("stagec:tools",), severity=Severity.WARNING)
def stg504_outdated_lock(catalogue: Catalogue) -> Iterator[Finding]:
    """The lock of tools does not belong to the servers that the catalogue names.

    ## Why this matters

    The lock stands for what the servers offer. When a server is started in another way than when it was locked, such
    as in another version, it may offer other tools; then stagec no longer knows which, and says nothing of names that
    are not among the known ones.

    ## How to fix

    Run `stagec tools lock` and keep the new lock with the sources.
    """
    locked = {} if catalogue.lock is None else catalogue.lock.servers
    for server in catalogue.stale:
        message = f"MCP server {quote(server.name)} is started differently than when its tools were locked"
        yield Finding(server.at.key, message, (Related(locked[server.name].at / "launch", "the lock"),))
    known = NameIndex(catalogue.servers)
    for name in () if catalogue.faulty - {catalogue.lock_file} else locked:
        if name not in catalogue.servers:
            message = f"the catalogue names no MCP server {quote(name)} any more{hint(name, known)}"
            yield Finding(locked[name].at.key, message)


_WAYS = NameIndex(("command", *ADDRESSES))


@rule(since="0.1", origin=("stagec:tools",))
def stg505_unstartable_server(catalogue: Catalogue) -> Iterator[Finding]:
    """An MCP server can be neither started nor reached as it is written.

    ## Why this matters

    A server is either a program, which its `command` starts, or an address, which its `url` tells. With neither there
    is not a server; with both, hosts differ in what they do.

    ## How to fix

    Give a `command` with its `args`, or a `url`, and a `type` that agrees with it: `stdio` for a command, `http` for
    an address.
    """
    for server in catalogue.servers.values():
        wrong = _explain_unstartable_server(server)
        if wrong is not None:
            yield Finding(server.at.key, f"MCP server {quote(server.name)} {wrong}")


def _explain_unstartable_server(server: CatalogueServer) -> str | None:
    command = "command" in server.members
    address = next((each for each in ADDRESSES if each in server.members), None)
    if command and address is not None:
        return f"has both a 'command' and a {quote(address)}"
    if not command and address is None:
        return _missing(server)
    if server.transport == "stdio" and not command:
        return f"is of type 'stdio' but has a {quote(address)} instead of a 'command'"
    if server.transport in {"http", "sse"} and command:
        return f"is of type {quote(server.transport)} but has a 'command' instead of a 'url'"
    return None


def _missing(server: CatalogueServer) -> str | None:
    """Describe the missing member, unless a misspelt key is reported already, as everywhere but in `.mcp.json`."""
    misspelt = next((each for each in server.members if _WAYS.nearest(each) is not None), None)
    if misspelt is None:
        return "has neither a 'command' nor a 'url'"
    is_told = server.at.pointer[0] == "mcp"
    return None if is_told else f"has neither a 'command' nor a 'url'; is it {quote(misspelt)}, misspelt?"


@rule(since="0.1", origin=("stagec:tools",), severity=Severity.WARNING)
def stg506_rival_servers(catalogue: Catalogue) -> Iterator[Finding]:
    """Two MCP servers of one catalogue have the same name.

    ## Why this matters

    The catalogue and the `.mcp.json` that counts beside it are read together. When both name a server and say
    different things about it, stagec follows the catalogue, and other programs, which read `.mcp.json` only, start
    another one.

    ## How to fix

    Keep one of the two definitions, make them equal, or give the servers different names.
    """
    for rival in catalogue.rivals:
        first = catalogue.servers[rival.name]
        if not rival.is_started_like(first):
            message = f"MCP server {quote(rival.name)} is defined differently in {quote(first.at.file)}"
            yield Finding(rival.at.key, message, (Related(first.at.key, "this definition counts"),))


@rule(since="0.1", origin=("stage-definitions:allowed-tools-unknown",), severity=Severity.NOTE)
def stg507_unlocked_server(catalogue: Catalogue) -> Iterator[Finding]:
    """The lock of tools knows nothing of an MCP server.

    ## Why this matters
    stagec never starts a server to check a project. The tools of a server are known only from the lock; without it,
    tools that no server offers and completion tools that have the name of a server's tool go unnoticed.

    ## How to fix
    Run `stagec tools lock`, which starts the servers once and writes `tools.lock.json`, and keep that file with the
    sources.
    """
    unlocked = [each for each in catalogue.unlocked if each.command is not None or each.url is not None]
    if not unlocked or catalogue.lock_file in catalogue.faulty:
        return
    first, *others = unlocked
    names = listing([each.name for each in unlocked])
    who = f"MCP servers {names}" if others else f"MCP server {names}"
    related = tuple(Related(each.at.key, "not locked either") for each in others)
    message = f"the tools of {who} are not known: {quote(catalogue.lock_file)} does not list them"
    yield Finding(first.at.key, message, related)


@rule(since="0.1", origin=("stage-definitions:completion-tool-collision",), severity=Severity.WARNING)
def stg508_ambiguous_tool_name(catalogue: Catalogue) -> Iterator[Finding]:
    """An MCP server offers a tool under a name that another tool has.

    ## Why this matters

    A stage allows tools by name, and a run registers all of them in one place. Which of two tools with one name is
    called then depends on the order in which the servers happen to be started.

    ## How to fix

    Leave one of the servers out, or configure it so that it offers the tool under another name.
    """
    for first, tool in namesakes(catalogue):
        if tool.origin is Origin.MCP:
            other = name_origin(first) if first.origin is Origin.MCP else f"a {name_origin(first)} tool"
            message = f"{name_origin(tool)} offers a tool {quote(tool.name)}, which is also the name of {_of(other)}"
            yield Finding(tool.at, message, (Related(first.at, "the other tool"),))


def _of(other: str) -> str:
    return f"one of {other}" if other.startswith("MCP") else other


_USABLE = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_LONGEST = 128


@rule(since="0.1", origin=("stage-definitions:allowed-tools-empty-name",), severity=Severity.WARNING)
def stg509_unusable_tool_name(catalogue: Catalogue) -> Iterator[Finding]:
    """A tool has a name that no model can call it by.

    ## Why this matters
    The names of tools travel in requests to models, and these take letters, digits, `_`, `-`, `.` and `/` only, at
    most 128 of them. A tool of another name is refused, and often the whole request with it.

    ## How to fix
    Rename the tool. In a catalogue, write the bare name: permitted arguments, as in `Bash(git *)`, are a matter of
    permissions and not part of the name.
    """
    for tool in catalogue.tools:
        if _USABLE.fullmatch(tool.name) is None:
            yield Finding(tool.at, f"{_name(tool)} has {_explain_tool_name(tool.name)}")


def _name(tool: CatalogueTool) -> str:
    return f"tool {quote(tool.name)}{f' of {name_origin(tool)}' if tool.server is not None else ''}"


def _explain_tool_name(name: str) -> str:
    if len(name) > _LONGEST:
        return f"a name of {len(name)} characters; models accept at most {_LONGEST}"
    strange = next((each for each in name if _USABLE.fullmatch(each) is None), "")
    return f"{quote(strange)} in its name, which models do not accept" if strange else "no name"


_KEYS = NameIndex(("mcpServers",))


@rule(since="0.1", origin=("stagec:tools",), severity=Severity.WARNING)
def stg510_serverless_file(catalogue: Catalogue) -> Iterator[Finding]:
    """A file of MCP servers names none.

    ## Why this matters

    Programs look for servers under the key `mcpServers`, and Visual Studio under `servers`. Under any other key, and
    at the top of the file, nobody finds them.

    ## How to fix

    Put the servers under `mcpServers`, by name.
    """
    for at, keys in catalogue.serverless:
        misspelt = next((key for key in keys if _KEYS.nearest(key) is not None), None)
        place = at if misspelt is None else (at / misspelt).key
        doubt = "" if misspelt is None else f"; is it {quote(misspelt)}, misspelt?"
        message = f"{quote(at.file)} has no 'mcpServers'{doubt}"
        yield Finding(place, message, fix=guess(misspelt, _KEYS) if misspelt is not None else None)


@rule(since="0.1", origin=("stagec:tools",), severity=Severity.WARNING)
def stg511_literal_secret(catalogue: Catalogue) -> Iterator[Finding]:
    """The definition of an MCP server holds a secret itself.

    ## Why this matters

    Whoever can read the file can use the secret, and so can whoever reads the history of the repository. Arguments of
    programs are visible to every user of the machine.

    ## How to fix

    Keep the secret in a variable of the environment, and refer to it: `${TOKEN}` in `args`, `env`, `url` and
    `headers`. Give programs their secrets in `env`, not in `args`. Replace the secret: it has been written down.
    """
    for server in catalogue.servers.values():
        for place, part in _parts(server):
            told = f"{part} of MCP server {quote(server.name)} holds a secret; refer to a variable instead: '${{NAME}}'"
            yield Finding(place, told)


def _parts(server: CatalogueServer) -> Iterator[tuple[Place, str]]:
    """Yield the place of each secret and the name of its member; never the secret."""
    for at in literal_arguments(server.args):
        yield server.at / "args" / at, f"argument {at + 1}"
    for member, given in (("env", server.env), ("headers", server.headers)):
        for name, each in given.items():
            if is_literal_secret(name, each):
                yield server.at / member / name, f"{quote(name)} in '{member}'"
    if server.url is not None and has_literal_secret(server.url):
        key = next((each for each in ADDRESSES if each in server.members), ADDRESSES[0])
        yield server.at / key, f"the {quote(key)}"

"""What nodes need around them: validators, tools and their servers, the callables of the message loop."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from stagec.core.value import NOTHING, value
from stagec.ir.plan.codec import Call, Content, Digest, ServerName, words

_BOUNDARY = re.compile(r"github[A-Z]\w*(?:Close|Comment|Create|Merge|Publish|Update)")


def is_boundary_tool(name: str) -> bool:
    """Tell whether a tool changes what others see at GitHub; of steps, only those that close may call it."""
    return _BOUNDARY.fullmatch(name) is not None


EXTRACTORS = (
    "stdout",
    "stderr",
    "exitCode",
    "errorOutput",
    "parseChangedFiles",
    "parseUntrackedFiles",
    "parseStagedFiles",
    "parseUnstagedFiles",
    "extractFiles",
    "files",
    "parseTestOutput",
    "failedTests",
    "parseTypeErrors",
    "errors",
    "parseLintErrors",
    "lintErrors",
    "lintFiles",
    "parseFormatOutput",
    "formatFiles",
    "generateDiff",
    "diff",
    "missingPaths",
    "expectedPath",
)
"""The extractors that find something; any other finds null."""


@value
class Success:
    """When the command of a validator has succeeded: `empty`, `exit`, `contains` or `matches`, and of what."""

    kind: Annotated[str, words("empty", "exit", "contains", "matches"), "What is looked at."]
    argument: Annotated[str, "The exit status, the text or the regular expression."] = ""


@value
class Validator:
    """One check of the world: a shell command, when it has succeeded, and what is read from its output when not.

    `extract` maps the names that the prompt of the next attempt uses to the extractors that find their values.
    """

    command: Annotated[str, "The command, for `sh -c`; `${name}` stands for a parameter."]
    success: Annotated[Success, "When it has succeeded."]
    pattern: Annotated[str, "The failure pattern of its failure."]
    extract: Annotated[Mapping[str, str], "The extractor of each value that the next prompt uses."] = NOTHING


@value
class Tool:
    """One tool that nodes use: where it comes from, what calling it may do, and its input schema or the digest of it.

    `origin` is `bundled`, `discovered`, `mcp` or `unknown`; `effects` `read`, `mutating` or `unknown`. `digest` is
    there where only the digest of the schema is known, as the lock has it, and `described` is the digest of the
    description there. `command` is the argument vector of a program that carries calls out.
    """

    origin: Annotated[str, words("bundled", "discovered", "mcp", "unknown"), "Where it comes from."]
    effects: Annotated[str, words("read", "mutating", "unknown"), "What calling it may do."]
    server: Annotated[ServerName | None, "The MCP server that offers it."] = None
    schema: Annotated[Content | None, "The JSON Schema of its argument."] = None
    digest: Annotated[Digest | None, "The digest of that schema, as the lock of the tools has it."] = None
    description: Annotated[str | None, "What the tool does, in words for models."] = None
    command: Annotated[tuple[str, ...], "The program that carries calls out, and its arguments."] = ()
    described: Annotated[Digest | None, "The digest of its description, as the lock of the tools has it."] = None


@value
class Server:
    """An MCP server that tools come from: how it is started, or its address.

    `environment` and `headers` are names; their values stay outside the plan. `launch` is the digest of all of it, as
    the lock has it.
    """

    launch: Annotated[Digest | None, "The digest of how it is started, as the lock of the tools has it."] = None
    command: Annotated[str | None, "The program that is started."] = None
    args: Annotated[tuple[str, ...], "Its arguments."] = ()
    cwd: Annotated[str | None, "The folder it is started in, relative to the catalogue's."] = None
    environment: Annotated[tuple[str, ...], "The names of the environment variables it is given."] = ()
    url: Annotated[str | None, "Its address."] = None
    headers: Annotated[tuple[str, ...], "The names of the headers it is sent."] = ()


MessageStage = Annotated[
    str, words("RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "TOOL_CALL", "RENDER")
]


@value
class LoopHook:
    """A Python callable at one stage of the message loop: `when` is `pre` or `post`."""

    stage: Annotated[MessageStage, "The stage of the message loop."]
    when: Annotated[str, words("pre", "post"), "Before or after it."]
    kind: Annotated[str, words("transform", "guard", "observer"), "What the callable may do."]
    call: Annotated[Call, "The callable."]


SecurityMode = Annotated[str, words("ask", "allowlist", "yolo")]


@value
class Session:
    """What holds outside nodes and for all of them: the security mode, and the callables of the message loop."""

    mode: Annotated[SecurityMode | None, "The security mode outside nodes."] = None
    hooks: Annotated[
        tuple[LoopHook, ...], "Callables at stages of the message loop, in the order in which they are called."
    ] = ()

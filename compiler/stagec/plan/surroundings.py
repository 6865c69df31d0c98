"""What nodes need around them: validators, tools and their servers, the callables of the message loop."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stagec.core.value import NOTHING, value

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

    kind: str
    argument: str = ""


@value
class Validator:
    """One check of the world: a shell command, when it has succeeded, and what is read from its output when not.

    `extract` maps the names that the prompt of the next attempt uses to the extractors that find their values.
    """

    command: str
    success: Success
    pattern: str
    extract: Mapping[str, str] = NOTHING


@value
class Tool:
    """One tool that nodes use: where it comes from, what calling it may do, and its input schema or the digest of it.

    `origin` is `bundled`, `discovered`, `mcp` or `unknown`; `effects` `read`, `mutating` or `unknown`. `digest` is
    there where only the digest of the schema is known, as the lock has it, and `described` is the digest of the
    description there. `command` is the argument vector of a program that carries calls out.
    """

    origin: str
    effects: str
    server: str | None = None
    schema: str | None = None
    digest: str | None = None
    description: str | None = None
    command: tuple[str, ...] = ()
    described: str | None = None


@value
class Server:
    """An MCP server that tools come from: how it is started, or its address.

    `environment` and `headers` are names; their values stay outside the plan. `launch` is the digest of all of it, as
    the lock has it.
    """

    launch: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    cwd: str | None = None
    environment: tuple[str, ...] = ()
    url: str | None = None
    headers: tuple[str, ...] = ()


@value
class LoopHook:
    """A Python callable at one stage of the message loop: `when` is `pre` or `post`."""

    stage: str
    when: str
    kind: str
    call: str


@value
class Session:
    """What holds outside nodes and for all of them: the security mode, and the callables of the message loop."""

    mode: str | None = None
    hooks: tuple[LoopHook, ...] = ()

"""A setting is written where its tool does not read it, or has a value that it ignores.

## Why this matters
The tool says nothing. The limit, the mode or the server that was asked for is not there.

## How to fix
Write the setting in the file that the message names, or a value that fits. A model of OpenCode is `PROVIDER/MODEL`.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import Json, object_of
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import OPENCODE
from stagec.frontends.agent_files.settings import ClaudeSettings
from stagec.rules.agent_files import list_misfits, rule

_SHARED = "settings.json"
_SCOPES = {
    "user": "in the settings of the user",
    "managed": "in settings that an organisation manages",
    "local": "in settings of the user and in '.claude/settings.local.json'",
}


@rule(since="0.1", origin=("agent-files:ignored-setting",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for _, settings in files.claude.settings:
        if not settings.is_lost:
            yield from _judge(settings, files)
    for _, wrong in list_misfits(files, {"opencode-config": "config"}, OPENCODE):
        if wrong.cost == "nothing":
            yield Finding(wrong.at, f"OpenCode finds no such model: {wrong}")


def _judge(settings: ClaudeSettings, files: AgentFiles) -> Iterator[Finding]:
    elsewhere = files.known.aliases("elsewhere")
    for wrong in settings.misfits:
        if wrong.key in elsewhere:
            where = quote(elsewhere[wrong.key])
            yield Finding(wrong.at.key, f"Claude Code reads {quote(wrong.key)} in {where}, not in settings")
        elif wrong.cost == "nothing":
            yield Finding(wrong.at, f"Claude Code ignores this value: {wrong}")
    is_shared = settings.at.file.endswith(_SHARED)
    for path, _, _, scope, _ in files.known.data["Claude Code"]["values"]["settings"]:
        found, at = _find(settings, path)
        if found is not None and scope in _SCOPES and (is_shared or scope != "local"):
            yield Finding(at.key, f"Claude Code reads {quote(path)} only {_SCOPES[scope]}")
    for path, ignored in files.known.aliases("ignored-in-projects").items() if is_shared else ():
        found, at = _find(settings, path)
        if isinstance(found, str) and found in ignored:
            yield Finding(at, f"Claude Code ignores {quote(found)} for {quote(path)} in settings of a project")


def _find(settings: ClaudeSettings, path: str) -> tuple[Json, Place]:
    found: Json = settings.members
    at = settings.at
    for name in path.split("."):
        found, at = object_of(found).get(name), at / name
    return found, at

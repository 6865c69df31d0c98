"""The hooks of an agent are malformed, so that Claude Code does not load it.

## Why this matters
One mistake in `hooks` loses the whole agent, and neither a message nor the log tells why.

## How to fix
Write a map of events. Each has a list of entries with an optional `matcher` and a list `hooks`; each hook has a
`type`, and one of the type `command` has a `command`.
"""

from collections.abc import Iterator

from stagec.core.json import Json, Object, list_of, object_of
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.frontends.agent_files.known import Known
from stagec.rules.agent_files import rule


@rule(since="0.1", origin=("agent-files:unloadable-agent-hooks",))
def check(document: AgentFiles) -> Iterator[Finding]:
    for file in document.of("claude-agent"):
        hooks = file.members.get("hooks")
        wrong = (
            None if hooks is None or file.where.is_plugin else _find_mistake(hooks, file.at / "hooks", document.known)
        )
        if wrong is not None:
            yield Finding(wrong[0], f"{wrong[1]}: Claude Code does not load the agent")


def _find_mistake(hooks: Json, at: Place, known: Known) -> tuple[Place, str] | None:
    """Return the first mistake in a map of hooks, and its place."""
    if not isinstance(hooks, dict):
        return at, "'hooks' must be a map of events"
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            return at / event, f"the hooks of {quote(event)} must be a list"
        for index, entry in enumerate(entries):
            inside = list_of(object_of(entry).get("hooks"))
            if not isinstance(object_of(entry).get("hooks"), list):
                return at / event / index, f"an entry of {quote(event)} must have a list 'hooks'"
            wrong = [number for number, hook in enumerate(inside) if not _is_hook(object_of(hook), known)]
            if wrong:
                types = listing(list(known.names("hook-types")), "or")
                said = f"a hook must have a 'type' that is {types}, and a 'command' if it is one"
                return at / event / index / "hooks" / wrong[0], said
    return None


def _is_hook(hook: Object, known: Known) -> bool:
    kind = hook.get("type")
    is_known = isinstance(kind, str) and kind in known.names("hook-types")
    return is_known and (kind != "command" or isinstance(hook.get("command"), str))

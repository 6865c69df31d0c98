"""A later permission of OpenCode undoes an earlier one.

## Why this matters
The last pattern that fits a call decides. `"*": allow` behind `"rm *": deny` allows everything.

## How to fix
Write `"*"` first, and exceptions behind it.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.json import Json, object_of
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.agent_files.document import AgentFiles
from stagec.rules.agent_files import rule

_EVERY = "*"


@rule(since="0.1", origin=("agent-files:undone-permission",), severity=Severity.WARNING)
def check(files: AgentFiles) -> Iterator[Finding]:
    for file in files.of("opencode-agent", "opencode-mode", "opencode-config"):
        yield from _judge(file.members.get("permission"), file.at / "permission")
        for name, agent in object_of(file.members.get("agent")).items():
            yield from _judge(object_of(agent).get("permission"), file.at / "agent" / name / "permission")


def _judge(given: Json, at: Place) -> Iterator[Finding]:
    for tool, patterns in object_of(given).items():
        actions = {key: each for key, each in object_of(patterns).items() if isinstance(each, str)}
        before = list(actions)[: list(actions).index(_EVERY)] if _EVERY in actions else []
        undone = [key for key in before if actions[key] != actions[_EVERY]]
        if undone:
            related = tuple(Related(at / tool / key, "undone") for key in undone)
            what = f"{quote(actions[_EVERY])} for '*' comes last and decides"
            yield Finding(at / tool / _EVERY, f"{what}: what is said of {listing(undone)} does not count", related)

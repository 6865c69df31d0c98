"""What an execution that converses remembers."""

from __future__ import annotations

from collections.abc import Mapping

from stagec.core.json import Json
from stagec.core.value import NOTHING, value
from stagec.runtime.acts.grants import Grants
from stagec.runtime.effect import Message, Request
from stagec.runtime.state import Execution


@value
class Chain:
    """Hooks that are being called at a slot of the message loop.

    `subject` is what they look at, `about` what they are told besides. `next` counts the guards and transforms that
    have answered, `watching` has the keys of observers that have not.
    """

    slot: str
    subject: Json
    about: Mapping[str, Json] = NOTHING
    next: int = 0
    watching: tuple[str, ...] = ()
    changed: bool = False


@value
class Talk:
    """Where a conversation stands.

    `asked` counts how often admission was asked for, `turns` the turns of this attempt, and `error` is the last
    complaint about a result in it; `attempts` are those that are over. `request` is there when hooks have rewritten
    what the model is sent. `calls` are those of the last response; `decided` says of each, in order, whether it may be
    made, `running` which requests carry which of them out, `outcomes` what came of them, by index, and `finished`
    counts those that hooks have seen. `result` is there once an attempt is over, `chain` while hooks are called.
    """

    context: Mapping[str, Json] = NOTHING
    asked: int = 0
    transcript: tuple[Message, ...] = ()
    attempts: tuple[Mapping[str, Json], ...] = ()
    turns: int = 0
    error: str | None = None
    request: Mapping[str, Json] | None = None
    calls: tuple[Request, ...] = ()
    decided: tuple[bool, ...] = ()
    running: tuple[tuple[str, int], ...] = ()
    outcomes: tuple[tuple[int, Mapping[str, Json]], ...] = ()
    finished: int = 0
    grants: Grants = Grants()
    result: Mapping[str, Json] = NOTHING
    chain: Chain | None = None


_SILENCE = Talk()


def talk_of(execution: Execution) -> Talk:
    """Return what an execution remembers."""
    found = execution.detail
    return found if isinstance(found, Talk) else _SILENCE

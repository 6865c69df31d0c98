"""What this machine can answer: programs that are really run, waits that really pass, callables that may be called."""

from __future__ import annotations

import time
from shlex import join

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.core.words import quote
from stagec.runtime.exchange import Hook, Run, Shell, Wait, read_key
from stagec.world.callables import call
from stagec.world.commands import Line, run


class LocalWorld:
    """Answers the requests that a scenario leaves open; `calls` tells whether callables may be called."""

    def __init__(self, *, calls: bool) -> None:
        self._calls = calls

    def answer(self, effect: Run | Shell | Hook | Wait) -> Json:
        """Return the answer to a request, or raise `Failure`."""
        match effect:
            case Run():
                return run(Line(effect.words, effect.milliseconds, _variables(effect.key)))
            case Shell():
                return run(Line(("sh", "-c", effect.command), variables=_variables(effect.key)))
            case Wait():
                time.sleep(min(effect.milliseconds, _LONGEST) / 1000)
                return {}
            case Hook():
                if not self._calls:
                    raise Failure(f"the hook {quote(effect.call)} may not be called: --allow-hooks lets it be called")
                return call(effect.call, effect.given)


_LONGEST = 1_000_000_000_000
"""Milliseconds that a wait lasts at most, some thirty years; systems cannot wait for ever."""


def _variables(key: str) -> dict[str, str]:
    """Return what a program is told of the request: the same key when it is run again after a crash."""
    return {"STAGEC_IDEMPOTENCY_KEY": key, "STAGEC_RUN_ID": read_key(key).run}


class ClosedWorld:
    """A world in which nothing happens: no program is run, nothing is called, and no time passes."""

    def answer(self, effect: Run | Shell | Hook | Wait) -> Json:
        """Return that a wait is over; raise `Failure` for everything else."""
        if isinstance(effect, Wait):
            return {}
        if isinstance(effect, Hook):
            what = f"{quote(effect.call)} to 'hooks'"
        else:
            what = f"{quote(join(effect.words) if isinstance(effect, Run) else effect.command)} to 'commands'"
        raise Failure(
            f"nothing is run or called here, and the scenario has no answer to {quote(effect.key)}: add {what}"
        )

"""stagec's own machine as a runner of the conformance protocol."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from stagec.cli.conformance.trace_json import read_event, requests_to_json, state_to_json
from stagec.core.json import Json, Object, object_of, text_in
from stagec.core.version import __version__
from stagec.ir.plan.loader import PlanError
from stagec.runtime.machine import Program, Started, State, advance, load

PROTOCOL = "stagec.conformance/1"
"""The version of the protocol, which both sides name."""
REGISTRY, PIPELINE, STAGES = "registry", "pipeline", "stages"
PROFILES = (REGISTRY, PIPELINE, STAGES)
"""The profiles of runners: whose plans they run."""


class ServedMachine:
    """Answers the messages of one judge: it has at most one plan, and one run of it."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._state = State()

    def reply(self, message: Object) -> Object:
        """Return the answer to a message; raise `ValueError`, `KeyError` or `TypeError` for what is none."""
        match message["is"]:
            case "hello":
                name: Json = f"stagec {__version__}"
                return {"is": "ready", "protocol": PROTOCOL, "runner": name, "profiles": list(PROFILES)}
            case "plan":
                return self._load(str(message["file"]))
            case "event":
                return self._advance(object_of(message["event"]))
            case other:
                raise ValueError(f"the protocol has no message {other!r}")

    def _load(self, file: str) -> Object:
        try:
            self._program = load(file.encode(errors="surrogatepass"))
        except PlanError as error:
            self._program = None
            return {"is": "refused", "why": str(error)}
        return {"is": "loaded", "digest": self._program.digest}

    def _advance(self, given: Object) -> Object:
        if self._program is None:
            raise ValueError("there is no plan")
        event = read_event(given)
        if isinstance(event, Started):
            self._state = State()
        step = advance(self._program, self._state, event)
        self._state = step.state
        state = state_to_json(self._program, step.state)
        ended, reason = state.pop("ended"), state.pop("reason")
        outcome: Json = None if ended is None else {"ended": ended, "reason": reason}
        return {"is": "step", "requests": [*requests_to_json(step.effects)], "state": state, "outcome": outcome}


def serve(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the answer to each line, as a line, until a message ends the conversation."""
    machine = ServedMachine()
    for line in lines:
        message = object_of(json.loads(line))
        if text_in(message, "is") == "end":
            return
        yield json.dumps(machine.reply(message)) + "\n"

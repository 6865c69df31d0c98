"""The interpreter: one pure machine that runs plans.

`load(data) -> Program` verifies and prepares a plan; `advance(program, state, event) -> Step(state, effects, …)` says
what follows from an event. A run begins with `State()` and `Started`; every effect is answered with
`Answered(effect.key, …)`.
"""

from stagec.runtime.machine.advance import advance
from stagec.runtime.machine.exchange import Answered, Cancelled, Effect, Event, Replanned, Resumed, Rewound, Started
from stagec.runtime.machine.program import Program, load, verify
from stagec.runtime.machine.state import Move, State, StepResult

__all__ = [
    "Answered",
    "Cancelled",
    "Effect",
    "Event",
    "Move",
    "Program",
    "Replanned",
    "Resumed",
    "Rewound",
    "Started",
    "State",
    "StepResult",
    "advance",
    "load",
    "verify",
]

"""The machine as a public interface: plans, states, and every event and request by name.

The machine is a pure function: `advance(program, state, event)` returns what follows from an event, with the requests
to the world. Whoever calls it keeps the state, asks the world, and hands the answers back as events.
"""

from stagec.ir.plan.loader import PlanError
from stagec.ir.plan.node import Outcome
from stagec.runtime.machine.advance import advance
from stagec.runtime.machine.exchange import (
    Answered,
    Ask,
    Call,
    Cancelled,
    Close,
    Comment,
    Confirm,
    Dispatch,
    Effect,
    Event,
    Execute,
    Grant,
    Hook,
    Interrupt,
    Judge,
    Message,
    Preserve,
    Publish,
    Relabel,
    Replanned,
    Request,
    Resumed,
    Rewound,
    Run,
    Shell,
    Started,
    Turn,
    Wait,
    choose_next,
)
from stagec.runtime.machine.failures import FailureKind, RunFailure, describe_failure
from stagec.runtime.machine.program import Program, load
from stagec.runtime.machine.state import Move, State, StepResult, TraceEvent

__all__ = [
    "Answered",
    "Ask",
    "Call",
    "Cancelled",
    "Close",
    "Comment",
    "Confirm",
    "Dispatch",
    "Effect",
    "Event",
    "Execute",
    "FailureKind",
    "Grant",
    "Hook",
    "Interrupt",
    "Judge",
    "Message",
    "Move",
    "Outcome",
    "PlanError",
    "Preserve",
    "Program",
    "Publish",
    "Relabel",
    "Replanned",
    "Request",
    "Resumed",
    "Rewound",
    "Run",
    "RunFailure",
    "Shell",
    "Started",
    "State",
    "StepResult",
    "TraceEvent",
    "Turn",
    "Wait",
    "advance",
    "choose_next",
    "describe_failure",
    "load",
]

"""Runs in a program: start, resume, follow, answer and cancel runs of plans.

The asynchronous face is `start` and `resume`, which return a `RunHandle`; the synchronous one is `run`.
"""

from stagec.runs.execution import (
    Answerer,
    OwnWorld,
    Questioned,
    RunEnded,
    RunEvent,
    RunHandle,
    RunResult,
    StepTaken,
    resume,
    run,
    start,
)
from stagec.runtime.drivers.history import JournalError

__all__ = [
    "Answerer",
    "JournalError",
    "OwnWorld",
    "Questioned",
    "RunEnded",
    "RunEvent",
    "RunHandle",
    "RunResult",
    "StepTaken",
    "resume",
    "run",
    "start",
]

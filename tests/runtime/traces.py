"""stagec's machine, told the events of traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stagec.cli.commands.conformance import read_event
from stagec.runtime.machine import Program, State, StepResult, advance


def tell(program: Program, state: State, event: Mapping[str, Any]) -> StepResult:
    """Tell the machine an event of a trace."""
    return advance(program, state, read_event(event))

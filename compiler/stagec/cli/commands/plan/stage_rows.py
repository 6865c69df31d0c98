"""What the overview of a plan says of stages that run as processes: what they wait for, read, leave and take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stagec.cli.wording import describe_retry, join_names, shorten
from stagec.plan.act import Process, ProcessInput, ProcessLimits
from stagec.plan.document import Plan
from stagec.plan.node import Node, Schedule


def find_needs(plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """Return what each node of the schedules with which runs begin waits for."""
    schedules = (entry for entry in plan.entries.values() if isinstance(entry, Schedule))
    return {name: needs for schedule in schedules for name, needs in schedule.needs.items()}


def describe_stage(node: Node, act: Process, needs: tuple[str, ...]) -> Iterator[str]:
    """Yield what is worth knowing of a stage; how it ends follows from its process."""
    yield f"{act.goal}"
    yield f"after {join_names(needs)}" if needs else "at once"
    retry = describe_retry(node.retry) if node.retry is not None else "one attempt"
    yield f"{_describe_limits(act.limits)}; {retry}; {'a' if act.checkpoint else 'no'} checkpoint"
    if act.inputs:
        yield f"reads {', '.join(f'{shorten(name)}: {address(each)}' for name, each in act.inputs.items())}"
    if act.outputs:
        yield f"leaves {', '.join(f'{shorten(name)}: {shorten(path)}' for name, path in act.outputs.items())}"
    yield f"runs {shorten(' '.join(act.words))}" if act.words else "runs what an executor makes of the goal"


def address(given: ProcessInput) -> str:
    """Return where an input is, as envelopes write it."""
    parts = (each for each in (given.node, given.path, given.url) if each is not None)
    return shorten("/".join(parts))


def _describe_limits(limits: ProcessLimits) -> str:
    return f"{limits.warn / 1000:g} s, stopped after {limits.interrupt / 1000:g} s"

"""Read plans that are to be run."""

from __future__ import annotations

from pathlib import Path

from stagec.cli.files import read_file
from stagec.core.failure import Failure
from stagec.core.words import listing, quote
from stagec.plan import PlanError
from stagec.runtime import Program, load
from stagec.world.misfits import hooks
from stagec.world.scenario import Scenario


def read_program(path: Path) -> tuple[bytes, Program]:
    """Return the bytes of a plan's file and its program, or raise `Failure`."""
    data = read_file(path)
    return data, program_in(data, quote(path))


def program_in(data: bytes, named: str) -> Program:
    """Return the program of a plan's bytes, or raise `Failure`."""
    try:
        return load(data)
    except PlanError as error:
        raise Failure(f"{named} is refused: {error}") from error


def refuse_hooks(program: Program, scenario: Scenario, *, allowed: bool) -> None:
    """Refuse a plan that names callables which may not be called and which no scenario answers for."""
    open_ones = [each for each in hooks(program.plan) if each not in scenario.hooks]
    if open_ones and not allowed:
        told = "--allow-hooks lets them be called, a scenario can answer for them under 'hooks'"
        raise Failure(f"the plan names Python callables, {listing(open_ones)}: {told}")

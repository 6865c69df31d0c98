"""Read plans that are to be run."""

from __future__ import annotations

import re
from pathlib import Path

from stagec.cli.files import read_file
from stagec.core.failure import Failure
from stagec.core.words import listing, quote
from stagec.plan import PlanError
from stagec.plan.load import read_frame
from stagec.runtime import Program, load
from stagec.world.scenario import Scenario, list_hook_calls

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def read_program(path: Path, digest: str | None = None) -> tuple[bytes, Program]:
    """Return the bytes of a plan's file and its program, or raise `Failure`; `digest` is the only one it may have."""
    data = read_file(path)
    if digest is not None:
        _refuse_other(data, path, digest)
    return data, load_program(data, quote(path))


def _refuse_other(data: bytes, path: Path, digest: str) -> None:
    """Refuse a plan that is not the one with this digest, before anything in it is read."""
    if not _DIGEST.fullmatch(digest):
        raise Failure(f"{quote(digest)} is no digest of a plan: expected 'sha256:' and 64 hexadecimal digits")
    try:
        found, _ = read_frame(data)
    except PlanError as error:
        raise Failure(f"{quote(path)} is refused: {error}") from error
    if found != digest:
        raise Failure(f"{quote(path)} is refused: its digest is {found}, and --digest asks for {digest}")


def load_program(data: bytes, named: str) -> Program:
    """Return the program of a plan's bytes, or raise `Failure`."""
    try:
        return load(data)
    except PlanError as error:
        raise Failure(f"{named} is refused: {error}") from error


def refuse_hooks(program: Program, scenario: Scenario, *, allowed: bool) -> None:
    """Refuse a plan that names callables which may not be called and which no scenario answers for."""
    open_ones = [each for each in list_hook_calls(program.plan) if each not in scenario.hooks]
    if open_ones and not allowed:
        hint = "--allow-hooks lets them be called, a scenario can answer for them under 'hooks'"
        raise Failure(f"the plan names Python callables, {listing(open_ones)}: {hint}")

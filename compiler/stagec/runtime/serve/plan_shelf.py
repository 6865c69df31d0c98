"""The plans that runs can be started of: files that somebody named, read again when they have changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from stagec.core.bounded import OversizedError, read_path
from stagec.core.json import Json, Object
from stagec.core.value import value
from stagec.ir.plan import Plan, PlanError
from stagec.runtime.machine import Program, Started, verify
from stagec.runtime.machine.advance import find_trouble
from stagec.runtime.machine.program import program_of

_LARGEST = 100_000_000
"""Bytes of a plan's file that is read."""


@value
class ShelvedPlan:
    """A plan that is ready to be run, and the file it is in."""

    path: Path
    program: Program

    @property
    def plan(self) -> Plan:
        """The plan."""
        return self.program.plan

    @property
    def digest(self) -> str:
        """What names it."""
        return self.program.digest


class PlanShelf:
    """The plans in some files, and in the files of some folders that end in `.json`."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._known: dict[Path, tuple[tuple[int, int], ShelvedPlan | None]] = {}

    def list_plans(self) -> list[ShelvedPlan]:
        """Return the plans as they are now; a file that holds none is left out."""
        found = {path: self._read(path) for path in dict.fromkeys(self._list_files())}
        self._known = {path: known for path, known in found.items() if known is not None}
        return [plan for _, plan in self._known.values() if plan is not None]

    def find(self, digest: str) -> ShelvedPlan | None:
        """Return the plan with a digest."""
        return next((each for each in self.list_plans() if each.digest == digest), None)

    def _list_files(self) -> Iterator[Path]:
        for path in self._paths:
            if path.is_dir():
                yield from sorted(each for each in path.iterdir() if each.suffix == ".json" and each.is_file())
            else:
                yield path

    def _read(self, path: Path) -> tuple[tuple[int, int], ShelvedPlan | None] | None:
        try:
            status = os.stat(path)
            stamp = status.st_mtime_ns, status.st_size
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known
            loaded = verify(read_path(path, _LARGEST))
        except (PlanError, OversizedError):
            return stamp, None
        except OSError:
            return None
        return stamp, ShelvedPlan(path, program_of(loaded.plan, loaded.digest))


def describe_plan(shelved: ShelvedPlan) -> Object:
    """Return what the page asks for when a run of a plan is started."""
    plan = shelved.plan
    inputs: dict[str, Json] = {
        name: {
            "required": each.required and each.default is None,
            "default": each.default,
            "schema": None if each.schema is None else json.loads(plan.contents[each.schema]),
        }
        for name, each in plan.inputs.items()
    }
    return {
        "id": plan.id,
        "title": plan.title,
        "digest": shelved.digest,
        "path": str(shelved.path),
        "entries": list(plan.entries),
        "entry": plan.entry,
        "inputs": inputs,
    }


def find_complaints(program: Program, started: Started) -> dict[str, str]:
    """Return what is wrong with the inputs of a run, by their names; under the empty name what is wrong besides."""
    plan, found = program.plan, dict[str, str]()
    for name, wanted in plan.inputs.items():
        if name in started.inputs:
            why = program.answer_schemas.complaint(wanted.schema, started.inputs[name])
            found |= {} if why is None else {name: why}
        elif wanted.required and wanted.default is None:
            found[name] = "is missing"
    trouble = None if found else find_trouble(program, started)
    return found if trouble is None else {"": trouble}

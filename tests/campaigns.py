"""How much a campaign tries: little in a test run on somebody's machine, everything in CI.

A campaign is a test that tries many cases: random projects, every byte altered, every moment at which a process can be
killed. `STAGEC_CAMPAIGNS` says how many: `quick`, which is the default, takes seconds; `full`, which `.ci/run` sets,
runs all campaigns, and tries more only where the campaign says so; `whole` tries as many as the campaign is made for,
and is for contributors who name a campaign.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

SIZE = "STAGEC_CAMPAIGNS"

SAMPLED = {
    **dict.fromkeys(("cli", "conformance", "crash", "determinism", "hostile", "world"), 1),
    "comparison": 12,
    "core": 3,
    "corpus": 30,
    "drivers": 6,
    "emitters": 6,
    "packaging": 2,
    "plan": 3,
    "properties": 3,
    "serve": 6,
    "sources": 8,
    "stagec_dev": 4,
}
"""Folders whose tests take long, and how many tests of one kind a quick run of the whole suite keeps."""
SAMPLED_FULL = {
    "cli": 2,
    "comparison": 12,
    "conformance": 2,
    "core": 4,
    "corpus": 60,
    "crash": 1,
    "determinism": 1,
    "drivers": 6,
    "fuzzing": 12,
    "hostile": 2,
    "packaging": 2,
    "properties": 4,
    "registries": 3,
    "serve": 6,
    "stagec_dev": 4,
    "world": 2,
}
"""The same for a full run; whoever names a folder runs all of its tests."""

FULL_ONLY = frozenset((Path(__file__).parent / "full_only.txt").read_text(encoding="utf-8").split())
"""Files of tests, and tests whatever their parameters, that a quick run of the whole suite leaves out.

They run other test suites, install packages, build all pages, fill disks, kill programs again and again, wait for many
processes, try many random cases, or show once more in a process of its own what a quicker test shows. A quick run keeps
quicker tests of the same parts.
"""


def is_full() -> bool:
    """Tell whether campaigns run at full size."""
    return _find_size() != "quick"


def _find_size() -> str:
    size = os.environ.get(SIZE, "quick")
    if size not in {"quick", "full", "whole"}:
        raise ValueError(f"{SIZE} is {size!r} and must be 'quick', 'full' or 'whole'")
    return size


def choose(quick: int, *, whole: int, full: int | None = None) -> int:
    """Return the number of cases that a campaign tries: in a full run as many as in a quick one, if not said."""
    return {"quick": quick, "full": quick if full is None else full, "whole": whole}[_find_size()]


def sample(cases: Sequence[T], quick: int, *, full: int | None = None) -> Sequence[T]:
    """Return that many cases, spread evenly, with the first and the last: in a full run twice as many, if not said."""
    most = {"quick": quick, "full": 2 * quick if full is None else full, "whole": len(cases)}[_find_size()]
    if len(cases) <= most:
        return cases
    if most == 1:
        return cases[:1]
    between = ((at * (len(cases) - 1)) // (most - 1) for at in range(1, most - 1))
    return [cases[at] for at in chain((0,), between, (len(cases) - 1,))]


def select(names: Sequence[str]) -> set[str]:
    """Return the names of the tests that a run of the whole suite keeps."""
    left_out = set[str]() if is_full() else {each for each in names if FULL_ONLY.intersection(_list_wholes(each))}
    for folder, most in {"quick": SAMPLED, "full": SAMPLED_FULL, "whole": {}}[_find_size()].items():
        inside = [each for each in names if each.startswith(f"tests/{folder}/")]
        left_out.update({*inside}.difference(sample_alike(inside, most)))
    return {*names} - left_out


def is_left_out(file: str) -> bool:
    """Tell whether a quick run of the whole suite leaves out all tests of a file."""
    return file in FULL_ONLY and not is_full()


def _list_wholes(name: str) -> tuple[str, str]:
    """Return the file of a test, and the test without its parameters."""
    return name.partition("::")[0], name.partition("[")[0]


def sample_alike(names: Sequence[str], most: int) -> list[str]:
    """Return the names of tests, of those that differ in their parameters only at most so many."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(name.partition("[")[0], []).append(name)
    return [name for alike in kinds.values() for name in sample(alike, most, full=most)]

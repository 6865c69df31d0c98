"""How much a campaign tries: little in a test run on somebody's machine, everything in CI.

A campaign is a test that tries many cases: random projects, every byte altered, every moment at which a process can be
killed. `STAGEC_CAMPAIGNS` says how many: `quick`, which is the default, takes seconds; `full`, which `.ci/run` sets,
runs all campaigns, and tries more only where the campaign says so; `whole` tries as many as the campaign is made for,
and is for contributors who name a campaign.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

SIZE = "STAGEC_CAMPAIGNS"

SAMPLED = {
    **dict.fromkeys(("cli", "crash", "determinism", "hostile", "world"), (1, 1)),
    **dict.fromkeys(("conformance", "properties"), (1, 2)),
    **dict.fromkeys(("core", "packaging", "registries", "stagec_dev"), (2, 2)),
    **dict.fromkeys(("lsp", "serve"), (2, 4)),
    **dict.fromkeys(("comparison", "drivers"), (4, 6)),
    **dict.fromkeys(("contract", "plan_vectors", "protocol"), (12, 1_000)),
    "corpus": (12, 30),
    "plan": (2, 24),
    "rules": (4, 1_000),
}
"""Folders, and how many tests of one kind a quick and a full run of the whole suite keep: few where they take long."""
SAMPLED_ELSEWHERE = (4, 24)
"""The same for all other folders; whoever names a folder runs all of its tests."""

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
    """Return that many cases, spread evenly, with the first and the last: in a full run twice as many, if not said.

    One case is the first in a quick run, and in a full run the last: both together try two.
    """
    most = {"quick": quick, "full": 2 * quick if full is None else full, "whole": len(cases)}[_find_size()]
    if len(cases) <= most:
        return cases
    if most == 1:
        return cases[-1:] if is_full() else cases[:1]
    between = ((at * (len(cases) - 1)) // (most - 1) for at in range(1, most - 1))
    return [cases[at] for at in chain((0,), between, (len(cases) - 1,))]


def select(names: Sequence[str]) -> set[str]:
    """Return the names of the tests that a run of the whole suite keeps."""
    if _find_size() == "whole":
        return {*names}
    left_out = set(_list_second_databases(names) if is_full() else _list_full_only(names))
    folders: dict[str, list[str]] = {}
    for each in names:
        if each not in left_out:
            folders.setdefault(each.split("/")[1], []).append(each)
    kept = (
        sample_alike(inside, SAMPLED.get(folder, SAMPLED_ELSEWHERE)[is_full()]) for folder, inside in folders.items()
    )
    return {*chain.from_iterable(kept)}


def _list_full_only(names: Sequence[str]) -> Iterator[str]:
    return (each for each in names if FULL_ONLY.intersection(_list_wholes(each)))


def _list_second_databases(names: Sequence[str]) -> Iterator[str]:
    """Yield the tests on SQLite that are there on PostgreSQL too: a quick run, which needs no server, tries SQLite."""
    there = {*names}
    return (each for each in names if (other := each.replace("sqlite", "postgres")) != each and other in there)


def is_left_out(file: str) -> bool:
    """Tell whether a quick run of the whole suite leaves out all tests of a file."""
    return file in FULL_ONLY and not is_full()


def _list_wholes(name: str) -> tuple[str, str]:
    """Return the file of a test, and the test without its parameters."""
    return name.partition("::")[0], name.partition("[")[0]


def sample_alike(names: Sequence[str], most: int) -> list[str]:
    """Return the names of tests, of those of one kind at most so many."""
    kinds: dict[str, list[str]] = {}
    for name in names:
        kinds.setdefault(_find_kind(name), []).append(name)
    return [name for alike in kinds.values() for name in sample(alike, most, full=most)]


def _find_kind(name: str) -> str:
    """Return a test without its parameters, or the page of which a test is a case."""
    page, _, _ = name.partition("::")
    return page if page.endswith(".md") else name.partition("[")[0]

"""Many questions to a program at the same time, with its progress, and what stagec says of a project."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic
from stagec.sources.project.configuration import configure

_Asked = TypeVar("_Asked")
_Told = TypeVar("_Told")
_STEPS = 20


def ask_all(asked: Sequence[_Asked], ask: Callable[[_Asked], _Told], workers: int) -> Iterator[tuple[_Asked, _Told]]:
    """Yield each question with its answer, in order, and write now and then how many there are."""
    step = max(1, len(asked) // _STEPS)
    with ThreadPoolExecutor(workers) as pool:
        for done, pair in enumerate(zip(asked, pool.map(ask, asked), strict=True), 1):
            if done % step == 0 or done == len(asked):
                sys.stderr.write(f"{done} of {len(asked)}\n")
            yield pair


def validate(root: Path) -> Sequence[Diagnostic]:
    """Return what stagec says of a project."""
    found = configure((root,))
    return compile_project(Project(found.root, (root,), found.settings)).diagnostics

"""Run everything that CI runs and print the results."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path

from stagec.core.value import value
from stagec_dev.checkout import ROOT, corpus
from stagec_dev.table import table
from stagec_dev.tools import DeveloperTool


@value
class CheckTask:
    """One thing to run; `slow` ones are left out by `--fast`, `needs_corpus` ones when there is no corpus."""

    name: str
    argv: tuple[str, ...]
    slow: bool = False
    needs_corpus: bool = False


_FAST_FOLDERS = ("catalogue", "contract", "laws", "model", "project", "rules")
"""Folders of tests that `--fast` runs: what a change most often breaks, within a minute on two cores."""
_FAST_TESTS = ("pytest", "-q", "-n", str(os.cpu_count() or 1), *(f"tests/{folder}" for folder in _FAST_FOLDERS))


def _python(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", *words)


def _program(name: str, *words: str) -> tuple[str, ...]:
    return (str(Path(sys.executable).with_name(name)), *words)


def tasks(*, fast: bool) -> tuple[CheckTask, ...]:
    """Return the tasks, in order: the quickest to fail first."""
    every = (
        CheckTask("ruff check", _program("ruff", "check")),
        CheckTask("ruff format", _program("ruff", "format", "--check")),
        CheckTask("mypy", _python("mypy")),
        CheckTask("tests", _python(*_FAST_TESTS) if fast else _python("pytest", "-q")),
        CheckTask("docs", _python("stagec_dev", "docs")),
        CheckTask("conformance", _python("stagec_dev", "conformance", "--rules", "A-C"), slow=True, needs_corpus=True),
    )
    return tuple(task for task in every if not (fast and task.slow) and not (task.needs_corpus and corpus() is None))


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("--fast", action="store_true", help="what a change most often breaks, within a minute")


def _run(options: Namespace) -> int:
    outcomes = [_outcome(task) for task in tasks(fast=options.fast)]
    print("\n" + table(("task", "outcome", "seconds"), outcomes))
    if corpus() is None:
        print("STAGEC_CORPUS is not set: nothing that needs the corpus was run")
    return int(any(outcome != "passed" for _, outcome, _ in outcomes))


def _outcome(task: CheckTask) -> tuple[str, str, str]:
    print(f"── {task.name}", flush=True)
    start = time.monotonic()
    path = os.pathsep.join([str(ROOT / "compiler"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    ended = subprocess.run(task.argv, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, check=False)
    return task.name, "failed" if ended.returncode else "passed", f"{time.monotonic() - start:.1f}"


CHECK = DeveloperTool(_declare, _run)

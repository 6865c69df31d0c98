"""Run the benchmarks of `tests/benchmarks`, each as a ratio to its baseline, and print a Markdown table."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

from stagec.check.pipeline import Project, compile_project
from stagec.core.budgets import Budgets
from stagec.core.shelf import members
from stagec.sources.project.settings import Settings
from stagec_dev.checkout import ROOT, corpus
from stagec_dev.cost import Benchmark, NoBaselineError
from stagec_dev.table import table
from stagec_dev.tools import DeveloperTool

_HEAD = ("benchmark", "measured", "baseline", "is", "unit", "ratio", "wish", "rules by subjects")


def benchmarks() -> tuple[Benchmark, ...]:
    """Return every benchmark on the shelf, by module name."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    return members(import_module("benchmarks"), Benchmark)


def run_benchmark(each: Benchmark) -> tuple[object, ...]:
    """Run one benchmark and return its line of the table."""
    with TemporaryDirectory() as folder:
        try:
            own, base = each.measure(Path(folder))
        except NoBaselineError as error:
            return each.title, "-", f"{each.baseline}: {error}", "-", each.unit, "-", "-", "-"
        judged = "-" if each.project is None else f"{_judgements(each.project(Path(folder))):,}"
    wish = f"≤ {each.wish:g}" if each.wish is not None else "-"
    return each.title, f"{own:.3g}", each.baseline, f"{base:.3g}", each.unit, f"{own / base:.2f}", wish, judged


def _judgements(project: Path) -> int:
    unbounded = Budgets(file_size=1 << 40, nodes=1 << 40)
    return compile_project(Project(project, (project,), Settings(budgets=unbounded))).judgements


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="only benchmarks with one of these words in the title")


def _run(options: Namespace) -> int:
    if corpus() is None:
        sys.stderr.write("benchmarks measure real agents: set STAGEC_CORPUS\n")
        return 2
    print(table(_HEAD, [run_benchmark(each) for each in _choose(options.words)]))
    return 0


def _choose(words: list[str]) -> Iterable[Benchmark]:
    return (each for each in benchmarks() if not words or any(word in each.title for word in words))


BENCH = DeveloperTool(_declare, _run)

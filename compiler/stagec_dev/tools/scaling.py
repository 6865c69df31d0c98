"""Double each dimension of `tests/benchmarks/_scaling` twice, and tell what grows faster than its input."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from stagec.core.shelf import members
from stagec_dev.checkout import ROOT
from stagec_dev.cost import COMMANDS, Dimension, Dimensions, Growth, measure
from stagec_dev.table import table
from stagec_dev.tools import DeveloperTool

_HEAD = ("dimension", "count", "command", "seconds", "ratio", "MB", "ratio", "trouble")
_VARIANTS = {"sound": False, "faulty": True}


def dimensions() -> tuple[Dimension, ...]:
    """Return every dimension of every module of the shelf."""
    if str(ROOT / "tests") not in sys.path:
        sys.path.append(str(ROOT / "tests"))
    return tuple(row for each in members(import_module("benchmarks._scaling"), Dimensions) for row in each.rows)


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="WORD", help="only dimensions with one of these words in the title")
    parser.add_argument("--command", action="append", choices=COMMANDS, help="only this command; may be repeated")
    parser.add_argument("--variant", choices=_VARIANTS, help="only projects that are right, or wrong")
    parser.add_argument("--list", action="store_true", help="print the titles and measure nothing")


def _run(options: Namespace) -> int:
    chosen = [each for each in dimensions() if not options.words or any(word in each.title for word in options.words)]
    if options.list:
        print("\n".join(each.title for each in chosen))
        return 0
    variants = [each for each in _VARIANTS if options.variant in {None, each}]
    rows, steep = [], 0
    for dimension, variant in product(chosen, variants):
        for row, growth in _measure(dimension, options.command or dimension.commands, faulty=_VARIANTS[variant]):
            rows.append(row)
            steep += bool(growth.trouble)
            print(*row, sep="  ", file=sys.stderr, flush=True)
    print(table(_HEAD, rows))
    return int(steep > 0)


def _measure(
    dimension: Dimension, commands: Iterable[str], *, faulty: bool
) -> Iterator[tuple[tuple[object, ...], Growth]]:
    title = f"{dimension.title}, faulty" if faulty else dimension.title
    with TemporaryDirectory() as folder:
        for command in commands:
            growth = measure(dimension, command, Path(folder), faulty=faulty)
            if growth is not None:
                yield (title, f"{dimension.most:,}", command, *_figures(growth)), growth


def _figures(growth: Growth) -> tuple[str, ...]:
    last = growth.costs[-1]
    time, memory = (f"{each:.2f}" if each is not None else "-" for each in (growth.time, growth.memory))
    return f"{last.seconds:.2f}", time, f"{last.peak / 1e6:.0f}", memory, growth.trouble or "-"


SCALING = DeveloperTool(_declare, _run)

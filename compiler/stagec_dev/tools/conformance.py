"""Compare what stagec answers with the answers in the rows, as a table per file."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from stagec_dev.checkout import corpus
from stagec_dev.rows import Agreement
from stagec_dev.table import table
from stagec_dev.tools import DeveloperTool
from stagec_dev.tools.answer import AskedRow, ask_rows

_SECTIONS = {"A": ("reg.",), "B": ("xref.",), "C": ("step.", "gate.")}
"""The beginnings of the slugs of each section of the registry's specification."""
_ORDER = tuple(Agreement)


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, nargs="?", metavar="DIR", help="default: the folder STAGEC_CORPUS names")
    parser.add_argument("--rules", metavar="A-C", help="of the rows about rules only those about these sections")
    parser.add_argument("--verbose", action="store_true", help="list every row that disagrees")


def _run(options: Namespace) -> int:
    folder = options.folder or corpus()
    if folder is None or not folder.is_dir():
        sys.stderr.write("no corpus: name a folder or set STAGEC_CORPUS\n")
        return 2
    counts: dict[str, Counter[Agreement]] = {}
    for each in _choose(folder.resolve(), options.rules):
        got = each.answer()
        outcome = each.compare(got)
        counts.setdefault(each.row.file, Counter())[outcome] += 1
        if options.verbose and outcome is Agreement.DISAGREE:
            print(f"{each.row.file} {each.row.id} wants {_answers(each)} got {json.dumps(got)}")
    print(table(("file", *_ORDER), ((file, *(found[way] for way in _ORDER)) for file, found in sorted(counts.items()))))
    return int(any(found[Agreement.DISAGREE] for found in counts.values()))


def _choose(folder: Path, sections: str | None) -> Iterable[AskedRow]:
    prefixes = _prefixes(sections) if sections else ("",)
    for each in ask_rows(folder):
        if not each.row.rules or any(slug.startswith(prefixes) for slug in each.row.rules):
            yield each


def _prefixes(sections: str) -> tuple[str, ...]:
    """Return how the slugs of `A`, `B` or `A-C` begin."""
    first, _, last = sections.upper().partition("-")
    return tuple(prefix for name, known in _SECTIONS.items() if first <= name <= (last or first) for prefix in known)


def _answers(each: AskedRow) -> str:
    return json.dumps({key: each.row.given[key] for key in ("expect", "rules", "places") if key in each.row.given})


CONFORMANCE = DeveloperTool(_declare, _run)

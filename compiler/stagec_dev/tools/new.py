"""Begin a new member of a shelf, with its test, which fails until both are written."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.words import listing
from stagec_dev.checkout import ROOT
from stagec_dev.scaffolds import MARK, SCAFFOLDS, Addition
from stagec_dev.tools import DeveloperTool


def begin(root: Path, shelf: str, words: tuple[str, ...]) -> tuple[Path, ...]:
    """Write the files of a new member below a checkout and return their paths; nothing is ever overwritten."""
    if shelf not in SCAFFOLDS:
        raise Failure(f"there is no shelf of {shelf}s to put something into; there are {listing(SCAFFOLDS)}")
    files = {root / path: begun for path, begun in SCAFFOLDS[shelf].files(words).items()}
    present = [path for path, begun in files.items() if path.exists() and not isinstance(begun, Addition)]
    if present:
        raise Failure(f"{present[0].relative_to(root)} is there already")
    for path, begun in files.items():
        there = path.read_text(encoding="utf-8") if path.exists() else None
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(begun.extend(there) if isinstance(begun, Addition) else begun, encoding="utf-8")
    return tuple(files)


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("shelf", metavar="SHELF", help=", ".join(SCAFFOLDS))
    parser.add_argument("words", nargs="+", metavar="NAME", help="a name; for a rule a code, a name and a topic")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")


def _run(options: Namespace) -> int:
    try:
        written = begin(options.root.resolve(), options.shelf, tuple(options.words))
    except Failure as failure:
        sys.stderr.write(f"{failure}\n")
        return failure.status
    for path in written:
        print(path.relative_to(options.root.resolve()))
    print(f"now replace every {MARK}")
    return 0


NEW = DeveloperTool(_declare, _run)

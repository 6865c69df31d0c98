"""Begin a new member of a shelf, with its test, which fails until both are written."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.shelf import member, names
from stagec.core.words import listing
from stagec_dev import scaffolds
from stagec_dev.checkout import ROOT
from stagec_dev.scaffold import MARK, Scaffold
from stagec_dev.tools import Tool


def begin(root: Path, shelf: str, words: tuple[str, ...]) -> tuple[Path, ...]:
    """Write the files of a new member below a checkout and return their paths; nothing is ever overwritten."""
    known = names(scaffolds)
    if shelf not in known:
        raise Failure(f"there is no shelf of {shelf}s to put something into; there are {listing(known)}")
    scaffold = member(scaffolds, shelf, Scaffold)
    files = {root / path: text for path, text in scaffold.files(words).items()}
    present = [path for path in files if path.exists()]
    if present:
        raise Failure(f"{present[0].relative_to(root)} is there already")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tuple(files)


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("shelf", metavar="SHELF", help=", ".join(names(scaffolds)))
    parser.add_argument("words", nargs="+", metavar="NAME", help="a name; for a rule a code and a name")
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


NEW = Tool(_declare, _run)

"""Print what stagec answers to every row of a folder laid out like the corpus, one JSON line each."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from stagec_dev.corpus import ask_rows
from stagec_dev.tools import DeveloperTool


def _declare(parser: ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder laid out like the corpus, answers or not")


def _run(options: Namespace) -> int:
    if not options.folder.is_dir():
        sys.stderr.write(f"{options.folder} is no folder\n")
        return 2
    for each in ask_rows(options.folder.resolve()):
        line = {"file": each.row.file, "id": each.row.id, "got": each.answer()}
        print(json.dumps(line), flush=True)
    return 0


ANSWER = DeveloperTool(_declare, _run)

"""Walk a folder laid out like the corpus, and print what stagec answers to every row, one JSON line each."""

from __future__ import annotations

import json
import os
import sys
import traceback
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from pathlib import Path

from stagec.core.json import Json
from stagec.core.shelf import members
from stagec.core.value import value
from stagec_dev import rows
from stagec_dev.rows import Agreement, Row, RowKind, list_rows
from stagec_dev.tools import DeveloperTool

_MARK = "steps_registry.json"
"""A folder with this file is a project, not a folder of rows."""


@value
class AskedRow:
    """A row, the kind of row it is (nothing when no kind knows it), and the folder all is relative to."""

    root: Path
    row: Row
    kind: RowKind | None

    def answer(self) -> Json:
        """Return the answer to the row: None when its kind is unknown, a crash as an internal error."""
        if self.kind is None:
            return None
        try:
            return self.kind.answer(self.root, self.row)
        except Exception as error:
            traceback.print_exc()
            return {"exit": 4, "crash": f"{type(error).__name__}: {error}"}

    def compare(self, got: Json) -> Agreement:
        """Tell how an answer stands to the one that the row gives."""
        return self.kind.compare(self.row, got) if self.kind else Agreement.UNKNOWN


def ask_rows(root: Path) -> Iterable[AskedRow]:
    """Yield every row below a folder, by file and in the order of each file."""
    kinds = members(rows, RowKind)
    for file in _files(root, kinds):
        kind = next((each for each in kinds if each.claims(file)), None)
        found = kind.rows(root, file) if kind else list_rows(root, file)
        yield from (AskedRow(root, row, kind) for row in found)


def _files(root: Path, kinds: Iterable[RowKind]) -> Iterable[str]:
    """Yield every JSON file, and what else a kind of row claims."""
    for folder, inner, files in os.walk(root):
        inner.sort()
        if _MARK in files:
            inner.clear()
        shown = [_MARK] if _MARK in files else sorted(files)
        for file in (Path(folder, each).relative_to(root).as_posix() for each in shown):
            if file.endswith(".json") or any(kind.claims(file) for kind in kinds):
                yield file


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

"""A session of random edits never dies, and always says what a fresh `stagec validate` says of the same texts."""

from __future__ import annotations

import os
import random
import re
import shutil
from contextlib import suppress
from pathlib import Path

import campaigns
import pytest
from lsp.conftest import EXAMPLES, Editor, load

from stagec.change.flow_tests.witness import search_briefly
from stagec.check.pipeline import compile_project
from stagec.core.failure import Failure
from stagec.core.value import replace
from stagec.lsp.actions import lay_out, list_actions
from stagec.lsp.completion import complete
from stagec.lsp.hover import describe, find_syntax
from stagec.lsp.name_places import read_places, rename
from stagec.lsp.positions import Point, Stretch, TextChange, TextLines
from stagec.lsp.symbols import list_folds, list_hints, list_lenses, list_symbols

NAMES = ("broken-on-purpose", "code-review", "docs-repair", "file-review", "support-desk", "wine-quality")
OF_CORPUS = ("mutants/bases/iterator", "stage-definitions/seed")
EDITS = campaigns.choose(10, whole=1_250)
"""Edits for each example."""
ASKED = campaigns.choose(3, whole=25)
"""Edits between two series of requests."""
EACH = campaigns.choose(5, whole=50)
"""Edits between two comparisons with a fresh check."""
WRITTEN = (
    '"',
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\n",
    "  ",
    "- ",
    "#",
    "---\n",
    "😀",
    "\r\n",
    "a",
    "plan",
    "{{ctx.",
    "\u2028",
    "&x ",
    "\x00",
)


def choose_change(chance: random.Random, text: str) -> TextChange:
    """Return an edit as people and programs make them: of a character, a word, a line, or of much."""
    lines = TextLines(text)
    start = chance.randrange(len(text) + 1)
    length = chance.choice((0, 0, 1, 5, 40, len(text) // 3))
    other = chance.randrange(len(text) + 1)
    new = chance.choice((chance.choice(WRITTEN), "", text[other : other + chance.choice((1, 8, 60))]))
    return TextChange(new, lines.stretch(start, min(start + length, len(text))))


def ask_everything(chance: random.Random, editor: Editor, file: str) -> None:
    """Ask what an editor asks at a random place, and check that each answer lies in the text."""
    project = editor.check()
    path = editor.path(file)
    text = editor.workspace.find_text(path) or ""
    lines = TextLines(text)
    point = lines.point(chance.randrange(len(text) + 1))
    describe(project, file, text, point)
    known = editor.workspace.find_readable(path)
    assert known is not None
    for each in complete(known, file, text, point):
        assert lines.offset(each.where.start) <= lines.offset(point) <= lines.offset(each.where.end)
    placed = read_places(project).find(file, point)
    if placed is not None:
        spots = read_places(project).find_references(placed.occurrence.subject, with_definitions=True)
        assert placed.spot in [*spots]
        with suppress(Failure):
            rename(project, file, point, "fresh-name")
    list(list_symbols(project, file))
    list(list_folds(text, find_syntax(file)))
    list(list_lenses(project, file))
    list(list_hints(project, file))
    lay_out(project, file)
    for action in list_actions(project, file, Stretch(Point(0, 0), Point(lines.count, 0))):
        assert action.edits


class Typist:
    """Edits the files of a project as somebody does with an editor and with other programs."""

    def __init__(self, editor: Editor, chance: random.Random) -> None:
        self._editor, self._chance = editor, chance
        found = (path for path in editor.folder.rglob("*") if path.suffix in {".json", ".yaml", ".md"})
        self._texts = {path.relative_to(editor.folder).as_posix(): path.read_text(encoding="utf-8") for path in found}
        self._files = sorted(self._texts)
        self._opened: dict[str, list[str]] = {}

    def edit(self) -> str:
        """Do something at random, and return the file with which it was done."""
        file = self._chance.choice(self._files)
        ways = (self._type, self._type_in_others, self._undo, self._put_right, self._save, self._close, self._move)
        self._chance.choices(ways, (60, 5, 10, 10, 10, 5, 5))[0](file)
        return file

    def _type(self, file: str) -> None:
        text = self._open(file)
        self._write(file, [choose_change(self._chance, text)])

    def _type_in_others(self, file: str) -> None:
        """Replace a word of a file in several files, as a renaming does."""
        words = re.findall(r"[A-Za-z][\w-]+", self._texts[file])
        word = self._chance.choice(words) if words else "plan"
        for each in self._chance.sample(self._files, min(3, len(self._files))):
            self._write(each, [TextChange(self._open(each).replace(word, f"{word}-2"))])

    def _undo(self, file: str) -> None:
        past = self._opened.get(file, [])
        if past:
            self._editor.workspace.change_text(self._editor.path(file), [TextChange(past.pop())])

    def _put_right(self, file: str) -> None:
        # back to what is right from time to time, else all is soon broken
        self._editor.open(file, self._texts[file])
        self._opened[file] = []
        path = self._editor.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self._texts[file], encoding="utf-8")

    def _save(self, file: str) -> None:
        (self._editor.folder / file).write_bytes(self._open(file).encode(errors="replace"))
        self._editor.workspace.save_text(self._editor.path(file))

    def _close(self, file: str) -> None:
        self._editor.workspace.close_text(self._editor.path(file))
        self._opened.pop(file, None)

    def _move(self, file: str) -> None:
        """Delete a file on the disk, or let it have another name, whether it is open or not."""
        path = self._editor.folder / file
        if path.exists() and self._chance.random() < 1 / 2:
            path.unlink()
        elif path.exists():
            path.rename(path.with_name(f"moved-{path.name}"))

    def _open(self, file: str) -> str:
        if file not in self._opened:
            self._editor.open(file, self._editor.workspace.find_text(self._editor.path(file)) or "")
            self._opened[file] = []
        return self._editor.workspace.find_text(self._editor.path(file)) or ""

    def _write(self, file: str, changes: list[TextChange]) -> None:
        self._opened[file].append(self._open(file))
        self._editor.workspace.change_text(self._editor.path(file), changes)


def type_for_a_while(folder: Path, seed: str) -> None:
    """Make edits, ask what editors ask, and compare the findings with those of a fresh check."""
    editor, chance = Editor(folder), random.Random(seed)
    typist = Typist(editor, chance)
    for number in range(1, EDITS + 1):
        file = typist.edit()
        project = editor.check()
        if number % ASKED == 0:
            ask_everything(chance, editor, file)
        if number % EACH == 0:
            fresh = compile_project(replace(load(editor.folder), overlay=project.overlay), search_briefly)
            assert project.found == fresh.diagnostics
            for each in project.overlay:
                path = editor.folder / each
                assert not path.exists() or project.overlay[each] != path.read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_random_edits_leave_no_stale_finding(tmp_path: Path, name: str) -> None:
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    type_for_a_while(tmp_path / name, f"edits of {name}")


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
@pytest.mark.parametrize("name", OF_CORPUS)
def test_random_edits_of_the_corpus_leave_no_stale_finding(tmp_path: Path, name: str) -> None:
    shutil.copytree(Path(os.environ["STAGEC_CORPUS"]) / name, tmp_path / "project")
    type_for_a_while(tmp_path / "project", f"edits of {name}")

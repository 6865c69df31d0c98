"""A session of random edits never dies, and always says what a fresh `stagec validate` says of the same texts."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
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

NAMES = ("broken-on-purpose", "code-review", "docs-repair", "guest-book", "support-desk", "wine-quality")
EDITS = campaigns.choose(10, whole=250)
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


def edit_at_random(editor: Editor, chance: random.Random) -> Iterator[str]:
    """Make edits in the files of a project, undo some, save some, and yield each file that was edited."""
    files = sorted(
        path.relative_to(editor.folder).as_posix()
        for path in editor.folder.rglob("*")
        if path.suffix in {".json", ".yaml", ".md"}
    )
    texts = {file: (editor.folder / file).read_text(encoding="utf-8") for file in files}
    opened: set[str] = set()
    while True:
        file = chance.choice(files)
        # back to what is right from time to time, else all is soon broken
        if chance.random() < 0.2 or editor.workspace.find_text(editor.path(file)) is None or file not in opened:
            editor.open(file, texts[file])
            opened.add(file)
        editor.workspace.change_text(
            editor.path(file), [choose_change(chance, editor.workspace.find_text(editor.path(file)) or "")]
        )
        if chance.random() < 0.1:
            text = editor.workspace.find_text(editor.path(file)) or ""
            (editor.folder / file).write_bytes(text.encode(errors="replace"))
            editor.workspace.save_text(editor.path(file))
        elif chance.random() < 0.1:
            editor.workspace.close_text(editor.path(file))
            opened.discard(file)
        yield file


@pytest.mark.parametrize("name", NAMES)
def test_random_edits_leave_no_stale_finding(tmp_path: Path, name: str) -> None:
    shutil.copytree(EXAMPLES / name, tmp_path / name)
    editor = Editor(tmp_path / name)
    chance = random.Random(f"edits of {name}")
    for number, file in zip(range(1, EDITS + 1), edit_at_random(editor, chance), strict=False):
        project = editor.check()
        if number % ASKED == 0:
            ask_everything(chance, editor, file)
        if number % EACH == 0:
            fresh = compile_project(replace(load(editor.folder), overlay=project.overlay), search_briefly)
            assert project.found == fresh.diagnostics
            for each in project.overlay:
                assert project.overlay[each] != (editor.folder / each).read_bytes()

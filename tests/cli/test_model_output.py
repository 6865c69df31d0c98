"""What models write is shown line by line, whatever it is, and only to people who watch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal import type_at_terminal
from world.models.wire import Said, serve

from stagec.cli.running.worlds import TERMINAL, ModelOutput, choose_model_output
from stagec.core.terminal import Canvas, columns

Shown = pytest.CaptureFixture[str]
PLAN = Path(__file__).parents[1] / "plan_vectors" / "docs-repair" / "plan.json"
KEY, OTHER = "r/plan#1/1.0", "r/check#2/1.0"


def _say(output: ModelOutput, *pieces: str, key: str = KEY) -> None:
    for each in pieces:
        output.hear(key, each)
    output.end(key)


def test_text_is_shown_as_soon_as_a_line_is_full(capsys: Shown) -> None:
    output = ModelOutput(Canvas(30), is_watched=False)
    output.hear(KEY, "one two ")
    assert capsys.readouterr().err == ""
    output.hear(KEY, "three four five six")
    assert capsys.readouterr().err == "plan │ one two three four\n"
    output.end(KEY)
    assert capsys.readouterr().err == "plan │ five six\n"


def test_texts_of_parallel_nodes_do_not_mix(capsys: Shown) -> None:
    output = ModelOutput(Canvas(40), is_watched=False)
    for piece in ("a", "b", "\n", "c"):
        output.hear(KEY, piece)
        output.hear(OTHER, piece.upper())
    output.end(OTHER)
    output.end(KEY)
    assert capsys.readouterr().err == "plan │ ab\ncheck#2 │ AB\ncheck#2 │ C\nplan │ c\n"


@given(
    st.lists(st.text(st.characters(codec=None), max_size=60), max_size=6),
    st.integers(20, 120),
    st.sampled_from(["utf-8", "ascii", "latin-1"]),
)
def test_no_text_does_anything_to_a_terminal(pieces: list[str], width: int, encoding: str) -> None:
    lines: list[str] = []
    output = ModelOutput(Canvas(width, encoding=encoding), is_watched=False)
    output._show = lambda: (lines.extend(output._lines), output._lines.clear())[1]  # type: ignore[method-assign]
    _say(output, *pieces)
    for each in lines:
        assert each.isprintable() or "\u3000" in each
        assert columns(each) < width
        each.encode(encoding)
    kept = "".join("".join(pieces).split(" ")).replace("\n", "")
    if kept.isascii() and kept.isprintable() and "##" not in kept:
        assert "".join("".join(each.split(" ", 2)[2:]).replace(" ", "") for each in lines) == kept


def test_marks_above_letters_do_not_make_lines_longer(capsys: Shown) -> None:
    _say(ModelOutput(Canvas(20), is_watched=False), "000000000000\u094d0", "e\u0301" * 30)
    assert all(columns(line) < 20 for line in capsys.readouterr().err.splitlines())


def test_escape_sequences_are_visible(capsys: Shown) -> None:
    _say(ModelOutput(Canvas(80), is_watched=False), "\x1b[2Jgone\r\x07", "\x9b31m", "\u202eabc")
    assert capsys.readouterr().err == "plan │ \\x1b[2Jgone\\r\\x07\\x9b31m\\u202eabc\n"


def test_a_long_name_leaves_room(capsys: Shown) -> None:
    _say(ModelOutput(Canvas(20), is_watched=False), "a b c d e f", key=f"r/{'n' * 500}#1/1.0")
    assert capsys.readouterr().err == "nnnnnn │ a b c d e\nnnnnnn │ f\n"


def test_nothing_is_shown_while_somebody_is_asked_something(capsys: Shown) -> None:
    output = ModelOutput(Canvas(40), is_watched=False)
    with TERMINAL:
        _say(output, "while the question waits\n")
        assert capsys.readouterr().err == ""
    _say(output, "after it", key=OTHER)
    assert capsys.readouterr().err == "plan │ while the question waits\ncheck#2 │ after it\n"


def test_the_sentence_that_says_who_takes_so_long_is_wiped_out(capsys: Shown) -> None:
    _say(ModelOutput(Canvas(40), is_watched=True), "text")
    assert capsys.readouterr().err == "\r\x1b[Kplan │ text\n"


@pytest.mark.parametrize(
    ("wish", "events", "is_shown"),
    [(None, None, False), (True, None, True), (False, None, False), (True, "jsonl", False), (None, "jsonl", False)],
)
def test_who_reads_no_terminal_must_wish_for_it(*, wish: bool | None, events: str | None, is_shown: bool) -> None:
    assert (choose_model_output(wish=wish, events=events) is not None) is is_shown


@pytest.mark.parametrize(
    ("options", "shown"), [((), False), (("--stream",), True), (("--stream", "--events", "jsonl"), False)]
)
def test_a_pipe_gets_no_text_unless_it_is_asked_for(*, options: tuple[str, ...], shown: bool, tmp_path: Path) -> None:
    written = Said("I write \x1b[31mnow.", [("c", "submit_page", '{"page": "docs/a.md"}')])
    checked = Said("", [("c", "submit_verdict", '{"page": "docs/a.md", "broken": false, "faults": []}')])
    with serve(written, checked) as wire:
        environment = {**os.environ, "OPENAI_BASE_URL": f"{wire.url}/v1", "OPENAI_API_KEY": "k"}
        command = ("run", str(PLAN), "--input", "topic=x", "--model", "openai:m", *options)
        ended = subprocess.run(
            (sys.executable, "-m", "stagec", *command),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
    assert ended.returncode == 0, ended.stderr
    assert ("write │ I write \\x1b[31mnow.\n" in ended.stderr) is shown
    assert "│" not in ended.stdout


@pytest.mark.parametrize(
    ("term", "options", "count"), [("xterm", (), 1), ("dumb", (), 0), ("xterm", ("--no-stream",), 0)]
)
def test_whoever_watches_a_terminal_sees_it(term: str, options: tuple[str, ...], count: int, tmp_path: Path) -> None:
    written = Said("I write now.", [("c", "submit_page", '{"page": "docs/a.md"}')])
    checked = Said("", [("c", "submit_verdict", '{"page": "docs/a.md", "broken": false, "faults": []}')])
    with serve(written, checked) as wire:
        around = {"OPENAI_BASE_URL": f"{wire.url}/v1", "OPENAI_API_KEY": "k", "TERM": term}
        words = ("run", str(PLAN), "--input", "topic=x", "--model", "openai:m", *options)
        status, shown = type_at_terminal(tmp_path, words, (), around)
    assert (status, shown.count("\x1b[Kwrite │ I write now.\r\n")) == (0, count), shown

"""Images are the same every time; Graphviz draws some in bounded time, and it is said what to do when it cannot."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest

from stagec.core.failure import Failure
from stagec.core.shelf import member
from stagec.views import emitters
from stagec.views.dot import lay_out, text_of
from stagec.views.emitters import Box, Emitter, Line, Picture, Role, Stroke


@pytest.mark.parametrize(
    ("form", "beginning"), [("svg", b"<?xml"), pytest.param("png", b"\x89PNG\r\n", marks=pytest.mark.needs("dot"))]
)
def test_an_image_is_of_its_format_and_the_same_every_time(form: str, beginning: bytes, every: Picture) -> None:
    emitter = member(emitters, form, Emitter)
    drawn = emitter.emit((every,))
    assert drawn.startswith(beginning)
    assert emitter.emit((every,)) == drawn


def test_without_the_program_it_is_said_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Failure) as failure:
        lay_out("digraph {}", "png")
    assert str(failure.value) == (
        "--format png needs the program 'dot', which is not there: install Graphviz ('apt-get install graphviz'), "
        "or use --format svg or html"
    )


def test_an_image_in_svg_needs_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every: Picture) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert member(emitters, "svg", Emitter).emit((every,)).endswith(b"</svg>\n")


def test_a_program_that_does_not_come_to_an_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, "exec sleep 60", monkeypatch)
    with pytest.raises(Failure, match=r"^'dot' did not finish within 0 seconds; --focus or --collapse draw less$"):
        lay_out("digraph {}", "svg", patience=0.2)


def test_what_the_program_complains_of_is_shown_harmlessly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, "printf 'bad \\033[31m' >&2; exit 3", monkeypatch)
    with pytest.raises(Failure) as failure:
        lay_out("digraph {}", "svg")
    assert str(failure.value) == "'dot' cannot draw this: bad \\x1b[31m"


def _program(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "dot").write_text(f"#!/bin/sh\ncat >/dev/null\n{script}\n", encoding="utf-8")
    (folder / "dot").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.needs("dot")
def test_labels_do_not_overlap_at_sixty_nodes() -> None:
    boxes = {f"n{at}": Box(f"n{at}", f"topic{at // 4}.step{at % 4}", Role.NODE, "work") for at in range(60)}
    moves = [Line(f"n{at}", f"n{at + 1}", Stroke.GO, ("ok: parsed.severity in high, critical",)) for at in range(59)]
    moves += [Line(f"n{at}", f"n{at}", Stroke.GO, ("repeat",)) for at in range(60)]
    moves += [Line(f"n{at}", f"n{(at * 7) % 60}", Stroke.GO, ("handoff", "next")) for at in range(0, 60, 3)]
    drawn = lay_out(text_of((Picture("f", "f", boxes, tuple(moves)),)), "svg").decode()
    spots = [_spot(*each) for each in TEXT.findall(drawn)]
    assert len(spots) > 250
    assert [(a, b) for a, b in combinations(spots, 2) if _overlap(a, b)] == []


@pytest.mark.needs("dot")
def test_labels_are_not_cut_and_stand_on_no_border(pictures: Callable[[str], tuple[Picture, ...]]) -> None:
    drawn = lay_out(text_of(pictures("code-review")), "svg").decode()
    left = float(re.findall(r"translate\(([\d.]+) ", drawn)[0])
    width = float(re.findall(r'viewBox="0.00 0.00 ([\d.]+)', drawn)[0])
    spots = [_spot(*each) for each in TEXT.findall(drawn)]
    assert [spot for spot in spots if spot[0] + left < 0 or spot[2] + left > width] == []
    borders = re.findall(r'class="cluster">\n<title>(\w+)</title>\n<polygon fill="[#\w]+" stroke="#', drawn)
    assert borders == ["cluster_legend"]


TEXT = re.compile(r'<text text-anchor="start" x="([-.\d]+)" y="([-.\d]+)" .*?font-size="([.\d]+)".*?>(.*?)</text>')


def _spot(x: str, y: str, size: str, text: str) -> tuple[float, float, float, float]:
    """Return the corners of a text without the blanks around it; letters are half as wide as high."""
    letters, blank = text.replace("&#160;", "\xa0").strip("\xa0"), float(size) * 0.3
    left = float(x) + blank * text.startswith(("\xa0", "&#160;"))
    return left, float(y) - float(size) * 0.7, left + len(letters) * float(size) * 0.5, float(y)


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]

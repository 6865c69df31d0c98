"""Every reporter prints the same findings; the goldens lie beside this file."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec.check import reporters
from stagec.check.reporters import Canvas, Report, Reporter
from stagec.core.shelf import member, names
from stagec.core.value import replace

GOLDENS = Path(__file__).parent / "goldens"
CANVASES = {
    "plain": Canvas(),
    "narrow": Canvas(60),
    "wide-coloured": Canvas(120, colour=True),
    "ascii": Canvas(encoding="ascii"),
}


def printed(name: str, report: Report) -> str:
    return member(reporters, name, Reporter).render(report)


@pytest.mark.parametrize("name", names(reporters))
@pytest.mark.parametrize("canvas", CANVASES)
def test_findings_are_printed_as_the_golden_shows(name: str, canvas: str, found: Report) -> None:
    golden = GOLDENS / f"{name}.{canvas}.txt"
    assert printed(name, replace(found, canvas=CANVASES[canvas])) == golden.read_bytes().decode()


@pytest.mark.parametrize("name", names(reporters))
def test_a_clean_report_is_printed_as_the_golden_shows(name: str, clean: Report) -> None:
    assert printed(name, clean) == (GOLDENS / f"{name}.clean.txt").read_bytes().decode()


@pytest.mark.parametrize("name", names(reporters))
def test_what_is_printed_can_be_written_in_the_encoding_of_the_stream(name: str, found: Report) -> None:
    assert printed(name, replace(found, canvas=Canvas(encoding="ascii"))).isascii()


@pytest.mark.parametrize("name", names(reporters))
def test_no_control_character_of_a_user_is_printed(name: str, found: Report) -> None:
    text = printed(name, found).replace("\n", "").replace("\u3000", "").replace("\u0301", "")
    assert text.isprintable()


@pytest.mark.parametrize("name", sorted({*names(reporters)} - {"github"}))  # which writes commands, and is tested apart
def test_no_line_is_a_command_to_a_build_service(name: str, found: Report) -> None:
    lines = printed(name, found).splitlines()
    assert [line for line in lines if line.lstrip().startswith("::error")] == []


@pytest.mark.parametrize("name", ["concise", "text"])
def test_nothing_in_a_line_is_a_command_to_a_build_service(name: str, found: Report) -> None:
    assert "##[" not in printed(name, found)
    assert "##vso[" not in printed(name, found)

"""Which names and paths the files of stages may have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.ir.protocol.stage_ids import (
    PathCheck,
    find_artifact_fault,
    find_path_fault,
    find_segment_fault,
    is_contained,
    place_artifact,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (None, "not a text"),
        (7, "not a text"),
        ("", "empty"),
        (" \t\n", "blanks"),
        ("\ufeff\u2003\u3000", "blanks"),
        (".", "is '.'"),
        ("..", "is '..'"),
        ("a..b", "'..'"),
        ("a/b", "'/'"),
        ("a\\b", "'\\'"),
        ("a\0b", "null"),
        ("é" * 128, "255 bytes"),
        ("\ud800" * 86, "255 bytes"),
        ("CON", "device"),
        ("nul.tar.gz", "device"),
        ("com¹", "device"),
        ("NUL  .txt", "device"),
        ("conin$.x", "device"),
        ("a.", "ends with"),
        ("a ", "ends with"),
    ],
)
def test_each_rule_of_names_refuses_its_own(name: object, words: str) -> None:
    fault = find_segment_fault(name)
    assert fault is not None
    assert fault.check is PathCheck.SEGMENT
    assert words in fault.words


@pytest.mark.parametrize(
    "name", ["a", ".hidden", " a", "COM0", "COM10", "CON$", "console", "é" * 127, "\x1f", "\x85", "a\nb", "C:", "~"]
)
def test_names_that_only_look_like_that_are_allowed(name: str) -> None:
    assert find_segment_fault(name) is None


def test_the_length_of_a_name_is_that_of_its_composed_form() -> None:
    assert find_segment_fault("e\u0301" * 127) is None
    assert find_segment_fault("e\u0301" * 128) is not None


@pytest.mark.parametrize(
    ("path", "check"),
    [
        ("/a", PathCheck.ABSOLUTE),
        ("//a/../b", PathCheck.ABSOLUTE),
        ("a/../b", PathCheck.TRAVERSAL),
        ("a\\..\\b", PathCheck.TRAVERSAL),
        (".", PathCheck.TRAVERSAL),
        ("./a", PathCheck.TRAVERSAL),
        ("a/..", PathCheck.TRAVERSAL),
        ("", PathCheck.SEGMENT),
        ("a/...", PathCheck.SEGMENT),
        ("a/NUL.txt", PathCheck.SEGMENT),
        ("a /b", PathCheck.SEGMENT),
    ],
)
def test_the_checks_of_the_protocol_have_an_order(path: str, check: PathCheck) -> None:
    fault = find_artifact_fault(path)
    assert fault is not None
    assert fault.check is check
    assert find_path_fault(path) == fault


@pytest.mark.parametrize(
    ("path", "check"),
    [
        ("\\a", PathCheck.ABSOLUTE),
        ("C:/x", PathCheck.ABSOLUTE),
        ("c:x", PathCheck.ABSOLUTE),
        ("a\nb", PathCheck.CONTROL),
        ("a\x9bb", PathCheck.CONTROL),
        ("\u202egnp.exe", PathCheck.CONTROL),
        ("a\u200b", PathCheck.CONTROL),
        ("a\udcffb", PathCheck.CONTROL),
        ("a/", PathCheck.TRAILING_SLASH),
        ("a?b", PathCheck.PORTABILITY),
        ("a\\b", PathCheck.PORTABILITY),
        ("x/-rf", PathCheck.PORTABILITY),
        ("~/x", PathCheck.PORTABILITY),
    ],
)
def test_stagec_refuses_more_in_what_it_writes_itself(path: str, check: PathCheck) -> None:
    fault = find_path_fault(path)
    assert fault is not None
    assert fault.check is check
    assert find_artifact_fault(path) is None


@pytest.mark.parametrize("path", ["wine_df.parquet", "S01_load_data/df.parquet", "a//b", "データ/é", ".hidden", "a-b~"])
def test_ordinary_paths_have_no_fault(path: str) -> None:
    assert find_path_fault(path) is None


@given(st.text(st.sampled_from("./\\aNUL\0 :é\u200b"), max_size=12))
def test_a_path_without_faults_stays_below_its_folder(path: str) -> None:
    if find_artifact_fault(path) is None:
        placed = place_artifact("/project/run", path)
        assert placed != "/project/run"
        assert is_contained(placed, "/project/run")


@pytest.mark.parametrize(
    ("child", "parent", "contained"),
    [
        ("/p/x", "/p", True),
        ("/p", "/p/", True),
        ("//p/x", "/p", True),
        ("/p2/x", "/p", False),
        ("/p/../q", "/p", False),
        ("x", ".", True),
        ("../x", ".", False),
        ("/here/x", ".", True),
        ("/x", "/", False),
        ("/", "/", True),
    ],
)
def test_containment_compares_whole_parts(child: str, parent: str, *, contained: bool) -> None:
    assert is_contained(child, parent, "/here") is contained

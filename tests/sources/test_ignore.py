from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from patience import ends

from stagec.sources.ignore import Patterns

PARTS = ["a", "b", "ab", "*", "**", "/", "/**/", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "\\a", "\\*", "!", "#"]
LINES = st.lists(st.lists(st.sampled_from(PARTS), max_size=5).map("".join), max_size=4)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "abc", "*", "[a", "c"]), min_size=1, max_size=4).map("/".join)


def ignored(lines: list[str], path: str) -> bool:
    """Answer as git does: a file is ignored when it, or a folder on the way to it, is."""
    patterns = Patterns.of(lines)
    parts = path.split("/")
    ways = ["/".join(parts[:length]) for length in range(1, len(parts))]
    return any(patterns.verdict(way, folder=True) for way in ways) or bool(patterns.verdict(path, folder=False))


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ("a", "x/a", True),
        ("/a", "x/a", False),
        ("x/a", "y/x/a", False),
        ("a/", "a", False),
        ("a/", "a/b", True),
        ("*.log", "x/y.log", True),
        ("x/*.log", "x/y/z.log", False),
        ("x/**/z", "x/z", True),
        ("x/**/z", "x/1/2/z", True),
        ("**/z", "1/z", True),
        ("x/**", "x", False),
        ("x/**", "x/y", True),
        ("a?c", "abc", True),
        ("[!a]c", "ac", False),
        ("[[:digit:]]", "7", True),
        ("[[:digit:]-]", "-", True),
        ("[z-a]", "m", False),
        ("a[", "a[", False),
        ("# a", "# a", False),
        ("\\#a", "#a", True),
        ("\\!a", "!a", True),
        ("a ", "a", True),
        ("a\\ ", "a ", True),
        ("a\r", "a", True),
        ("/", "a", False),
        ("", "a", False),
    ],
)
def test_a_pattern_means_what_git_means(line: str, path: str, *, expected: bool) -> None:
    assert ignored([line], path) is expected


def test_the_last_line_that_matches_decides() -> None:
    assert [ignored(["*", "!a", "b"], path) for path in ("a", "b", "c")] == [False, True, True]


@given(LINES, PATHS)
def test_no_line_is_refused(lines: list[str], path: str) -> None:
    assert ignored(lines, path) in {True, False}


@pytest.mark.needs("git")
def test_random_patterns_mean_what_git_means(tmp_path: Path) -> None:
    import random

    chance = random.Random(1)  # noqa: S311
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for _ in range(40):
        lines = ["".join(chance.choices(PARTS, k=chance.randint(1, 5))) for _ in range(chance.randint(1, 3))]
        paths = ["/".join(chance.choices(["a", "b", "ab", "abc", "*", "c"], k=chance.randint(1, 4))) for _ in range(30)]
        (tmp_path / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
        command = ["git", "-C", tmp_path, "check-ignore", "--no-index", "-z", "--stdin"]
        asked = subprocess.run(command, input="\0".join(paths), capture_output=True, text=True, check=False)
        answered = set(asked.stdout.split("\0"))
        assert [path for path in paths if ignored(lines, path) != (path in answered)] == [], lines


@pytest.mark.parametrize("line", ["*a" * 60 + "*b", "a" + "*" * 1000 + "b", "**/a/" * 60 + "b", "[a-z]*" * 100 + "0"])
def test_no_pattern_is_slow(line: str) -> None:
    patterns = Patterns.of([line])
    with ends():
        for _ in range(20):
            patterns.verdict("a" * 255, folder=False)
            patterns.verdict("/".join("a" * 1000), folder=False)

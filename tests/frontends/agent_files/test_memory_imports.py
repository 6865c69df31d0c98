"""Imports of `CLAUDE.md`: what is one, and what is code, a handle or a package."""

from __future__ import annotations

from time import thread_time

import pytest

from stagec.languages.agent_files.claude_reading import list_memory_imports, resolve_memory_import


def paths(text: str) -> list[str]:
    found = [*list_memory_imports(text, "CLAUDE.md")]
    for each in found:
        start, end = each.at.range or (0, 0)
        assert text[start:end] == f"@{each.path}"
    return [each.path for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@a.md", ["a.md"]),
        ("see @docs/a.md, @b.txt.", ["docs/a.md", "b.txt"]),
        ("(@a.md)", []),
        ("- @./run.sh and @../x/y.py", ["./run.sh", "../x/y.py"]),
        ("@package.json @a/package.json", ["package.json"]),
        ("me@a.md `@b.md` ``@c.md` `` @d.md", ["d.md"]),
        ("`open\n\n@a.md `@b.md`", ["a.md"]),
        ("~~~\n@a.md\n~~~\n@b.md\n```\n@c.md", ["b.md"]),
        ("````\n```\n@a.md\n````\n@b.md", ["b.md"]),
        ("<!-- @a.md -->@b.md\n@c.md", ["b.md", "c.md"]),
        ("    @a.md\n\t@b.md\n @c.md", ["c.md"]),
        ("@alice @types/node @app.route() @Injectable @1.md-team", []),
        ("@~/x.md @/etc/x.md @https://x.example/a.md", []),
        ("@a.md\r\n@b.md", ["a.md", "b.md"]),
        ("\ufeff@a.md", []),
        ("@docs/ü.md", []),
    ],
)
def test_what_is_an_import(text: str, expected: list[str]) -> None:
    assert paths(text) == expected


@pytest.mark.parametrize(
    ("path", "file", "expected"),
    [
        ("a.md", "CLAUDE.md", "a.md"),
        ("../a.md", "app/CLAUDE.md", "a.md"),
        ("../a.md", "CLAUDE.md", None),
        ("./x/../a.md", "app/CLAUDE.md", "app/a.md"),
    ],
)
def test_what_an_import_means(path: str, file: str, expected: str | None) -> None:
    assert resolve_memory_import(path, file) == expected


@pytest.mark.parametrize("text", ["`" * 200_000, "` `` " * 40_000, "```\n" * 50_001, "<!--" * 50_000, "@" * 200_000])
def test_long_texts_take_no_time(text: str) -> None:
    start = thread_time()
    paths(text)
    assert thread_time() - start < 5

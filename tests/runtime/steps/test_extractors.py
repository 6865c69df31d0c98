"""What is read from the output of a command that has failed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stagec.core.json import Json
from stagec.ir.plan.document import EXTRACTORS
from stagec.runtime.machine.acts.validation import Output, extract, read_output

STATUS = "M  staged.py\n M unstaged.py\nMM both.py\n?? new file.py\nR  old.py -> moved.py\nA  added.py\r\n\nxy\n"
PYTEST = "FAILED tests/a_test.py::test_one - AssertionError: no\nFAILED tests/b_test.py::test_two\n1 failed\n"
DENO = "one ... ok (1ms)\ntwo words ... FAILED (3ms)\n\nFAILED | three words\n"
TAP = "ok 1 - fine\nnot ok 2 - adds\n  ✗ subtracts\n"
TYPES = "error: TS2322 [ERROR]: Type 'string' is not assignable\n    at file:///src/a.ts:12:7\n"
LINT = "src/b.py:3:1: F401 [unused-import] error: never used\nsrc/b.py:9: error (no-undef) x\nFound 2 errors\n"
DIFF = "Formatting\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n"
MISSING = "ls: cannot access 'docs/plan.md': No such file or directory\n"


def error(message: str, file: str = "", line: int = 0, rule: str = "") -> Json:
    return {"message": message, "file": file, "line": line, "rule": rule}


@pytest.mark.parametrize(
    ("names", "stdout", "stderr", "wanted"),
    [
        ("stdout", "out", "err", "out"),
        ("stderr", "out", "err", "err"),
        ("exitCode", "", "", 3),
        ("errorOutput", "out", "err", "err"),
        ("errorOutput", "out", " \n", "out"),
        ("parseChangedFiles", STATUS, "", ["staged.py", "unstaged.py", "both.py", "moved.py", "added.py"]),
        ("parseUntrackedFiles", STATUS, "", ["new file.py"]),
        ("parseStagedFiles", STATUS, "", ["staged.py", "both.py", "moved.py", "added.py"]),
        ("parseUnstagedFiles", STATUS, "", ["unstaged.py", "both.py"]),
        (
            "parseTestOutput failedTests",
            PYTEST,
            "",
            [
                {"name": "tests/a_test.py::test_one", "error": "AssertionError: no"},
                {"name": "tests/b_test.py::test_two", "error": ""},
            ],
        ),
        (
            "parseTestOutput failedTests",
            "",
            DENO,
            [{"name": "two words", "error": ""}, {"name": "three words", "error": ""}],
        ),
        (
            "parseTestOutput failedTests",
            TAP,
            "",
            [{"name": "2", "error": "adds"}, {"name": "subtracts", "error": ""}],
        ),
        (
            "parseTypeErrors errors parseLintErrors lintErrors",
            "",
            TYPES,
            [error("error: TS2322 [ERROR]: Type 'string' is not assignable", "/src/a.ts", 12)],
        ),
        (
            "parseTypeErrors errors parseLintErrors lintErrors",
            LINT,
            "",
            [
                error("src/b.py:3:1: F401 [unused-import] error: never used", "src/b.py", 3, "unused-import"),
                error("src/b.py:9: error (no-undef) x", "src/b.py", 9, "no-undef"),
                error("Found 2 errors"),
            ],
        ),
        ("lintFiles", LINT, "", ["src/b.py"]),
        ("extractFiles files parseFormatOutput formatFiles", "src/a.ts:1:2\n", "from /x/b.py (c.md), v1.2", None),
        ("generateDiff diff", DIFF, "", DIFF.partition("\n")[2]),
        ("generateDiff diff", "all is well\n- a point\n", "", ""),
        ("missingPaths", MISSING, "", ["docs/plan.md"]),
        ("expectedPath", "", MISSING, "docs/plan.md"),
        ("expectedPath", "all is there", "", ""),
        ("parseBranchName unknown", "main", "", None),
    ],
)
def test_each_extractor_finds_what_it_is_for(names: str, stdout: str, stderr: str, wanted: Json) -> None:
    files = ["src/a.ts", "/x/b.py", "c.md"] if names.startswith("extractFiles") else wanted
    assert {name: extract(name, Output(3, stdout, stderr)) for name in names.split()} == dict.fromkeys(
        names.split(), files
    )


@pytest.mark.parametrize("name", ["parseChangedFiles", "failedTests", "errors", "files", "lintFiles", "missingPaths"])
def test_a_list_is_empty_where_there_is_nothing(name: str) -> None:
    assert extract(name, Output(0, "", "")) == []


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ({"exit": 0, "stdout": "a", "stderr": "b"}, Output(0, "a", "b")),
        ({"exit": True, "stdout": None, "stderr": 1}, Output(None, "", "")),
        ({"exit": 3.0}, Output(3, "", "")),
        ({"exit": -0.0}, Output(0, "", "")),
        ({"exit": 0.5}, Output(None, "", "")),
        ({"exit": 1e300}, Output(None, "", "")),
        ({}, Output(None, "", "")),
        (None, Output(None, "", "")),
        ("text", Output(None, "", "")),
    ],
)
def test_of_what_the_world_says_of_a_program_only_what_can_be_read_counts(answer: Json, wanted: Output) -> None:
    assert read_output(answer) == wanted


def test_every_extractor_of_plans_finds_something_and_no_other_does() -> None:
    output = Output(0, "", "")
    assert [name for name in EXTRACTORS if extract(name, output) is None] == []
    page = (Path(__file__).parents[3] / "docs" / "plan-format.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]+) \|", page.partition("## 6. Extractors")[2], re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(EXTRACTORS)

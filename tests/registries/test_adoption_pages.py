"""The pages about adopting stagec: their files are written, their commands executed, and what they print is there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import nursery

from stagec.check.pipeline import Project, compile_project, list_families
from stagec.sources.project.settings import Settings

GUIDE = Path(__file__).parents[2] / "docs" / "user-guide"
FENCE = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
ECHO = re.compile(r"echo '(?P<text>.*)' >> (?P<file>\S+)")


PAGE = (GUIDE / "adopt.md").read_text(encoding="utf-8")
ADOPTING, _, REST = PAGE.partition("\n## Suppress a finding\n")
SUPPRESSING, _, BASELINE = REST.partition("\n## What a baseline is\n")


def fences(text: str) -> Iterator[tuple[str, str | None, str]]:
    for match in FENCE.finditer(text):
        yield match["kind"], match["file"], match["text"]


def write(root: Path, file: str, text: str) -> None:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def execute(root: Path, line: str) -> str:
    """Execute a line of a page and return what it prints, standard error last."""
    echo = ECHO.fullmatch(line)
    if echo is not None:
        with (root / echo["file"]).open("a", encoding="utf-8") as file:
            file.write(f"{echo['text']}\n")
        return ""
    program, *arguments = line.split()
    assert program == "stagec"
    ended = nursery.run(arguments, root, nursery.environment())
    return (ended.stdout + ended.stderr).decode()


def test_adopting_prints_what_the_page_shows(tmp_path: Path) -> None:
    shown, printed = [], []
    for kind, file, text in fences(ADOPTING):
        if file is not None:
            write(tmp_path, file, text)
        elif kind == "console":
            shown.append(text)
            lines = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
            printed.append("".join(f"$ {line}\n{execute(tmp_path, line)}" for line in lines))
    assert shown == printed


def test_the_files_of_the_page_about_suppressions_have_no_finding_left(tmp_path: Path) -> None:
    for _, file, text in fences(SUPPRESSING):
        if file is not None:
            write(tmp_path, file, text)
    found = compile_project(Project(tmp_path, (), Settings()))
    assert (found.diagnostics, found.suppressed) == ((), 3)


def test_rules_that_the_page_names_are_called_so() -> None:
    names = {rule.code: rule.name for family in list_families() for rule in family.rules()}
    told = dict(re.findall(r"^\| `(STG\d+)` ([\w-]+) \|", PAGE, re.MULTILINE))
    assert {code: names[code] for code in told} == told
    assert set(re.findall(r"STG\d{3}", PAGE)) <= names.keys()


def test_the_baseline_of_the_page_is_what_is_written(tmp_path: Path) -> None:
    shown = next(text for kind, _, text in fences(BASELINE) if kind == "json")
    write(tmp_path, "ci/pipeline.yaml", "entry: plan\nstages: [{}]\nowner: platform\n")
    execute(tmp_path, "stagec baseline write")
    written = json.loads((tmp_path / "stagec-baseline.json").read_text(encoding="utf-8"))
    entries = written["findings"]["ci/pipeline.yaml"]
    written["findings"]["ci/pipeline.yaml"] = [each for each in entries if each["member"] == "/owner"]
    assert json.loads(shown) == written

"""The pages about running plans, followed to the letter in their order: every file written, every command given."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pages
import pytest

import stagec
from stagec.runtime import machine as runtime

TOP = Path(__file__).parents[2]
PAGES = ("user-guide/run.md", "user-guide/resume.md", "your-runner.md")
PAGE = "\n".join((TOP / "docs" / name).read_text(encoding="utf-8") for name in PAGES)
FENCE = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
VARIES = re.compile(r"sha256:[0-9a-f]{12}|\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|(?<=last event after )[\d.]+ s")
TYPED = re.compile(r"^> (.*)$", re.MULTILINE)


def printed(folder: Path, command: str, shown: str) -> str:
    """Return what a command prints when what stands behind `> ` on the page is typed."""
    program = [sys.executable, *(["-m", "stagec"] if command.startswith("stagec ") else [])]
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    ended = subprocess.run(
        [*program, *command.split()[1:]],
        cwd=folder,
        env={**kept, "PYTHONPATH": str(TOP / "compiler"), "LC_ALL": "C.UTF-8"},
        input="".join(f"{line}\n" for line in TYPED.findall(shown)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return VARIES.sub("…", ended.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page") / "docs-repair"
    shutil.copytree(TOP / "registries" / "docs-repair", made)
    return made


def test_the_page_does_what_it_says(folder: Path) -> None:
    commands = 0
    for fence in FENCE.finditer(PAGE):
        if fence["file"]:
            (folder / fence["file"]).write_text(fence["text"], encoding="utf-8")
        elif fence["kind"] in {"console", "sh"}:
            first, _, shown = fence["text"].partition("\n")
            first, _, other = first.partition(" | ")
            if other:
                assert "error" not in printed(folder, f"{first} --runs elsewhere", "")
                continue
            pages.expect(printed(folder, first.removeprefix("$ "), shown), VARIES.sub("…", shown))
            commands += 1
    assert commands == 12


def test_the_page_knows_every_key_of_a_scenario() -> None:
    schema = json.loads((TOP / "schemas" / "scenario.schema.json").read_text(encoding="utf-8"))
    page = (TOP / "docs" / "scenarios.md").read_text(encoding="utf-8")
    table = page.partition("\n| key | meaning |\n")[2].partition("\n\n")[0]
    told = re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE)
    assert set(told) == set(schema["properties"])
    inside = {name for each in schema["$defs"].values() for name in each["properties"]}
    assert [name for name in sorted(inside) if f"`{name}`" not in page + PAGE] == []


def test_the_driver_of_the_page_is_short() -> None:
    (driver,) = (fence["text"] for fence in FENCE.finditer(PAGE) if fence["file"] == "driver.py")
    assert len(driver.splitlines()) <= 40


def test_the_page_names_what_a_driver_needs() -> None:
    rows = re.findall(r"^\| (`[A-Z].*?|`\w+\(.*?) \|", PAGE, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)", row)) == sorted(runtime.__all__)


def test_a_world_of_ones_own_needs_these_names() -> None:
    assert [name for name in stagec.__all__ if getattr(stagec, name, None) is None] == []
    assert {"load_plan", "run"} <= set(stagec.__all__)

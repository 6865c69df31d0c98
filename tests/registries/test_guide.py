"""The examples of the user guide: every file is valid, every command is one, and every table tells the truth."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nursery
import pytest

from stagec.cli.app import run
from stagec.ir.catalogue import well_known_effects

TOP = Path(__file__).parents[2]
EXAMPLES = TOP / "registries"
GUIDE = TOP / "docs" / "user-guide"
CELL = r"`((?:\\\||[^|])*)`"


def stagec(folder: Path, *arguments: str) -> str:
    return nursery.run(arguments, folder, nursery.environment()).stdout.decode()


def text_of(page: str) -> str:
    return (GUIDE / page).read_text(encoding="utf-8")


def fences(page: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", text_of(page), re.DOTALL | re.MULTILINE)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_what_the_page_shows_of_the_broken_example_is_printed() -> None:
    concise = next(fence for fence in fences("validate.md", "") if fence.startswith("registries/broken-on-purpose/"))
    (last,) = re.findall(r"^Found 6 errors, .*$", text_of("validate.md"), re.MULTILINE)
    *lines, rest = concise.splitlines()
    printed = stagec(TOP, "validate", "registries", "--format", "concise", "--quiet").splitlines()
    assert (lines, rest) == (printed[: len(lines)], "…")
    assert last == stagec(TOP, "validate", "registries").splitlines()[-1]


def test_every_command_that_a_page_shows_can_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    texts = [page.read_text(encoding="utf-8") for page in (TOP / "README.md", *sorted(GUIDE.glob("*.md")))]
    shown = "".join(
        fence for text in texts for fence in re.findall(r"^```[^\n`]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    )
    lines = re.findall(r"^(?:\$ )?stagec (.*)", shown, re.MULTILINE)
    own = (re.split(r"\s+(?:[|<>#]|-- )", line)[0] for line in lines)  # what follows `--` is for another command
    commands = [line.split() for line in own]
    assert [command for command in commands if run([*command, "--help"]) != 0] == []
    known = {"validate", "tools", "init", "explain", "config", "compile", "verify", "plan"}
    assert {command[0] for command in commands} >= known
    capsys.readouterr()


def test_the_stage_of_the_page_is_valid(tmp_path: Path) -> None:
    (stage,) = fences("pipelines.md", "markdown")
    write(tmp_path / "plan.md", stage)
    write(tmp_path / "tools.yaml", "bundled: [Read, Grep, Glob]\n")
    assert stagec(tmp_path, "validate") == "All clear: no flow, 2 files\n"


def test_the_pipeline_of_the_page_fits_the_stages_of_the_example(tmp_path: Path) -> None:
    pipeline, *_ = fences("pipelines.md", "yaml")
    shutil.copytree(EXAMPLES / "code-review", tmp_path, dirs_exist_ok=True)
    write(tmp_path / "pipeline.yaml", pipeline)
    assert stagec(tmp_path, "validate") == "All clear: 1 flow with 5 nodes, 11 files\n"


def test_the_pipeline_with_an_inner_one_of_the_page_fits_the_stages_of_the_example(tmp_path: Path) -> None:
    *_, outer, inner = fences("pipelines.md", "yaml")
    shutil.copytree(EXAMPLES / "reviewed-change", tmp_path, dirs_exist_ok=True)
    write(tmp_path / "pipeline.yaml", outer)
    write(tmp_path / "review" / "pipeline.yaml", inner)
    assert stagec(tmp_path, "validate") == "All clear: 2 flows with 11 nodes, 10 files\n"


def test_the_stage_plan_of_the_page_has_notes_only(tmp_path: Path) -> None:
    (plan,) = fences("stage-plans.md", "yaml")
    write(tmp_path / "any-name.yaml", plan)
    for path in ("data/wine.csv", "scripts/load.py", "scripts/train.py"):
        write(tmp_path / path, "")
    found = stagec(tmp_path, "validate", "--format", "concise", "--quiet")
    assert [line.split()[1] for line in found.splitlines()] == ["note[STG452]"]
    stagec(tmp_path, "compile", "-o", "plan.json")
    shown = stagec(tmp_path, "plan", "plan.json", "--node", "S02_train_model")
    assert "reads df: wine_df.csv of S01_load_data" in shown
    first = stagec(tmp_path, "plan", "plan.json", "--node", "S01_load_data")
    assert "its end as done lets S02_train_model begin" in first


def test_the_catalogue_of_the_page_lacks_nothing_but_a_lock(tmp_path: Path) -> None:
    (catalogue,) = fences("tools.md", "yaml")
    write(tmp_path / "tools.yaml", catalogue)
    write(tmp_path / "schemas" / "run_tests.json", '{"type": "object"}')
    found = stagec(tmp_path, "validate", "--format", "concise", "--quiet")
    assert [line.split()[1] for line in found.splitlines()] == ["note[STG507]"]
    listed = stagec(tmp_path, "tools", "list").splitlines()
    assert [line.split()[0] for line in listed] == ["Read", "Grep", "Glob", "Edit", "Write", "Bash", "run_tests"]


def test_the_page_knows_what_well_known_tools_do() -> None:
    rows = re.findall(r"^\| (`.*), also in lower case \| (\w+) \|$", text_of("tools.md"), re.MULTILINE)
    told = {name: effects for names, effects in rows for name in re.findall(r"`(\w+)`", names)}
    assert len(told) == 7
    assert {name: well_known_effects(name) for name in told} == told
    assert {name: well_known_effects(name.lower()) for name in told} == told


BREAKING = re.findall(rf"^\| {CELL} \| [^|]* \| {CELL} \|$", text_of("from-agent-files.md"), re.MULTILINE)
AGENT = "---\nname: reviewer\n{}\n---\nYou review.\n"


@pytest.mark.parametrize(("written", "better"), BREAKING)
def test_what_breaks_an_agent_file_is_told_and_mended_as_the_page_says(
    tmp_path: Path, written: str, better: str
) -> None:
    judge = ("validate", "--select", "STG1", "--ignore", "STG170", "--format", "concise", "--quiet", "reviewer.md")
    write(tmp_path / "reviewer.md", AGENT.format(written.replace("\\|", "|")))
    assert [line.split()[1] for line in stagec(tmp_path, *judge).splitlines()] == ["error[STG107]"]
    write(tmp_path / "reviewer.md", AGENT.format(better.replace("\\|", "|")))
    assert stagec(tmp_path, *judge) == ""


def test_every_row_with_an_example_is_tried() -> None:
    assert len(BREAKING) == 5


def test_agent_files_become_the_pipeline_of_the_page(tmp_path: Path) -> None:
    (agent,) = fences("from-agent-files.md", "markdown")
    pipeline, tools = fences("from-agent-files.md", "yaml")
    for name in ("code-reviewer", "bug-fixer"):
        write(tmp_path / "agents" / f"{name}.md", agent.replace("code-reviewer", name))
        write(tmp_path / "stages" / f"{name}.md", stagec(tmp_path, "init", "--from", f"agents/{name}.md"))
    write(tmp_path / "pipeline.yaml", pipeline)
    write(tmp_path / "tools.yaml", tools)
    assert stagec(tmp_path, "validate") == "All clear: 1 flow with 2 nodes, 4 files\n"


def test_the_two_stages_of_the_page_have_to_fit(tmp_path: Path) -> None:
    test_agent_files_become_the_pipeline_of_the_page(tmp_path)
    reviewer = tmp_path / "stages" / "code-reviewer.md"
    (read,) = re.findall(r"`(\{\{ctx.*\}\})`", text_of("from-agent-files.md"))
    made = reviewer.read_text(encoding="utf-8")
    write(reviewer, f"{made}{read}\n")
    assert stagec(tmp_path, "validate", "--format", "concise", "--quiet") == ""
    write(reviewer, f"{made}{read.replace('summary', 'sumary')}\n")
    assert "did you mean 'summary'?" in stagec(tmp_path, "validate")


def masked(text: str) -> str:
    """Leave out the digits of digests, which any other byte of an example changes."""
    return re.sub(r"sha256:[0-9a-f]+", "sha256:…", text)


def blocks() -> list[str]:
    """Return what is shown on the page about plans as printed."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text_of("plans.md"), re.DOTALL | re.MULTILINE)
    return [masked(fence) for kind, fence in found if not kind]


def test_what_compile_says_of_the_examples_is_on_the_page(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "registries")
    command = [sys.executable, "-m", "stagec", "compile", "registries", "-o", "plans/"]
    paths = {"PYTHONPATH": str(TOP / "compiler")}
    ended = subprocess.run(command, cwd=tmp_path, env=paths, capture_output=True, text=True, check=False)
    told, last = masked(ended.stderr).rsplit("\n\n", 1)
    assert told.count("error[STG") == 6
    assert last == blocks()[0]


def test_what_is_shown_of_a_plan_is_on_the_page(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "docs-repair", tmp_path / "docs-repair")
    path = "docs-repair.plan.json"
    assert stagec(tmp_path, "compile", "docs-repair", "-o", path) == ""
    assert masked(stagec(tmp_path, "plan", path)) == blocks()[2]
    (content,) = re.findall(r"^stagec plan docs-repair.plan.json --content (\S+) ", text_of("plans.md"), re.MULTILINE)
    assert json.loads(stagec(tmp_path, "plan", path, "--content", content))["type"] == "object"
    assert "verified against the sources" in stagec(tmp_path, "verify", path, "--against", "docs-repair")
    stage = tmp_path / "docs-repair" / "check.md"
    write(stage, stage.read_text(encoding="utf-8").replace("Mend nothing.", "Mend nothing!"))
    assert stagec(tmp_path, "verify", path, "--against", "docs-repair") == blocks()[1]

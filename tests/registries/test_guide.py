"""The examples of the user guide: every file is valid, every command is one, and every table tells the truth."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nursery
import pytest
import yaml

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
    return re.findall(rf"^```{kind}[^\n]*\n(.*?)^```$", text_of(page), re.DOTALL | re.MULTILINE)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


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


def test_the_waits_and_deadlines_of_the_page_fit_two_stages(tmp_path: Path) -> None:
    waiting, late = [each for each in fences("pipelines.md", "yaml") if "\n  ask:\n" in each]
    (stage,) = fences("pipelines.md", "markdown")
    write(tmp_path / "tools.yaml", "bundled: [Read, Grep, Glob]\n")
    for name in ("ask", "answer"):
        text = (
            stage.replace("plan\n", f"{name}\n").replace("Plan\n", f"{name}\n").replace("submit_plan", f"submit_{name}")
        )
        write(tmp_path / f"{name}.md", text)
    done = {"complete": {"steps": []}}
    again = {"ask": [[{"failed": "down"}, {"failed": "down"}], [done]], "answer": [[done]]}
    passed = {"ask": [[{"deadline": "stage"}]], "answer": [[done]]}
    for part, told, expected in (
        (waiting, again, {"path": ["ask", "ask", "answer"], "waits": 600_000}),
        (late, passed, {"path": ["ask", "answer"]}),
    ):
        write(tmp_path / "pipeline.yaml", f"entry: ask\nmaxStageExecutions: 9\ncontext: {{task: {{}}}}\n{part}")
        assert stagec(tmp_path, "validate").startswith("All clear: 1 flow with 2 nodes")
        scenario = {"inputs": {"task": "t"}, "conversations": told}
        write(
            tmp_path / "a.flow-test.yaml", yaml.safe_dump({"tests": {"a": {"scenario": scenario, "expect": expected}}})
        )
        ran = stagec(tmp_path, "test", ".")
        assert "1 test: 1 passed" in ran, ran


def test_the_changes_of_answers_of_the_page_are_refused(tmp_path: Path) -> None:
    stagec(tmp_path, "init", "demo")
    tests, changes = fences("test.md", "yaml")
    given = yaml.safe_load(tests)
    expected = yaml.safe_load(changes)["expect"]
    given["tests"] = {name: {**each, "expect": expected} for name, each in given["tests"].items()}
    write(tmp_path / "demo" / "review.flow-test.yaml", yaml.safe_dump(given))
    assert "2 tests: 2 passed, 0 failed\n" in stagec(tmp_path, "test", "demo/review.flow-test.yaml")

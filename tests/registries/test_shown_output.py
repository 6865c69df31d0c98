"""What pages show beside commands that are executed: output, questions, jobs, variables, and names of examples."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import nursery
import pytest
import yaml
from orchestrated import write_orchestrator
from registries.test_every_page import EVERY, READERS, TOP, shown, stagec

from stagec.cli.running.worlds import Answers, People, PeopleSetup
from stagec.runtime.drivers.local.mailbox import Mailbox, MessageWatcher
from stagec.runtime.machine.exchange import Grant
from stagec.runtime.machine.program import load

GUIDE = "docs/user-guide"
DIGEST = re.compile(r"sha256:[0-9a-f]+")


def test_the_question_of_the_page_about_runs_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    plan = load((TOP / "tests" / "plan_vectors" / "docs-repair" / "plan.json").read_bytes()).plan
    mail = MessageWatcher(Mailbox(Path("r.run").absolute()), print)
    people = People(plan, PeopleSetup(Answers.ASK), mail, lambda _seconds, _other: "n\n")
    given = {"path": "old.md"}
    people.answer(Grant("r/check#1/1.0", "r/check#1", 1, "p", "Delete", "sha", json.dumps(given), given))
    assert capsys.readouterr().err.strip() == shown(f"{GUIDE}/run.md", "", "may stage").strip()


def test_a_program_of_the_page_about_tools_is_a_tool_of_its_catalogue() -> None:
    catalogue = yaml.safe_load(shown(f"{GUIDE}/tools.md", "yaml", "bundled:"))
    programs = READERS["toml"](shown(f"{GUIDE}/tools.md", "toml", "[tools]"))
    assert isinstance(programs, dict)
    assert set(programs["tools"]) <= {each["name"] for each in catalogue["discovered"]}


def test_the_stage_of_the_page_about_stage_plans_copies_its_input(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a,b\n")
    around = {
        "STAGEC_INPUTS": json.dumps({"dataset": str(tmp_path / "in.csv")}),
        "STAGEC_OUTPUTS": json.dumps({"df": str(tmp_path / "out.csv")}),
    }
    program = shown(f"{GUIDE}/stage-plans.md", "python", "import json")
    subprocess.run([sys.executable, "-c", program], env=around, check=True)
    assert (tmp_path / "out.csv").read_text() == "a,b\n"


def test_the_steps_of_the_page_about_scenarios_are_those_of_an_example() -> None:
    registry = json.loads(next((TOP / "registries" / "issue-flow").rglob("steps_registry.json")).read_text("utf-8"))
    answers = yaml.safe_load(shown("docs/scenarios.md", "yaml", "answers:"))["answers"]
    assert [each for each in answers if each not in registry["steps"]] == []
    for step, given in answers.items():
        intents = {each["next_action"]["action"] for each in (given if isinstance(given, list) else [given])}
        assert intents <= {*registry["steps"][step]["structuredGate"]["allowedIntents"]}, step


def test_the_job_of_the_page_about_workers_is_submitted(tmp_path: Path) -> None:
    stagec(TOP, "compile", "registries/docs-repair", "-o", str(tmp_path / "a.plan.json"))
    (tmp_path / "jobs.jsonl").write_text(shown(f"{GUIDE}/workers.md", "json", "{"), encoding="utf-8")
    around = nursery.environment(STAGEC_DATABASE="sqlite:///runs.sqlite")
    nursery.run(["database", "migrate"], tmp_path, around)
    submitted = nursery.run(["submit", "a.plan.json", "--jobs", "jobs.jsonl"], tmp_path, around)
    assert submitted.stdout.decode() == "1 run submitted, 0 already in the database\n", submitted.stderr.decode()


def test_every_variable_that_a_page_names_is_one_that_stagec_reads_or_sets() -> None:
    """`STAGEC_HEADER_SERVER_NAME` and `STAGEC_BUDGET_NAME` are families; a service's template and CI have their own."""
    own = ("STAGEC_HEADER_", "STAGEC_BUDGET_")
    folders = [TOP / "compiler", TOP / ".ci", TOP / ".gitlab", TOP / "tests"]
    files = [
        path for top in folders for path in top.rglob("*") if path.suffix in {".py", ".yml", ""} and path.is_file()
    ]
    known = {name for path in files for name in re.findall(r"STAGEC_[A-Z_]+", path.read_text("utf-8", "ignore"))}
    pages = [each for each in (TOP / "docs").rglob("*.md") if each.parent.name not in {"decisions", "rules"}]
    named = {(page.name, name) for page in pages for name in re.findall(r"STAGEC_[A-Z_]+\b", page.read_text("utf-8"))}
    assert named
    assert [each for each in sorted(named) if each[1] not in known and not each[1].startswith(own)] == []


def test_every_rule_that_a_page_names_exists() -> None:
    codes = {path.stem.partition("_")[0].upper() for path in (TOP / "tests" / "rules").rglob("stg*.md")}
    shown_codes = {code for each in EVERY for code in re.findall(r"\bSTG\d{3,4}\b", each.text)}
    texts = [path.read_text("utf-8") for path in (TOP / "docs" / "user-guide").glob("*.md")]
    named = {code for text in texts for code in re.findall(r"`(STG\d{3,4})`", text)}
    assert sorted((shown_codes | named) - codes - {"STG1125"}) == []


def test_the_orchestrator_of_the_page_is_compiled_and_run_as_shown(tmp_path: Path) -> None:
    page = f"{GUIDE}/orchestrator-runs.md"
    write_orchestrator(tmp_path)
    command, _, told = shown(page, "console", "$ stagec compile").partition("\n")
    compiled = nursery.run(command.split()[2:], tmp_path, nursery.environment()).stderr.decode()
    assert DIGEST.sub("", compiled).endswith(DIGEST.sub("", f"\n{told}"))
    first, second = (each.text for each in EVERY if (each.page, each.kind) == (page, "yaml"))
    (tmp_path / "first.yaml").write_text(first, encoding="utf-8")
    assert "done: " in stagec(tmp_path, "run", "plans/workflow.plan.json", "--scenario", "first.yaml")
    (tmp_path / "second.yaml").write_text(second, encoding="utf-8")
    words = ("run", "plans/workflow.plan.json", "--scenario", "second.yaml", "--run", "second")
    ended = nursery.run(words, tmp_path, nursery.environment()).stderr.decode()
    assert ended.startswith("run second of workflow")

"""`stagec paths`: scenarios that cover a flow, as tests, as a list and as JSON."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
import yaml
from random_steps import make_plan

from stagec.cli.app import run
from stagec.ir.plan import dump

TOP = Path(__file__).parents[2]
Shown = pytest.CaptureFixture[str]
TESTS = "all.flow-test.yaml"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a copy of an example with a repair loop."""
    shutil.copytree(TOP / "registries" / "docs-repair", tmp_path / "p")
    monkeypatch.chdir(tmp_path / "p")
    return tmp_path


def test_the_runs_are_listed_with_what_they_cover(capfd: Shown) -> None:
    assert run(["paths"]) == 0
    head, *lines = capfd.readouterr().out.splitlines()
    assert head == "docs-repair: 4 runs with 3 of 3 nodes, 5 of 5 edges, 2 of 2 cases, 1 of 1 rule"
    assert lines[:2] == ["  1  write → check", "     done: completed, 2 executions"]


def test_tests_that_are_written_pass_at_once_and_cover_everything(capfd: Shown) -> None:
    assert run(["paths", "-o", TESTS]) == 0
    assert "4 tests; 'stagec test all.flow-test.yaml' runs them" in capfd.readouterr().err
    assert run(["test", TESTS, "--fail-under", "100"]) == 0
    assert "4 tests: 4 passed, 0 failed" in capfd.readouterr().out
    assert run(["paths", "-o", TESTS]) == 2
    assert "nothing was written; name another file, or remove this one" in capfd.readouterr().err


def test_the_document_has_its_schema(capfd: Shown) -> None:
    assert run(["paths", "--pairs", "--format", "json"]) == 0
    made = json.loads(capfd.readouterr().out)
    jsonschema.validate(made, json.loads((TOP / "schemas" / "paths.schema.json").read_bytes()))
    assert [each["flow"] for each in made["flows"]] == ["docs-repair"]


def test_the_run_to_a_node_is_printed_as_a_test(capfd: Shown) -> None:
    assert run(["paths", "--to", "repair", "--format", "flow-test"]) == 0
    tests = yaml.safe_load(capfd.readouterr().out)["tests"]
    assert [each["expect"]["path"][:3] for each in tests.values()] == [["write", "check", "repair"]]


def test_plans_are_covered_too(capfd: Shown) -> None:
    assert run(["compile", "-o", "x.plan.json"]) == 0
    capfd.readouterr()
    assert run(["paths", "x.plan.json"]) == 0
    assert "docs-repair: 4 runs" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        (["--to", "repare"], 2, "has no stage 'repare'; did you mean 'repair'?"),
        (["--entry", "x"], 2, "has no entry 'x'"),
        (["--flow", "x"], 2, "no flow is called 'x'"),
        (["--to", "check", "--pairs"], 2, "give one of the two"),
        (["-o", "tests.yaml"], 2, "its name must end in '.flow-test.yaml'"),
    ],
)
def test_what_cannot_be_done_is_refused(arguments: list[str], status: int, told: str, capfd: Shown) -> None:
    assert run(["paths", *arguments]) == status
    assert told in capfd.readouterr().err


def test_what_no_run_covers_is_named_and_the_status_says_so(capfd: Shown) -> None:
    Path("x.plan.json").write_bytes(dump(make_plan([[1], [2], [None]], limit=2)))
    assert run(["paths", "x.plan.json"]) == 1
    assert "not covered: step 's2'\n     no run reaches it, and limits end some runs first" in capfd.readouterr().out
    assert run(["paths", "x.plan.json", "-o", TESTS]) == 1
    assert "not covered: step 's2'" in capfd.readouterr().err
    assert Path(TESTS).read_text(encoding="utf-8").startswith("# not covered: step 's2': no run reaches it")
    assert run(["paths", "x.plan.json", "--to", "s2", "-o", "other.flow-test.yaml"]) == 1
    assert "no run of 'random' was found" in capfd.readouterr().err


def test_the_page_shows_what_is_printed(capfd: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (TOP / "docs" / "user-guide" / "paths.md").read_text(encoding="utf-8")
    monkeypatch.chdir(TOP)
    assert run(["paths", "registries/docs-repair", "--to", "repair", "--format", "flow-test"]) == 0
    assert f"\n{capfd.readouterr().out}```\n" in page

"""What each node may do and why, and what of it the tests of its flow need."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest
from permitted import agent_file, orchestrator, registry, stage_plan

from stagec.cli.app import run

TOP = Path(__file__).parents[2]
DESK = TOP / "registries" / "support-desk"
Shown = pytest.CaptureFixture[str]


def listed(capfd: Shown, *arguments: str, status: int = 0) -> list[dict[str, object]]:
    assert run(["permissions", *arguments, "--format", "json"]) == status
    made = json.loads(capfd.readouterr().out)
    jsonschema.validate(made, json.loads((TOP / "schemas" / "permissions.schema.json").read_bytes()))
    flows: list[dict[str, object]] = made["flows"]
    return flows


def test_the_example_shows_who_may_what_and_what_its_tests_need(capfd: Shown) -> None:
    assert run(["permissions", str(DESK), "--root", str(DESK), "--flow", "support-desk"]) == 0
    text = capfd.readouterr().out
    assert "classify  read_ticket    untrusted" in text
    assert "answer    find_customer  private" in text
    assert "called by no test; says the catalogue" in text
    assert "least    answer: send_mail\n         classify: read_ticket\n         look-up: find_customer\n" in text
    assert text.endswith("surplus  answer: find_customer\n")


def test_the_guide_shows_what_is_printed(capfd: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP)
    assert run(["permissions", "registries/support-desk", "--flow", "support-desk"]) == 0
    page = (TOP / "docs" / "user-guide" / "rights.md").read_text(encoding="utf-8")
    assert f"--flow support-desk\n{capfd.readouterr().out}```" in page


def test_every_place_is_where_the_tool_is_allowed(capfd: Shown) -> None:
    (flow,) = listed(capfd, str(DESK / "together"), "--root", str(DESK))
    for node in flow["nodes"]:  # type: ignore[attr-defined]
        for tool in node["tools"]:
            lines = (DESK / tool["file"]).read_text(encoding="utf-8").splitlines()
            assert lines[tool["line"] - 1][tool["column"] - 1 :].startswith(tool["name"])


def test_a_check_fails_where_more_is_allowed_than_tests_need(capfd: Shown) -> None:
    assert run(["permissions", str(DESK / "apart"), "--check"]) == 0
    assert run(["permissions", str(DESK / "together"), "--check"]) == 1
    assert run(["permissions", str(DESK / "together")]) == 0
    capfd.readouterr()


def test_the_least_set_is_enough_for_the_tests(tmp_path: Path, capfd: Shown) -> None:
    folder = tmp_path / "desk"
    shutil.copytree(DESK / "together", folder)
    stage = folder / "answer.md"
    stage.write_text(stage.read_text(encoding="utf-8").replace("find_customer, ", ""), encoding="utf-8")
    assert run(["test", str(folder), "--root", str(folder)]) == 0
    assert run(["permissions", str(folder), "--root", str(folder), "--check"]) == 0
    stage.write_text(stage.read_text(encoding="utf-8").replace("send_mail]", "]"), encoding="utf-8")
    assert run(["test", str(folder), "--root", str(folder)]) == 1
    capfd.readouterr()


def test_markdown_keeps_what_people_wrote_as_code(
    tmp_path: Path, capfd: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent_file(".claude/agents/a.md", "name: a|b\ndescription: d\ntools: 'Bash, mcp__x|y__<b>z'")(tmp_path)
    assert run(["permissions", str(tmp_path), "--root", str(tmp_path), "--format", "markdown"]) == 0
    text = capfd.readouterr().out
    assert "### Permissions of `a|b`" in text
    assert "| `a\\|b` | `Bash` | private, send, write | says stagec's list | `.claude/agents/a.md:4` | no te" in text
    assert "`mcp__x\\|y__<b>z`" in text
    assert all(line.replace("\\|", "").count("|") == 7 for line in text.splitlines() if line.startswith("|"))


def test_steps_of_agents_are_listed_inside_their_phases(tmp_path: Path, capfd: Shown) -> None:
    orchestrator(["Read", "Bash"], ["Read"])(tmp_path)
    flows = {each["flow"]: each for each in listed(capfd, str(tmp_path), "--root", str(tmp_path))}
    nodes = {node["node"]: node for node in flows["workflow"]["nodes"]}  # type: ignore[attr-defined]
    assert [each["name"] for each in nodes["build/initial.issue"]["tools"]] == ["Read", "Bash"]
    assert [each["name"] for each in nodes["review/initial.issue"]["tools"]] == ["Read"]


def test_a_mode_takes_labels_away(tmp_path: Path, capfd: Shown) -> None:
    registry(["Bash"], modes={"initial.issue": "plan"})(tmp_path)
    (flow,) = listed(capfd, str(tmp_path), "--root", str(tmp_path))
    nodes = {node["node"]: node for node in flow["nodes"]}  # type: ignore[attr-defined]
    assert (nodes["initial.issue"]["mode"], nodes["initial.issue"]["tools"][0]["labels"]) == ("plan", ["private"])
    assert nodes["continuation.issue"]["tools"][0]["labels"] == ["private", "send", "write"]
    assert nodes["initial.issue"]["evidence"] == "not seen"


def test_programs_of_a_stage_plan_are_listed(tmp_path: Path, capfd: Shown) -> None:
    stage_plan(a=("curl https://example.org", ""))(tmp_path)
    (flow,) = listed(capfd, str(tmp_path), "--root", str(tmp_path))
    (node,) = flow["nodes"]  # type: ignore[misc,attr-defined]
    (tool,) = node["tools"]
    assert (tool["name"], tool["program"], tool["labels"]) == ("curl", True, ["send", "untrusted"])


def test_nothing_is_refused(tmp_path: Path, capfd: Shown) -> None:
    assert run(["permissions", str(tmp_path), "--root", str(tmp_path)]) == 3
    assert "nothing may do anything" in capfd.readouterr().err
    assert run(["permissions", str(DESK), "--flow", "support-dask"]) == 2
    assert "did you mean 'support-desk'?" in capfd.readouterr().err

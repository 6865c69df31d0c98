"""What each node may do and why, and what of it the tests of its flow need."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from orchestrated import answer_steps
from permitted import agent_file, orchestrator, registry, stage_plan

from stagec.cli.app import run

TOP = Path(__file__).parents[2]
DESK = TOP / "registries" / "support-desk"
Shown = pytest.CaptureFixture[str]


def listed(capfd: Shown, *arguments: str, status: int = 0) -> list[dict[str, object]]:
    capfd.readouterr()
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
    assert "called by no test; labels from the catalogue" in text
    assert "least    answer: send_mail\n         classify: read_ticket\n         look-up: find_customer\n" in text
    assert text.endswith("surplus  answer: find_customer\n")


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
    assert (
        "| `a\\|b` | `Bash` | private, send, write | labels from stagec's list | `.claude/agents/a.md:4` | no te"
        in text
    )
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
    assert "nothing to list" in capfd.readouterr().err
    assert run(["permissions", str(DESK), "--flow", "support-dask"]) == 2
    assert "did you mean 'support-desk'?" in capfd.readouterr().err


_TESTS = Path(".agent") / "issue-solver" / "issue-solver.flow-test.yaml"
_STEPS = ("initial.issue", "continuation.issue", "closure.issue")


def solve(tmp_path: Path, tools: list[str], *tests: dict[str, list[str] | None]) -> None:
    """Write an agent with some tools, and tests in which its steps call what is said; None says nothing."""
    registry(tools)(tmp_path)
    file = tmp_path / _TESTS
    told = yaml.safe_load(file.read_text(encoding="utf-8"))["scenario"]
    cases: dict[str, Any] = {}
    for at, called in enumerate(tests):
        answers = {
            name: [each] if called.get(name) is None else {"answer": each, "called": called[name]}
            for name, each in told["answers"].items()
        }
        answers = {name: each[0] if isinstance(each, list) else each for name, each in answers.items()}
        cases[f"test {at}"] = {"scenario": {**told, "answers": answers}, "expect": {"outcome": "done"}}
    file.write_text(yaml.safe_dump({"flow": "issue-solver", "tests": cases}), encoding="utf-8")


def each_step(*called: str) -> dict[str, list[str] | None]:
    """Return that each step calls some tools."""
    return {name: [*called] for name in _STEPS}


def scenario_of(tests: Path) -> dict[str, Any]:
    """Return the scenario of the only test in a file."""
    (told,) = yaml.safe_load(tests.read_text(encoding="utf-8"))["tests"].values()
    scenario: dict[str, Any] = told["scenario"]
    return scenario


def nodes_of(flow: dict[str, Any]) -> dict[str, Any]:
    """Return the nodes of a flow by their ids."""
    return {each["node"]: each for each in flow["nodes"]}


def test_scenarios_say_what_steps_call_and_so_what_they_need(tmp_path: Path, capfd: Shown) -> None:
    solve(tmp_path, ["Read", "Bash(git *)", "Edit"],
          {"initial.issue": ["Read"], "continuation.issue": ["Bash"], "closure.issue": []},
          {"initial.issue": ["Read", "Bash"], "continuation.issue": [], "closure.issue": None})  # fmt: skip
    (flow,) = listed(capfd, str(tmp_path), "--root", str(tmp_path))
    initial, continuation, closure = map(nodes_of(flow).get, _STEPS)
    assert (initial["least"], initial["surplus"], initial["evidence"]) == (["Read", "Bash"], ["Edit"], "calls")
    assert [each["tests"] for each in initial["tools"]] == [2, 1, 0]
    assert (continuation["least"], continuation["surplus"]) == (["Bash"], ["Read", "Edit"])
    assert (closure["evidence"], closure["asked"], closure["silent"], closure["surplus"]) == ("not seen", 2, 1, [])
    assert run(["permissions", str(tmp_path), "--root", str(tmp_path)]) == 0
    text = " ".join(capfd.readouterr().out.split())
    assert "unknown closure.issue: 1 of 2 answers does not say which tools were called;" in text
    assert "least initial.issue: Read and Bash continuation.issue: Bash surplus" in text
    assert "called by 2 tests" in text


def test_what_steps_call_beyond_their_list_is_a_part_of_the_least_set(tmp_path: Path, capfd: Shown) -> None:
    solve(tmp_path, ["Read", "mcp__wiki", "mcp__files__read_*"],
          each_step("mcp__wiki__find", "mcp__files__read_all", "Grep"))  # fmt: skip
    (flow,) = listed(capfd, str(tmp_path), "--root", str(tmp_path))
    assert nodes_of(flow)["initial.issue"]["least"] == ["mcp__wiki", "mcp__files__read_*", "Grep"]
    assert nodes_of(flow)["initial.issue"]["surplus"] == ["Read"]


def test_recorded_runs_count_like_tests(tmp_path: Path, capfd: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    solve(tmp_path, ["Read", "Bash", "Edit"], each_step("Read"))
    tests = tmp_path / _TESTS
    told = scenario_of(tests)
    told["answers"]["initial.issue"]["called"] = ["Bash"]
    Path("s.json").write_text(json.dumps(told), encoding="utf-8")
    assert run(["compile", "-o", "x.plan.json"]) == 0
    for name in ("one", "two"):
        assert run(["run", "x.plan.json", "--scenario", "s.json", "--run", name]) == 0
    (flow,) = listed(capfd, ".agent", "--run", "one")
    assert (flow["tests"], flow["runs"]) == (1, 1)
    initial = nodes_of(flow)[_STEPS[0]]
    assert [(each["tests"], each["runs"]) for each in initial["tools"]] == [(1, 0), (0, 1), (0, 0)]
    assert (initial["least"], initial["surplus"]) == (["Read", "Bash"], ["Edit"])
    assert run(["permissions", ".agent", "--all-runs"]) == 0
    text = capfd.readouterr().out
    assert "tests    1 test, and 2 recorded runs" in text
    assert "called by 2 runs" in text
    assert "called by no test and no run" in text


def test_a_run_of_another_flow_is_no_evidence(tmp_path: Path, capfd: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    solve(tmp_path, ["Read"], each_step())
    Path("s.json").write_text(json.dumps(scenario_of(tmp_path / _TESTS)), encoding="utf-8")
    assert run(["compile", "-o", "x.plan.json"]) == 0
    assert run(["run", "x.plan.json", "--scenario", "s.json", "--run", "one"]) == 0
    assert run(["permissions", str(DESK), "--run", "one"]) == 2
    assert "run 'one' is of the flow 'issue-solver', which is not listed here" in capfd.readouterr().err
    (*_, desk) = listed(capfd, str(DESK), "--all-runs")
    assert desk["runs"] == 0
    assert run(["permissions", ".agent", "--run", "three"]) == 2
    assert "three" in capfd.readouterr().err


def test_a_recorded_test_keeps_what_steps_called(tmp_path: Path, capfd: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    solve(tmp_path, ["Read", "Bash"], each_step("Bash"))
    tests = tmp_path / _TESTS
    Path("s.json").write_text(json.dumps(scenario_of(tests)), encoding="utf-8")
    tests.unlink()
    assert run(["compile", "-o", "x.plan.json"]) == 0
    assert run(["run", "x.plan.json", "--scenario", "s.json", "--run", "one"]) == 0
    (flow,) = listed(capfd, ".agent", "--all-runs")
    assert (flow["tests"], nodes_of(flow)["initial.issue"]["least"]) == (0, ["Bash"])
    assert run(["runs", "record", "one", "-o", str(tests)]) == 0
    (flow,) = listed(capfd, ".agent")
    assert [nodes_of(flow)[each]["least"] for each in _STEPS] == [["Bash"]] * 3


def test_steps_inside_phases_need_what_their_scenarios_say(tmp_path: Path, capfd: Shown) -> None:
    orchestrator(["Read", "Bash"], ["Read"])(tmp_path)

    def solved(verdict: str | None, called: list[str]) -> dict[str, Any]:
        return {"answers": {name: {"answer": each, "called": called} for name, each in answer_steps(verdict).items()}}

    agents = {"builder": solved(None, ["Bash"]), "reviewer": solved("approved", [])}
    scenario = {"entry": "kind:build", "inputs": {"issue": 7}, "agents": agents, "waits": "skip"}
    document = {"flow": "workflow", "tests": {"once": {"scenario": scenario, "expect": {"outcome": "done"}}}}
    for each in tmp_path.rglob("*.flow-test.yaml"):
        each.unlink()
    (tmp_path / ".agent" / "all.flow-test.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    flows = {each["flow"]: each for each in listed(capfd, str(tmp_path), "--root", str(tmp_path))}
    nodes = nodes_of(flows["workflow"])
    assert flows["workflow"]["failing"] == 0
    assert (nodes["build/initial.issue"]["least"], nodes["build/initial.issue"]["surplus"]) == (["Bash"], ["Read"])
    assert (nodes["review/closure.issue"]["least"], nodes["review/closure.issue"]["surplus"]) == ([], ["Read"])
    assert {each["evidence"] for each in flows["builder"]["nodes"]} == {"no tests"}


def test_programs_are_called_where_a_test_runs_them(tmp_path: Path, capfd: Shown) -> None:
    stage_plan(a=("curl https://example.org", ""), b=("cat x", "a"))(tmp_path)
    document = {"flow": "plan", "tests": {"all": {"scenario": {"processes": {}}, "expect": {"outcome": "done"}}}}
    (tmp_path / "plan.flow-test.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    (flow,) = listed(capfd, str(tmp_path), "--root", str(tmp_path))
    assert flow["failing"] == 0
    assert [each["least"] for each in flow["nodes"]] == [["curl"], ["cat"]]


def test_agent_files_have_no_tests_and_say_why(tmp_path: Path, capfd: Shown) -> None:
    agent_file(".claude/agents/a.md", "name: a\ndescription: d\ntools: Read")(tmp_path)
    assert run(["permissions", str(tmp_path), "--root", str(tmp_path)]) == 0
    assert "none: no flow runs this file" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("file", "frontmatter", "told"),
    [
        (
            ".claude/agents/a.md",
            "name: a\ndescription: d\ndisallowedTools: Bash, Write, bash",
            "any tool but Bash and Write",
        ),
        (
            ".opencode/agent/a.md",
            "description: d\ntools: {bash: false, webfetch: false}",
            "any tool but bash and webfetch",
        ),
        (".claude/agents/a.md", "name: a\ndescription: d\ntools: Bash, Read\ndisallowedTools: Bash", "Read"),
    ],
)
def test_tools_that_are_taken_from_an_agent_are_not_its_own(
    file: str, frontmatter: str, told: str, tmp_path: Path, capfd: Shown
) -> None:
    agent_file(file, frontmatter)(tmp_path)
    assert run(["permissions", str(tmp_path), "--root", str(tmp_path)]) == 0
    shown = capfd.readouterr().out
    assert told in shown
    assert told.startswith("any") or "Bash" not in shown

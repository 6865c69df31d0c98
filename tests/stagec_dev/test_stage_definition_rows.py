"""Rows about stage definitions: found, answered in the shape of upstream's answers, and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.rows import Agreement
from stagec_dev.tools.answer import AskedRow, ask_rows

STAGE = {
    "id": "plan",
    "body": "Call submit.",
    "allowedTools": [],
    "turnCap": 3,
    "completionTool": "submit",
    "completionSchema": {"type": "object"},
}
SEED = "---\nid: plan\nname: Plan\n---\nPlan.\n"


def row(folder: Path, file: str, given: object) -> AskedRow:
    """Return the one row of a folder in which there is nothing else."""
    path = folder / "stage-definitions" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(given if isinstance(given, str) else json.dumps(given), encoding="utf-8")
    (found,) = ask_rows(folder)
    return found


def stage(folder: Path, **members: object) -> AskedRow:
    about = {key: given for key, given in members.items() if key in {"next", "contextSchema", "expect", "stagec"}}
    changed = {key: given for key, given in members.items() if key not in about}
    return row(folder, "cases/validate-stage-definition.json", [{"stage": {**STAGE, **changed}, **about}])


class TestOneStage:
    def test_that_is_in_order(self, tmp_path: Path) -> None:
        got: Any = stage(tmp_path).answer()
        assert (got["ok"], got["rules"]) == (True, [])

    @pytest.mark.parametrize(
        ("members", "code", "path"),
        [
            ({"turnCap": 0}, "StageTurnCapTooLow", "/turnCap"),
            ({"completionSchema": {"type": "objct"}}, "StageCompletionSchemaInvalid", "/completionSchema"),
            ({"completionTool": 5}, "StageDefinitionInvalid", "/completionTool"),
            (
                {"body": "${ctx.a} ${ctx.b}", "contextSchema": {"required": ["a"], "optional": []}},
                "StageCtxUnresolved",
                "/body#b",
            ),
            (
                {"next": {"nextStages": ["x", "y"], "execution": "parallel", "join": "z"}},
                "StageJoinDangling",
                "/next#join",
            ),
        ],
        ids=["cap", "schema", "type", "context", "join"],
    )
    def test_that_is_not(self, tmp_path: Path, members: dict[str, Any], code: str, path: str) -> None:
        got: Any = stage(tmp_path, **members).answer()
        assert (got["ok"], got["class"], got["code"], got["path"]) == (False, "Validation", code, path)

    def test_of_several_faults_upstream_s_first_is_told(self, tmp_path: Path) -> None:
        got: Any = stage(tmp_path, turnCap=0, completionSchema=True, id="").answer()
        assert got["code"] == "StageTurnCapTooLow"
        assert {"turn-cap-too-low", "completion-schema-root", "id-type"} <= set(got["rules"])

    def test_whose_next_is_code_is_not_applicable(self, tmp_path: Path) -> None:
        found = stage(tmp_path, next="THROWS", stagec="not applicable: there is no such thing")
        assert found.compare(found.answer()) is Agreement.AGREE

    def test_whose_placeholders_count_in_markdown_only(self, tmp_path: Path) -> None:
        wanted = "profile wiki-1.0 judges these placeholders; in code-0.1 they are literal text"
        context: dict[str, list[str]] = {"required": [], "optional": []}
        found = stage(tmp_path, body="{{ctx.a}}", contextSchema=context, stagec=wanted)
        assert found.compare(found.answer()) is Agreement.AGREE


class TestSeveralStages:
    def test_are_told_apart_by_what_upstream_says_of_them(self, tmp_path: Path) -> None:
        found = row(tmp_path, "cases/validate-sm-stages.json", [{"stages": [STAGE, STAGE], "entry": "plan"}])
        got: Any = found.answer()
        assert (got["code"], got["context"]) == ("StageDefinitionInvalid", {"duplicateId": "plan"})

    def test_need_an_entry(self, tmp_path: Path) -> None:
        got: Any = row(tmp_path, "cases/validate-sm-stages.json", [{"stages": [STAGE], "entry": "none"}]).answer()
        assert (got["code"], got["context"]) == ("StageDefinitionInvalid", {"entryStage": "none"})


class TestAShape:
    @pytest.mark.parametrize(
        ("value", "answers"),
        [
            (STAGE, (True, True)),
            ({}, (False, False)),
            ({**STAGE, "extra": 1}, (False, True)),
            ({key: STAGE[key] for key in STAGE if key != "allowedTools"}, (True, False)),
            ({**STAGE, "allowedTools": [""]}, (False, False)),
        ],
        ids=["whole", "empty", "unknown key", "no tools", "empty name"],
    )
    def test_is_judged_under_both_profiles(
        self, tmp_path: Path, value: dict[str, Any], answers: tuple[bool, bool]
    ) -> None:
        got: Any = row(tmp_path, "cases/stage-definition-schema.json", [{"value": value}]).answer()
        assert (got["ok"], got["profiles"]["wiki-1.0"]["ok"]) == answers


@pytest.mark.parametrize(
    ("value", "rules"), [({"entry": "Plan"}, []), ({"entry": 4}, ["sm-config"]), ({}, ["sm-config"])], ids=str
)
def test_a_configuration_is_judged_by_itself(tmp_path: Path, value: dict[str, Any], rules: list[str]) -> None:
    got: Any = row(tmp_path, "cases/sm-config-schema.json", [{"value": value}]).answer()
    assert (got["ok"], got["rules"]) == (not rules, rules)


def test_references_are_those_of_stage_objects(tmp_path: Path) -> None:
    found = row(tmp_path, "cases/extract-ctx-references.json", [{"body": "${ctx.a} {{ctx.b}}", "refs": ["a"]}])
    assert found.compare(found.answer()) is Agreement.AGREE


def test_a_markdown_file_is_a_row(tmp_path: Path) -> None:
    found = row(tmp_path, "seed/plan.md", SEED)
    got: Any = found.answer()
    assert (got["missing"][:2], found.compare(got)) == (["allowedTools", "completionTool"], Agreement.AGREE)


def test_a_kind_of_row_that_nobody_knows_is_not_answered_yet(tmp_path: Path) -> None:
    found = row(tmp_path, "cases/later.json", [{"name": "a", "expect": {"joinReady": True}}])
    assert (found.answer(), found.compare(None)) == (None, Agreement.NOT_YET)


def test_siblings_are_run(tmp_path: Path) -> None:
    siblings = [["a", 2, "ok"], ["b", 1, "ok"]]
    found = row(tmp_path, "cases/fan-out.json", [{"siblings": siblings, "stagec": {"order": "declared order"}}])
    got: Any = found.answer()
    assert (got["joinReady"], got["order"], found.compare(got)) == (True, ["a", "b"], Agreement.AGREE)


def test_a_row_without_an_answer_is_answered_and_not_compared(tmp_path: Path) -> None:
    found = row(tmp_path, "cases/ctx-access.json", [{"phase": "Exit", "access": "write"}])
    got: Any = found.answer()
    assert got == {"ok": False, "error": "Validation/ContextMutationForbidden"}
    assert found.compare(got) is Agreement.UNKNOWN


@pytest.mark.parametrize(
    ("stem", "given", "wanted"),
    [
        (
            "approval-stack",
            {"tool": "bash", "sm": {"allowedTools": [], "grant": "defer"}, "mode": "yolo"},
            {"kind": "deny", "source": "sm-grant-token", "code": "GrantDenied"},
        ),
        (
            "loop-bound",
            {"kind": "sm", "max": 3, "script": "tool-then-complete"},
            {"capHit": False, "llmTurns": 2, "toolCallRounds": 1, "render": True},
        ),
        (
            "tool-manifest",
            {"allowedTools": ["b", "a"], "sessionTools": ["a", "b"], "completionTool": "done"},
            {"manifest": ["b", "a", "done"]},
        ),
        (
            "tool-manifest",
            {"allowedTools": ["a"], "sessionTools": ["a", "done"], "completionTool": "done"},
            {"error": "completion-tool-collision"},
        ),
        ("join", {"siblings": [["a", "ok"], ["b", "ok"]], "join": "fail"}, {"error": "ExtensionHost/LifecycleFailure"}),
        ("render-body", {"body": "${ctx.a}", "ctx": {"a": [1, None]}}, {"out": "[1,null]"}),
    ],
)
def test_what_is_run_is_answered(tmp_path: Path, stem: str, given: dict[str, Any], wanted: object) -> None:
    assert row(tmp_path, f"cases/{stem}.json", [given]).answer() == wanted


@pytest.mark.parametrize(
    ("stem", "given"),
    [
        ("headless", {"kind": "Select", "yolo": True}),
        ("headless", {"kind": "Confirm", "yolo": False}),
        ("approval-stack", {"tool": "bash", "sm": None, "mode": "ask", "answer": "deny"}),
        ("approval-stack", {"tool": "bash", "sm": {"allowedTools": []}, "mode": "ask", "stageExecutionId": None}),
        ("continuation-controller", {"kind": "default-chat", "max": 3}),
        ("loop-bound", {"kind": "default-chat", "max": 3, "script": "two-tools-then-stop"}),
        ("tool-manifest", {"allowedTools": ["a", "b"], "sessionTools": ["a"], "completionTool": "done"}),
        ("grant-token-sequences", {"steps": [["clear", "s"]]}),
    ],
)
def test_what_a_ruling_keeps_out_is_said_to_be_out_of_scope(tmp_path: Path, stem: str, given: dict[str, Any]) -> None:
    found = row(tmp_path, f"cases/{stem}.json", [given])
    assert found.compare(found.answer()) is Agreement.OUT_OF_SCOPE


def test_results_of_next_are_judged_in_a_pipeline(tmp_path: Path) -> None:
    result = {"stages": ["Test", "Lint"], "execution": "parallel", "join": "Review"}
    found = row(tmp_path, "seed/next.json", [{"nextResult": result}])
    got: Any = found.answer()
    assert (got["ok"], got["judged"], found.compare(got)) == (True, 1, Agreement.AGREE)


def test_a_configuration_is_judged_by_the_machine_above_it(tmp_path: Path) -> None:
    machine = {"id": "m", "entry": "plan", "stages": [STAGE], "configSchema": {"required": ["root"]}}
    (tmp_path / "stage-definitions").mkdir()
    (tmp_path / "stage-definitions" / "m.json").write_text(json.dumps(machine))
    got: Any = row(tmp_path, "examples/m.config.json", {"entry": "plan"}).answer()
    assert (got["ok"], got["rules"]) == (False, ["sm-config"])


def test_a_file_that_is_none_of_ours_is_in_order(tmp_path: Path) -> None:
    got: Any = row(tmp_path, "examples/settings.json", {"securityMode": {"mode": "ask"}}).answer()
    assert got == {"ok": True, "rules": [], "judged": 0}

"""An open workspace says what `stagec validate` says, with the texts of the editor in place of those on the disk."""

from __future__ import annotations

import gc
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import pytest
from benchmarks._pipelines import write_stages
from lsp.conftest import EXAMPLES, Editor, load

from stagec.change.flow_tests.witness import search_briefly
from stagec.check.pipeline import compile_project
from stagec.core.value import replace
from stagec.ir.flow import Flow, SearchedFlow
from stagec.ir.plan import Plan
from stagec.languages.stages.document import Pipeline, Stage
from stagec.lsp.positions import Point, Stretch, TextChange, TextLines, change_text
from stagec.lsp.workspace import CheckedProject, Checker, SupersededError, Workspace, list_findings
from stagec.sources.read import Sources

Edit = Callable[[str], Editor]
PIPELINE = "pipeline.yaml"


def test_unsaved_text_is_judged_and_closing_it_takes_it_back(edit: Edit) -> None:
    editor = edit("code-review")
    assert editor.codes() == {}
    text = editor.open(PIPELINE)
    editor.write(PIPELINE, text.replace("entry: plan", "entry: paln"))
    assert editor.codes() == {PIPELINE: ["STG340"]}
    editor.workspace.close_text(editor.path(PIPELINE))
    assert editor.codes() == {}


def test_the_findings_are_those_of_a_fresh_check_with_the_same_texts(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    text = editor.open("steps_registry.json")
    editor.write("steps_registry.json", text.replace('"closing"', '"closng"'))
    project = editor.check()
    fresh = compile_project(replace(load(editor.folder), overlay=project.overlay), search_briefly)
    assert project.found == fresh.diagnostics
    assert set(project.overlay) == {"steps_registry.json"}


def test_a_text_that_is_on_the_disk_is_read_from_the_disk(edit: Edit) -> None:
    editor = edit("code-review")
    text = editor.open(PIPELINE)
    editor.write(PIPELINE, text + "# more\n")
    assert editor.check().overlay
    Path(editor.path(PIPELINE)).write_text(text + "# more\n", encoding="utf-8")
    editor.workspace.save_text(editor.path(PIPELINE))
    assert not editor.check().overlay


def test_the_mark_and_the_encoding_of_a_file_stay_wrong_while_it_is_open(edit: Edit) -> None:
    editor = edit("code-review")
    lint, plan = Path(editor.path("stages/lint.md")), Path(editor.path("stages/plan.md"))
    lint.write_bytes(b"\xef\xbb\xbf" + lint.read_bytes())
    plan.write_bytes(plan.read_bytes() + b"\xe9\n")
    before = editor.codes()
    assert set(before) >= {"stages/lint.md", "stages/plan.md"}
    editor.open("stages/lint.md", lint.read_text(encoding="utf-8-sig"))
    editor.open("stages/plan.md", plan.read_text(encoding="latin-1"))
    assert editor.codes() == before


def test_what_changes_on_the_disk_is_noticed(edit: Edit) -> None:
    editor = edit("code-review")
    editor.check()
    assert not editor.workspace.has_changed_outside()
    path = Path(editor.path(PIPELINE))
    path.write_text(path.read_text().replace("entry: plan", "entry: paln"))
    assert editor.workspace.has_changed_outside()
    assert editor.workspace.has_changed_outside()  # until somebody checks
    assert editor.codes() == {PIPELINE: ["STG340"]}
    assert not editor.workspace.has_changed_outside()


def test_a_configuration_that_is_written_later_counts(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    before = editor.codes()
    (editor.folder / "stagec.toml").write_text('ignore = ["STG201"]\n')
    after = editor.codes()
    assert [code for code in before["steps_registry.json"] if code != "STG201"] == after["steps_registry.json"]
    (editor.folder / "stagec.toml").write_text("ignore = 1\n")
    (project,) = editor.workspace.check()
    assert project.failure.startswith("stagec.toml:1: ")
    assert list_findings([project]) == {}
    (editor.folder / "stagec.toml").unlink()
    assert editor.codes() == before


def test_suppressions_and_the_baseline_count(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    found = editor.check().found
    text = editor.open("steps_registry.json")
    registry = json.loads(text)
    registry["x-stagec-ignore"] = {"STG201": "on purpose"}
    editor.write("steps_registry.json", json.dumps(registry))
    assert "STG201" not in [each.code for each in editor.check().found]
    editor.write("steps_registry.json", text)
    from stagec.cli.app import run

    here = os.getcwd()
    os.chdir(editor.folder)
    try:
        run(["baseline", "write", "-q"])
    finally:
        os.chdir(here)
    (editor.folder / "stagec.toml").write_text('baseline = "stagec-baseline.json"\n')
    assert found
    assert editor.codes() == {}


def test_several_roots_and_a_project_inside_of_another(tmp_path: Path) -> None:
    for name in ("one", "one/inner", "two"):
        shutil.copytree(EXAMPLES / "broken-on-purpose", tmp_path / name, dirs_exist_ok=True)
    for name in ("one", "one/inner"):
        (tmp_path / name / "stagec.toml").write_text('ignore = ["STG201"]\n' if name == "one/inner" else "")
    workspace = Workspace(load)
    workspace.open_folders([str(tmp_path / "one"), str(tmp_path / "two")])
    top = os.path.realpath(tmp_path)

    def codes(name: str) -> list[str]:
        found = list_findings(workspace.check())
        return [each.code for each in found[f"{top}/{name}/steps_registry.json"].found]

    assert codes("one") == codes("two") == codes("one/inner")
    path = tmp_path / "one" / "inner" / "steps_registry.json"
    workspace.open_text(str(path), path.read_text())  # its own configuration counts from now on
    assert codes("one/inner") == [code for code in codes("one") if code != "STG201"]
    workspace.open_folders([str(tmp_path / "two")])
    workspace.close_text(str(path))
    assert len(workspace.check()) == 1


def test_a_text_outside_of_all_folders_is_judged_with_its_project(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "broken-on-purpose", tmp_path / "a")
    workspace = Workspace(load)
    path = tmp_path / "a" / "steps_registry.json"
    workspace.open_text(str(path), path.read_text())
    assert os.path.realpath(path) in list_findings(workspace.check())


def test_a_check_that_is_given_up_costs_nothing_and_is_done_later(edit: Edit) -> None:
    editor = edit("code-review")
    editor.check()
    text = editor.open(PIPELINE)
    editor.write(PIPELINE, text.replace("entry: plan", "entry: paln"))
    calls = []

    def pause() -> None:
        calls.append(1)
        raise SupersededError

    with pytest.raises(SupersededError):
        editor.workspace.check(pause)
    assert len(calls) == 1
    assert editor.codes() == {PIPELINE: ["STG340"]}


def test_nothing_is_compiled_where_nothing_has_changed(edit: Edit) -> None:
    editor = edit("code-review")
    first = editor.check()
    editor.open(PIPELINE)
    assert editor.check() is first


def test_the_checker_tells_what_the_last_text_means(edit: Edit) -> None:
    editor = edit("code-review")
    text = editor.open(PIPELINE)
    told: list[list[str]] = []
    came = Event()

    def tell(projects: object) -> None:
        told.append([each.code for one in list_findings(editor.workspace.last).values() for each in one.found])
        if told[-1] == ["STG340"]:
            came.set()

    faults: list[Exception] = []
    checker = Checker(editor.workspace, tell, faults.append, quiet=0.001)
    checker.start()
    try:
        for end in range(0, len(text), 97):
            editor.write(PIPELINE, text[:end])
            checker.ask()
        editor.write(PIPELINE, text.replace("entry: plan", "entry: paln"))
        checker.ask()
        assert came.wait(20)
    finally:
        checker.end()
    assert faults == []


def test_the_checker_goes_on_after_what_nobody_expected(edit: Edit, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = edit("code-review")
    came, faults = Event(), []
    checks = editor.workspace.check

    def check(*given: object) -> object:
        if not faults:
            raise ZeroDivisionError
        return checks()

    monkeypatch.setattr(editor.workspace, "check", check)
    checker = Checker(editor.workspace, lambda _projects: came.set(), faults.append, quiet=0.001)
    checker.start()
    try:
        checker.ask()
        while not faults:
            came.wait(0.01)
        checker.ask()
        assert came.wait(20)
    finally:
        checker.end()
    assert isinstance(faults[0], ZeroDivisionError)


def test_positions_count_code_units() -> None:
    lines = TextLines("a😀b\r\nc\rd\ne")
    assert [lines.point(offset) for offset in (0, 1, 2, 5, 7)] == [
        Point(0, 0),
        Point(0, 1),
        Point(0, 3),
        Point(1, 0),
        Point(2, 0),
    ]
    for offset in (0, 1, 2, 5, 7, 9):
        assert lines.offset(lines.point(offset)) == offset
    assert lines.offset(Point(0, 99)) == 3
    assert lines.offset(Point(99, 0)) == len(lines.text)


def test_changes_apply_one_after_the_other() -> None:
    first = TextChange("X", Stretch(Point(0, 1), Point(0, 2)))
    second = TextChange("", Stretch(Point(0, 0), Point(1, 0)))
    assert change_text("abc\ndef", [first, second]) == "def"
    assert change_text("abc", [TextChange("new")]) == "new"
    assert change_text("a\u2028b\x0cc", [TextChange("!", Stretch(Point(0, 5), Point(0, 5)))]) == "a\u2028b\x0cc!"


def test_a_text_in_the_root_of_a_folder_opens_no_second_project(edit: Edit) -> None:
    editor = edit("code-review")
    editor.open(PIPELINE)
    assert [each.root for each in editor.workspace.check()] == [str(editor.folder)]


def test_texts_that_are_still_the_same_are_read_and_judged_once(edit: Edit) -> None:
    editor = edit("code-review")
    before = editor.check()
    text = editor.open("stages/plan.md")
    editor.write("stages/plan.md", text + "More.\n")
    after = editor.check()
    assert before.compilation is not None
    assert after.compilation is not None
    old, new = before.compilation.trees, after.compilation.trees
    read_again = [file for file in new if new[file].value is not old[file].value]
    judged_again = [file for file in new if new[file].kind == "stage" and new[file] is not old[file]]
    assert read_again == judged_again == ["stages/plan.md"]
    editor.write("stages/plan.md", text)
    assert editor.check().found == before.found


def test_an_earlier_check_leaves_nothing_in_memory(edit: Edit) -> None:
    editor = edit("file-review")
    editor.check()
    text = editor.open(PIPELINE)
    sources = _count_sources()
    for number in range(3):
        editor.write(PIPELINE, f"{text}# {number}\n")
        editor.check()
    assert _count_sources() <= sources


def _count_sources() -> int:
    gc.collect()
    return sum(isinstance(each, Sources) for each in gc.get_objects())


def test_runs_are_searched_again_when_the_plan_is_another_one(edit: Edit, monkeypatch: pytest.MonkeyPatch) -> None:
    from stagec.lsp import workspace

    searched: list[str] = []

    def search(flow: Flow, plan: Plan) -> SearchedFlow:
        searched.append(flow.id)
        return search_briefly(flow, plan)

    monkeypatch.setattr(workspace, "search_briefly", search)
    editor = edit("code-review")
    text = editor.open(PIPELINE)
    editor.check()
    editor.write(PIPELINE, f"{text}# a remark\n")
    editor.check()
    assert len(searched) == 1
    plan = editor.open("stages/plan.md")
    editor.write("stages/plan.md", plan + "More.\n")
    editor.check()
    assert len(searched) == 2


def test_what_rules_find_is_told_before_runs_are_searched(edit: Edit) -> None:
    editor = edit("code-review")
    text = editor.open(PIPELINE)
    blocked = (
        text.replace("branch: {type: string}", "branch: {enum: [main]}") + "gate: {plan: {block: {branch: main}}}\n"
    )
    told: list[list[str]] = []

    def check(written: str) -> list[str]:
        told.clear()
        editor.write(PIPELINE, written)
        found = editor.workspace.check(tell=lambda early: told.append(list_codes(early)))
        return list_codes(found)

    assert (check(text + "# more\n"), told) == ([], []), "the first check is told as a whole"
    assert (check(text.replace("entry: plan", "entry: paln")), told) == (["STG340"], [["STG340"]])
    assert (check(blocked), told) == (["STG650", "STG387"], [["STG387"]])
    assert (check(blocked + "# more\n"), told) == (["STG650", "STG387"], []), (
        "what is found does not vanish for a moment"
    )
    assert (check(text), told) == ([], [])
    assert (check(text + "# other\n"), told) == ([], [[]])


def test_swapped_values_are_searched_after_what_rules_find_is_told(edit: Edit) -> None:
    editor = edit("issue-flow")
    file = ".agent/issue-solver/steps_registry.json"
    text = editor.open(file)
    registry = json.loads(text)
    one, other = (registry["steps"][key] for key in ("continuation.issue", "closure.issue"))
    one["stepKind"], other["stepKind"] = other["stepKind"], one["stepKind"]
    swapped = json.dumps(registry)
    told: list[list[str]] = []

    def check(written: str) -> list[str]:
        told.clear()
        editor.write(file, written)
        found = editor.workspace.check(tell=lambda early: told.append(list_codes(early)))
        return list_codes(found)

    assert check(text) == []
    assert check(swapped) == ["STG207"]
    assert told == [["STG207", "STG207"]]
    assert check(swapped + "\n") == ["STG207"]
    assert told == [], "what is folded does not come back for a moment"


def list_codes(projects: Sequence[CheckedProject]) -> list[str]:
    return [one.code for each in list_findings(projects).values() for one in each.found]


def write_pipeline(folder: Path) -> Editor:
    """Write a pipeline of some stages that say the same, and open it."""
    write_stages(folder / "project", 6)
    return Editor(folder / "project")


def stages_of(project: CheckedProject) -> dict[str, Stage]:
    assert project.compilation is not None
    (pipeline,) = (each for each in project.compilation.documents if isinstance(each, Pipeline))
    return dict(pipeline.by_id)


def test_only_a_stage_that_has_changed_is_read_again(tmp_path: Path) -> None:
    editor = write_pipeline(tmp_path)
    text = editor.open("stages/part-003.md")
    before = stages_of(editor.check())
    editor.write("stages/part-003.md", text.replace("retry-later", "retry-now"))
    after = stages_of(editor.check())
    assert [name for name, each in after.items() if each is not before[name]] == ["part-003"]
    pipeline = editor.open("pipeline.yaml")
    editor.write("pipeline.yaml", pipeline.replace("severity: high", "severity: low", 1))
    last = stages_of(editor.check())
    assert [name for name, each in last.items() if each is not after[name]] == ["part-000"]
    assert last["part-000"].conduct.cases[0].when[1].values == ("low",)


def test_work_of_earlier_checks_counts_for_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the budget is enough for the mistakes of some stages: whether their work was done before must not matter
    monkeypatch.setattr("stagec.sources.contract.schemas._PATIENCE", 10)
    editor = write_pipeline(tmp_path)
    for path in (editor.folder / "stages").iterdir():
        path.write_text(path.read_text().replace("parsed.summary", "parsed.sumary"))
    text = editor.open("stages/part-003.md")
    for begin in ("---\n", "--- \n", "---\n# a\n"):
        editor.write("stages/part-003.md", text.replace("---\n", begin, 1))
        project = editor.check()
        fresh = compile_project(replace(load(editor.folder), overlay=project.overlay), search_briefly)
        assert project.found == fresh.diagnostics
        assert 0 < len(project.found) < 5

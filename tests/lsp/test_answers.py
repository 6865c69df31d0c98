"""Fixes, suppressions, layout, hover, names, symbols, completion, renaming and lenses of an open workspace."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from lsp.conftest import Editor, point_at
from orchestrated import write_orchestrator

from stagec.check.pipeline import compile_project
from stagec.core.failure import Failure
from stagec.lsp.actions import EditorAction, FileEdit, fix_file, lay_out, list_actions
from stagec.lsp.completion import Proposal, complete
from stagec.lsp.hover import describe
from stagec.lsp.name_places import FileMove, Renamed, read_places, rename
from stagec.lsp.positions import Point, Stretch, TextChange, TextLines, change_text
from stagec.lsp.symbols import draw_flow, find_symbols, list_folds, list_hints, list_lenses, list_symbols, tell_bounds
from stagec.sources.project.baseline import Baseline, read_baseline, write_baseline

Edit = Callable[[str], Editor]
WHOLE = Stretch(Point(0, 0), Point(10_000, 0))
REGISTRY, PIPELINE = "steps_registry.json", "pipeline.yaml"
TESTS = "code-review.flow-test.yaml"


def apply(editor: Editor, edits: Iterable[FileEdit]) -> None:
    """Make edits as an editor makes them: in texts that are open."""
    for each in edits:
        file = each.path.removeprefix(f"{editor.folder}/")
        text = editor.workspace.find_text(each.path)
        assert text is not None
        editor.open(file, text)
        editor.write(file, change_text(text, [TextChange(each.text, each.where)]))


def actions(editor: Editor, file: str) -> list[EditorAction]:
    return list(list_actions(editor.check(), file, WHOLE))


# Fixes and layout


def test_a_fix_settles_its_finding(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    before = editor.codes()[REGISTRY]
    fixes = [each for each in actions(editor, REGISTRY) if not each.title.startswith("Suppress")]
    assert not any("baseline" in each.title for each in fixes)  # there is none
    assert fixes
    assert all(each.title.endswith("(a guess)") for each in fixes if not each.is_safe)
    apply(editor, fixes[0].edits)
    after = editor.codes().get(REGISTRY, [])
    assert fixes[0].about.code in before
    assert after.count(fixes[0].about.code) == before.count(fixes[0].about.code) - 1


def test_all_fixes_of_a_file_leave_the_others_alone(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    assert fix_file(editor.check(), REGISTRY, guesses=False) == ()
    apply(editor, fix_file(editor.check(), REGISTRY, guesses=True))
    assert all(each.fix is None for each in editor.check().found if each.at.file == REGISTRY)
    assert editor.codes().get(REGISTRY, []) != [] or "STG201" not in editor.codes()
    assert set(editor.check().overlay) == {REGISTRY}


@pytest.mark.parametrize("file", ["steps_registry.json", "agent.json"])
def test_a_suppression_in_json_silences_one_finding(edit: Edit, file: str) -> None:
    editor = edit("broken-on-purpose")
    told = [each for each in actions(editor, file) if each.title.startswith("Suppress")]
    for each in told:
        editor = Editor(editor.folder)
        before = editor.check().found
        apply(editor, each.edits)
        assert len(editor.check().found) == len(before) - 1
        assert each.about.code not in [one.code for one in editor.check().found if one.at == each.about.at]
    assert file != REGISTRY or told


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (PIPELINE, "maxParallel: 2", "maxParalel: 2"),
        ("stages/lint.md", "turnCap: ", "turnCap: -"),
        ("stages/lint.md", "ctx.branch", "ctx.brunch"),
    ],
)
def test_a_suppression_in_yaml_is_a_comment_with_a_reason(edit: Edit, file: str, old: str, new: str) -> None:
    editor = edit("code-review")
    text = editor.open(file)
    assert old in text
    editor.write(file, text.replace(old, new, 1))
    (found,) = editor.check().found
    (each,) = [each for each in actions(editor, file) if each.title.startswith("Suppress")]
    apply(editor, each.edits)
    assert f"# stagec: ignore[{found.code}]" in editor.check().lines(file).text
    assert editor.codes() == {}


def test_a_finding_is_added_to_the_baseline_and_is_gone_when_that_is_saved(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    baseline = editor.folder / "known.json"
    baseline.write_bytes(write_baseline(Baseline()))
    (editor.folder / "stagec.toml").write_text('baseline = "known.json"\n')
    for left in (2, 1, 0):
        offered = [each for each in actions(editor, REGISTRY) if each.title == "Add to the baseline known.json"]
        assert len(offered) == left + 1
        apply(editor, offered[0].edits)
        text = editor.workspace.find_text(str(baseline))
        assert text is not None
        assert len(read_baseline(text.encode()).entries) == 3 - left
        baseline.write_text(text)
        editor = Editor(editor.folder)
        assert len(editor.codes().get(REGISTRY, ())) == left
    # findings of mandatory rules and broken baselines are never added to
    assert [each.title for each in actions(editor, "agent.json")] == []
    baseline.write_text("{}")
    broken = Editor(editor.folder)
    assert broken.check().failure


def test_a_second_suppression_joins_the_first_one(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    text = editor.open(REGISTRY)
    registry = json.loads(text)
    registry["steps"]["initial.question"]["x-stagec-ignore"] = {"STG228": "no"}
    registry["steps"]["initial.question"]["wrong"] = 1
    editor.write(REGISTRY, json.dumps(registry, indent=2))
    each = next(
        each
        for each in actions(editor, REGISTRY)
        if each.title.startswith("Suppress") and each.about.at.pointer[-1:] == ("wrong",)
    )
    apply(editor, each.edits)
    step = json.loads(editor.check().lines(REGISTRY).text)["steps"]["initial.question"]
    assert set(step["x-stagec-ignore"]) == {"STG228", each.about.code}


def test_layout_is_that_of_the_formatter(edit: Edit) -> None:
    editor = edit("code-review")
    assert lay_out(editor.check(), PIPELINE) == ()
    text = editor.open(PIPELINE)
    editor.write(PIPELINE, text.replace("maxParallel: 2", "maxParallel:   2"))
    apply(editor, lay_out(editor.check(), PIPELINE))
    assert editor.check().lines(PIPELINE).text == text
    editor.write(PIPELINE, "a: [")
    assert lay_out(editor.check(), PIPELINE) == ()


# Hover and names


def hover(editor: Editor, file: str, where: str, offset: int = 0) -> str:
    text = editor.workspace.find_text(editor.path(file)) or ""
    shown = describe(editor.check(), file, text, point_at(text, where, offset))
    return "" if shown is None else shown.text


def test_hover_on_a_finding_is_the_page_of_its_rule(edit: Edit) -> None:
    shown = hover(edit("broken-on-purpose"), REGISTRY, "continuation.qestion")
    assert shown.startswith("**STG201 unknown-target**")
    assert "## How to fix" in shown


def test_hover_on_a_node_says_what_leads_there_and_where_it_leads(edit: Edit) -> None:
    editor = edit("code-review")
    shown = hover(editor, PIPELINE, "plan: execute", 6)
    assert shown.startswith("stage **execute**")
    for part in ("`plan` — ", "`review` — ", "`test` and `lint`, then `review`", "`Edit`", "`submit_change`"):
        assert part in shown
    assert "begins runs" in hover(editor, "stages/plan.md", "id: plan", 4)


def test_hover_on_an_envelope_says_what_it_needs(edit: Edit) -> None:
    shown = hover(edit("wine-quality"), "plan.yaml", "stageId: S03_split_data", 9)
    assert "needs `S01_load_data`" in shown
    assert "`S04_train_ridge` needs it" in shown


def test_hover_on_a_placeholder_says_its_type_and_who_makes_it(edit: Edit) -> None:
    editor = edit("code-review")
    assert "{type: string, minLength: 1}" in hover(editor, "stages/plan.md", "{{ctx.task", 4)
    text = (editor.folder / "stages/execute.md").read_text()
    read = next(each for each in text.split("{{")[1:] if each.startswith(("ctx.upstream", "stage."))).partition("}}")[0]
    shown = hover(editor, "stages/execute.md", read, 2)
    assert "`plan`" in shown
    assert "`review`" in shown


def test_hover_on_a_key_is_its_documentation(edit: Edit) -> None:
    editor = edit("code-review")
    assert "The stage where runs begin." in hover(editor, PIPELINE, "entry:", 1)
    assert "turn" in hover(editor, "stages/plan.md", "turnCap", 1)
    assert "How the run ends." in hover(editor, TESTS, "outcome:", 1)
    assert "begin" in hover(edit("broken-on-purpose"), REGISTRY, "entryStepMapping", 1)
    assert hover(editor, "stages/plan.md", "You", 0) == ""


def spots(editor: Editor, file: str, where: str, offset: int = 0) -> tuple[list[str], list[str]]:
    """Return the definitions of the name at a place and its references, as lines."""
    text = editor.workspace.find_text(editor.path(file)) or ""
    places = read_places(editor.check())
    placed = places.find(file, point_at(text, where, offset))
    assert placed is not None
    subject = placed.occurrence.subject

    def show(found: Iterable[object]) -> list[str]:
        return [
            f"{each.path.removeprefix(f'{editor.folder}/')}:{each.where.start.line + 1}"  # type: ignore[attr-defined]
            for each in found
        ]

    return show(places.find_definitions(subject)), show(places.find_references(subject, with_definitions=False))


def test_a_target_leads_to_its_definition_and_to_all_mentions(edit: Edit) -> None:
    editor = edit("code-review")
    defined, named = spots(editor, PIPELINE, "plan: execute", 6)
    assert defined == ["stages/execute.md:2"]
    assert {each.partition(":")[0] for each in named} == {PIPELINE, TESTS}
    assert len(named) > 10
    defined, named = spots(editor, "stages/execute.md", "Edit", 1)
    assert defined[0].startswith("tools.yaml:")
    defined, _ = spots(editor, "stages/execute.md", "{{ctx.task", 3)
    assert defined == ["pipeline.yaml:8"]
    defined, _ = spots(editor, PIPELINE, "tools: tools.yaml", 8)
    assert defined == ["tools.yaml:1"]


def test_names_of_a_registry_lead_to_steps_validators_prompts_and_schemas(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    defined, named = spots(editor, REGISTRY, '"target": "verification.question"', 12)
    assert len(defined) == 1
    assert len(named) >= 3
    defined, _ = spots(editor, REGISTRY, '"failurePattern": "no-comment"', 20)
    assert len(defined) == 1
    assert spots(editor, REGISTRY, '"file": "question', 12)[0] == ["schemas/question.schema.json:1"]
    assert spots(editor, REGISTRY, '"c2": "initial"', 8)[0][0].endswith("f_default.md:1")


def test_symbols_of_a_document_and_of_the_workspace(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    project = editor.check()
    found = list(list_symbols(project, REGISTRY))
    assert [each.name for each in found if each.kind == "step"] == list(
        json.loads((editor.folder / REGISTRY).read_text())["steps"]
    )
    for each in found:
        assert each.whole.where.holds(each.named.where.start)
        assert each.whole.where.holds(each.named.where.end)
    assert {each.name for each in find_symbols([project], "verquest")} == {"verification.question"}
    assert len(list(find_symbols([project], ""))) > len(found)


def test_folds_are_the_parts_that_are_indented() -> None:
    assert list(list_folds("a:\n  b: 1\n  c:\n    - d\n\n# e\nf: 1\n", "yaml")) == [(2, 3), (0, 3)]
    assert list(list_folds('{\n "a": {\n  "b": 1\n }\n}', "json")) == [(1, 2), (0, 3)]
    assert (0, 3) in list(list_folds("---\na:\n  b: 1\n---\n text\n", "markdown"))


# Completion


def proposals(editor: Editor, file: str, text: str) -> dict[str, Proposal]:
    """Complete where the text has a caret."""
    plain = text.replace("^", "", 1)
    editor.check()
    if editor.workspace.find_text(editor.path(file)) is not None:
        editor.open(file)
        editor.check()
    editor.write(file, plain)
    editor.check()
    known = editor.workspace.find_readable(editor.path(file))
    assert known is not None
    found = complete(known, file, plain, TextLines(plain).point(text.index("^")))
    return {each.label: each for each in found}


def result(editor: Editor, file: str, text: str, name: str) -> str:
    """Return the text with a proposal taken."""
    each = proposals(editor, file, text)[name]
    return change_text(text.replace("^", "", 1), [TextChange(each.text, each.where)])


def test_targets_are_completed_in_json_yaml_and_frontmatter_also_in_broken_text(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    text = (editor.folder / REGISTRY).read_text()
    broken = text.replace('"target": "continuation.qestion"', '"target": "cont^', 1)
    assert broken != text
    assert 'target": "continuation.question' in result(editor, REGISTRY, broken, "continuation.question")
    bare = text.replace('"target": "continuation.qestion"', '"target": ^', 1)
    assert '"target": "continuation.question"' in result(editor, REGISTRY, bare, "continuation.question")
    editor = edit("code-review")
    text = (editor.folder / PIPELINE).read_text()
    assert "entry: execute\n" in result(editor, PIPELINE, text.replace("entry: plan", "entry: ^"), "execute")
    assert "  plan: review\n" in result(editor, PIPELINE, text.replace("plan: execute", "plan: ex^"), "review")
    assert "join: review" in result(editor, PIPELINE, text.replace("join: review}", "join: r^"), "review")
    stage = (editor.folder / "stages/lint.md").read_text()
    assert "run_tests" in proposals(editor, "stages/lint.md", stage.replace("[Read,", "[Read, ^"))


def test_keys_are_completed_but_not_twice(edit: Edit) -> None:
    editor = edit("code-review")
    text = (editor.folder / PIPELINE).read_text()
    found = proposals(editor, PIPELINE, text + "^")
    assert "hooks" in found
    assert "entry" not in found
    assert found["hooks"].text == "hooks: "
    assert found["hooks"].told
    assert {"execute", "lint"} <= set(
        proposals(editor, PIPELINE, text.replace("  plan: execute", "  ^: x\n  plan: execute"))
    )
    stage = (editor.folder / "stages/lint.md").read_text()
    assert "resolutionPolicy" in proposals(editor, "stages/lint.md", stage.replace("resolutionPolicy: ", "res^ # "))
    tests = (editor.folder / TESTS).read_text()
    assert "visits" in proposals(editor, TESTS, tests.replace("      outcome: done", "      ^\n      outcome: done", 1))
    registry = edit("broken-on-purpose")
    text = (registry.folder / REGISTRY).read_text()
    text = (
        text.replace('{ "stepId"', '{ ^, "stepId"')
        if '{ "stepId"' in text
        else text.replace('"stepId": "initial.question"', '^, "stepId": "initial.question"', 1)
    )
    assert '"uvVariables": , "stepId"' in result(registry, REGISTRY, text, "uvVariables")


@pytest.mark.parametrize("is_broken", [False, True])
@pytest.mark.parametrize("in_frontmatter", [False, True])
def test_runs_for_elements_are_completed(edit: Edit, *, in_frontmatter: bool, is_broken: bool) -> None:
    editor = edit("file-review")
    file = "stages/list-files.md" if in_frontmatter else PIPELINE
    text = (editor.folder / file).read_text()
    head, last = ("stagec:\n  next:", "turnCap:") if in_frontmatter else ("next:\n  list-files:", "next:")
    case = f"{head}\n    forEach: <1>\n    <2>\n    stages: [<3>]\n    onFailure: <4>\n    join: <5>\n"
    whole = text.replace(last, case + last, 1) if in_frontmatter else text[: text.index(last)] + case
    whole = whole.replace("name: ", "name: [", 1) if is_broken else whole

    def propose(number: int) -> set[str]:
        return {*proposals(editor, file, re.sub("<.>", "", whole.replace(f"<{number}>", "^")))}

    assert propose(1) == {"parsed.files"}
    assert propose(2) >= {"most", "concurrency", "execution"}
    assert not propose(2) & {"forEach", "list-files"}
    assert propose(3) == propose(5) == {"list-files", "review-file", "summarise"}
    assert propose(4) == {"abort", "collect"}


@pytest.mark.parametrize("in_frontmatter", [False, True])
def test_policies_are_completed(edit: Edit, *, in_frontmatter: bool) -> None:
    editor = edit("file-review")
    file = "stages/list-files.md" if in_frontmatter else PIPELINE
    text = (editor.folder / file).read_text()
    head = "policy:" if in_frontmatter else "policy:\n  list-files:"
    policy = f"{head}\n    temperature: 0\n    ^\n"
    whole = text.replace("turnCap:", f"stagec:\n  {policy}turnCap:", 1) if in_frontmatter else text + policy
    found = proposals(editor, file, whole)
    assert found.keys() >= {"model", "maxOutputTokens", "requestTimeout", "requestAttempts"}
    assert "temperature" not in found
    if not in_frontmatter:
        assert "review-file" in proposals(editor, file, f"{text}policy:\n  ^: x\n")


def test_what_a_pipeline_that_runs_as_a_stage_is_given_is_completed(edit: Edit) -> None:
    editor = edit("reviewed-change")

    def propose(old: str, new: str, file: str = PIPELINE) -> set[str]:
        whole = (editor.folder / file).read_text()
        assert old in whole
        return {*proposals(editor, file, whole.replace(old, new, 1))}

    assert "review/pipeline.yaml" in propose("pipeline: review/pipeline.yaml", "pipeline: ^")
    assert propose("{goal: ctx.task}", "{^}") == {"goal"}
    assert propose("{goal: ctx.task}", "{goal: ^}") == {"ctx.task"}
    assert propose("{goal: ctx.task}", "{goal: {^: 1}}") == {"const"}
    inner = editor.folder / "review/pipeline.yaml"
    editor.write(
        "review/pipeline.yaml", inner.read_text().replace("{type: string, minLength: 1}", "{enum: [all, new]}")
    )
    assert propose("{goal: ctx.task}", "{goal: {const: ^}}") == {"all", "new"}
    assert "inputs" in propose("    inputs: {goal: ctx.task}", "    ^: x")
    assert {"judge", "check"} <= propose("output: judge", "output: ^", "review/pipeline.yaml")


def test_values_intents_and_placeholders_are_completed(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    text = (editor.folder / REGISTRY).read_text()
    assert {"work", "closure"} <= set(
        proposals(editor, REGISTRY, text.replace('"stepKind": "work"', '"stepKind": "^"', 1))
    )
    assert "handoff" in proposals(editor, REGISTRY, text.replace('"allowedIntents": [', '"allowedIntents": ["^", ', 1))
    assert "closing" in proposals(editor, REGISTRY, text.replace('"transitions": {', '"transitions": {"^": {}, ', 1))
    prompt = "prompts/steps/initial/question/f_default.md"
    assert "uv-issue" in proposals(editor, prompt, (editor.folder / prompt).read_text() + "See {uv-^")
    editor = edit("code-review")
    stage = (editor.folder / "stages/lint.md").read_text()
    found = proposals(editor, "stages/lint.md", stage + "\nOn {{ctx.^")
    assert {"ctx.branch", "ctx.task", "ctx.upstream"} <= set(found)
    assert proposals(editor, "stages/lint.md", stage + "\nNothing ^ here") == {}


# Renaming


def renamed(editor: Editor, file: str, where: str, offset: int, name: str) -> None:
    text = editor.workspace.find_text(editor.path(file)) or ""
    apply(editor, rename(editor.check(), file, point_at(text, where, offset), name).edits)


def test_a_stage_is_renamed_in_stages_pipeline_and_flow_tests(edit: Edit) -> None:
    editor = edit("code-review")
    renamed(editor, "stages/execute.md", "id: execute", 5, "carry-out")
    assert editor.codes() == {"stages/execute.md": ["STG306"]}  # a note: the file has the old name
    assert set(editor.check().overlay) == {"stages/execute.md", PIPELINE, TESTS}
    assert "execute" not in [*editor.check().compilation.flows[0].nodes]  # type: ignore[union-attr]
    changed = editor.workspace.find_text(editor.path(TESTS)) or ""
    assert "path: [plan, carry-out, test, lint, review]" in changed
    from stagec.cli.app import run

    for file, data in editor.check().overlay.items():
        Path(editor.path(file)).write_bytes(data)
    assert run(["test", str(editor.folder)]) == 0


def test_a_stage_is_renamed_with_the_file_of_its_name_and_what_names_the_file(edit: Edit) -> None:
    editor = edit("code-review")
    list_stages(editor, LISTED)
    renamed = rename_stage(editor, "carry-out")
    assert (renamed.move, renamed.kept) == (FileMove("stages/execute.md", "stages/carry-out.md"), "")
    apply(editor, renamed.edits)
    for file, data in editor.check().overlay.items():
        Path(editor.path(file)).write_bytes(data)
    (editor.folder / "stages/execute.md").rename(editor.folder / "stages/carry-out.md")
    editor.workspace.close_text(editor.path("stages/execute.md"))
    assert editor.codes() == {}
    assert "[stages/plan.md, stages/carry-out.md," in (editor.folder / PIPELINE).read_text(encoding="utf-8")


LISTED = "stages: [stages/plan.md, stages/execute.md, stages/test.md, stages/lint.md, stages/review.md]"


def list_stages(editor: Editor, listed: str) -> None:
    """Let the pipeline name its stage files in another way."""
    path = editor.folder / PIPELINE
    path.write_text(re.sub("stages: .*", listed, path.read_text(encoding="utf-8"), count=1), encoding="utf-8")


@pytest.mark.parametrize(
    ("listed", "name", "kept"),
    [
        (LISTED, "notes", "there is already a file 'stages/notes.md'"),
        ("stages: ['stages/[b-z]*.md']", "act", "with the name 'act', the flow would lead elsewhere"),
    ],
)
def test_a_file_keeps_its_name_where_another_one_would_break_something(
    edit: Edit, listed: str, name: str, kept: str
) -> None:
    editor = edit("code-review")
    list_stages(editor, listed)
    (editor.folder / "stages/notes.md").write_text("Some notes, and no stage.\n", encoding="utf-8")
    renamed = rename_stage(editor, name)
    assert renamed.move is None
    assert renamed.kept.startswith(f"the file 'stages/execute.md' keeps its name: {kept}")
    assert renamed.edits


def test_a_file_of_another_name_than_its_stage_keeps_it(edit: Edit) -> None:
    editor = edit("code-review")
    (editor.folder / "stages/execute.md").rename(editor.folder / "stages/doing.md")
    renamed = rename_stage(editor, "carry-out", "stages/doing.md")
    assert (renamed.move, renamed.kept) == (None, "")


def rename_stage(editor: Editor, name: str, file: str = "stages/execute.md") -> Renamed:
    text = (editor.folder / file).read_text(encoding="utf-8")
    return rename(editor.check(), file, point_at(text, "id: execute", 5), name, can_move=True)


OUTER = "reviewed-change"


@pytest.mark.parametrize(
    ("example", "file", "where", "offset", "name", "changed"),
    [
        ("code-review", PIPELINE, "task: {", 1, "job", ["{{ctx.job}}", "inputs: {job: ", "unfit: [{job: null}"]),
        ("code-review", "stages/plan.md", "ctx.branch", 5, "line", ["{{ctx.line}}", ", line: readme-tests}"]),
        ("code-review", "tools.yaml", "run_tests", 2, "try_tests", ["[Read, try_tests]"]),
        ("code-review", "stages/plan.md", "`submit_plan`", 3, "hand_in", ["completionTool: hand_in", "`hand_in`"]),
        (OUTER, PIPELINE, "task: {", 1, "job", ["{{ctx.job}}", "{goal: ctx.job}", "unfit: [{job: null}"]),
        (OUTER, PIPELINE, "goal: ctx", 1, "aim", ["{{ctx.aim}}", "{aim: ctx.task}", "aim: {type: string"]),
        (OUTER, PIPELINE, "  review:", 3, "inspect", ["id: inspect", "inspect/judge: []", "mend: inspect"]),
        (
            OUTER,
            "review/pipeline.yaml",
            "output: judge",
            9,
            "decide",
            ["id: decide", "review/decide: []", "join: decide"],
        ),
    ],
)
def test_names_are_renamed_everywhere(
    edit: Edit, example: str, file: str, where: str, offset: int, name: str, changed: list[str]
) -> None:
    editor = edit(example)
    before = editor.check().found
    renamed(editor, file, where, offset, name)
    after = editor.check()
    found = [each.code for each in after.found if each.code != "STG306"]  # a note: the file has the old name
    assert found == [each.code for each in before]
    texts = "".join(data.decode() for data in after.overlay.values())
    assert [part for part in changed if part not in texts] == []
    for each, data in after.overlay.items():
        Path(editor.path(each)).write_bytes(data)
    from stagec.cli.app import run

    assert run(["test", str(editor.folder)]) == 0


def test_a_step_is_renamed_in_its_registry(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    before = editor.check().errors
    renamed(editor, REGISTRY, '"target": "verification.question"', 14, "verification.answer")
    assert [each.code for each in editor.check().errors] == [each.code for each in before]
    left = editor.check().lines(REGISTRY).text.count('"verification.question"')
    assert left == 1  # the name of a part of the schema, which is not the step
    assert '"const": "verification.answer"' in editor.check().lines("schemas/question.schema.json").text


def test_an_envelope_is_renamed_where_inputs_name_it(edit: Edit) -> None:
    editor = edit("wine-quality")
    before = editor.check().errors
    renamed(editor, "plan.yaml", "stageId: S03_split_data", 10, "S03_divide_data")
    assert editor.check().errors == before
    assert "S03_divide_data/" in editor.check().lines("plan.yaml").text


def test_a_phase_is_renamed_where_labels_and_outcomes_name_it(tmp_path: Path) -> None:
    write_orchestrator(tmp_path)
    editor, file = Editor(tmp_path), ".agent/workflow.json"
    before = editor.check().errors
    assert "leads" in hover(editor, file, '"review": {', 2).lower()
    renamed(editor, file, '"review": {', 2, "inspect")
    assert editor.check().errors == before
    workflow = json.loads(editor.check().lines(file).text)
    assert "inspect" in workflow["phases"]
    assert workflow["labelMapping"]["review"] == "inspect"
    assert workflow["agents"]["builder"]["outputPhase"] == "inspect"
    with pytest.raises(Failure, match="has no file"):  # the folder of an agent has its name
        renamed(editor, file, '"agent": "reviewer"', 12, "judge")


def test_the_number_of_a_stage_means_the_stage(edit: Edit) -> None:
    editor = edit("wine-quality")
    text = editor.open("plan.yaml")
    editor.write("plan.yaml", text.replace("dependencies: [S01_load_data]", "dependencies: [S01]", 1))
    assert "[S01]" in editor.check().lines("plan.yaml").text
    defined, _ = spots(editor, "plan.yaml", "[S01]", 2)
    assert defined == spots(editor, "plan.yaml", "stageId: S01_load_data", 10)[0]


def test_what_a_new_name_would_break_is_told_instead(edit: Edit) -> None:
    editor = edit("code-review")
    with pytest.raises(Failure, match="there is already a stage 'lint'"):
        renamed(editor, "stages/execute.md", "id: execute", 5, "lint")
    with pytest.raises(Failure, match=r"with the name '', STG\d+ would say"):
        renamed(editor, "stages/execute.md", "id: execute", 5, "")
    with pytest.raises(Failure, match="'Edit' is named by the host"):
        renamed(editor, "stages/execute.md", "Edit", 1, "Change")
    with pytest.raises(Failure, match="there is a file here"):
        renamed(editor, PIPELINE, "tools: tools.yaml", 8, "others.yaml")
    with pytest.raises(Failure, match=r"with the name 'upstream', STG\d+ would say"):
        renamed(editor, PIPELINE, "task: {", 1, "upstream")
    broken = edit("broken-on-purpose")
    with pytest.raises(Failure, match="no step is called"):
        renamed(broken, REGISTRY, "continuation.qestion", 1, "x")


# Lenses


def test_lenses_draw_and_measure_a_flow(edit: Edit) -> None:
    editor = edit("code-review")
    project = editor.check()
    lenses = list(list_lenses(project, PIPELINE))
    assert [each.title for each in lenses] == ["Draw", "Bounds", "Simulate"]
    assert list(list_lenses(project, "tools.yaml")) == []
    assert b"<html" in draw_flow(project, PIPELINE, "code-review")
    assert "at most 20 executions" in tell_bounds(project, PIPELINE, "code-review")
    with pytest.raises(Failure, match="there is no flow"):
        draw_flow(project, PIPELINE, "other")
    with pytest.raises(Failure, match="has errors"):
        tell_bounds(edit("broken-on-purpose").check(), REGISTRY, "answerer")


def test_hints_say_where_intents_lead(edit: Edit) -> None:
    editor = edit("broken-on-purpose")
    hints = [each.text for each in list_hints(editor.check(), REGISTRY)]
    assert " → verification.question" in hints


def test_a_renaming_changes_nothing_but_the_name(edit: Edit) -> None:
    editor = edit("code-review")
    renamed(editor, PIPELINE, "entry: plan", 8, "outline")
    project = editor.check()
    assert compile_project(project.as_open()).flows[0].entries[""].node == "outline"

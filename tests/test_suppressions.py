"""What suppressions cover, that nearness decides, and that nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.check.findings import Verdict, diagnose
from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import AnyRule, Finding, Rule
from stagec.ir.plan import dump
from stagec.sources.project.configuration import configure
from stagec.sources.project.settings import Selection, Settings
from stagec.sources.suppression import take_members

STAGE = """---
id: plan
name: Plan
allowedTools: []
completionTool: submit_plan
completionSchema: {type: object, properties: {done: {type: boolean}}}
retryPolicy: {maxAttempts: 2, backoff: none}
turnCap: 5
resolutionPolicy: fail
%s---
Do it%s, then call `submit_plan`.
"""
WHY = "our own tool reads it"
PLAIN = "entry: plan\nstages: [stages/*.md]\n"


def _compile(root: Path, pipeline: str, stage: str = STAGE % ("", ""), name: str = "pipeline.yaml") -> Compilation:
    (root / "stages").mkdir(exist_ok=True)
    (root / name).write_bytes(pipeline.encode())
    (root / "stages" / "plan.md").write_bytes(stage.encode())
    return compile_project(Project(root, (), Settings()))


def _codes(compilation: Compilation) -> list[str]:
    return [each.code for each in compilation.diagnostics]


BESIDE = f"entry: plan\nstages: [stages/*.md]\nextra: 1  # stagec: ignore[STG125] {WHY}\n"
ABOVE = f"entry: plan\nstages: [stages/*.md]\n# stagec: ignore[STG125] {WHY}\nextra: 1\n"


@pytest.mark.parametrize("text", [BESIDE, ABOVE], ids=["beside", "above"])
@pytest.mark.parametrize("line", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "bom"])
def test_comments_cover_their_lines_whatever_ends_a_line(tmp_path: Path, text: str, line: str, mark: str) -> None:
    found = _compile(tmp_path, mark + text.replace("\n", line))
    assert _codes(found) == (["STG105"] if mark else [])
    assert found.suppressed == 1


@pytest.mark.parametrize(
    "text",
    [
        f"# stagec: ignore[STG125] {WHY}\nentry: plan\nstages: [stages/*.md]\nextra: 1\n",
        f"entry: plan\nstages: [stages/*.md]\nextra: 1\n# stagec: ignore[STG125] {WHY}\n",
        f"entry: plan\nstages: [stages/*.md] # stagec: ignore[STG125] {WHY}\nextra: 1\n",
        f"entry: plan\nstages: [stages/*.md]\nextra: 1 # see # stagec: ignore[STG125] {WHY}\n",
        f'entry: plan\nstages: [stages/*.md]\nextra: "# stagec: ignore[STG125] {WHY}"\n',
        f"entry: plan\nstages: [stages/*.md]\nextra: '\n # stagec: ignore[STG125] {WHY}'\n",
        f"entry: plan\nstages: [stages/*.md]\nextra: |\n  # stagec: ignore[STG125] {WHY}\n",
        f"entry: plan\nstages: [stages/*.md]\nextra: [1,#stagec:ignore[STG125]{WHY}\n]\n",
        f"entry: plan\nstages: [stages/*.md]\nextra: 1 # stagec: ignore[STG121] {WHY}\n",
    ],
    ids=["first", "behind", "another line", "inside a comment", "quoted", "lines", "block", "no blank", "another rule"],
)
def test_a_comment_covers_nothing_else(tmp_path: Path, text: str) -> None:
    assert "STG125" in _codes(_compile(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        "extra: | # stagec: ignore[STG125] why\n  # stagec: ignore\n",
        "extra: # stagec: ignore[STG125] why\n  - 1\n",
        "# stagec: ignore[STG125] why\n\n# more about it\n\nextra: 1\n",
        "# stagec: ignore[STG125] why\n# stagec: ignore[STG121] another rule\nextra: 1\n",
        "'extra': '# stagec: ignore' # stagec: ignore[STG125] why\n",
        "'extra': {} #stagec:ignore[ STG121 ,STG125]why\n",
        "next: { # the ways\n  # stagec: ignore[STG125] why\n  plan: {stages: [], extra: 1}}\n",
        "next: # stagec: ignore[STG125] why\n  plan: {stages: [],\n    extra: 1}\n",
    ],
    ids=["header of a block", "collection", "comments between", "two", "quoted", "tight", "flow", "ancestor"],
)
def test_a_comment_covers_what_begins_on_its_line_and_what_is_inside(tmp_path: Path, text: str) -> None:
    found = _compile(tmp_path, PLAIN + text)
    assert set(_codes(found)) <= {"STG005"}
    assert found.suppressed == 1


def test_a_comment_above_the_first_member_covers_what_is_said_of_the_whole_file_and_no_other_member(
    tmp_path: Path,
) -> None:
    bare = (STAGE % ("", "")).replace("turnCap: 5\n", "")
    assert _codes(_compile(tmp_path, PLAIN, bare)) == ["STG170"]
    silent = bare.replace("---\nid", "---\n# stagec: ignore[STG170] filled in by our tool\nid")
    found = _compile(tmp_path, PLAIN, silent)
    assert (_codes(found), found.suppressed) == ([], 1)


def test_the_last_comment_of_a_frontmatter_covers_the_text_below(tmp_path: Path) -> None:
    wrong = " {{env.HOME}}"
    assert _codes(_compile(tmp_path, PLAIN, STAGE % ("", wrong))) == ["STG321"]
    silent = _compile(tmp_path, PLAIN, STAGE % ("# stagec: ignore[STG321] the shell fills it in\n", wrong))
    assert (_codes(silent), silent.suppressed) == ([], 1)
    beside = (STAGE % ("", wrong)).replace("fail\n---", "fail # stagec: ignore[STG321] the shell fills it in\n---")
    assert "STG321" in _codes(_compile(tmp_path, PLAIN, beside))


def _json_pipeline(**more: object) -> str:
    return json.dumps({"entry": "plan", "stages": ["stages/*.md"], **more})


IGNORE = {"x-stagec-ignore": {"STG125": WHY}}


@pytest.mark.parametrize(
    "text",
    [
        _json_pipeline(extra=1, **IGNORE),
        _json_pipeline(next={"plan": {"stages": [], "extra": 1, **IGNORE}}),
        _json_pipeline(next={"plan": {"stages": [], "extra": 1}, **IGNORE}),
        _json_pipeline(next={"plan": [{"stages": [], "extra": 1, **IGNORE}]}),
    ],
    ids=["whole file", "object", "ancestor", "in a list"],
)
def test_a_member_covers_its_object_and_is_no_unknown_key(tmp_path: Path, text: str) -> None:
    found = _compile(tmp_path, text, name="pipeline.json")
    assert (_codes(found), found.suppressed) == ([], 1)


def test_a_member_covers_no_neighbour(tmp_path: Path) -> None:
    text = _json_pipeline(next={"plan": {"stages": [], **IGNORE}}, extra=1)
    assert _codes(_compile(tmp_path, text, name="pipeline.json")) == ["STG005", "STG125"]


def test_names_of_properties_and_data_of_schemas_are_no_suppressions() -> None:
    given = {
        "properties": {"x-stagec-ignore": {"type": "object"}, "const": {"x-stagec-ignore": {"STG161": "why"}}},
        "const": {"x-stagec-ignore": 1},
        "enum": [{"x-stagec-ignore": 1}],
    }
    kept = json.loads(json.dumps(given))
    del kept["properties"]["const"]["x-stagec-ignore"]
    found = take_members("a.json", given)
    assert [(each.inside, each.reason) for each in found] == [(("properties", "const"), "why")]
    assert given == kept


def test_a_plan_differs_in_the_digests_of_its_sources_only(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"done": {"type": "boolean"}}}
    stage = json.dumps(
        {
            "id": "plan",
            "allowedTools": [],
            "completionTool": "submit_plan",
            "completionSchema": schema,
            "retryPolicy": {"maxAttempts": 2, "backoff": "none"},
            "turnCap": 5,
            "resolutionPolicy": "fail",
            "body": "Do it, then call `submit_plan`.",
        }
    )
    plain = json.dumps({"entry": "plan", "stages": [json.loads(stage)]})
    reason = {"x-stagec-ignore": {"STG125": WHY}}
    marked = json.loads(plain) | reason
    marked["stages"][0] |= reason
    marked["stages"][0]["completionSchema"] |= reason
    marked["stages"][0]["completionSchema"]["properties"]["done"] |= reason
    plans = []
    for text in (plain, json.dumps(marked)):
        compilation = _compile(tmp_path, text, name="pipeline.json")
        plan = json.loads(dump(compilation.meanings[0].plan()))["plan"]
        plans.append(plan)
    one, other = plans
    assert one.pop("sources") != other.pop("sources")
    assert one == other


def test_the_nearest_suppression_is_used(tmp_path: Path) -> None:
    text = _json_pipeline(next={"plan": {"stages": [], "extra": 1, **IGNORE}}, **IGNORE)
    found = _compile(tmp_path, text, name="pipeline.json")
    assert [str(each.at.pointer) for each in found.diagnostics] == ["('x-stagec-ignore', 'STG125')"]


def test_suppressions_that_do_nothing_are_told_only_when_everything_is_looked_at(tmp_path: Path) -> None:
    text = f"entry: plan # stagec: ignore[STG125] {WHY}\nstages: [stages/*.md]\n"
    assert _codes(_compile(tmp_path, text)) == ["STG005"]
    for paths, expected in (((tmp_path,), ["STG005"]), ((tmp_path / "pipeline.yaml",), [])):
        assert _codes(compile_project(Project(tmp_path, paths, Settings()))) == expected


@pytest.mark.parametrize(
    "text",
    [
        'ignore = ["STG109"]',
        'select = ["STG2"]',
        'severity.STG109 = "off"',
        'severity.document = "note"',
        'ignore = ["ALL"]',
    ],
)
def test_no_configuration_silences_a_mandatory_rule(tmp_path: Path, text: str) -> None:
    (tmp_path / "stagec.toml").write_text(text)
    _compile(tmp_path, "entry: plan\nentry: plan\nstages: [stages/*.md]\nextra: 1\n")
    found = compile_project(Project(tmp_path, (), configure((tmp_path,)).settings)).diagnostics
    assert [(each.code, each.severity) for each in found if each.code == "STG109"] == [("STG109", Severity.ERROR)]
    user = configure((tmp_path,), overrides={"select": ("STG2",), "ignore": ("STG109",), "severity": {"STG109": "off"}})
    assert "STG109" not in [each.code for each in compile_project(Project(tmp_path, (), user.settings)).diagnostics]


def test_files_are_covered_by_patterns_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "stagec.toml").write_text('per-file-ignores = { "*.yaml" = { STG125 = "our own tool reads it" } }\n')
    _compile(tmp_path, PLAIN + "extra: 1\n")
    settings = configure((tmp_path,)).settings
    found = compile_project(Project(tmp_path, (), settings))
    assert (found.diagnostics, found.suppressed) == ((), 1)
    assert _codes(compile_project(Project(tmp_path, (), settings, tells_all=True))) == ["STG125"]


def test_where_plans_are_made_nothing_is_silent(tmp_path: Path) -> None:
    _compile(tmp_path, BESIDE)
    assert _codes(compile_project(Project(tmp_path, (), Settings(), tells_all=True))) == ["STG125"]


def test_a_hostile_number_of_comments_is_judged_and_not_printed_in_full(tmp_path: Path) -> None:
    many = "# stagec: ignore[STG125] x\n# stagec: ignore\n" * 5_000
    found = _compile(tmp_path, f"entry: plan\nstages: [stages/*.md]\n{many}extra: 1\n")
    assert found.suppressed == 1
    assert len(found.diagnostics) == 2_000
    assert sum(each.folded for each in found.diagnostics) == 5_000 - 1_000 + 4_999 - 1_000


FILE = Place("a.json")


def _rule(code: str, groups: tuple[str, ...] = ()) -> AnyRule:
    return Rule(code, "name", "0.1", Severity.ERROR, ("origin",), groups, "", lambda _: ())


ROOT, FOLLOWER, MANDATORY = _rule("STG121"), _rule("STG201"), _rule("STG202", ("mandatory",))


def _tell(*verdicts: Verdict) -> list[tuple[str, int]]:
    rules = {each.rule.code: each.rule.severity for each in verdicts}
    return [(each.code, each.folded) for each in diagnose(verdicts, {}, Selection((), rules))]


def test_what_repeats_a_suppressed_error_stays_folded_unless_its_rule_is_mandatory() -> None:
    root = Verdict(ROOT, Finding(FILE / "x", "broken"), silent=True)
    follower = Verdict(FOLLOWER, Finding(FILE / "x" / "y", "lost"))
    assert _tell(root, follower) == []
    assert _tell(root, follower, Verdict(MANDATORY, Finding(FILE / "x" / "y", "grave"))) == [("STG202", 0)]


def test_a_suppressed_finding_is_not_what_too_many_others_fold_into() -> None:
    verdicts = [Verdict(FOLLOWER, Finding(FILE / str(number), "lost")) for number in range(1_002)]
    verdicts[999] = Verdict(FOLLOWER, verdicts[999].finding, silent=True)
    told = _tell(*verdicts)
    assert (len(told), sum(folded for _, folded in told)) == (1_000, 1)

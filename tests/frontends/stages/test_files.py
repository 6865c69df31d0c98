"""Which files are stages, and which stages belong to which pipeline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import pytest

from stagec.check.pipeline import Compilation, Project, compile_project
from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.languages.stages.document import Pipeline
from stagec.languages.stages.files import Listed, find_listed
from stagec.languages.stages.read import read
from stagec.languages.stages.recognise import recognises, sees
from stagec.sources.project.settings import Settings
from stagec.sources.read import Sources

OBJECT: dict[str, Json] = {
    "id": "plan",
    "body": "Call submit.",
    "allowedTools": [],
    "turnCap": 3,
    "completionTool": "submit",
    "completionSchema": {"type": "object"},
}
PIPELINE = "id: demo\nentry: plan\n"


def stage(name: str = "plan", rest: str = "") -> str:
    """Return a stage definition that nothing is wrong with."""
    members = (
        f"id: {name}\nname: {name}\nallowedTools: []\ncompletionTool: submit\ncompletionSchema: {{type: object}}\n"
    )
    others = "retryPolicy: {maxAttempts: 1, backoff: none}\nturnCap: 3\nresolutionPolicy: fail\n"
    return f"---\n{members}{others}{rest}---\nCall `submit`.\n"


def written(root: Path, files: Mapping[str, str | bytes]) -> Sources:
    """Write the files of a project."""
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return Sources(root, Budgets())


def compiled(root: Path, files: Mapping[str, str | bytes], *named: str) -> Compilation:
    written(root, files)
    return compile_project(Project(root, tuple(root / each for each in named), Settings()))


def told(found: Compilation) -> list[tuple[str, str]]:
    """Return file and code of everything that is more than a note."""
    return [(each.at.file, each.code) for each in found.diagnostics if each.severity != "note"]


def kinds(found: Compilation) -> dict[str, str]:
    return {file: tree.kind for file, tree in found.trees.items()}


def members(pipelines: tuple[Pipeline, ...]) -> list[tuple[str, bool, list[str]]]:
    return [(each.at.file, each.is_declared, [one.name for one in each.stages]) for each in pipelines]


class TestAGlance:
    @pytest.mark.parametrize(
        "text",
        [
            stage().encode(),
            b"\xef\xbb\xbf" + stage().encode(),
            stage().replace("\n", "\r\n").encode(),
            b"---\n{id: a, 'turnCap': 3, \"completionTool\" : s}\n---\n",
            b'---\n{\n  "id": "a",\n  "turnCap": 3,\n  "completionTool": "s"\n}\n---\n',
            b"---\nid: a\nturnCap: [\ncompletionTool: s\n",
        ],
        ids=["plain", "BOM", "CRLF", "flow", "JSON", "broken"],
    )
    def test_sees_a_stage_by_three_of_its_keys(self, tmp_path: Path, text: bytes) -> None:
        assert sees(written(tmp_path, {"a.md": text}), "a.md")

    @pytest.mark.parametrize(
        "text",
        [
            b"",
            b"# Title\n\nid: a\nturnCap: 3\ncompletionTool: s\n",
            b"---\nid: a\nturnCap: 3\n---\ncompletionTool: s\n",
            b"---\nname: a\ndescription: b\ntools: Read\nmodel: large\n---\n",
            b"---\nid: a\nid: b\nid: c\n---\n",
            b"---\nx:\n  id: a\n  turnCap: 3\n  completionTool: s\n---\n",
        ],
        ids=["empty", "prose", "body", "agent file", "one key thrice", "inside another key"],
    )
    def test_leaves_other_markdown_alone(self, tmp_path: Path, text: bytes) -> None:
        assert not sees(written(tmp_path, {"a.md": text}), "a.md")

    def test_does_not_see_what_is_no_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.md").mkdir()
        assert not sees(written(tmp_path, {}), "a.md")

    def test_may_be_wrong_and_then_the_file_is_left_alone(self, tmp_path: Path) -> None:
        text = "---\ndefaults: {id: a, turnCap: 3, completionTool: s}\n---\n"
        assert kinds(compiled(tmp_path, {"notes.md": text})) == {}


class TestWhatAFileSays:
    @pytest.mark.parametrize(
        "given",
        [
            OBJECT,
            [OBJECT],
            {"stages": [OBJECT]},
            {"entry": "a", "stages": []},
            {"entryStage": "a", "next": {}},
            {"stages": ["stages/*.md"]},
        ],
        ids=["object", "list", "machine", "empty pipeline", "routes", "paths"],
    )
    def test_makes_it_ours(self, tmp_path: Path, given: Json) -> None:
        tree = written(tmp_path, {"a.json": json.dumps(given)}).tree("a.json", "file")
        assert tree is not None
        assert recognises(tree)

    @pytest.mark.parametrize(
        "given",
        [
            {"stages": ["build", "test"], "build": {"stage": "build"}},
            {"stages": [{"stageId": "S01_a", "goal": "x"}]},
            {"id": "a", "name": "b"},
            [],
            [1],
            {"entry": "src/index.js"},
        ],
        ids=["other program's", "plan", "too little", "empty", "numbers", "entry alone"],
    )
    def test_or_somebody_else_s(self, tmp_path: Path, given: Json) -> None:
        tree = written(tmp_path, {"a.json": json.dumps(given)}).tree("a.json", "file")
        assert tree is not None
        assert not recognises(tree)


class TestThePathsOfAPipeline:
    FILES = ("p/stages/a.md", "p/stages/b.md", "p/stages/deep/c.md", "p/stages/deep/er/d.md", "q/e.md", "p/x[1].md")

    def found(self, root: Path, *patterns: str, files: Mapping[str, str | bytes] | None = None) -> list[list[str]]:
        sources = written(root, {each: stage() for each in self.FILES} | dict(files or {}))
        written(root, {"p/pipeline.json": json.dumps({"entry": "a", "stages": list(patterns)})})
        tree = sources.tree("p/pipeline.json", "file")
        assert tree is not None
        return [list(each.files) for each in find_listed(sources, tree)]

    def test_are_relative_to_it(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, "stages/b.md", "./stages/a.md", "../q/e.md") == [
            ["p/stages/b.md"],
            ["p/stages/a.md"],
            ["q/e.md"],
        ]

    def test_a_star_stays_within_a_name(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, "stages/*.md", "*/a.md", "stages/?.md") == [
            ["p/stages/a.md", "p/stages/b.md"],
            ["p/stages/a.md"],
            ["p/stages/a.md", "p/stages/b.md"],
        ]

    def test_two_stars_go_into_folders(self, tmp_path: Path) -> None:
        deep = ["p/stages/a.md", "p/stages/b.md", "p/stages/deep/c.md", "p/stages/deep/er/d.md"]
        assert self.found(tmp_path, "stages/**/*.md", "**/er/*.md") == [deep, ["p/stages/deep/er/d.md"]]

    def test_brackets_hold_letters(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, "stages/[ac].md", "stages/*.[mn]d") == [
            ["p/stages/a.md"],
            ["p/stages/a.md", "p/stages/b.md"],
        ]

    def test_nothing_is_found_outside_the_project(self, tmp_path: Path) -> None:
        (tmp_path / "outside.md").write_text(stage())
        assert self.found(tmp_path / "in", "../../outside.md", "../../*.md", str(tmp_path / "outside.md")) == [[]] * 3

    def test_nothing_is_found_in_folders_that_hold_other_people_s_files(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, "**/z.md", files={"p/node_modules/z.md": stage(), "p/.git/z.md": stage()}) == [[]]

    def test_a_pattern_does_not_mean_the_pipeline_itself(self, tmp_path: Path) -> None:
        files = {"p/a.json": json.dumps(OBJECT)}
        assert self.found(tmp_path, "*.json", "pipeline.json", files=files) == [["p/a.json"], []]

    def test_without_a_list_they_are_the_stages_beside_it(self, tmp_path: Path) -> None:
        files = {"p/pipeline.yaml": PIPELINE, "p/a.md": stage(), "p/readme.md": "# x", "p/deep/b.md": stage("b")}
        pipelines = read(written(tmp_path, files), ("p/pipeline.yaml",))
        assert members(pipelines) == [("p/pipeline.yaml", True, ["plan"])]

    def test_texts_that_stand_for_files_are_found(self, tmp_path: Path) -> None:
        overlay = {"pipeline.yaml": PIPELINE.encode(), "a.md": stage().encode(), "s/b.md": stage("b").encode()}
        assert members(read(Sources(tmp_path, Budgets(), overlay), ("pipeline.yaml",))) == [
            ("pipeline.yaml", True, ["plan"])
        ]

    def counted(self, root: Path, patterns: list[str]) -> tuple[tuple[Listed, ...], list[str]]:
        """Return what patterns find among ten thousand files, and the folders that were walked for it."""
        walked: list[str] = []

        class Counting(Sources):
            def below(self, folder: str, suffix: str) -> tuple[str, ...]:
                assert not suffix
                walked.append(folder)
                return tuple(f"s/{number}.md" for number in range(10_000))

        text = json.dumps({"entry": "a", "stages": patterns}).encode()
        sources = Counting(root, Budgets(), {"pipeline.json": text})
        tree = sources.tree("pipeline.json", "file")
        assert tree is not None
        return find_listed(sources, tree), walked

    def test_ten_thousand_files_are_walked_once(self, tmp_path: Path) -> None:
        found, walked = self.counted(tmp_path, ["s/**/*.md", "s/1*.md", "s/?.md", "s/?.md"])
        assert ([len(each.files) for each in found], walked) == ([10_000, 1_111, 10, 10], ["s"])

    def test_are_compared_with_so_many_files_and_no_more(self, tmp_path: Path) -> None:
        found, _ = self.counted(tmp_path, [*(f"s/*.{number}" for number in range(101)), "s/*.0", "s/1.md", "s/2*.md"])
        assert [each.text for each in found if not each.searched] == ["s/*.100", "s/2*.md"]


class TestAStageNamedByHand:
    def test_brings_the_pipeline_around_it(self, tmp_path: Path) -> None:
        files = {"pipeline.yaml": f"{PIPELINE}stages: [a/b/*.md]\n", "a/b/plan.md": stage(), "a/b/other.md": stage("x")}
        assert members(read(written(tmp_path, files), ("a/b/plan.md",))) == [
            ("pipeline.yaml", True, ["x", "plan"]),
        ]

    def test_but_not_one_that_does_not_list_it(self, tmp_path: Path) -> None:
        files = {"pipeline.yaml": f"{PIPELINE}stages: [b/*.md]\n", "a/plan.md": stage(), "b/x.md": stage("x")}
        sources = written(tmp_path, files)
        assert members(read(sources, ("a/plan.md",))) == [("a/plan.md", False, ["plan"])]
        assert [tree.file for tree in sources.trees] == ["a/plan.md"]

    def test_needs_no_key_of_a_stage(self, tmp_path: Path) -> None:
        found = compiled(tmp_path, {"a.md": "Plan.\n", "b.md": "---\nname: x\n---\n"}, "a.md", "b.md")
        assert told(found) == [("a.md", "STG169"), ("b.md", "STG170")]

    def test_may_be_another_program_s_agent_file(self, tmp_path: Path) -> None:
        text = "---\nname: reviewer\ndescription: Reviews\ntools: Read, Grep\nmodel: large\n---\nYou review.\n"
        found = compiled(tmp_path, {"reviewer.md": text}, "reviewer.md")
        assert told(found) == [("reviewer.md", "STG170")]

    def test_with_misspelt_keys_is_told_so_once_for_each(self, tmp_path: Path) -> None:
        text = stage(rest="tag: [a]\n").replace("allowedTools", "allowed-tools").replace("turnCap", "turncap")
        assert told(compiled(tmp_path, {"plan.md": text}, "plan.md")) == [("plan.md", "STG170"), ("plan.md", "STG304")]

    def test_may_have_broken_frontmatter_of_which_only_the_syntax_is_told(self, tmp_path: Path) -> None:
        text = "---\nid: Plan\nname: [a\nturnCap: 0\nmodel: x\n---\n"
        assert told(compiled(tmp_path, {"plan.md": text}, "plan.md")) == [("plan.md", "STG107")]


class TestStages:
    def test_of_two_pipelines_are_told_once(self, tmp_path: Path) -> None:
        files = {
            "a/pipeline.yaml": f"{PIPELINE}stages: [../s/*.md]\n",
            "b/pipeline.yaml": f"{PIPELINE}stages: [../s/plan.md]\n",
            "s/plan.md": stage(rest="model: large\n").replace("turnCap: 3", "turnCap: 0"),
        }
        found = compiled(tmp_path, files)
        assert told(found) == [("s/plan.md", "STG173"), ("s/plan.md", "STG305")]
        assert [flow.at.file for flow in found.flows] == ["a/pipeline.yaml", "b/pipeline.yaml"]

    def test_without_a_pipeline_are_put_together_by_folder(self, tmp_path: Path) -> None:
        files = {"a/x.md": stage("x"), "a/y.md": stage("y"), "b/z.md": stage("z")}
        assert members(read(written(tmp_path, files), tuple(files))) == [
            ("a/x.md", False, ["x", "y"]),
            ("b/z.md", False, ["z"]),
        ]

    def test_of_a_pipeline_that_cannot_be_read_are_judged(self, tmp_path: Path) -> None:
        files = {"pipeline.yaml": "entry: [\n", "plan.md": stage(rest="model: large\n")}
        assert told(compiled(tmp_path, files)) == [("pipeline.yaml", "STG107"), ("plan.md", "STG305")]

    def test_that_a_link_leads_to_are_read_inside_the_project_only(self, tmp_path: Path) -> None:
        root = tmp_path / "in"
        files = {"pipeline.yaml": f"{PIPELINE}stages: [links/*.md]\n", "s/plan.md": stage()}
        written(root, files)
        (tmp_path / "out.md").write_text(stage("out"))
        (root / "links").mkdir()
        (root / "links" / "plan.md").symlink_to("../s/plan.md")
        (root / "links" / "out.md").symlink_to(tmp_path / "out.md")
        found = compiled(root, {}, "pipeline.yaml")
        assert told(found) == [("links/out.md", "STG102")]

    def test_may_be_objects_in_files_that_a_pipeline_lists(self, tmp_path: Path) -> None:
        files = {
            "pipeline.yaml": f"{PIPELINE}stages: [s/plan.json, s/more.json]\nnext: {{plan: test}}\n",
            "s/plan.json": json.dumps(OBJECT),
            "s/more.json": json.dumps([{**OBJECT, "id": "test", "turnCap": 0, "completionTool": "done"}]),
        }
        (pipeline,) = read(written(tmp_path, files), ("pipeline.yaml",))
        assert [(each.id, each.at.file, each.at.pointer) for each in pipeline.stages] == [
            ("plan", "s/plan.json", ()),
            ("test", "s/more.json", (0,)),
        ]
        assert ("s/more.json", "STG173") in told(compiled(tmp_path, {}))


class TestObjectsNamedByHand:
    def test_one_is_judged_by_itself(self, tmp_path: Path) -> None:
        text = json.dumps({**OBJECT, "turnCap": 0})
        assert told(compiled(tmp_path, {"a.json": text}, "a.json")) == [("a.json", "STG173")]

    def test_a_list_is_judged_one_by_one(self, tmp_path: Path) -> None:
        text = json.dumps([OBJECT, {**OBJECT, "turnCap": 0}, {**OBJECT, "extra": 1}, 5])
        found = compiled(tmp_path, {"a.json": text}, "a.json")
        assert [each.message for each in found.diagnostics if each.severity == "error"] == [
            "'turnCap' of stage 'plan' must be at least 1, found 0",
            "unknown key 'extra' in stage 'plan'",
            "'[3]' must be an object, found an integer",
        ]

    def test_a_machine_is_a_pipeline(self, tmp_path: Path) -> None:
        text = json.dumps({"id": "m", "entry": "plan", "stages": [OBJECT]})
        found = compiled(tmp_path, {"m.json": text}, "m.json")
        assert ([flow.id for flow in found.flows], told(found)) == (["m"], [])

    def test_a_machine_brings_its_configuration(self, tmp_path: Path) -> None:
        text = json.dumps({"id": "m", "entry": "plan", "stages": [OBJECT]})
        files = {"m.json": text, "m.config.json": '{"entry": 4}', "n.config.json": '{"entry": 4}'}
        for named in (("m.json",), ("m.config.json",), ("m.json", "m.config.json")):
            assert told(compiled(tmp_path, files, *named)) == [("m.config.json", "STG186")]


class TestPromptsOfARegistry:
    STEP: ClassVar[Json] = {"stepId": "initial.a", "name": "A", "c2": "initial", "c3": "a", "edition": "default"}
    REGISTRY = json.dumps(
        {"agentId": "d", "version": "1.0.0", "c1": "steps", "entryStep": "initial.a", "steps": {"initial.a": STEP}}
    )
    PROMPT = "prompts/steps/initial/a/f_default.md"

    def test_are_left_alone_even_where_they_look_like_stages(self, tmp_path: Path) -> None:
        files = {"steps_registry.json": self.REGISTRY, self.PROMPT: stage(rest="model: x\n"), "pipeline.yaml": ""}
        found = compiled(tmp_path, {**files, "pipeline.yaml": f"{PIPELINE}stages: [s/*.md]\n", "s/plan.md": stage()})
        assert kinds(found)[self.PROMPT] == "prompt"
        assert self.PROMPT not in {file for file, _ in told(found)}

    def test_are_stages_where_a_pipeline_lists_them(self, tmp_path: Path) -> None:
        files = {
            "steps_registry.json": self.REGISTRY,
            self.PROMPT: stage(rest="model: x\n"),
            "pipeline.yaml": f"{PIPELINE}stages: [prompts/**/*.md]\n",
        }
        found = compiled(tmp_path, files)
        assert [each for each in told(found) if each[0] == self.PROMPT] == [(self.PROMPT, "STG305")]

    def test_with_broken_frontmatter_are_told_once(self, tmp_path: Path) -> None:
        files = {
            "steps_registry.json": self.REGISTRY,
            self.PROMPT: "---\nid: [\nturnCap: 3\ncompletionTool: s\n---\n",
            "pipeline.yaml": f"{PIPELINE}stages: [prompts/**/*.md]\n",
        }
        found = compiled(tmp_path, files)
        assert [each for each in told(found) if each[0] == self.PROMPT] == [(self.PROMPT, "STG107")]


@pytest.mark.parametrize("file", ["stages/plan.md", "plan.md"])
def test_stages_of_a_pipeline_that_cannot_be_read_may_have_their_tools_named_there(tmp_path: Path, file: str) -> None:
    conflict = "<<<<<<< ours\nentry: plan\n=======\nentry: plans\n>>>>>>> theirs\n"
    allowing = stage().replace("allowedTools: []", "allowedTools: [Read]")
    found = compiled(tmp_path, {"pipeline.yaml": conflict, file: allowing})
    assert [each.code for each in found.diagnostics] == ["STG118"]
    found = compiled(tmp_path, {"pipeline.yaml": "entry: plan\nstages: ['**/*.md']\n"})
    assert [each.code for each in found.diagnostics] == ["STG376"]

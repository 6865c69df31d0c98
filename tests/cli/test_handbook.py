"""`stagec handbook`: pages for people who do not read JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urldefrag

import pytest

from stagec.cli.app import run
from stagec.cli.commands.handbook.run import name_pages
from stagec.cli.commands.handbook.steps import FieldTable

TOP = Path(__file__).parents[2]
EXAMPLES = sorted(each.name for each in (TOP / "registries").iterdir() if each.is_dir())
_VOID = {"meta", "link", "br", "img"}

Shown = pytest.CaptureFixture[str]


class Page(HTMLParser):
    """Collects what a page links to, its own places, its elements and its words; every element must be closed."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.ids: list[str] = []
        self.names: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        assert self._open == [], f"{path.name}: {self._open} is not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.ids += [str(each) for name, each in attrs if name == "id"]
        self.links += [str(each) for name, each in attrs if name in {"href", "src"}]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.text += data


def read_site(folder: Path) -> dict[str, Page]:
    return {path.name: Page(path) for path in sorted(folder.iterdir())}


def list_dead_links(pages: dict[str, Page]) -> Iterator[str]:
    for name, page in pages.items():
        for link in page.links:
            file, place = urldefrag(link)
            if (link != "data:," and (file or name) not in pages) or (place and place not in pages[file or name].ids):
                yield f"{name}: {link}"


def write(*arguments: str) -> int:
    return run(["handbook", *arguments])


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_pages_of_an_example_lead_to_each_other_and_to_nothing_else(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TOP / "registries" / example)
    assert write("-o", str(tmp_path / "site")) == 0
    pages = read_site(tmp_path / "site")
    assert [*list_dead_links(pages)] == []
    assert "script" not in {name for page in pages.values() for name in page.names}
    for page in pages.values():
        assert len(set(page.ids) - {""}) == len(page.ids)


def test_a_flow_is_told_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP / "registries" / "code-review")
    assert write("-o", str(tmp_path)) == 0
    page = read_site(tmp_path)["flow-code-review.html"]
    for told in (
        "A run begins with plan.",
        "A run completes after review.",
        "These steps can repeat: execute, plan and review.",
        "A run has at most 20 steps; one that needs more ends as failed.",
        "A model works with tools for at most 20 turns.",
        "It hands its result in by calling submit_plan.",
        "list of: text, 1 or more entries",
        "960",
        "the flow names no model",
        "reads private data",
        "MCP server files",
        "a turn of a model may take any time",
        "ok when parsed.approved = true",
        "ok otherwise",
    ):
        assert told in page.text
    assert page.text.count("review, when all that run together have ended (review)") == 2
    assert page.text.count("the run ends as done") == 1
    assert re.search(r"cost\s*not known\s*not known\s*the flow names no model", page.text)
    (stage,) = (TOP / "registries/code-review").rglob("plan.md")
    prompt = stage.read_text(encoding="utf-8").rpartition("---\n")[2]
    assert prompt.strip().partition("{")[0] in page.text


def test_the_end_of_a_step_that_others_need_is_not_that_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(TOP / "registries" / "wine-quality")
    assert write("-o", str(tmp_path)) == 0
    text = read_site(tmp_path)["flow-wine-quality.html"].text
    first = "A run begins with S01_load_data; every other step begins as soon as the steps that it needs are done."
    assert first in text
    assert "A run completes after S08_notify_team." in text
    need = "each step that needs it begins when all that it needs is done"
    assert f"{need} (S02_explore_data, S03_split_data, S07_generate_report)" in text
    assert text.count(need) == 7
    assert text.count("the run ends as done when all other steps have ended") == 1
    assert text.count("the run ends as done") == 1


def test_steps_that_repeat_by_themselves_are_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP / "registries" / "issue-flow")
    assert write("-o", str(tmp_path)) == 0
    text = read_site(tmp_path)["flow-issue-solver.html"].text
    assert "Steps that can repeat themselves: closure.issue, continuation.issue and initial.issue." in text


def test_a_flow_with_errors_has_its_picture_and_its_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP / "registries" / "broken-on-purpose")
    assert write("-o", str(tmp_path)) == 0
    (page,) = (each for name, each in read_site(tmp_path).items() if name != "index.html")
    assert "This flow cannot run: 6 errors" in page.text
    assert "STG212 intent-drift" in page.text
    assert "svg" in page.names
    assert "section" not in page.names


TESTS = """\
scenario:
  inputs: {topic: the tides}
tests:
  approved at once:
    scenario:
      conversations:
        draft: [[{complete: {text: The moon.}}]]
        review: [[{complete: {approved: true, remarks: ""}}]]
    expect: {outcome: done}
  wrong:
    scenario:
      conversations:
        draft: [[{complete: {text: The moon.}}]]
        review: [[{complete: {approved: true, remarks: ""}}]]
    expect: {outcome: failed}
"""


def test_a_page_says_what_the_tests_of_its_flow_cover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(TOP / "compiler" / "starters" / "pipeline", tmp_path / "p")
    monkeypatch.chdir(tmp_path / "p")
    Path("a.flow-test.yaml").write_text(TESTS, encoding="utf-8")
    assert write() == 0
    pages = read_site(Path("handbook"))
    (page,) = (each for name, each in pages.items() if name != "index.html")
    assert "passed: approved at once" in page.text
    assert "failed: wrong · expected 'failed', found 'done'" in page.text
    assert "What no test runs" in page.text
    assert "2, " in pages["index.html"].text
    Path("a.flow-test.yaml").write_text(f"flow: other\n{TESTS}", encoding="utf-8")
    assert write() == 0
    pages = read_site(Path("handbook"))
    assert "there is no such flow" in pages["index.html"].text
    assert all("This flow has no tests." in page.text for name, page in pages.items() if name != "index.html")


def test_the_same_sources_make_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP / "registries" / "docs-repair")
    for name in ("one", "two"):
        assert write("-o", str(tmp_path / name)) == 0
    one, two = ({each.name: each.read_bytes() for each in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two


def copy_example(name: str, folder: Path) -> Path:
    copy = folder / name
    shutil.copytree(TOP / "registries" / name, copy)
    return copy


def test_check_names_what_is_out_of_date_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    project = copy_example("docs-repair", tmp_path)
    monkeypatch.chdir(project)
    assert write("--check") == 1
    assert not (project / "handbook").exists()
    assert write() == 0
    assert write("--check") == 0
    (stage,) = project.rglob("repair.md")
    stage.write_text(stage.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
    capsys.readouterr()
    assert write("--check") == 1
    assert "flow-docs-repair.html' is out of date" in capsys.readouterr().err
    assert write() == 0
    assert "One more line." in read_site(project / "handbook")["flow-docs-repair.html"].text


def test_pages_of_flows_that_are_gone_go_and_foreign_files_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    project = copy_example("docs-repair", tmp_path)
    monkeypatch.chdir(project)
    assert write() == 0
    folder = project / "handbook"
    (folder / "flow-old.html").write_bytes((folder / "index.html").read_bytes())
    (folder / "notes.html").write_text("<p>mine")
    assert write() == 0
    assert sorted(os.listdir(folder)) == ["flow-docs-repair.html", "index.html", "notes.html"]
    (folder / "index.html").write_text("<p>mine, too")
    capsys.readouterr()
    assert write() == 2
    assert "was not written by 'stagec handbook'" in capsys.readouterr().err
    assert (folder / "index.html").read_text() == "<p>mine, too"


def test_nothing_that_a_project_says_becomes_markup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evil = "</pre></style><script>alert(1)</script><img src=x onerror=alert(1)>&\"'{{ 7*7 }}"
    registry = {
        "agentId": "a",
        "version": "1.0.0",
        "c1": "steps",
        "entryStep": "initial.a",
        "steps": {"initial.a": {"stepId": "initial.a", "name": evil, "c2": "initial", "c3": "a", "description": evil}},
    }
    (tmp_path / "steps_registry.json").write_text(json.dumps(registry))
    prompt = tmp_path / "prompts/steps/initial/a/f_default.md"
    prompt.parent.mkdir(parents=True)
    prompt.write_text(evil)
    monkeypatch.chdir(tmp_path)
    assert write() == 0
    pages = read_site(tmp_path / "handbook")
    assert {"script", "img"}.isdisjoint(name for page in pages.values() for name in page.names)
    assert [*list_dead_links(pages)] == []
    assert evil in pages["flow-a.html"].text


def test_a_project_without_flows_has_no_handbook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    monkeypatch.chdir(tmp_path)
    assert write() == 3
    assert not (tmp_path / "handbook").exists()
    assert "nothing to describe" in capsys.readouterr().err


def test_names_of_pages_are_plain_and_differ() -> None:
    assert name_pages(["a", "A", "../x", "ü", "ü", "a" * 300]) == [
        "flow-a.html",
        "flow-a-2.html",
        "flow-x.html",
        "flow-.html",
        "flow--2.html",
        f"flow-{'a' * 80}.html",
    ]


def describe(schema: object) -> str:
    return FieldTable(json.dumps({"properties": {"x": schema}})).fields[0].kind


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (True, "any value"),
        (False, "must be absent"),
        ({"type": "string", "minLength": 2}, "text, 2 or more characters"),
        ({"enum": ["a", 1, None]}, "one of “a”, 1, null"),
        ({"enum": [*range(14)]}, "one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more"),
        ({"const": "a"}, "exactly “a”"),
        ({"type": ["string", "null"]}, "text or empty"),
        ({"type": "array", "items": {"type": "integer", "minimum": 0}}, "list of: whole number, at least 0"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, "either text, or number"),
        ({"allOf": [{"type": "string"}, {"maxLength": 3}]}, "text, up to 3 characters"),
        ({"exclusiveMinimum": True, "type": "number"}, "number"),
    ],
)
def test_what_a_value_must_be_is_said_in_words(schema: object, words: str) -> None:
    assert describe(schema) == words


def test_fields_inside_fields_and_lists_are_listed() -> None:
    table = FieldTable(
        json.dumps(
            {
                "$defs": {
                    "item": {"type": "object", "properties": {"id": {"type": "string", "description": "Its id."}}}
                },
                "required": ["items"],
                "properties": {
                    "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
                    "meta": {"type": "object", "properties": {"at": {"type": "integer"}}},
                },
            }
        )
    )
    assert [(each.path, each.is_required, each.about) for each in table.fields] == [
        ("items", True, ""),
        ("items, each → id", False, "Its id."),
        ("meta", False, ""),
        ("meta → at", False, ""),
    ]


def test_a_schema_that_is_inside_itself_ends() -> None:
    tree = {"type": "array", "items": {"$ref": "#/properties/tree"}}
    either = {"anyOf": [{"$ref": "#/properties/either"}, {"type": "string"}, {"$ref": "#"}]}
    table = FieldTable(json.dumps({"properties": {"tree": tree, "either": either, "self": {"$ref": "#"}}}))
    assert len(table.fields) <= 200
    assert table.fields[0].kind.startswith("list of: list of: ")

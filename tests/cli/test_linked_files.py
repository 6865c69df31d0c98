"""Files behind links in the project: each path is judged that says something else, and nothing is told twice."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest
from patience import ends

from stagec.cli.app import run

Shown = pytest.CaptureFixture[str]
REGISTRIES = Path(__file__).parents[2] / "registries"
SKILL = "---\nname: {}\ndescription: Sets up.\n---\nDo it.\n"
BAD = "---\nname: {}\n---\nDo it.\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write(file: str, text: str) -> None:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).write_text(text, encoding="utf-8")


def _link(file: str, target: str) -> None:
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    Path(file).symlink_to(target)


def _check(capfd: Shown, *words: str) -> list[dict[str, str]]:
    run(["validate", "--format", "json", *words])
    found: list[dict[str, str]] = json.loads(capfd.readouterr().out)["diagnostics"]
    return found


def _told(capfd: Shown, *words: str) -> list[tuple[str, str]]:
    return [(each["code"], each["file"]) for each in _check(capfd, *words)]


@pytest.mark.parametrize("named", [(), (".",), (".claude",), (".claude/skills",), (".claude/skills/group",)])
def test_skills_behind_a_link_are_judged_whatever_is_named(named: tuple[str, ...], capfd: Shown) -> None:
    _write("skills/group/setup/SKILL.md", SKILL.format("setup"))
    _link(".claude/skills", "../skills")
    assert _told(capfd, *named) == [("STG3121", ".claude/skills/group/setup/SKILL.md")]


def test_a_file_behind_a_link_that_is_named_is_what_its_path_says(capfd: Shown) -> None:
    _write("skills/group/setup/SKILL.md", SKILL.format("setup"))
    _link(".claude/skills", "../skills")
    file = ".claude/skills/group/setup/SKILL.md"
    assert _told(capfd, file) == [("STG3121", file)]


@pytest.mark.parametrize("place", ["inside a repository", "outside of one"])
@pytest.mark.parametrize("named", [".claude/agents", ".claude/agents/a.md"])
def test_an_agent_of_a_linked_folder_that_a_plugin_may_have_is_what_its_named_path_says(
    named: str, place: str, project: Path, capfd: Shown
) -> None:
    if place == "outside of one":
        (project / ".git").rmdir()
    _write("pack/agents/a.md", BAD.format("a"))
    _link(".claude/agents", "../pack/agents")
    expected = [("STG3107", ".claude/agents/a.md")]
    assert _told(capfd, named) == _told(capfd, str(project / named)) == expected


def test_each_link_to_a_skill_is_a_skill(capfd: Shown) -> None:
    for name in ("one", "two"):
        _write(f"shared/{name}/SKILL.md", SKILL.format(name))
        _link(f".claude/skills/{name}", f"../../shared/{name}")
    _link(".claude/skills/three", "../../shared/two")
    _write(".claude/agents/all.md", SKILL.format("all").replace("---\nDo", "skills: [one, two, three, four]\n---\nDo"))
    assert [each["message"] for each in _check(capfd, "--select", "STG3130,STG3124")] == [
        "the project has no skill 'four'",
        "the name 'two' of this skill differs from the folder 'three'",
    ]


def test_what_two_paths_say_is_told_once_by_the_own_name_of_the_file(capfd: Shown) -> None:
    _write("b/.claude/agents/x.md", BAD.format("x"))
    _link("a/.claude/agents", "../../b/.claude/agents")
    assert _told(capfd) == [("STG3107", "b/.claude/agents/x.md")]


def test_what_is_silent_in_a_file_is_silent_by_each_path(capfd: Shown) -> None:
    _write("b/.claude/agents/x.md", BAD.format("x # stagec: ignore[STG3107] known"))
    _link("a/.claude/agents", "../../b/.claude/agents")
    assert _told(capfd) == []
    assert run(["validate"]) == 0
    assert "1 finding suppressed" in capfd.readouterr().out


def test_an_agent_does_not_collide_with_itself(capfd: Shown) -> None:
    _write(".claude/agents/x.md", SKILL.format("x"))
    _write("others/y.md", SKILL.format("y"))
    _link(".claude/agents/one", "../../others")
    _link(".claude/agents/two", "../../others")
    _link(".claude/agents/z.md", "x.md")
    assert _told(capfd) == []


@pytest.mark.parametrize("named", [(), ("one",), ("real",), ("two", "real", "one")])
def test_a_flow_behind_links_is_compiled_once(named: tuple[str, ...], capfd: Shown) -> None:
    copytree(REGISTRIES / "docs-repair", "real")
    copytree(REGISTRIES / "issue-flow", "real/flow")
    _link("one", "real")
    _link("two", "real")
    _link("real/up", "..")
    name = "one" if named == ("one",) else "real"
    assert run(["compile", *named, "-o", "plans/"]) == 0
    capfd.readouterr()
    flows = [json.loads(each.read_text(encoding="utf-8"))["plan"]["id"] for each in Path("plans").iterdir()]
    assert len(flows) == len(set(flows)) == 2
    assert _told(capfd, *named) == _told(capfd, name)


def test_an_orchestrator_file_is_found_by_the_link_to_its_folder(capfd: Shown) -> None:
    _write("agents/workflow.json", "{")
    _link(".agent", "agents")
    _link(".other", "agents")
    assert [file for _, file in _told(capfd)] == [".agent/workflow.json"]


def test_a_stage_definition_behind_a_link_is_a_stage_by_its_own_name_only(capfd: Shown) -> None:
    copytree(REGISTRIES / "docs-repair", "skills")
    _link(".claude/skills", "../skills")
    assert run(["graph", "--format", "json", "."]) == 0
    assert capfd.readouterr().out.count('"title": "docs-repair"') <= 1


def test_links_that_lead_up_or_to_each_other_end(capfd: Shown) -> None:
    names = [f"f{each}" for each in range(12)]
    for name in names:
        _write(f".claude/skills/{name}/SKILL.md", BAD.format(name))
        _link(f".claude/skills/{name}/up", "../../..")
        for other in names:
            if other != name:
                _link(f".claude/skills/{name}/{other}", f"../{other}")
    with ends():
        first = _told(capfd)
    assert first == _told(capfd, ".claude/skills", ".")
    assert first == [("STG3125", f".claude/skills/{name}/SKILL.md") for name in sorted(names)]


def test_a_link_out_of_the_project_is_refused_once(tmp_path: Path, capfd: Shown) -> None:
    _write("skills/x/SKILL.md", SKILL.format("x"))
    _link("skills/x/away", str(tmp_path.parent))
    _link(".claude/skills", "../skills")
    assert _told(capfd) == [("STG117", "skills/x/away")]

"""`stagec doctor` prints what a bug report needs, and nothing that is nobody's business."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from stagec.cli.app import run
from stagec.cli.commands.doctor import EXTRAS, PROGRAMS, hide_home

Shown = pytest.CaptureFixture[str]
TOP = Path(__file__).parents[2]
SECTIONS = ["stagec", "python", "libraries", "extras", "programs", "project", "terminal", "environment"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def test_programs_read_the_same_sections_as_people(capfd: Shown) -> None:
    assert run(["doctor", "--format", "json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert [*found] == [*SECTIONS, "problems"]
    assert found["problems"] == []
    assert None not in found["libraries"].values()
    assert run(["doctor"]) == 0
    shown = capfd.readouterr()
    assert shown.err == ""
    assert [line for line in shown.out.splitlines() if line and not line.startswith(" ")] == [
        *SECTIONS,
        "no problem found",
    ]
    for section in SECTIONS:
        for name in found[section]:
            assert f"  {name}" in shown.out


def test_every_extra_and_library_has_a_place() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(project["optional-dependencies"]) == set(EXTRAS)


def test_a_configuration_that_is_wrong_is_a_problem_and_the_rest_is_printed(folder: Path, capfd: Shown) -> None:
    (folder / "stagec.toml").write_text("selct = 1\nfail-on = 3\n", encoding="utf-8")
    assert run(["doctor", "--format", "json"]) == 1
    found = json.loads(capfd.readouterr().out)
    assert [each.partition(":")[0] for each in found["problems"]] == ["stagec.toml", "stagec.toml"]
    assert found["python"]["version"]
    assert run(["doctor"]) == 1
    shown = capfd.readouterr().out
    assert shown.count("unknown key 'selct'; did you mean 'select'?") == 1
    assert "\\n" not in shown


def test_a_path_that_does_not_exist_is_a_problem(folder: Path, capfd: Shown) -> None:
    assert run(["doctor", "nowhere", "--format", "json"]) == 1
    assert json.loads(capfd.readouterr().out)["problems"] == ["'nowhere' does not exist"]


def test_the_configuration_in_force_is_named_with_what_it_sets(folder: Path, capfd: Shown) -> None:
    (folder / "stagec.toml").write_text('fail-on = "warning"\n', encoding="utf-8")
    (folder / "deep").mkdir()
    assert run(["doctor", "--format", "json", "deep"]) == 0
    project = json.loads(capfd.readouterr().out)["project"]
    assert (project["root"], project["configuration"]) == ("~", "stagec.toml")
    assert project["settings"]["fail-on"] == "stagec.toml"


def test_programs_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch, capfd: Shown, folder: Path) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert run(["doctor", "--format", "json"]) == 0
    programs = json.loads(capfd.readouterr().out)["programs"]
    assert {name: each["path"] for name, each in programs.items()} == dict.fromkeys(PROGRAMS)


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_secret_and_no_home_is_printed(
    form: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Shown
) -> None:
    secrets = {
        "OPENAI_API_KEY": "sk-abcdefghijklmnopqrstuvwxyz012345",
        "STAGEC_MODEL": "hidden-model-name",
        "STAGEC_HEADER_TOKEN": "hunter2hunter2",
        "DATABASE_PASSWORD": "correct-horse-battery",
        "LANG": "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "TERM": "correct-horse-battery",
    }
    for name, each in secrets.items():
        monkeypatch.setenv(name, each)
    assert run(["doctor", "--format", form]) == 0
    shown = capfd.readouterr().out
    for each in (*secrets.values(), str(folder)):
        assert each not in shown
    assert "OPENAI_API_KEY" in shown
    assert "DATABASE_PASSWORD" not in shown


def test_strange_values_of_the_environment_stay_text(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    monkeypatch.setenv("TERM", "x\x1b[2J\n::error::y")
    for form in ("text", "json"):
        assert run(["doctor", "--format", form]) == 0
        shown = capfd.readouterr().out
        assert "\x1b" not in shown
        assert "\n::error" not in shown


@pytest.mark.parametrize(
    ("path", "shown"),
    [("/houses/me", "~"), ("/houses/me/x", "~/x"), ("/houses/mean", "/houses/mean"), ("/", "/"), ("", "")],
)
def test_only_the_home_itself_is_hidden(path: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/houses/me")
    assert hide_home(path) == shown


def test_where_the_home_is_everything_no_path_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert [hide_home(path) for path in ("/", "/x", "x")] == ["/", "/x", "x"]

"""`stagec init` makes a project of each system on which exactly the commands work that it prints."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from stagec.change.creation.new_project import SYSTEMS, read_starter
from stagec.cli.app import run
from stagec.core.version import find_packed

Shown = pytest.CaptureFixture[str]
TOP = Path(find_packed("starters"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def list_commands(printed: str) -> list[list[str]]:
    """Return the command lines that are printed, as a shell reads them."""
    _, _, after = printed.partition("\nNext:\n")
    return [shlex.split(line)[1:] for line in after.splitlines() if line.startswith("  stagec ")]


def follow(printed: str, capfd: Shown) -> list[str]:
    """Run the printed commands; return the names of those that were."""
    lines = list_commands(printed)
    for line in lines:
        assert run(line) == 0, line
        shown = capfd.readouterr()
        assert "warning" not in shown.out + shown.err
    return [line[0] for line in lines]


@pytest.mark.parametrize(
    ("system", "named"),
    [
        *((each, None) for each in SYSTEMS),
        ("stages", "demo"),
        ("pipeline", "a 'quoted' folder"),
        ("registry", "deep/er"),
        ("pipeline", "-x"),
    ],
)
def test_the_printed_commands_work(system: str, named: str | None, capfd: Shown) -> None:
    assert run(["init", "--system", system, *(["--", named] if named else [])]) == 0
    shown = capfd.readouterr()
    assert shown.err == ""
    assert follow(shown.out, capfd) == ["validate", "compile", "run", "graph"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_new_project_has_no_findings_at_all(system: str, capfd: Shown) -> None:
    assert run(["init", "--system", system]) == 0
    capfd.readouterr()
    assert run(["validate"]) == 0
    assert capfd.readouterr().out.startswith("All clear: 1 flow with 2 nodes, ")


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_new_project_is_laid_out_as_stagec_does_it(system: str) -> None:
    assert run(["init", "--system", system]) == 0
    assert run(["format", "--check"]) == 0


def test_the_files_are_few_and_say_what_is_what() -> None:
    assert {path.name for path in TOP.iterdir()} == set(SYSTEMS)
    for system in SYSTEMS:
        files = read_starter(system).files
        assert len(files) <= 8
        for file, data in files.items():
            if file.endswith((".yaml", "registry.json")):
                assert b"# " in data or b'"$comment": ' in data, file


def test_stages_run_for_real(folder: Path, capfd: Shown) -> None:
    assert run(["init", "--system", "stages", "demo"]) == 0
    assert run(["compile", "demo", "-o", "x.plan.json"]) == 0
    assert run(["run", "x.plan.json", "--project", "demo", "--run", "one"]) == 0, capfd.readouterr()
    (summary,) = folder.glob("demo/reports/numbers/one/S02_analyze_numbers/summary.json")
    assert '"largest": 16' in summary.read_text(encoding="utf-8")


def test_without_a_system_it_is_a_pipeline(folder: Path) -> None:
    assert run(["init"]) == 0
    assert (folder / "pipeline.yaml").is_file()


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_file_is_ever_written_over(system: str, folder: Path, capfd: Shown) -> None:
    for taken in read_starter(system).files:
        (folder / taken).parent.mkdir(parents=True, exist_ok=True)
        (folder / taken).write_text("mine", encoding="utf-8")
        before = sorted(folder.rglob("*"))
        assert run(["init", "--system", system]) == 2
        assert capfd.readouterr().err == f"stagec: error: '{taken}' exists: nothing was written; name another folder\n"
        assert sorted(folder.rglob("*")) == before
        assert (folder / taken).read_text(encoding="utf-8") == "mine"
        (folder / taken).unlink()


def test_a_dangling_link_is_a_taken_name(folder: Path, capfd: Shown) -> None:
    (folder / "pipeline.yaml").symlink_to("nowhere")
    assert run(["init"]) == 2
    assert "'pipeline.yaml' exists" in capfd.readouterr().err
    assert not (folder / "nowhere").exists()


def test_nothing_is_written_through_a_link_out_of_the_folder(folder: Path, capfd: Shown) -> None:
    (folder / "other").mkdir()
    (folder / "demo").mkdir()
    (folder / "demo" / "stages").symlink_to(folder / "other")
    assert run(["init", "demo"]) == 2
    assert "leads out of the project" in capfd.readouterr().err
    assert list((folder / "other").iterdir()) == []


def test_a_file_in_place_of_the_folder_is_refused(folder: Path, capfd: Shown) -> None:
    (folder / "demo").write_text("", encoding="utf-8")
    assert run(["init", "demo"]) == 2
    assert capfd.readouterr().err.startswith("stagec: error: cannot write 'demo/")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--output x", "--output and --force are for --from with a single file"),
        ("--force", "--output and --force are for --from with a single file"),
        ("--from . --system registry", "--from makes a pipeline: leave out --system"),
        ("--from file.md demo", "--from with a single file makes one stage"),
        ("--system pipelin", "did you mean 'pipeline'?"),
    ],
)
def test_options_that_contradict_each_other_are_refused(words: str, said: str, folder: Path, capfd: Shown) -> None:
    (folder / "file.md").write_text("---\nname: a\n---\n", encoding="utf-8")
    assert run(["init", *words.split()]) == 2
    assert said in capfd.readouterr().err

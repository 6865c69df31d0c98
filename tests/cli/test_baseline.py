"""A repository with old findings: adopted, guarded against new ones, and cleaned step by step."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import nursery
import pytest
from cli.conftest import REGISTRY, STAGEC, STEP, Run

from stagec.cli.app import run as stagec

NAME = "stagec-baseline.json"


def _write_agents(root: Path, kinds: Mapping[int, str]) -> None:
    """Write twenty agents with ten steps each, all of a kind that does not exist, except for some."""
    for agent in range(20):
        steps = {}
        for number in range(10):
            step = f"initial.s{number}"
            kind = kinds.get(agent * 10 + number, "wrok")
            steps[step] = {**STEP, "stepId": step, "c3": f"s{number}", "stepKind": kind}
        folder = root / f"agent-{agent}"
        for number in range(10):
            prompt = folder / "prompts" / "steps" / "initial" / f"s{number}" / "f_default.md"
            prompt.parent.mkdir(parents=True, exist_ok=True)
            prompt.write_text("Do what is to be done.\n")
        (folder / "steps_registry.json").write_text(json.dumps({**REGISTRY, "entryStep": "initial.s0", "steps": steps}))


def _adopt(root: Path, run: Run) -> None:
    _write_agents(root, {})
    before = run("validate", "--format", "json", "--select", "STG136")
    assert (before.returncode, json.loads(before.stdout)["summary"]["errors"]) == (1, 200)
    # three commands
    assert run("baseline", "write").returncode == 0
    (root / "stagec.toml").write_text(f'baseline = "{NAME}"\n')
    after = run("validate")
    assert (after.returncode, b" findings in the baseline" in after.stdout) == (0, True)


def _make_a_new_mistake(root: Path, run: Run) -> None:
    _write_agents(root, {7: "wrko"})
    found = run("validate", "--format", "concise")
    assert found.returncode == 1
    assert len(found.stdout.splitlines()) == 1
    assert b"'wrko'" in found.stdout


def _fix_an_old_mistake(root: Path, run: Run) -> None:
    _write_agents(root, {7: "work"})
    fixed = run("validate")
    assert fixed.returncode == 0
    assert b"1 finding of the baseline fixed" in fixed.stderr
    assert run("baseline", "check").returncode == 1
    size = len((root / NAME).read_bytes().splitlines())
    assert run("baseline", "update").returncode == 0
    assert len((root / NAME).read_bytes().splitlines()) == size - 1
    assert run("baseline", "check").returncode == 0


def test_two_hundred_findings_are_adopted_in_three_commands_and_leave_one_by_one(tmp_path: Path, run: Run) -> None:
    _adopt(tmp_path, run)
    _make_a_new_mistake(tmp_path, run)
    _fix_an_old_mistake(tmp_path, run)
    # what comes back is new, and nothing makes it old
    _write_agents(tmp_path, {})
    assert run("validate").returncode == 1
    shrunk = (tmp_path / NAME).read_bytes()
    assert run("baseline", "update").returncode == 0
    assert (tmp_path / NAME).read_bytes() == shrunk


@pytest.fixture
def adopted(warned: Path, run: Run) -> Path:
    """Write a project whose one warning is in its baseline."""
    assert run("baseline", "write").returncode == 0
    return warned


def test_the_option_names_a_file_from_the_current_folder(adopted: Path, run: Run, tmp_path: Path) -> None:
    assert b"warning" in run("validate").stdout
    below = adopted / "below"
    below.mkdir()
    given = run("validate", "--baseline", f"./{NAME}", "--fail-on", "note")
    assert (given.returncode, b"1 finding in the baseline" in given.stdout) == (0, True)
    environment = nursery.environment()
    away = nursery.run(("validate", "..", "--baseline", f"../{NAME}", "--fail-on", "note"), below, environment, None)
    assert away.returncode == 0


def test_the_configured_baseline_can_be_left_out(adopted: Path, run: Run) -> None:
    (adopted / "stagec.toml").write_text(f'baseline = "{NAME}"\nfail-on = "note"\n')
    assert run("validate").returncode == 0
    assert run("validate", "--no-baseline").returncode == 1
    assert run("validate", "--no-baseline", "--baseline", NAME).returncode == 2
    document = json.loads(run("validate", "--format", "json").stdout)
    assert (document["summary"]["baseline"], document["diagnostics"]) == (1, [])


def test_writing_again_with_another_baseline_configured_accepts_the_same(adopted: Path, run: Run) -> None:
    first = (adopted / NAME).read_bytes()
    (adopted / "stagec.toml").write_text(f'baseline = "{NAME}"\n')
    assert run("baseline", "write").returncode == 0
    assert (adopted / NAME).read_bytes() == first


@pytest.mark.parametrize("command", [("validate",), ("baseline", "check"), ("baseline", "update")])
@pytest.mark.parametrize("form", ["missing", "folder", "text", "bytes", "version", "link", "above"])
def test_a_baseline_that_cannot_be_used_ends_a_run(
    adopted: Path, run: Run, tmp_path_factory: pytest.TempPathFactory, command: tuple[str, ...], form: str
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (adopted / "stagec.toml").write_text(f'baseline = "{"../" * (form == "above")}{NAME}"\n')
    file = adopted / NAME
    data = file.read_bytes()
    if form != "above":
        file.unlink()
    if form == "folder":
        file.mkdir()
    elif form == "link":
        (outside / NAME).write_bytes(data)
        file.symlink_to(outside / NAME)
    elif form not in {"missing", "above"}:
        replaced = {"text": b"hello", "bytes": b"\xff", "version": data.replace(b'"version": 1', b'"version": 2')}
        file.write_bytes(replaced[form])
    ended = run(*command)
    assert ended.returncode == 2
    assert NAME.encode() in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


def test_writing_never_leaves_the_project_and_replaces_no_link(
    warned: Path, run: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "file"
    outside.write_text("mine")
    (warned / NAME).symlink_to(outside)
    assert run("baseline", "write").returncode == 2
    assert outside.read_text() == "mine"


def test_writing_replaces_baselines_only(adopted: Path, run: Run) -> None:
    first = (adopted / NAME).read_bytes()
    (adopted / NAME).write_bytes(first.replace(b' "findings"', b'<<<<<<< ours\n "findings"'))
    assert run("baseline", "write").returncode == 0
    assert (adopted / NAME).read_bytes() == first
    (adopted / "mine.txt").write_text("mine")
    refused = run("baseline", "write", "--baseline", "mine.txt")
    assert (refused.returncode, b"is not a baseline" in refused.stderr) == (2, True)
    assert (adopted / "mine.txt").read_text() == "mine"
    (adopted / "mine.txt").write_text("")
    assert run("baseline", "write", "--baseline", "mine.txt").returncode == 0


def test_where_there_is_nothing_to_check_there_is_no_baseline(tmp_path: Path, run: Run) -> None:
    assert run("baseline", "write").returncode == 3
    assert not (tmp_path / NAME).exists()


def test_findings_of_mandatory_rules_stay(broken: Path, run: Run) -> None:
    written = run("baseline", "write")
    assert b"1 finding of mandatory rules cannot be accepted" in written.stderr
    assert run("validate", "--baseline", NAME).returncode == 1


def test_processes_that_write_at_once_leave_one_whole_baseline(warned: Path) -> None:
    environment = nursery.environment()
    command = [*STAGEC, "baseline", "write"]
    started = [subprocess.Popen(command, cwd=warned, env=environment, stderr=subprocess.DEVNULL) for _ in range(3)]
    assert {each.wait(60) for each in started} == {0}
    assert len(json.loads((warned / NAME).read_bytes())["findings"]) == 1
    assert sorted(os.listdir(warned)) == ["prompts", NAME, "steps_registry.json"]


def test_commands_that_draw_and_describe_show_no_accepted_finding_and_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _write_agents(tmp_path, {})
    for number in range(1, 20):
        shutil.rmtree(tmp_path / f"agent-{number}")
    agent = REGISTRY["agentId"]
    assert stagec(["graph", "--format", "json"]) == 0
    assert "STG136" in capfd.readouterr().out
    assert stagec(["baseline", "write"]) == 0
    (tmp_path / "stagec.toml").write_text(f'baseline = "{NAME}"\n')
    accepted = json.loads((tmp_path / NAME).read_bytes())["findings"].values()
    note = (
        f"{sum(map(len, accepted))} findings in the baseline are not shown: 'stagec validate --no-baseline' shows them"
    )
    capfd.readouterr()
    assert stagec(["graph", "--format", "json"]) == 0
    shown = capfd.readouterr()
    assert ("STG136" in shown.out, shown.err) == (False, f"stagec: note: {note}\n")
    assert stagec(["handbook"]) == 0
    index, flow = ((tmp_path / "handbook" / name).read_text() for name in ("index.html", f"flow-{agent}.html"))
    assert ("STG136" in index + flow, "The baseline of the project accepts" in index) == (False, True)
    assert f"<code>stagec compile --flow {agent}</code> says what is" in flow
    capfd.readouterr()
    assert stagec(["paths"]) == 1
    assert capfd.readouterr().err.endswith(f"; 'stagec compile --flow {agent}' says what is wrong\n")
    assert stagec(["compile"]) == 1
    assert "stagec: note: the baseline does not count" in capfd.readouterr().err


def test_a_review_of_a_project_that_adopts_a_baseline_fixes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    _write_agents(old, {})
    _write_agents(new, {7: "wrko"})
    monkeypatch.chdir(new)
    assert stagec(["baseline", "write", "--root", str(old), "--baseline", NAME]) == 0
    (new / "stagec.toml").write_text(f'baseline = "{NAME}"\n')
    capfd.readouterr()
    assert stagec(["review", "--against", str(old), "--format", "json"]) == 1
    shown = capfd.readouterr()
    found = json.loads(shown.out)["findings"]
    assert ([each["code"] for each in found["new"]], found["gone"], found["kept"]) == (["STG136"], [], [])
    assert "in the baseline are not shown" in shown.err


def test_quiet_prints_nothing_of_accepted_and_kept_findings(adopted: Path, run: Run) -> None:
    (adopted / "stagec.toml").write_text(f'baseline = "{NAME}"\n')
    quiet = run("validate", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, b"", b"")
    before = (adopted / NAME).read_bytes()
    (adopted / "steps_registry.json").write_text("{")
    told = run("validate")
    assert b"1 finding of files that were not judged is kept" in told.stderr
    assert b"kept" not in run("validate", "--quiet").stderr
    assert b"kept" not in run("validate", "prompts").stderr
    for command in ("check", "update"):
        kept = run("baseline", command)
        assert (kept.returncode, b"1 finding of files that were not judged is kept" in kept.stderr) == (0, True)
    assert (adopted / NAME).read_bytes() == before


def test_findings_below_a_folder_that_is_not_looked_into_are_kept(tmp_path: Path, run: Run) -> None:
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "a.md").write_text("---\nname: a\n---\nDo it.\n")
    (tmp_path / "CLAUDE.md").write_text("Be kind.\n")
    (tmp_path / "stagec.toml").write_text(f'baseline = "{NAME}"\n')
    assert run("baseline", "write").returncode == 0
    before = (tmp_path / NAME).read_bytes()
    shutil.rmtree(agents)
    agents.symlink_to("/")
    for command in (("validate",), ("baseline", "update")):
        assert b"1 finding of files that were not judged is kept" in run(*command).stderr
    assert (tmp_path / NAME).read_bytes() == before
    agents.unlink()
    assert b"0 findings, 1 removed" in run("baseline", "update").stderr


def test_findings_of_rules_that_are_not_selected_are_kept_and_counted(adopted: Path, run: Run) -> None:
    (adopted / "stagec.toml").write_text(f'baseline = "{NAME}"\nignore = ["STG105"]\n')
    assert json.loads((adopted / NAME).read_bytes())["findings"]["steps_registry.json"][0]["rule"] == "STG105"
    assert b"1 finding of rules that are not selected is kept" in run("baseline", "update").stderr

"""`stagec checkpoint` verifies and lists the checkpoints that stages leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from protocol.manifests import CONTENT, ENTRY, encode, native, native_json, sign, upstream_json

from stagec.check.rules.checkpoints import FAMILY
from stagec.cli.app import run
from stagec.core.json import Json
from stagec.ir.protocol import checkpoint
from stagec.ir.protocol.checkpoint import encode_manifest
from stagec.runtime.world import checkpoints

Shown = pytest.CaptureFixture[str]
OWN = "reports/wine/run-001/checkpoints/ckpt-S01_load_data.json"
FOREIGN = "reports/wine/checkpoints/run-001/ckpt-001/checkpoint.json"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a checkpoint in each layout, and stand in it."""
    folder = tmp_path / "project"
    for path, data in (
        (f"reports/wine/run-001/{ENTRY.path}", CONTENT),
        (OWN, encode_manifest(native())),
        (FOREIGN, encode(upstream_json())),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    monkeypatch.chdir(folder)
    return folder


def test_valid_checkpoints_are_counted(capsys: Shown) -> None:
    assert run(["checkpoint", "verify", "."]) == 0
    assert capsys.readouterr().out == "2 checkpoints, 2 valid\n"


def test_every_checkpoint_is_judged_and_every_fault_told_once(project: Path, capsys: Shown) -> None:
    (project / "reports/wine/run-001" / ENTRY.path).write_bytes(b"other")
    (project / OWN).write_bytes(encode(native_json(runId="run-777")))
    assert run(["checkpoint", "verify", "--format", "concise", "."]) == 1
    assert [line.partition(" [")[0].split(": ")[1] for line in capsys.readouterr().out.splitlines()] == [
        "error[STG861] changed-artifact",
        "error[STG856] changed-manifest",
    ]


def test_a_text_that_is_no_json_is_explained_once(project: Path, capsys: Shown) -> None:
    (project / OWN).write_bytes(b'{"format": "stagec.checkpoint/1",}')
    assert run(["checkpoint", "verify", "--format", "json", OWN]) == 1
    (told,) = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (told["code"], told["folded"]) == ("STG106", 1)


@pytest.mark.parametrize("trust", ["imported", "untrusted"])
def test_the_source_of_checkpoints_can_be_named(project: Path, capsys: Shown, trust: str) -> None:
    kept = project / "kept"
    (project / "reports/wine/run-001/S01_load_data").rename(kept)
    (project / "reports/wine/run-001/S01_load_data").symlink_to(kept)
    assert run(["checkpoint", "verify", FOREIGN]) == 0
    assert run(["checkpoint", "verify", FOREIGN, "--trust", trust]) == 1
    assert "STG862" in capsys.readouterr().out


def test_a_checkpoint_of_others_is_valid_with_a_warning(capsys: Shown) -> None:
    assert run(["checkpoint", "verify", OWN, "--trust", "untrusted"]) == 0
    told = capsys.readouterr().out
    assert "warning[STG866]" in told
    assert told.endswith("1 checkpoint, 1 valid\n")


def test_no_configuration_of_a_project_silences_a_fault(project: Path) -> None:
    (project / "stagec.toml").write_text('ignore = ["STG8", "STG1"]\n', encoding="utf-8")
    (project / OWN).write_bytes(encode(native_json(runId="run-777")))
    assert run(["checkpoint", "verify", "."]) == 1


def test_a_folder_without_checkpoints_has_nothing_to_verify(project: Path, capsys: Shown) -> None:
    (project / "empty").mkdir()
    assert run(["checkpoint", "verify", "empty"]) == 3
    assert "holds none" in capsys.readouterr().err
    assert run(["checkpoint", "verify", "nowhere"]) == 2


def test_checkpoints_are_listed(project: Path, capsys: Shown) -> None:
    left = upstream_json(trustLevel="imported", status="interrupted")
    (project / FOREIGN).write_bytes(encode(left))
    (project / "reports/wine/checkpoints/run-001/ckpt-002").mkdir()
    (project / "reports/wine/checkpoints/run-001/ckpt-002/checkpoint.json").write_bytes(b"{}")
    assert run(["checkpoint", "list"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["run", "stage", "status", "created", "trust", "valid", "file"]
    assert rows[1][2:6] == ["interrupted", "2026-01-02T10:30:00Z", "imported", "yes"]
    assert rows[2][:2] == ["local", "no"]
    assert rows[3][1:3] == ["S01_load_data", "saved"]
    assert run(["checkpoint", "list", OWN, "--format", "json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["checkpoint"], told["valid"], told["artifacts"]) == ("ckpt-S01_load_data", True, [ENTRY.path])


BROUGHT = "reports/beer/run-002/checkpoints/ckpt-S01_load_data.json"
IMPORT = ["checkpoint", "import", FOREIGN, "--into", "beer/run-002", "--trust"]


def test_a_checkpoint_is_brought_into_a_run_with_a_warning(project: Path, capsys: Shown) -> None:
    (project / "reports/beer/run-002").mkdir(parents=True)
    assert run([*IMPORT, "imported"]) == 0
    told = capsys.readouterr()
    assert "warning[STG866]" in told.out
    assert "imported ckpt-S01_load_data as imported: 1 artifact" in told.err
    assert run(["checkpoint", "list", "reports/beer"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[4:6] == ["imported", "yes"]
    assert run([*IMPORT, "imported"]) == 1
    assert "STG865" in capsys.readouterr().out


def test_an_untrusted_checkpoint_needs_a_flag(project: Path, capsys: Shown) -> None:
    (project / "reports/beer/run-002").mkdir(parents=True)
    assert run([*IMPORT, "untrusted"]) == 2
    assert "--allow-untrusted" in capsys.readouterr().err
    assert not (project / BROUGHT).exists()
    assert run([*IMPORT, "untrusted", "--allow-untrusted"]) == 0
    assert json.loads((project / BROUGHT).read_bytes())["trustLevel"] == "untrusted"


def test_a_checkpoint_that_is_not_valid_is_not_brought_in(project: Path, capsys: Shown) -> None:
    (project / "reports/beer/run-002").mkdir(parents=True)
    (project / "reports/wine/run-001" / ENTRY.path).write_bytes(b"other")
    assert run([*IMPORT, "imported"]) == 1
    assert "STG861" in capsys.readouterr().out
    assert list((project / "reports/beer/run-002").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"), [("beer", "--into"), ("beer/run-002", "not a folder"), ("a/..", "run '..'")]
)
def test_a_run_that_is_none_is_a_failure(capsys: Shown, name: str, words: str) -> None:
    assert run(["checkpoint", "import", FOREIGN, "--trust", "imported", "--into", name]) == 2
    assert words in capsys.readouterr().err


def test_where_a_checkpoint_comes_from_must_be_said(capsys: Shown) -> None:
    assert run(["checkpoint", "import", FOREIGN, "--into", "beer/run-002"]) == 2
    assert run([*IMPORT, "local"]) == 2
    assert "--trust" in capsys.readouterr().err


def fields(given: Json, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the way to every value in a manifest that is no container."""
    pairs = given.items() if isinstance(given, dict) else enumerate(given) if isinstance(given, list) else ()
    return [way for key, each in pairs for way in fields(each, (*at, key))] or ([at] if at else [])


def alter(given: Any, way: tuple[str | int, ...]) -> None:
    """Change one value into another one of its type, a digest into another digest."""
    for key in way[:-1]:
        given = given[key]
    old = given[way[-1]]
    if isinstance(old, int):
        given[way[-1]] = old + 1
    else:
        given[way[-1]] = f"{old[1:]}{old[0]}" if len(old) == len(ENTRY.sha256) else f"{old}x"


def list_errors(path: str, capsys: Shown) -> list[tuple[str, str]]:
    assert run(["checkpoint", "verify", "--format", "json", path]) == 1
    told = json.loads(capsys.readouterr().out)["diagnostics"]
    return [(each["name"], each["pointer"]) for each in told if each["severity"] == "error"]


@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize("path", [OWN, FOREIGN])
def test_every_field_that_is_changed_is_told_once(project: Path, capsys: Shown, path: str, *, signs: bool) -> None:
    whole = json.loads((project / path).read_bytes())
    for way in fields(whole):
        if signs and way[-1] not in HELD:
            continue
        given = json.loads(json.dumps(whole))
        alter(given, way)
        (project / path).write_bytes(encode(sign(given) if signs else given))
        assert len(list_errors(path, capsys)) == 1, way


HELD = {
    "checkpointId",
    "reportTitle",
    "runId",
    "relativePath",
    "sha256",
    "sizeBytes",
    "format",
    "algorithm",
    "pathBase",
}
"""Members that the disk or the form contradicts even if somebody has computed the digest again."""


def test_every_fault_has_a_rule(project: Path) -> None:
    """Otherwise a checkpoint could be refused without a word."""
    topics = {given for module in MODULES for name, given in vars(module).items() if is_topic(name, given)}
    assert topics <= {each.name for each in FAMILY.rules()}
    assert len(topics) == len(FAMILY.rules()) - 1  # a warning about trust is no fault


MODULES = (checkpoints, checkpoints, checkpoint, checkpoint)


def is_topic(name: str, given: object) -> bool:
    return name.isupper() and isinstance(given, str) and given.endswith(ENDS)


ENDS = ("-artifact", "-checkpoint", "-emergency", "-form", "-manifest", "-member", "-path", "-value")

"""The page about checkpoints: its manifest is one, its output is what is printed, and its table is true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from protocol.manifests import encode, sign

from stagec.cli.app import run
from stagec.core.json import Json
from stagec.ir.protocol.checkpoint import TrustLevel, read_manifest
from stagec.runtime.world.checkpoints import judge_checkpoint

PAGE = (Path(__file__).parents[2] / "docs" / "user-guide" / "checkpoints.md").read_text(encoding="utf-8")
CONTENT = b"a,b\n1,2\n"


def show(command: str) -> str:
    """Return what the page says that a command prints."""
    (printed,) = re.findall(rf"^```console\n\$ stagec {re.escape(command)}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return str(printed)


@pytest.fixture
def manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the manifest of the page in a project with the file that it vouches for."""
    ((path, text),) = re.findall(r"^```json (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    (file.parents[1] / "S01_load_data").mkdir()
    (file.parents[1] / "S01_load_data" / "df.csv").write_bytes(CONTENT)
    monkeypatch.chdir(tmp_path)
    return file


def test_the_output_is_what_is_printed(manifest: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["checkpoint", "verify", "reports"]) == 0
    assert capsys.readouterr().out == show("checkpoint verify reports")
    (manifest.parents[1] / "S01_load_data" / "df.csv").write_bytes(CONTENT[::-1])
    assert run(["checkpoint", "verify", "--format", "concise", "reports"]) == 1
    assert capsys.readouterr().out == show("checkpoint verify --format concise reports")


def test_every_member_is_explained(manifest: Path) -> None:
    explained = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`\w+`.*?) \|", PAGE, re.MULTILINE))))
    assert set(json.loads(manifest.read_bytes())) <= explained
    assert read_manifest(manifest.read_bytes()).faults == ()


def name_absolute_path(manifest: Path) -> None:
    entry: Json = {"relativePath": "/etc/passwd", "sha256": "0" * 64, "sizeBytes": 1}
    manifest.write_bytes(encode(sign({**json.loads(manifest.read_bytes()), "artifacts": [entry]})))


def link(manifest: Path, name: str, to: Path) -> None:
    target = manifest.parents[1] / name
    target.rename(to)
    target.symlink_to(to)


FAULTS: dict[str, Any] = {
    "the digest of the manifest is correct": lambda manifest: manifest.write_bytes(
        manifest.read_bytes().replace(b'"attempt": 1', b'"attempt": 2')
    ),
    "no path is absolute": name_absolute_path,
    "an artifact is a regular file": lambda manifest: link(
        manifest, "S01_load_data/df.csv", manifest.parents[1] / "kept.csv"
    ),
    "it is inside the folder": lambda manifest: link(manifest, "S01_load_data", manifest.parents[4] / "elsewhere"),
    "its size and its digest match": lambda manifest: (manifest.parents[1] / "S01_load_data/df.csv").write_bytes(b""),
    "no folder in its path": lambda manifest: link(manifest, "S01_load_data", manifest.parents[1] / "kept"),
}


@pytest.mark.parametrize("check", FAULTS)
def test_the_table_of_checks_is_true(manifest: Path, check: str) -> None:
    (row,) = re.findall(rf"^\| {re.escape(check)}[^|]*\| (\w+) \| (\w+) \| (\w+) \|$", PAGE, re.MULTILINE)
    FAULTS[check](manifest)
    assert [judge_checkpoint(manifest, level).is_valid for level in TrustLevel] == [each == "no" for each in row]

"""No key of a configuration makes stagec open what lies outside the project, nor wait for a pipe or a device."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from stagec.cli.app import run
from stagec.cli.limits import load_configuration
from stagec.cli.signatures import refuse_unsigned
from stagec.core.failure import Failure
from stagec.sources.project.settings import FILES

TOP = Path(__file__).parents[2]
PLACES = ("/dev/zero", "../outside", "link", "pipe", "stages", "absent")


def _demand_signature() -> int:
    try:
        refuse_unsigned("{}", b"{}", load_configuration((Path(),)), "the plan")
    except Failure as failure:
        return int(failure.status) if "of the configuration names" in str(failure) else -1
    return 0


COMMANDS: Mapping[str, tuple[str, Callable[[], int]]] = {
    "baseline": ("baseline = {}", lambda: run(["validate"])),
    "run.trusted-keys": ("[run]\nrequire-signature = true\ntrusted-keys = [{}]", _demand_signature),
    "cost.prices": ("[cost]\nprices = {}", lambda: run(["bounds"])),
}
"""For each key that names a file: how it is written, and what opens the file."""


def _list_paths(schema: Any, above: str = "") -> Iterator[str]:
    for key, told in schema.get("properties", {}).items():
        if told.get("x-expected") in {"a path", "an array of paths"}:
            yield above + key
        yield from _list_paths(told, f"{above}{key}.")


def test_the_law_knows_every_key_that_names_a_file() -> None:
    schema = json.loads((TOP / "schemas" / "stagec.schema.json").read_bytes())
    assert {*_list_paths(schema)} == {*COMMANDS} == {*FILES}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("key", COMMANDS)
def test_what_a_project_names_lies_inside_it_and_is_a_file(
    key: str, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = tmp_path / "project"
    shutil.copytree(TOP / "registries" / "code-review", top)
    (tmp_path / "outside").write_text('as-of = "2026-01-01"\n')
    (top / "link").symlink_to(tmp_path / "outside")
    os.mkfifo(top / "pipe")
    written, command = COMMANDS[key]
    (top / "stagec.toml").write_text(written.format(json.dumps(place)))
    monkeypatch.chdir(top)
    assert command() == 2


@pytest.mark.parametrize("command", [["doctor"], ["config", "show"], ["validate"]], ids=" ".join)
@pytest.mark.parametrize("key", COMMANDS)
def test_commands_that_do_not_open_the_file_refuse_it_as_well(
    key: str, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "steps_registry.json").write_text("{}")
    (tmp_path / "stagec.toml").write_text(COMMANDS[key][0].format('"/dev/zero"'))
    monkeypatch.chdir(tmp_path)
    status = run(command)
    said = "".join(capsys.readouterr())
    assert f"{key!r} of the configuration names '/dev/zero', which leads out of the project" in said
    assert status == (1 if command == ["doctor"] else 2)

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from stagec.cli.app import run as invoke

Run = Callable[..., CompletedProcess[bytes]]
WRITTEN = 'exclude = ["a\\u007f\\u202e\\"b"]\nfail-on = "note"\nseverity."STG101" = "off"\nbudgets.depth = 7\n'
TABLES = 'models."node:a" = "x:y"\ntools."run tests" = ["python3", "a \\"b\\""]\n'


def test_without_a_configuration_every_value_is_a_default(run: Run, tmp_path: Path) -> None:
    ended = run("config", "show")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert (
        ended.stdout.decode()
        == f"""\
# project root: {tmp_path}
# configuration file: none
roots = ["."]                              # default
include = []                               # default
exclude = []                               # default
gitignore = true                           # default
# select: every rule that is not optional  # default
extend-select = []                         # default
ignore = []                                # default
fail-on = "error"                          # default
output-format = "text"                     # default
# required-version: any version            # default
# baseline: no baseline                    # default
# documentation: no site                   # default

[budgets]
file-size = 1000000    # default
depth = 64             # default
nodes = 600000         # default
pattern-length = 1000  # default
plan-size = 32000000   # default
"""
    )


def test_the_text_is_toml_that_means_the_same(run: Run, tmp_path: Path) -> None:
    (tmp_path / "stagec.toml").write_text(WRITTEN + TABLES)
    first = run("config", "show").stdout.decode()
    read = tomllib.loads(first)
    assert (read["models"], read["tools"]) == ({"node:a": "x:y"}, {"run tests": ["python3", 'a "b"']})
    assert (read["exclude"], read["severity"], read["budgets"]["depth"]) == (['a\x7f\u202e"b'], {"STG101": "off"}, 7)
    assert 'fail-on = "note"' in first
    (tmp_path / "stagec.toml").write_text(first)
    again = tomllib.loads(run("config", "show").stdout.decode())
    assert again == read


def test_the_json_tells_value_and_origin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "stagec.toml").write_text(WRITTEN)
    shown = json.loads(run("config", "show", "--format", "json").stdout)
    assert (shown["root"], shown["file"]) == (str(tmp_path), "stagec.toml")
    assert shown["settings"]["fail-on"] == {"value": "note", "from": "stagec.toml"}
    assert shown["settings"]["select"] == {"value": None, "from": "default"}
    assert shown["settings"]["severity.STG101"] == {"value": "off", "from": "stagec.toml"}


def test_the_root_can_be_given(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "stagec.toml").write_text("gitignore = false\n")
    shown = json.loads(run("config", "show", "--format", "json", "--root", "a").stdout)
    assert shown["settings"]["gitignore"] == {"value": False, "from": "stagec.toml"}


def test_a_wrong_configuration_ends_with_2_and_one_line_per_mistake(run: Run, tmp_path: Path) -> None:
    (tmp_path / "stagec.toml").write_text("rots = []\ngitignore = 3\n")
    ended = run("config", "show")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.decode().splitlines() == [
        "stagec: error: stagec.toml:1: unknown key 'rots'; did you mean 'roots'?",
        "stagec: error: stagec.toml:2: 'gitignore' must be true or false, found 3",
    ]


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "gitlab", "junit"])
def test_diagnostics_point_to_the_site_of_the_configuration(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "steps_registry.json").write_text("{", encoding="utf-8")
    for written, count in (("", 0), ('documentation = "https://docs.example.org/stagec"\n', 1)):
        (tmp_path / "stagec.toml").write_text(written, encoding="utf-8")
        assert invoke(["validate", str(tmp_path), "--format", form]) == 1
        shown = capsys.readouterr().out
        assert "stagec explain STG106" in shown
        assert min(1, shown.count("https://docs.example.org/stagec/rules/STG106/")) == count


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "docs.example.org",
        "https://",
        "https://a b",
        "https://a/\\n::error::x",
        "https://a#`x`",
        "https://a/)[x](y",
        "https://docs.example.org@b",
        f"https://{'a' * 500}",
    ],
    ids=range(9),
)
def test_what_is_no_address_of_a_site_is_refused(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stagec.toml").write_text(f'documentation = "{address}"\n', encoding="utf-8")
    assert invoke(["validate", str(tmp_path)]) == 2
    assert "'documentation' must be the address of a site" in capsys.readouterr().err

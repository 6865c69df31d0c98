from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

Run = Callable[..., CompletedProcess[bytes]]
WRITTEN = 'exclude = ["a\\u007f\\u202e\\"b"]\nfail-on = "note"\nseverity."STG101" = "off"\nbudgets.depth = 7\n'


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

[budgets]
file-size = 1000000    # default
depth = 64             # default
nodes = 600000         # default
pattern-length = 1000  # default
plan-size = 32000000   # default
"""
    )


def test_the_text_is_toml_that_means_the_same(run: Run, tmp_path: Path) -> None:
    (tmp_path / "stagec.toml").write_text(WRITTEN)
    first = run("config", "show").stdout.decode()
    read = tomllib.loads(first)
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

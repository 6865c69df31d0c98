"""A project can lower its budgets; only whoever runs stagec can raise them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from stagec.core.budgets import Budgets
from stagec.core.failure import Exit, Failure
from stagec.sources.project.configuration import Configuration, amount, ceilings, configure
from stagec.sources.project.settings import BUDGETS

DEFAULT = Budgets()


def put(folder: Path, text: str, name: str = "stagec.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder


def asked(folder: Path, size: int, told: Mapping[str, int], environment: Mapping[str, str]) -> Configuration:
    put(folder, f"[budgets]\nfile-size = {size}\n")
    return configure((folder,), None, {"budgets": told}, environment)


def test_a_project_can_ask_for_less(tmp_path: Path) -> None:
    found = asked(tmp_path, 10, {}, {})
    assert (found.settings.budgets.file_size, found.provenance["budgets.file-size"]) == (10, "stagec.toml")


@pytest.mark.parametrize("key", BUDGETS)
def test_a_project_that_asks_for_more_is_refused_with_the_ways_to_allow_it(tmp_path: Path, key: str) -> None:
    most = getattr(DEFAULT, BUDGETS[key])
    put(tmp_path, f"[budgets]\n{key} = {most + 1}\n")
    with pytest.raises(Failure, match=r"^stagec.toml:2: 'budgets\.") as caught:
        configure((tmp_path,))
    variable = f"STAGEC_BUDGET_{key.replace('-', '_').upper()}={most + 1}"
    assert all(way in str(caught.value) for way in (f"--budget {key}={most + 1}", variable, "stagec.toml"))
    assert caught.value.status is Exit.USAGE


def test_a_shared_file_raises_nothing_either(tmp_path: Path) -> None:
    put(tmp_path, "[tool.stagec.budgets]\ndepth = 65\n", "pyproject.toml")
    with pytest.raises(Failure, match=r"^pyproject.toml:2: "):
        configure((tmp_path,))


def test_the_command_line_counts_before_the_environment_and_both_before_the_project(tmp_path: Path) -> None:
    variables = {"STAGEC_BUDGET_FILE_SIZE": "3MB"}
    for told, expected, origin in (({"file-size": 7}, 7, "command line"), ({}, 3_000_000, "environment")):
        found = asked(tmp_path, 2_000_000, told, variables)
        assert (found.settings.budgets.file_size, found.provenance["budgets.file-size"]) == (expected, origin)


@pytest.mark.parametrize("variable", ["XDG_CONFIG_HOME", "HOME"])
def test_a_user_s_own_file_raises_what_projects_may_ask_for(tmp_path: Path, variable: str) -> None:
    home = tmp_path / "home"
    folder = put(
        home / ("stagec" if variable == "XDG_CONFIG_HOME" else ".config/stagec"), "[budgets]\nfile-size = '2MB'\n"
    )
    environment = {variable: str(home)}
    found = asked(tmp_path / "project", 1_500_000, {}, environment)
    assert found.settings.budgets.file_size == 1_500_000
    plain = configure((tmp_path / "elsewhere",), tmp_path, {}, environment)
    assert plain.settings.budgets.file_size == 2_000_000
    assert plain.provenance["budgets.file-size"] == str(folder / "stagec.toml")
    with pytest.raises(Failure, match="may only lower it from 2,000,000"):
        asked(tmp_path / "project", 2_000_001, {}, environment)


@pytest.mark.parametrize(
    "text", ["select = ['ALL']", "budgets = 3", "[budgets]\nnosuch = 1", "[budgets]\ndepth = 0", "["]
)
def test_a_user_s_own_file_that_is_wrong_is_refused(tmp_path: Path, text: str) -> None:
    put(tmp_path / "stagec", text)
    with pytest.raises(Failure):
        ceilings({}, {"XDG_CONFIG_HOME": str(tmp_path)})


@pytest.mark.parametrize(
    ("text", "number"), [("64", 64), ("5MB", 5_000_000), ("1 MiB", 1 << 20), ("5_000_000", 5_000_000), ("2kB", 2_000)]
)
def test_sizes(text: str, number: int) -> None:
    assert amount("file-size", text, "here") == number


@pytest.mark.parametrize(
    ("key", "text"),
    [("file-size", each) for each in ("", "x", "-1", "0", "5XB", "1e9", "9" * 30, "2000GB", "\u0665")]
    + [("depth", "201"), ("size", "1"), ("file_size", "1")],
)
def test_what_is_no_budget_is_refused(key: str, text: str) -> None:
    with pytest.raises(Failure, match=r"^here: "):
        amount(key, text, "here")

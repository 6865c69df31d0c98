"""The page `docs/configuration.md` says what the published schema says."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from stagec.cli.app import run
from stagec.sources.project.mistakes import mistakes
from stagec.sources.project.settings import Settings, flat, keys_of, settings_of

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "configuration.md").read_text("utf-8")
SCHEMA = json.loads((TOP / "schemas" / "stagec.schema.json").read_text("utf-8"))


def text_of_example() -> str:
    match = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert match is not None
    return match[1]


def example() -> dict[str, Any]:
    return tomllib.loads(text_of_example())


def documented() -> dict[str, str]:
    """Every key that has a section, and what its default is said to be."""
    sections = re.findall(r"^### `(.+?)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return {key: re.search(r"Default:\s(.+?)\.(?:\n|\Z)", text.strip(), re.DOTALL)[1] for key, text in sections}  # type: ignore[index]


def published() -> dict[str, Any]:
    keys = dict(SCHEMA["properties"])
    tables = {name: keys.pop(name)["properties"] for name in ("budgets", "run", "cost")}
    return {**keys, **{f"{name}.{key}": each for name, table in tables.items() for key, each in table.items()}}


def test_every_key_has_a_section_with_its_default() -> None:
    words = {
        "select": "every rule that is not optional",
        "required-version": "any version",
        "documentation": "no site",
        "baseline": "no baseline",
        "cost.prices": "the table that is bundled with stagec",
        "cost.turn": "any time",
        "cost.calls": "any number",
        "cost.input-tokens": "from the texts of the prompt to the limit of the model",
        "cost.output-tokens": "from 1 to the limit of the model",
    }
    schema = {key: f"`{json.dumps(each['default'])}`" for key, each in published().items() if "default" in each}
    assert documented() == {key: words.get(key) or schema[key] for key in published()}


def test_the_example_is_right_and_uses_every_key() -> None:
    given = example()
    assert mistakes(given) == ()
    assert set(given) == set(SCHEMA["properties"])
    for table in ("budgets", "run", "cost"):
        assert set(given[table]) == set(SCHEMA["properties"][table]["properties"])


def test_a_project_with_the_example_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of_example()
    (tmp_path / "stagec.toml").write_text(re.sub("^required-version.*$", "", text, flags=re.MULTILINE))
    assert (run(["config", "show", "--root", str(tmp_path)]), capsys.readouterr().err) == (0, "")


def test_the_example_changes_every_setting_but_one() -> None:
    default = keys_of(Settings())
    changed = keys_of(settings_of(flat(example())))
    assert {key for key in default if default[key] == changed[key]} == {"gitignore"}


def test_every_key_has_a_title_and_a_description() -> None:
    assert [key for key, each in published().items() if not {"title", "description"} <= set(each)] == []

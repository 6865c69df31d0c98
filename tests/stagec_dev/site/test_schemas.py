"""Published schemas: they name their own addresses, and the catalogue keeps the rules of those that editors read."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from stagec import languages as frontends
from stagec.core.shelf import members
from stagec.languages import FrontEnd
from stagec_dev.tools.site import CATALOGUED, publish_schemas

TOP = Path(__file__).parents[3]
FILES = {f"schemas/{path.name}": path.read_bytes() for path in sorted((TOP / "schemas").glob("*.json"))}
PUBLISHED = publish_schemas({**FILES, "pictures/a.svg": b"<svg/>"}, "https://docs.example.org/stagec")
CATALOGUE: dict[str, Any] = json.loads(PUBLISHED["schemas/catalog.json"])


def matches(path: str, pattern: str) -> bool:
    """Tell whether a pattern of the catalogue means a path; one without a slash is about names in any folder."""
    return fnmatchcase(f"/{path}", f"*/{pattern.removeprefix('**/')}")


def test_each_schema_is_at_the_address_that_it_names() -> None:
    for name, data in FILES.items():
        before, after = json.loads(data), json.loads(PUBLISHED[name])
        assert after["$id"] == f"https://docs.example.org/stagec/{name}"
        assert {**after, "$id": before["$id"]} == before
        assert list(after) == list(before)
        Draft202012Validator.check_schema(after)
    assert PUBLISHED["pictures/a.svg"] == b"<svg/>"


def test_without_an_address_nothing_is_changed() -> None:
    assert publish_schemas(FILES, None) == FILES


def test_the_entries_keep_the_rules_of_the_catalogue() -> None:
    assert (CATALOGUE["$schema"], CATALOGUE["version"]) == ("https://json.schemastore.org/schema-catalog.json", 1)
    entries = CATALOGUE["schemas"]
    assert len(entries) == len(CATALOGUED)
    for each in entries:
        assert list(each) == ["name", "description", "fileMatch", "url"]
        assert each["url"].removeprefix("https://docs.example.org/stagec/") in PUBLISHED
        # names and descriptions say what a file is, and not that this is a schema
        assert "schema" not in f"{each['name']} {each['description']}".lower()
        assert not each["description"].endswith(".")
        assert all("/" not in pattern or pattern.startswith("**/") for pattern in each["fileMatch"])
    names, patterns = [each["name"] for each in entries], [one for each in entries for one in each["fileMatch"]]
    assert len({*names}) == len(names)
    assert len({*patterns}) == len(patterns)


def test_the_patterns_mean_the_files_of_examples_and_their_schemas_accept_them() -> None:
    seen = set()
    for path in sorted((TOP / "registries").rglob("*")):
        file = path.relative_to(TOP / "registries").as_posix()
        for each in CATALOGUE["schemas"]:
            if path.is_file() and any(matches(file, pattern) for pattern in each["fileMatch"]):
                if not file.startswith("broken-on-purpose"):
                    text = path.read_text(encoding="utf-8")
                    schema = json.loads(PUBLISHED[each["url"].removeprefix("https://docs.example.org/stagec/")])
                    given = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
                    assert [*Draft202012Validator(schema).iter_errors(given)] == [], file
                seen.add(each["name"])
    # examples have no configuration and no orchestrator file
    assert seen == {each["name"] for each in CATALOGUE["schemas"]} - {"stagec configuration", "stagec orchestrator"}


def test_the_pattern_of_orchestrator_files_means_those_that_stagec_reads() -> None:
    (pattern,) = CATALOGUED["workflow"][2]
    (front_end,) = [each for each in members(frontends, FrontEnd) if each.claims(".agent/workflow.json")]
    for path in (".agent/workflow.json", "a/.agent/workflow.json", "workflow.json", ".agent/a/workflow.json"):
        assert matches(path, pattern) == front_end.claims(path)

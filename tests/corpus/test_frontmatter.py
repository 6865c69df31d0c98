"""Real Markdown files: every malformed frontmatter has one diagnostic at the right line, no other has any."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from stagec.core.budgets import Budgets
from stagec.sources.formats.markdown import FORMAT

CORPUS = os.environ.get("STAGEC_CORPUS")
SYNTAX = {"invalid-yaml", "invalid-frontmatter", "repeated-key"}


def entries() -> Iterator[Mapping[str, Any]]:
    if CORPUS is None:
        return
    index = json.loads((Path(CORPUS) / "frontmatter" / "index.json").read_bytes())
    yield from index["files"]


def broken(entry: Mapping[str, Any]) -> bool:
    """Tell whether the parser that reads YAML 1.2 and refuses repeated keys refuses the file."""
    return str(entry["yaml"]["ruamel_safe_12"]).startswith("err:")


@pytest.mark.skipif(CORPUS is None, reason="set STAGEC_CORPUS to the folder of the corpus")
def test_the_corpus_has_frontmatter() -> None:
    assert any(broken(entry) for entry in entries())


@pytest.mark.parametrize("entry", list(entries()), ids=lambda entry: entry["file"])
def test_a_file_has_one_fault_when_it_is_malformed_and_none_else(entry: Mapping[str, Any]) -> None:
    data = (Path(str(CORPUS)) / "frontmatter" / entry["file"]).read_bytes().removeprefix(b"\xef\xbb\xbf")
    faults = FORMAT.parse(entry["file"], data, Budgets()).faults
    assert [fault.topic in SYNTAX for fault in faults] == [True] * broken(entry)
    told = re.findall(r"line (\d+)", entry["yaml"].get("pyyaml_message") or "")
    if told and faults:
        line = FORMAT.locate(data, [faults[0].at])[faults[0].at].start.line
        stopped = int(told[-1]) + 1
        assert stopped - 1 <= line <= stopped


@pytest.mark.parametrize("entry", [each for each in entries() if each["keys"]], ids=lambda entry: entry["file"])
def test_a_readable_file_has_the_keys_that_other_parsers_find(entry: Mapping[str, Any]) -> None:
    data = (Path(str(CORPUS)) / "frontmatter" / entry["file"]).read_bytes().removeprefix(b"\xef\xbb\xbf")
    value = FORMAT.parse(entry["file"], data, Budgets()).value
    assert isinstance(value, dict)
    assert {key if key != "on" else "True" for key in value} == set(entry["keys"])

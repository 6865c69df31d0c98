"""Real Markdown files: every malformed frontmatter has one usable diagnostic in the right line, no other has any.

Malformed is what most of six YAML parsers refuse; where they are divided, as on keys that are written twice, the one
decides that reads YAML 1.2 as stagec does. Repeated keys are therefore malformed, and told by a rule of their own.
Frontmatter that is empty, or has keys that only Python cannot sort, is well-formed. Files without frontmatter are left
alone, also those that begin with a separating line and prose.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stagec.check.fixes import fix_project
from stagec.check.pipeline import Project, compile_project
from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Edit
from stagec.sources.formats.markdown import FORMAT
from stagec.sources.project.settings import Settings
from stagec_dev.rows import Agreement
from stagec_dev.tools.answer import AskedRow, ask_rows

LISTED = "frontmatter/index.json"
needs_corpus = pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")


def rows() -> list[AskedRow]:
    if "STAGEC_CORPUS" not in os.environ:
        return []
    return [each for each in ask_rows(Path(os.environ["STAGEC_CORPUS"])) if each.row.file == LISTED]


def label(each: AskedRow) -> str:
    return each.row.id


def path_of(each: AskedRow) -> Path:
    return (each.root / each.row.file).parent / each.row.id


ROWS = rows()
every_file = pytest.mark.parametrize("row", ROWS, ids=label)


@every_file
def test_a_file_is_malformed_well_formed_or_left_alone_as_other_parsers_say(row: AskedRow) -> None:
    got: Any = row.answer()
    assert row.compare(got) is Agreement.AGREE, got


@needs_corpus
def test_the_corpus_has_files_of_every_kind() -> None:
    verdicts = Counter(str(got["verdict"]) for each in ROWS if isinstance(got := each.answer(), dict))
    assert min(verdicts[verdict] for verdict in ("malformed", "well-formed", "left alone")) > 0


@every_file
def test_a_hint_names_the_key_and_says_what_to_do(row: AskedRow) -> None:
    got: Any = row.answer()
    for told in got["diagnostics"]:
        line = path_of(row).read_text(encoding="utf-8").splitlines()[told["line"] - 1]
        key = line.partition(":")[0].strip()
        assert key in told["message"]
        assert re.search(r"put .* in quotes|indent it|write |remove |written twice", told["message"])


@pytest.mark.parametrize("row", [each for each in ROWS if each.row.given["keys"]], ids=label)
def test_a_readable_file_has_the_keys_that_other_parsers_find(row: AskedRow) -> None:
    value = FORMAT.parse(row.row.id, path_of(row).read_bytes().removeprefix(b"\xef\xbb\xbf"), Budgets()).value
    assert isinstance(value, dict)
    assert {key if key != "on" else "True" for key in value} == set(row.row.given["keys"])


@every_file
def test_a_file_named_as_it_is_called_has_the_same_diagnostics(row: AskedRow) -> None:
    path = path_of(row)
    found = compile_project(Project(path.parent.resolve(), (path.resolve(),), Settings())).diagnostics
    wanted: Any = row.answer()
    told = [(each.code, each.span.start.line) for each in found if "STG102" < each.code < "STG115"]
    assert told == [(each["code"], each["line"]) for each in wanted["diagnostics"]]


@every_file
def test_a_fix_changes_one_value_and_leaves_its_text(row: AskedRow) -> None:
    folder, name = path_of(row).parent.resolve(), "given.md"
    data = path_of(row).read_bytes()
    project = Project(folder, (folder / name,), Settings(), {name: data})
    compilation = compile_project(project)
    for after in fix_project(project).after.values():
        changed = [
            (old, new)
            for old, new in zip(data.decode().splitlines(), after.decode().splitlines(), strict=True)
            if old != new
        ]
        edits: list[Edit] = [edit for each in compilation.diagnostics if each.fix for edit in each.fix.edits]
        assert [old.partition(": ")[2].strip() for old, _ in changed] == [edit.value for edit in edits]

"""Formatting changes no diagnostic but its place, and no plan but the digests of its sources."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import pytest
from campaigns import choose, sample
from formatting.meaning import find_differences
from properties.mutants import equivalent
from properties.mutants.projects import list_projects, load_project
from properties.test_mutants import MUTATIONS

EXAMPLES = Path(__file__).parents[2] / "registries"
OPERATORS = {**MUTATIONS, **equivalent.OPERATORS}
EACH = choose(2, whole=20)
"""So many operators change each project."""


def list_roots() -> list[Path]:
    """Return the examples, and every project of the corpus."""
    own = sorted(EXAMPLES.iterdir())
    corpus = os.environ.get("STAGEC_CORPUS")
    if corpus is None:
        return own
    folders = ("agents", "soundness", "stage-definitions")
    rest = [path for folder in folders for path in sorted(Path(corpus, folder).iterdir()) if path.is_dir()]
    return [*own, *sample(rest, 8, full=8), Path(corpus, "frontmatter"), Path(corpus, "workflows")]


@pytest.mark.parametrize("root", list_roots(), ids=lambda root: root.name)
def test_of_real_projects_formatting_changes_nothing(root: Path) -> None:
    assert find_differences(root) == ""


@pytest.mark.parametrize("root", list_projects(), ids=lambda root: root.name)
def test_of_mutants_formatting_changes_nothing(root: Path) -> None:
    base = load_project(root)
    for name in Random(root.name).sample(sorted(OPERATORS), min(EACH, len(OPERATORS))):
        changes = list(OPERATORS[name](base, Random(name)))
        if changes:
            files = Random(name).choice(changes).files
            assert find_differences(root, {file: data for file, data in files.items() if data is not None}) == "", name


@pytest.mark.skipif("STAGEC_CORPUS" not in os.environ, reason="STAGEC_CORPUS is not set")
def test_of_the_mutants_of_the_corpus_formatting_changes_nothing() -> None:
    folder = Path(os.environ["STAGEC_CORPUS"], "mutants")
    given = json.loads((folder / "mutants.json").read_bytes())
    rows = given if isinstance(given, list) else given["mutants"]
    for row in sample(rows, 8, full=8):
        overlay = {file: text.encode() for file, text in row["changes"].items() if text is not None}
        assert find_differences(folder / "bases" / row["base"], overlay) == "", row["id"]

"""What no run reaches is left out when that is asked for, and nothing else is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stagec.cli.plans import Freezer, Frozen, Refused
from stagec.core.diagnostic import Severity
from stagec.sources.project.configuration import configure

EXAMPLES = Path(__file__).parents[1] / "registries"
SOUND = sorted(path.name for path in EXAMPLES.iterdir() if path.name != "broken-on-purpose")
STAGE = """---
id: orphan
name: Orphan
allowedTools: [Read]
completionTool: done_orphan
completionSchema: {type: object}
turnCap: 0
retryPolicy: {maxAttempts: 1}
resolutionPolicy: fail
---
Call `done_orphan`; {{ctx.upstream.parsed.foo}}.
"""
Copy = Callable[[str], Path]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return lambda name: Path(shutil.copytree(EXAMPLES / name, tmp_path / name))


def freeze(folder: Path, *, reachable: bool = True) -> tuple[Freezer, Frozen | Refused]:
    make = Freezer.of_reachable if reachable else Freezer
    freezer = make(configure((folder,), folder), (folder,))
    meaning, *_ = freezer.compilation.meanings
    return freezer, freezer.freeze(meaning)


def payload(made: Frozen | Refused) -> dict[str, Any]:
    """Return a plan without the digests of its sources."""
    assert isinstance(made, Frozen), made
    read: dict[str, Any] = json.loads(made.data)
    return {key: each for key, each in read["plan"].items() if key != "sources"}


def insert(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def change(folder: Path, make: Callable[[dict[str, Any]], None]) -> None:
    (file,) = folder.rglob("steps_registry.json")
    registry = json.loads(file.read_text(encoding="utf-8"))
    make(registry)
    file.write_text(json.dumps(registry, indent=2), encoding="utf-8")


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_project_has_the_same_plans_with_it(name: str, copy: Copy) -> None:
    folder = copy(name)
    (_, plain), (freezer, reachable) = freeze(folder, reachable=False), freeze(folder)
    assert plain == reachable or isinstance(plain, Refused)
    assert not freezer.left_out or isinstance(plain, Refused)


def test_a_stage_file_is_left_out_with_what_the_pipeline_says_of_it(copy: Copy) -> None:
    folder = copy("docs-repair")
    _, before = freeze(folder)
    (folder / "orphan.md").write_text(STAGE, encoding="utf-8")
    insert(folder / "pipeline.yaml", "  repair: check\n", "  repair: check  # kept\n  orphan: wriite\n")
    _, refused = freeze(folder, reachable=False)
    freezer, made = freeze(folder)
    assert isinstance(refused, Refused)
    assert payload(made) == payload(before)
    assert freezer.left_out == {"pipeline.yaml": ("orphan",)}
    assert {each.severity for each in freezer.list_findings(None)} == {Severity.WARNING}


def test_the_sources_of_the_plan_are_the_files_as_they_are(copy: Copy) -> None:
    folder = copy("docs-repair")
    (folder / "orphan.md").write_text(STAGE, encoding="utf-8")
    _, one = freeze(folder)
    insert(folder / "pipeline.yaml", "  repair: check\n", "  repair: check\n  orphan: wriite\n")
    _, other = freeze(folder)
    assert isinstance(one, Frozen)
    assert isinstance(other, Frozen)
    assert {name for name in one.plan.sources if one.plan.sources[name] != other.plan.sources[name]} == {
        "pipeline.yaml"
    }
    assert freeze(folder)[1] == other


def test_an_error_that_a_run_can_come_to_still_counts(copy: Copy) -> None:
    folder = copy("docs-repair")
    (folder / "orphan.md").write_text(STAGE, encoding="utf-8")
    insert(folder / "pipeline.yaml", "stages: [repair]", "stages: [repairr]")
    freezer, made = freeze(folder)
    assert isinstance(made, Refused)
    errors = [each.code for each in freezer.list_findings(None) if each.severity is Severity.ERROR]
    assert errors == ["STG341"]


@pytest.mark.parametrize(
    "mistake",
    [
        {"transitions": {"next": {"target": "nowhere"}}},
        {"c3": "no-such-prompt"},
        {"stepKind": "wrok"},
        {"outputSchemaRef": {"file": "lost.schema.json", "schema": "lost"}},
        {"structuredGate": {"allowedIntents": []}},
    ],
)
def test_a_step_that_nothing_leads_to_is_left_out(mistake: dict[str, Any], copy: Copy) -> None:
    folder = copy("project-flow")
    _, before = freeze(folder)

    def add(registry: dict[str, Any]) -> None:
        step = next(each for each in registry["steps"].values() if each.get("c2") == "continuation")
        registry["steps"]["continuation.orphan"] = {**step, "stepId": "continuation.orphan", **mistake}

    change(folder, add)
    _, refused = freeze(folder, reachable=False)
    freezer, made = freeze(folder)
    assert isinstance(refused, Refused)
    assert payload(made) == payload(before)
    assert [*freezer.left_out.values()] == [("continuation.orphan",)]


def test_a_step_that_an_entry_names_is_never_left_out(copy: Copy) -> None:
    folder = copy("project-flow")

    def add(registry: dict[str, Any]) -> None:
        name, step = next(iter(registry["steps"].items()))
        registry["steps"][name] = {**step, "stepKind": "wrok"}

    change(folder, add)
    assert isinstance(freeze(folder)[1], Refused)


def test_what_cannot_be_taken_out_alone_stays_and_counts(copy: Copy) -> None:
    folder = copy("docs-repair")
    (folder / "orphan.md").write_text(STAGE, encoding="utf-8")
    insert(folder / "pipeline.yaml", "  repair: check\n", "  repair: &way check\n  orphan: *way\n")
    freezer, made = freeze(folder)
    assert isinstance(made, Frozen | Refused)
    assert isinstance(made, Frozen) is bool(freezer.left_out)

"""Rows of a folder laid out like the corpus: found, answered without their answers, and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stagec_dev.__main__ import main
from stagec_dev.rows import Agreement, Row
from stagec_dev.rows.flows import MUTANTS
from stagec_dev.tools.answer import ask_rows

REGISTRY = {"agentId": "small", "version": "1.0.0", "c1": "steps", "steps": {}}
ANSWERS = {"rules": ["reg.version-semver"], "places": [["steps_registry.json", "/version"]], "expect": "report"}


def put(path: Path, given: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(given), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "agents" / "small" / "steps_registry.json", REGISTRY)
    put(tmp_path / "agents" / "small" / "rows.json", [{"id": "not a row"}])
    put(tmp_path / "mutants" / "bases" / "small" / "steps_registry.json", REGISTRY)
    broken = json.dumps({**REGISTRY, "version": "one"})
    mutant = {"id": "m1", "base": "small", "changes": {"steps_registry.json": broken}}
    put(tmp_path / "mutants" / "mutants.json", [mutant])
    put(tmp_path / "other" / "named.json", {"about": "x", "vectors": [{"id": "a"}, {"name": "b"}, {"text": "c"}]})
    put(tmp_path / "other" / "listed.json", [{"text": "c"}])
    put(tmp_path / "other" / "schema.json", {"type": "object"})
    return tmp_path


def test_every_kind_of_row_is_found(folder: Path) -> None:
    found = [(each.row.file, each.row.id, each.kind is not None) for each in ask_rows(folder)]
    assert found == [
        ("agents", "small", True),
        ("mutants/mutants.json", "m1", True),
        ("other/listed.json", "0", False),
        ("other/named.json", "a", False),
        ("other/named.json", "b", False),
        ("other/named.json", "2", False),
    ]


def test_answers_are_printed_one_to_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["answer", str(folder)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [sorted(line) for line in lines] == [["file", "got", "id"]] * 6
    assert [line["got"] is None for line in lines] == [False, False, True, True, True, True]


def test_an_agent_is_answered_with_what_is_counted(folder: Path) -> None:
    (agent,) = (each for each in ask_rows(folder) if each.row.file == "agents")
    got: Any = agent.answer()
    assert sorted(got) == ["codes", "errors", "exit", "warnings"]
    assert got["exit"] in {0, 1}


def test_a_mutant_is_answered_with_what_it_adds_although_its_row_has_no_answer(folder: Path) -> None:
    (mutant,) = (each for each in ask_rows(folder) if each.row.id == "m1")
    got: Any = mutant.answer()
    assert got["expect"] == "report"
    assert "reg.version-semver" in got["rules"]
    assert ["steps_registry.json", "/version"] in [list(place) for place in got["places"]]
    assert mutant.compare(got) is Agreement.UNKNOWN


def test_a_row_that_crashes_stagec_is_answered_with_the_crash(folder: Path) -> None:
    put(folder / "mutants" / "mutants.json", [{"id": "m1", "base": "absent", "changes": {}}])
    (mutant,) = (each for each in ask_rows(folder) if each.row.id == "m1")
    got: Any = mutant.answer()
    assert (got["exit"], got["crash"].partition(":")[0]) == (4, "FileNotFoundError")


def told(pointer: str, *, errors: int = 1, origin: str = "steps-registry:reg.version-semver") -> dict[str, object]:
    shown = {"file": "steps_registry.json", "pointer": pointer, "origin": [origin]}
    return {"errors_added": errors, "diagnostics": [shown]}


@pytest.mark.parametrize("pointer", ["/version", "/version/inside", ""])
def test_a_report_at_the_place_inside_it_or_one_level_above_agrees(pointer: str) -> None:
    assert MUTANTS.compare(Row("mutants.json", "m", ANSWERS), told(pointer)) is Agreement.AGREE


def test_a_report_elsewhere_disagrees() -> None:
    assert MUTANTS.compare(Row("mutants.json", "m", ANSWERS), told("/versions")) is Agreement.DISAGREE


def test_a_report_by_another_rule_disagrees() -> None:
    got = told("/version", origin="steps-registry:reg.required-top")
    assert MUTANTS.compare(Row("mutants.json", "m", ANSWERS), got) is Agreement.DISAGREE


def test_more_than_one_error_disagrees() -> None:
    assert MUTANTS.compare(Row("mutants.json", "m", ANSWERS), told("/version", errors=2)) is Agreement.DISAGREE


def test_a_rule_without_a_home_is_not_yet_expected_to_speak() -> None:
    row = Row("mutants.json", "m", {**ANSWERS, "rules": ["later.rule"]})
    assert MUTANTS.compare(row, told("/x")) is Agreement.NOT_YET


def test_silence_means_no_error() -> None:
    row = Row("mutants.json", "m", {**ANSWERS, "expect": "silent"})
    assert MUTANTS.compare(row, told("/version", errors=0)) is Agreement.AGREE
    assert MUTANTS.compare(row, told("/version", errors=1)) is Agreement.DISAGREE


def test_either_accepts_anything() -> None:
    row = Row("mutants.json", "m", {**ANSWERS, "expect": "either"})
    assert MUTANTS.compare(row, told("/x", errors=9)) is Agreement.AGREE


def test_conformance_counts_by_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conformance", str(folder)]) == 0
    assert "| mutants/mutants.json |     0 |        0 |       1 |       0 |" in capsys.readouterr().out

"""What is made of the form of a plan: current in this checkout, and found stale when changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.ir.plan.loader import schema
from stagec_dev.__main__ import main
from stagec_dev.checkout import ROOT
from stagec_dev.tools.members import files, list_forms, tables

PAGE, SCHEMA = Path("docs", "plan-format.md"), Path("schemas", "plan.schema.json")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a checkout that has these files, as they are in this one."""
    for path in (each.relative_to(ROOT) for each in files()):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes((ROOT / path).read_bytes())
    return tmp_path


def test_the_tables_and_the_schema_of_this_checkout_are_current() -> None:
    assert main(["members", "--check"]) == 0


REPORT = Path("schemas", "paths.schema.json")


@pytest.mark.parametrize(
    ("path", "told"), [(PAGE, "| The outcome."), (SCHEMA, '"The outcome."'), (REPORT, '"Why no run covers it."')]
)
def test_a_changed_file_is_found_and_written_again(
    checkout: Path, path: Path, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (checkout / path).read_text(encoding="utf-8")
    (checkout / path).write_text(
        text.replace(told, told.replace("outcome", "thing").replace("run", "walk")), encoding="utf-8"
    )
    assert main(["members", "--check", "--root", str(checkout)]) == 1
    assert capsys.readouterr().out == f"not current: {path.as_posix()}\n"
    assert main(["members", "--root", str(checkout)]) == 0
    assert (checkout / path).read_text(encoding="utf-8") == text


def test_a_schema_that_is_not_there_is_found_and_written(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / SCHEMA).unlink()
    assert main(["members", "--check", "--root", str(checkout)]) == 1
    assert capsys.readouterr().out == "not current: schemas/plan.schema.json\n"
    assert main(["members", "--root", str(checkout)]) == 0
    assert (checkout / SCHEMA).read_bytes() == (ROOT / SCHEMA).read_bytes()


def test_every_kind_of_object_has_a_table_with_all_its_members() -> None:
    told = tables()
    for name, defined in json.loads(json.dumps(schema()))["$defs"].items():
        section = told.partition(f"#### {name}\n")[2].partition("####")[0]
        assert [member for member in defined["properties"] if f"| `{member}`" not in section] == []


def test_what_must_not_be_empty_or_nothing_is_told() -> None:
    assert "| `nodes` | non-empty list of text |" in tables()
    assert "| `nodes` | non-empty object of text |" in tables()


def test_a_default_that_does_not_go_without_saying_is_in_the_table() -> None:
    assert "| positive whole number, optional, `3` if absent " in tables()
    assert '| `none` or `fixed` or `exponential`, optional, `"none"` if absent |' in tables()


def test_reports_with_a_schema_are_declared_and_each_member_is_described() -> None:
    forms = {each.name: each for each in list_forms()}
    assert forms.keys() >= {"bounds", "breaking", "diff", "migration", "mutation", "paths", "permissions", "resume"}
    for each in forms.values():
        made = json.loads(json.dumps(each.schema()))
        for kind in (made, *made["$defs"].values()):
            assert [name for name, member in kind["properties"].items() if not member.get("description")] == []

"""`stagec submit --every` and `stagec schedules`: what is declared, shown, steered and refused."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import jsonschema
import pytest
from playable import steps

from stagec.cli.app import run
from stagec.ir.plan import dump
from stagec.runtime.drivers.dbos import open_database
from stagec.runtime.drivers.dbos.database import schedules

Shown = pytest.CaptureFixture[str]
NIGHTLY = ("--every", "0 3 * * *", "--name", "nightly")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder with a plan and a prepared database the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STAGEC_DATABASE", "sqlite:///runs.sqlite")
    Path("steps.plan.json").write_bytes(dump(steps()))
    assert run(["database", "migrate"]) == 0


def submit(*words: str) -> int:
    return run(["submit", "steps.plan.json", "--input", "topic=cats", *words])


def read(name: str, shown: Shown) -> Any:
    """Return the JSON that was printed, which is as its schema says."""
    told = json.loads(shown.readouterr().out)
    schema = Path(__file__).parents[2] / "schemas" / f"{name}.schema.json"
    jsonschema.validate(told, json.loads(schema.read_bytes()))
    return told


def list_all(shown: Shown) -> Any:
    shown.readouterr()
    assert run(["schedules", "list", "--format", "json"]) == 0
    return read("schedules", shown)["schedules"]


def test_a_schedule_is_declared_once_shown_and_steered(capsys: Shown) -> None:
    berlin = (*NIGHTLY, "--time-zone", "Europe/Berlin", "--catch-up", "last")
    capsys.readouterr()
    assert submit(*berlin) == 0
    head, *times = capsys.readouterr().out.splitlines()
    assert head == "nightly: the next times in the time zone Europe/Berlin"
    found = [datetime.fromisoformat(each) for each in times]
    assert [each.astimezone(ZoneInfo("Europe/Berlin")).isoformat() for each in found] == times
    assert {each.hour for each in found} == {3}
    assert [b.date().toordinal() - a.date().toordinal() for a, b in pairwise(found)] == [1, 1]
    assert submit(*berlin, "--format", "json") == 0
    told = read("submission", capsys)
    assert (told["schedule"], told["new"], told["paused"], told["next"]) == ("nightly", False, False, times)
    for words, differing in (
        ((*NIGHTLY, "--catch-up", "last"), "another time zone"),
        ((*berlin, "--input", "topic=dogs"), "other inputs"),
        ((*berlin, "--every", "0 4 * * *"), "another cron expression"),
        ((*berlin, "--catch-up", "skip"), "another catch-up rule"),
        ((*berlin, "--tenant", "acme"), "another tenant"),
    ):
        assert submit(*words) == 2
        assert f"already has a schedule 'nightly' with {differing}; 'stagec schedules rem" in capsys.readouterr().err
    row = {"name": "nightly", "every": "0 3 * * *", "timeZone": "Europe/Berlin", "catchUp": "last", "lastRun": None}
    assert list_all(capsys) == [{**row, "paused": False, "next": times[0]}]
    assert run(["schedules", "pause", "nightly"]) == 0
    assert list_all(capsys) == [{**row, "paused": True, "next": None}]
    assert run(["schedules", "list"]) == 0
    assert capsys.readouterr().out == "nightly  0 3 * * *  Europe/Berlin  catch-up last  paused\n"
    assert submit(*berlin) == 0
    assert "note: 'nightly' is paused; 'stagec schedules resume nightly' starts" in capsys.readouterr().err
    assert run(["schedules", "resume", "nightly"]) == 0
    with closing(open_database("sqlite:///runs.sqlite")) as database, database.transact() as connection:
        connection.execute(schedules.update().values(next_at=0))
    capsys.readouterr()
    assert run(["schedules", "list"]) == 0
    assert capsys.readouterr().out.endswith("  catch-up last  due since 1970-01-01T01:00:00+01:00\n")
    for word in ("pause", "resume"):  # which leaves the time as it is: a worker does what the rule says
        assert run(["schedules", word, "nightly"]) == 0
    assert list_all(capsys)[0]["next"] == "1970-01-01T01:00:00+01:00"
    assert run(["schedules", "remove", "nightly"]) == 0
    assert submit(*berlin) == 0
    assert list_all(capsys)[0]["next"] == times[0]
    assert run(["schedules", "remove", "nightly"]) == 0
    assert list_all(capsys) == []
    for word in ("pause", "resume", "remove"):
        assert run(["schedules", word, "nightly"]) == 2
        assert "no schedule is called 'nightly'" in capsys.readouterr().err


def test_what_is_no_schedule_is_refused(capsys: Shown) -> None:
    expected = "is not a cron expression: expected five fields (minute, hour, day of the month, month, day of the week)"
    wrong = ("", "0 3 * *", "0 3 * * * *", "@daily", "R 3 * * *", "H 3 * * *", "60 3 * * *", "*/0 * * * *", "0 0 * * 8")
    wrong += ("٣ * * * *", "0 3 * * mond", "0 0 L * *", "1" * 200 + " * * * *", "1-1000000000 * * * *", "0 , * * *")
    cases = [(("--every", each, "--name", "a"), expected) for each in wrong]
    cases += [
        (("--every", "0 0 30 feb *", "--name", "a"), "has no times"),
        ((*NIGHTLY, "--time-zone", "Mars"), "'Mars' is not a time zone"),
        ((*NIGHTLY, "--time-zone", "../UTC"), "is not a time zone"),
        ((*NIGHTLY, "--time-zone", ""), "is not a time zone"),
        (("--every", "0 3 * * *"), "--every needs --name"),
        ((*NIGHTLY[:3], "a/b"), "cannot name a schedule"),
        ((*NIGHTLY[:3], "a" * 81), "cannot name a schedule: letters, digits, '.', '_' and '-', 80 at most"),
        ((*NIGHTLY, "--run", "one"), "--every excludes --run"),
        ((*NIGHTLY, "--at", "2027-01-31T08:00:00Z"), "--every excludes --at"),
        ((*NIGHTLY, "--input", "other=1"), "other"),
        (("--name", "a"), "--name has no effect without --every"),
        (("--time-zone", "UTC"), "--time-zone has no effect without --every"),
        (("--catch-up", "last"), "--catch-up has no effect without --every"),
    ]
    for words, told in cases:
        capsys.readouterr()
        assert submit(*words) == 2, words
        assert told in capsys.readouterr().err, words
    assert run(["submit", "steps.plan.json", "--jobs", "-", *NIGHTLY]) == 2
    assert "--every excludes --jobs" in capsys.readouterr().err
    assert list_all(capsys) == []

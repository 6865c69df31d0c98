"""The folder of runs, looked at again and again: what is new, what is gone, what is damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import playable
import pytest
from serve.asking import folder_of

from stagec.ir.plan import dump
from stagec.runtime.drivers.following import Interruption
from stagec.runtime.drivers.local import Journal, create
from stagec.runtime.drivers.local.drive import keep_interruption
from stagec.runtime.machine import Answered, Cancelled, Program, Started, load
from stagec.runtime.serve import watch as module
from stagec.runtime.serve.folder_runs import FolderRuns, RunProcesses
from stagec.runtime.serve.run_source import RunRow
from stagec.runtime.serve.watch import Watch

DATA = dump(playable.steps())
PROGRAM: Program = load(DATA)


def watch_folder(folder: Path) -> Watch:
    return Watch(FolderRuns(folder, RunProcesses((), print), lambda name, _: folder / f"{name}.run"))


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    made = watch_folder(tmp_path)
    yield made
    made.close()


def begin(watch: Watch, name: str) -> Journal:
    journal = create(folder_of(watch) / f"{name}.run", DATA, PROGRAM.digest)
    journal.append(Started(name, None, {"topic": "winter"}))
    return journal


def rows(watch: Watch, version: int = 0) -> dict[str, RunRow]:
    watch.look()
    return {each.name: each for each in watch.list_changes(version).rows}


def version(watch: Watch) -> int:
    return watch.list_changes(0).version


def test_a_folder_that_is_not_there_yet_has_no_runs(tmp_path: Path) -> None:
    watch = watch_folder(tmp_path / "later")
    assert rows(watch) == {}
    (tmp_path / "later").mkdir()
    begin(watch, "one").close()
    assert set(rows(watch)) == {"one"}
    watch.close()


def test_an_outage_is_told_as_long_as_nobody_executes_the_run(watch: Watch) -> None:
    journal = begin(watch, "one")
    keep_interruption(folder_of(watch) / "one.run", Interruption("it is down", 1_800_000_000))
    assert (rows(watch)["one"].status, rows(watch)["one"].reason) == ("running", "")
    journal.close()
    row = rows(watch)["one"]
    assert (row.status, row.reason) == ("interrupted", "it is down; retry at 2027-01-15T08:00:00Z")


def test_a_run_is_followed_from_its_beginning_to_its_end(watch: Watch) -> None:
    journal = begin(watch, "one")
    row = rows(watch)["one"]
    assert (row.status, row.plan, row.events, row.executions) == ("running", "writer", 1, 1)
    known = version(watch)
    assert rows(watch, known) == {}, "nothing has changed"
    journal.append(Answered("one/draft#1/1.0", {"answer": {"action": "next"}}))
    assert rows(watch, known)["one"].events == 2
    journal.append(Cancelled("enough"))
    journal.seal()
    journal.close()
    row = rows(watch, known)["one"]
    assert (row.status, row.reason) == ("failed", "close, attempt 1: cancelled: enough")


def test_a_run_that_nobody_executes_any_more_is_interrupted(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stagec.runtime.serve.watch._OFTEN", 0)
    journal = begin(watch, "one")
    assert rows(watch)["one"].status == "running"
    journal.close()
    assert rows(watch)["one"].status == "interrupted"


def test_a_run_that_is_removed_is_gone_and_may_come_again(watch: Watch) -> None:
    begin(watch, "one").close()
    rows(watch)
    known = version(watch)
    os.remove(folder_of(watch) / "one.run")
    watch.look()
    assert watch.list_changes(known).gone == ("one",)
    assert watch.find("one") is None
    begin(watch, "one").close()
    watch.look()
    assert watch.list_changes(known).gone == ()
    assert [each.name for each in watch.list_changes(known).rows] == ["one"]


def test_a_run_that_was_replaced_is_another_one(watch: Watch) -> None:
    begin(watch, "one").close()
    watch.look()
    found = watch.find("one")
    assert found is not None
    before = found.view
    os.remove(folder_of(watch) / "one.run")
    begin(watch, "one").close()
    watch.look()
    found = watch.find("one")
    assert found is not None
    assert found.view is not before


@pytest.mark.parametrize("data", [b"", b"nothing", b"stagec journal\n" + bytes(5000), bytes(100_000)])
def test_what_is_no_journal_is_told_and_harms_nothing(watch: Watch, data: bytes) -> None:
    (folder_of(watch) / "bad.run").write_bytes(data)
    begin(watch, "good").close()
    found = rows(watch)
    assert found["bad"].status in {"damaged", "unusable"}
    assert found["bad"].reason
    assert found["good"].status == "interrupted"


def test_a_journal_that_was_changed_is_damaged(watch: Watch) -> None:
    begin(watch, "one").close()
    path = folder_of(watch) / "one.run"
    data = path.read_bytes()
    path.write_bytes(data.replace(b"winter", b"summer"))
    assert rows(watch)["one"].status == "damaged"
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    assert rows(watch)["one"].status == "interrupted"


def test_a_run_that_has_just_begun_is_found_before_the_next_look(watch: Watch) -> None:
    begin(watch, "one").close()
    found = watch.find("one")
    assert found is not None
    assert found.view is not None
    assert [watch.find(name) for name in ("none", "\0", "", "x" * 5000, "one.run")] == [None] * 5
    watch.look()
    assert watch.find("one") is found


def test_other_files_are_no_runs(watch: Watch) -> None:
    (folder_of(watch) / "a.run.messages").mkdir()
    (folder_of(watch) / "notes.txt").write_text("x")
    (folder_of(watch) / "folder.run").mkdir()
    os.symlink("/etc/passwd", folder_of(watch) / "link.run")
    found = rows(watch)
    assert {name: each.status for name, each in found.items()} == {"folder": "unusable", "link": "unusable"}


def test_ended_runs_are_forgotten_but_for_the_last_and_for_those_that_are_asked_for(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_KEPT", 2)
    for number in range(5):
        journal = begin(watch, f"run-{number}")
        journal.append(Cancelled())
        journal.seal()
        journal.close()
    assert len(rows(watch)) == 5
    assert sum(each.view is not None for each in watch._runs.values()) == 2
    for name in ("run-0", "run-1", "run-4"):
        found = watch.find(name)
        assert found is not None
        assert found.view is not None
        assert len(found.view.events) == 2
        watch.look()


def test_listeners_are_called_when_something_has_changed(watch: Watch) -> None:
    called: list[int] = []
    stop = watch.listen(lambda: called.append(1))
    begin(watch, "one").close()
    watch.look()
    assert called == [1]
    stop()
    begin(watch, "two").close()
    watch.look()
    assert called == [1]

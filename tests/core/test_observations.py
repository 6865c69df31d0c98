"""Every question about a disk has an answer that can be asked for again, and changes when what was asked about does."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from stagec.core import observations
from stagec.core.bounded import OversizedError
from stagec.core.observations import Recording, find_changes

Question = Callable[[Path], object]


def ask_unless_pipe(path: Path) -> object:
    """Nobody writes to the pipes of these tests."""
    return observations.has_name(path) if path.is_fifo() else observations.read_named(path, 10)


QUESTIONS: dict[str, Question] = {
    "type": observations.find_type,
    "own type": lambda path: observations.find_type(path, follow=False),
    "folder": observations.is_folder,
    "file": observations.is_file,
    "link": observations.is_link,
    "name": observations.has_name,
    "identity": observations.identify,
    "real path": observations.resolve,
    "target": observations.read_link,
    "entries": observations.list_folder,
    "bytes": lambda path: observations.read_whole(path, 10),
    "bytes of what was named": ask_unless_pipe,
    "first bytes": lambda path: observations.read_head(path, 3),
}
NOTHING, FILE, OTHER, LARGE, FOLDER, FULL, LINK, LOOP, PIPE = range(9)


def make(path: Path, what: int) -> Path:
    """Put something at a path."""
    with suppress(FileNotFoundError):
        path.unlink() if path.is_symlink() or not path.is_dir() else [each.unlink() for each in path.iterdir()]
        path.rmdir()
    if what in {FILE, OTHER, LARGE}:
        path.write_bytes({FILE: b"one", OTHER: b"two", LARGE: b"x" * 11}[what])
    elif what in {FOLDER, FULL}:
        path.mkdir()
        if what == FULL:
            (path / "inside").touch()
    elif what in {LINK, LOOP}:
        path.symlink_to(path.name if what == LOOP else "elsewhere")
    elif what == PIPE:
        os.mkfifo(path)
    return path


def ask(question: Question, path: Path) -> object:
    """Return an answer, or what kind of answer there is none."""
    try:
        answer = question(path)
    except OversizedError as error:
        return error.size
    except OSError as error:
        return error.errno
    return [(each.name, each.is_folder, each.is_link) for each in answer] if isinstance(answer, list) else answer


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_that_is_another_one_is_a_change(name: str, tmp_path: Path) -> None:
    """Also where the program could not tell the two apart, which costs nothing but time."""
    question, path = QUESTIONS[name], tmp_path / "it"
    (tmp_path / "elsewhere").touch()
    changed = 0
    for before in range(9):
        for after in range(9):
            with Recording() as seen:
                first = ask(question, make(path, before))
            assert list(find_changes(seen.observations)) == []
            second = ask(question, make(path, after))
            found = list(find_changes(seen.observations))
            assert found if first != second else (not found or name == "identity" or before != after)
            changed += bool(found)
    assert changed > 8, "a question that never has another answer"


def test_whatever_is_asked_is_recorded(tmp_path: Path) -> None:
    path = make(tmp_path / "it", FILE)
    for question in QUESTIONS.values():
        with Recording() as seen:
            ask(question, path)
        assert [about for _, about in seen.observations] == [str(path)]


def test_nothing_is_recorded_outside_of_a_recording(tmp_path: Path) -> None:
    with Recording() as seen:
        pass
    observations.has_name(tmp_path)
    assert seen.observations == {}


def test_recordings_can_be_inside_each_other(tmp_path: Path) -> None:
    with Recording() as outer, Recording() as inner:
        observations.has_name(tmp_path)
    assert inner.observations == outer.observations != {}


def test_an_answer_that_changed_in_one_run_never_holds_again(tmp_path: Path) -> None:
    path = make(tmp_path / "it", FILE)
    with Recording() as seen:
        observations.read_whole(path, 10)
        make(path, OTHER)
        observations.read_whole(path, 10)
        make(path, FILE)
    assert list(find_changes(seen.observations)) == [("read 10", str(path))]


@pytest.mark.parametrize("kind", ["", "read", "read x", "list 1 2", "nothing", "head -1", "READ 3"])
def test_a_question_that_nobody_knows_has_no_answer_that_was_recorded(kind: str, tmp_path: Path) -> None:
    assert list(find_changes({(kind, str(tmp_path)): "0"})) == [(kind, str(tmp_path))]


def test_a_pipe_that_a_user_named_is_never_the_same(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    held = os.open(path, os.O_RDWR)
    os.write(held, b"text")
    with Recording() as seen, suppress(OversizedError):
        observations.read_named(path, 2)
    assert list(find_changes(seen.observations)) == [("named 2", str(path))]
    os.close(held)


def test_a_pipe_in_the_place_of_a_file_is_a_change_and_is_not_waited_for(tmp_path: Path) -> None:
    path = make(tmp_path / "it", FILE)
    with Recording() as seen:
        observations.read_head(path, 3)
        observations.read_whole(path, 10)
    make(path, PIPE)
    held = os.open(path, os.O_RDWR)
    assert len(list(find_changes(seen.observations))) == 2
    os.close(held)
    assert len(list(find_changes(seen.observations))) == 2


def test_a_file_with_the_same_size_and_times_is_another_one_by_its_bytes(tmp_path: Path) -> None:
    path = make(tmp_path / "it", FILE)
    status = path.stat()
    with Recording() as seen:
        observations.read_whole(path, 10)
    path.write_bytes(b"two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert list(find_changes(seen.observations)) != []

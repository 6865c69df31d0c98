"""Bundled tools against hostile folders and hostile models: nothing gets out, nothing hangs, nothing is damaged."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from playable import steps

from stagec.core.json import Json
from stagec.core.secrets import Redactor
from stagec.runtime.world.tools.files import FileTools, FolderLimits, NamePattern
from stagec.runtime.world.tools.programs import ShellTool, ToolSetting
from stagec.runtime.world.tools.toolbox import LONGEST, Toolbox

SMALL = FolderLimits(size=1_000, entries=50, seconds=30)
Call = Callable[..., str]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (tmp_path / "secret.txt").write_text("outside")
    return folder


def _make(root: Path, limits: FolderLimits = SMALL) -> Call:
    toolbox = Toolbox(steps(), (FileTools(root, limits), ShellTool(ToolSetting(str(root)), Redactor())), Redactor())

    def call(tool: str, **arguments: Json) -> str:
        told = toolbox.call("r/a#1/1.0", tool, arguments)
        error = told.get("error")
        return f"error: {error['message']}" if isinstance(error, dict) else str(told["value"])

    return call


@pytest.fixture(params=["pipe", "socket"])
def special(request: pytest.FixtureRequest, root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = root / "special.txt"
    if request.param == "pipe":
        os.mkfifo(path)
        yield path
        return
    monkeypatch.chdir(root)  # the address of a socket has little room
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(path.name)
        yield path


def test_what_is_no_file_is_neither_waited_for_nor_written(special: Path, root: Path) -> None:
    call, before = _make(root), os.lstat(special)
    for tool in ("Read", "Write", "Edit"):
        told = call(tool, path=special.name, content="x", old_string="a", new_string="b")
        assert told.startswith("error: "), told
    assert call("Glob", pattern="**") == "a.txt"
    assert call("Grep", pattern="one") == "a.txt:1: one"
    assert call("Grep", pattern="one", path=special.name) == "nothing is found"
    assert os.lstat(special) == before


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "x/../../secret.txt",
        "/etc/passwd",
        "//etc/passwd",
        "/proc/self/root/etc/passwd",
        "/proc/self/environ",
        "/dev/zero",
        "link/secret.txt",
        "far/far/far",
        "..",
        "broken",
    ],
)
def test_no_path_leads_out(path: str, root: Path) -> None:
    (root / "link").symlink_to("..")
    (root / "far").symlink_to("/")
    (root / "broken").symlink_to("../new.txt")
    call = _make(root)
    for tool in ("Read", "Write", "Edit", "Glob", "Grep"):
        given = {"path": path, "content": "x", "old_string": "o", "new_string": "x", "pattern": "**"}
        assert "outside the working folder" in call(tool, **given)
    assert (root.parent / "secret.txt").read_text() == "outside"
    assert not (root.parent / "new.txt").exists()


def test_links_inside_lead_where_they_lead_and_loops_nowhere(root: Path) -> None:
    (root / "same").symlink_to("a.txt")
    (root / "loop").symlink_to("loop")
    call = _make(root)
    assert call("Read", path="same") == "one"
    assert call("Write", path="same", content="two") == "wrote 3 bytes to a.txt"
    assert (root / "same").is_symlink()
    assert call("Read", path="loop").startswith("error: ")
    assert call("Read", path=str(root / "a.txt")) == "two"


@contextmanager
def _repeat(act: Callable[[], None]) -> Iterator[None]:
    over = Event()

    def run() -> None:
        while not over.is_set():
            act()

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture
def folder(root: Path) -> Path:
    (root / "folder").mkdir()
    (root / "folder" / "secret.txt").write_text("inside")
    return root / "folder"


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(folder: Path, root: Path) -> None:
    def swap() -> None:
        os.rename(folder, root / "kept")
        os.symlink("..", folder)
        os.unlink(folder)
        os.rename(root / "kept", folder)

    call, told = _make(root, FolderLimits()), set()
    with _repeat(swap):
        for _ in range(150):
            told |= {call("Read", path="folder/secret.txt"), call("Grep", pattern="outside", path="folder")}
    assert {each for each in told if "outside" in each} <= {
        "error: 'folder/secret.txt' lies outside the working folder",
        "error: 'folder' lies outside the working folder",
    }


def test_a_link_that_leads_elsewhere_meanwhile_is_not_followed(folder: Path, root: Path) -> None:
    def swap() -> None:
        for target in ("..", "folder"):
            os.symlink(target, root / "next")
            os.rename(root / "next", root / "door")

    os.symlink("folder", root / "door")
    call, told = _make(root, FolderLimits()), set()
    with _repeat(swap):
        for _ in range(150):
            told |= {call("Read", path="door/secret.txt"), call("Write", path="door/new.txt", content="x")}
    refused = {f"error: 'door/{each}' lies outside the working folder" for each in ("secret.txt", "new.txt")}
    assert told <= {"inside", "wrote 1 bytes to folder/new.txt", *refused}
    assert sorted(os.listdir(root.parent)) == ["secret.txt", "work"]


def test_runs_are_no_place_for_tools(root: Path) -> None:
    (root / ".stagec" / "runs").mkdir(parents=True)
    (root / ".stagec" / "runs" / "one.run").write_text("journal")
    (root / "runs").symlink_to(".stagec/runs")
    call = _make(root)
    for path in (".stagec/runs/one.run", "runs/one.run", "./x/../.stagec/new"):
        for tool in ("Read", "Write", "Edit"):
            assert "belongs to the runs of stagec" in call(tool, path=path, content="x", old_string="j", new_string="x")
    assert (root / "runs" / "one.run").read_text() == "journal"


def test_large_files_are_neither_read_nor_written(root: Path) -> None:
    with open(root / "large.txt", "wb") as file:
        file.truncate(1_000_000_000_000)
    call = _make(root)
    assert "more than 1,000 bytes" in call("Read", path="large.txt")
    assert "more than 1,000 bytes" in call("Write", path="new.txt", content="x" * 1_001)
    assert "more than 1,000 bytes" in call("Edit", path="a.txt", old_string="n", new_string="x" * 1_001)
    (root / "many.txt").write_text("x" * 900)
    told = call("Edit", path="many.txt", old_string="x", new_string="y" * 3_000_000, replace_all=True)
    assert "more than 1,000 bytes" in told
    assert call("Grep", pattern="one") == "a.txt:1: one"


def test_what_is_no_text_is_not_shown_and_not_damaged(root: Path) -> None:
    (root / "image").write_bytes(b"PNG\0\xff" * 9)
    (root / "latin").write_bytes(b"caf\xe9 one\r\n")
    (root / "windows").write_bytes("é one\r\ntwo\r\n".encode())
    call = _make(root)
    assert "is not text: it has 45 bytes" in call("Read", path="image")
    assert call("Grep", pattern="PNG") == "nothing is found"
    assert "not UTF-8" in call("Edit", path="latin", old_string="one", new_string="two")
    assert (root / "latin").read_bytes() == b"caf\xe9 one\r\n"
    call("Edit", path="windows", old_string="one", new_string="1")
    assert (root / "windows").read_bytes() == "é 1\r\ntwo\r\n".encode()


def test_a_file_that_changes_while_it_is_edited_is_kept(root: Path) -> None:
    tools = FileTools(root)
    with pytest.raises(Exception, match="changed meanwhile"):
        tools._folder.write("a.txt", b"new", b"another text")
    assert (root / "a.txt").read_text() == "one\n"


def test_a_search_has_bounds(root: Path) -> None:
    for number in range(60):
        (root / f"{number}").mkdir()
    assert "more than 50 files and folders" in _make(root)("Glob", pattern="**")
    assert "more than -1 seconds" in _make(root, FolderLimits(seconds=-1))("Grep", pattern="x")
    many = _make(root, FolderLimits())
    (root / "lines").write_text("x\n" * 5_000)
    assert many("Grep", pattern="x").endswith("[there is more]")


def test_a_folder_may_be_very_deep_and_names_may_be_no_text(root: Path) -> None:
    os.makedirs(root / "/".join("d" * 400))
    (root / os.fsdecode(b"\xff\xfe.txt")).write_text("strange\n")
    call = _make(root, FolderLimits())
    assert "\ufffd\ufffd.txt" in call("Glob", pattern="*.txt")
    assert call("Grep", pattern="strange") == "\ufffd\ufffd.txt:1: strange"
    for path in ("a" * 5_000, "\ud800", "a\0b", ""):
        assert call("Read", path=path).startswith("error: ")


def test_a_pattern_costs_no_more_than_its_length(root: Path) -> None:
    assert not NamePattern("*a" * 400 + "b").matches("a" * 255)
    assert not NamePattern("/".join(["**", "a"] * 200)).matches("/".join("a" * 199))
    assert NamePattern("/".join(["**", "a"] * 200)).matches("/".join("a" * 200))
    assert "more than 1,000 characters" in _make(root)("Glob", pattern="*" * 1_001)


@pytest.mark.parametrize(
    ("pattern", "fits", "others"),
    [
        ("**/a", ["a", "x/a", "x/y/a"], ["b", "a/b", "xa"]),
        ("a/**", ["a/b", "a/b/c"], ["b", "ab"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/x", "b"]),
        ("*.p?", ["a.py", ".py"], ["a.pyc", "x/a.py", "a.p"]),
        ("a*b*c", ["abc", "axbxc", "abbcc"], ["ab", "acb"]),
        ("**", ["a", "a/b"], []),
        ("", [], ["a"]),
    ],
)
def test_a_pattern_means_what_it_says(pattern: str, fits: list[str], others: list[str]) -> None:
    assert [each for each in (*fits, *others) if NamePattern(pattern).matches(each)] == fits


def test_outputs_of_a_command_leave_room_for_its_status(root: Path) -> None:
    told = _make(root)("Bash", command="yes | head -c 900000; yes no | head -c 900000 >&2; exit 7")
    assert len(told) < LONGEST
    assert "'exit': 7" in told
    assert told.count("characters are left out") == 2

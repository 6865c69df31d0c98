"""Files are written whole, under names nobody can guess, and never through a link or out of a folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stagec.core.disk import (
    RefusedWriteError,
    check_inside,
    create_private,
    leads_out,
    make_folder,
    make_private_folder,
    open_private,
    write_inside,
    write_named,
)

COMPILER = Path(__file__).parents[2] / "compiler"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and modes are those of POSIX")


@pytest.fixture
def open_mask() -> Iterator[None]:
    """Let every right be given that is asked for."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("open_mask")
def test_modes_are_those_of_old_files_and_of_the_user_s_mask_for_new_ones(tmp_path: Path) -> None:
    write_named(tmp_path / "new", b"")
    assert mode(tmp_path / "new") == 0o666
    for each in (0o400, 0o640, 0o755):
        (tmp_path / "old").touch()
        (tmp_path / "old").chmod(each)
        write_named(tmp_path / "old", b"")
        assert mode(tmp_path / "old") == each


@pytest.mark.usefixtures("open_mask")
def test_a_private_folder_is_nobody_else_s_and_one_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(0o755)
    make_private_folder(tmp_path / "a" / "b" / "c")
    assert [mode(tmp_path / each) for each in ("a", "a/b", "a/b/c")] == [0o755, 0o700, 0o700]
    make_folder(tmp_path / "a" / "b" / "d")
    assert mode(tmp_path / "a" / "b" / "d") == 0o777


@pytest.mark.parametrize("there", ["file", "dangling link"])
def test_a_folder_cannot_be_made_where_something_else_is(tmp_path: Path, there: str) -> None:
    (tmp_path / "x").touch() if there == "file" else (tmp_path / "x").symlink_to("nowhere")
    for each in ("x", "x/y"):
        with pytest.raises(OSError, match=r"Not a directory|File exists|No such file"):
            make_folder(tmp_path / each)


def test_a_temporary_name_that_somebody_took_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only whoever knows what the system will draw could plant such a link."""
    monkeypatch.setattr(os, "urandom", bytes)
    (tmp_path / "victim").write_bytes(b"mine")
    (tmp_path / f".stagec-{bytes(16).hex()}.tmp").symlink_to("victim")
    with pytest.raises(FileExistsError):
        write_named(tmp_path / "x", b"theirs")
    assert (tmp_path / "victim").read_bytes() == b"mine"
    assert not (tmp_path / "x").exists()


def test_temporary_names_do_not_repeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    really = os.open

    def watched(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if flags & os.O_CREAT:
            assert flags & os.O_EXCL
            assert flags & os.O_NOFOLLOW
            seen.append(path)
        return really(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", watched)
    for _ in range(50):
        write_named(tmp_path / "x", b"")
    assert len(set(seen)) == len(seen) == 50


def test_writers_at_the_same_time_leave_one_whole_file(tmp_path: Path) -> None:
    """All of them have the same process number, as processes in two containers can."""
    path, size = tmp_path / "x", 100_000
    write_named(path, b"0" * size)
    ended = threading.Event()
    torn: list[bytes] = []

    def read() -> None:
        while not ended.is_set():
            data = path.read_bytes()
            if len(data) != size or data != data[:1] * size:
                torn.append(data)

    reader = threading.Thread(target=read)
    reader.start()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_named(path, b"%d" % (number % 10) * size), range(80)))
    ended.set()
    reader.join()
    assert torn == []
    assert os.listdir(tmp_path) == ["x"]


WAYS = {
    "its folder is a link out": ("a", "outside", "a/x"),
    "a folder above it is one": ("a", ".", "a/outside/x"),
    "it leads up": ("a", "root", "../outside/x"),
}
"""Where a link is, what beside the folder it leads to, and the file that is written."""


@pytest.mark.parametrize("way", WAYS)
def test_a_file_is_not_written_out_of_its_folder(tmp_path: Path, way: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    link, target, file = WAYS[way]
    (root / link).symlink_to(tmp_path / target)
    assert leads_out(root, file)
    for act in (lambda: write_inside(root, file, b""), lambda: check_inside(root, file)):
        with pytest.raises(RefusedWriteError, match="leads out of the project"):
            act()
    assert os.listdir(outside) == []


def test_a_linked_folder_within_is_no_way_out(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a").symlink_to("b")
    write_inside(tmp_path, "a/x", b"data")
    assert (tmp_path / "b" / "x").read_bytes() == b"data"


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"new and longer")
    with pytest.raises(RefusedWriteError, match="changed"):
        write_inside(tmp_path, "x", b"fixed", b"new")
    write_inside(tmp_path, "x", b"fixed", b"new and longer")
    assert (tmp_path / "x").read_bytes() == b"fixed"


def test_a_pipe_that_nobody_reads_is_an_error_and_one_that_somebody_reads_is_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="No such device"):
        write_named(tmp_path / "pipe", b"data")
    data = bytes(1_000_000)  # more than a pipe holds
    with ThreadPoolExecutor(1) as pool:
        opened = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(opened, True)
        written = pool.submit(write_named, tmp_path / "pipe", data)
        with open(opened, "rb", buffering=0) as reading:
            got = b""
            while len(got) < len(data) and not (written.done() and written.exception()):
                got += reading.read(len(data))  # nothing as long as the writer has not opened the pipe
        written.result()
    assert got == data


def test_the_system_s_own_links_are_followed(tmp_path: Path) -> None:
    program = "from pathlib import Path; from stagec.core.disk import write_named as w; w(Path('/dev/stdout'), b'text')"
    ended = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(COMPILER)}, capture_output=True, check=True
    )
    assert ended.stdout == b"text"
    with (tmp_path / "x").open("wb") as file:
        subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(COMPILER)}, stdout=file, check=True)
    assert (tmp_path / "x").read_bytes() == b"text"


@pytest.mark.parametrize("how", ["link", "pipe", "folder"])
def test_a_private_file_is_a_file(tmp_path: Path, how: str) -> None:
    (tmp_path / "victim").write_bytes(b"mine")
    if how == "link":
        (tmp_path / "x").symlink_to("victim")
    elif how == "pipe":
        os.mkfifo(tmp_path / "x")
    else:
        (tmp_path / "x").mkdir()
    with pytest.raises(OSError, match=r"link|not a file|directory"):
        open_private(tmp_path / "x")


ELSEWHERE = """
import os, sys
os.supports_dir_fd = set()
del os.O_NOFOLLOW, os.O_DIRECTORY
from pathlib import Path
from stagec.core.disk import write_inside, write_named
root = Path(sys.argv[1])
write_named(root / "x", b"one")
write_inside(root, "x", b"two")
write_inside(root, "x", b"three", b"two")
for act in (lambda: write_inside(root, "link", b""), lambda: write_named(root / "link", b"")):
    try:
        act()
    except OSError as error:
        print(error.strerror)
os.urandom = lambda size: bytes(size)
try:
    write_named(root / "y", b"")
except FileExistsError:
    print("exclusive")
"""


def test_without_opened_folders_files_are_written_as_safely_as_can_be(tmp_path: Path) -> None:
    root, victim = tmp_path / "root", tmp_path / "victim"
    root.mkdir()
    victim.write_bytes(b"mine")
    (root / "link").symlink_to(victim)
    (root / f".stagec-{bytes(16).hex()}.tmp").symlink_to(victim)
    ended = subprocess.run(
        [sys.executable, "-c", ELSEWHERE, str(root)],
        env={"PYTHONPATH": str(COMPILER)},
        capture_output=True,
        text=True,
        check=True,
    )
    told = ended.stdout.splitlines()
    assert [told[0], told[1].startswith("it is a link to "), told[2]] == [
        "it is a link, and only files are written",
        True,
        "exclusive",
    ]
    assert ((root / "x").read_bytes(), victim.read_bytes()) == (b"three", b"mine")


def fill(descriptor: int) -> None:
    os.write(descriptor, b"new")


@pytest.mark.usefixtures("open_mask")
@pytest.mark.parametrize("links", ["with second names", "without"])
def test_a_private_file_has_its_name_when_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: str
) -> None:
    if links == "without":
        monkeypatch.setattr(os, "link", lambda *_, **__: (_ for _ in ()).throw(PermissionError(1, "no links here")))
    path, seen = tmp_path / "x", list[bool]()

    def write(descriptor: int) -> None:
        seen.append(path.exists())
        fill(descriptor)

    os.close(create_private(path, write))
    assert (seen, path.read_bytes(), mode(path), path.stat().st_nlink) == ([False], b"new", 0o600, 1)
    with pytest.raises(FileExistsError):
        create_private(path, fill)
    assert path.read_bytes() == b"new"
    os.close(create_private(path, os.fsync, replace=True))
    assert path.read_bytes() == b""
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


def test_a_private_file_that_cannot_be_filled_leaves_nothing(tmp_path: Path) -> None:
    def fail(_: int) -> None:
        raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        create_private(tmp_path / "x", fail)
    assert list(tmp_path.iterdir()) == []


def test_a_private_file_takes_no_name_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        create_private(tmp_path / "x", fill)
    os.close(create_private(tmp_path / "x", fill, replace=True))
    assert not (tmp_path / "x").is_symlink()
    assert not (tmp_path / "nowhere").exists()

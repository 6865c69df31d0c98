from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from stagec.core.budgets import Budgets
from stagec.core.observations import Recording
from stagec.core.place import Place
from stagec.sources.read import Sources, join
from stagec.sources.tree import Fault, Tree


def read(root: Path, file: str, data: bytes | None = None, budgets: Budgets | None = None) -> Tree:
    if data is not None:
        (root / file).write_bytes(data)
    tree = Sources(root, budgets or Budgets()).tree(file, "file")
    assert tree is not None
    return tree


def test_a_text_that_stands_for_a_file_wins_over_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"disk")
    sources = Sources(tmp_path, Budgets(), {"a.txt": b"overlay", "only.txt": b"here"})
    assert [tree.data for file in ("a.txt", "only.txt") if (tree := sources.tree(file, "file"))] == [
        b"overlay",
        b"here",
    ]
    assert sources.exists("only.txt")


def test_a_file_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"first")
    sources = Sources(tmp_path, Budgets())
    first = sources.tree("a.txt", "file")
    (tmp_path / "a.txt").write_bytes(b"second")
    assert sources.tree("a.txt", "file") is first


@pytest.mark.parametrize("file", ["missing.txt", "a.txt/below.txt", "nul\0.txt", "lone\ud800.txt"])
def test_what_is_not_there_is_no_tree(tmp_path: Path, file: str) -> None:
    (tmp_path / "a.txt").touch()
    assert Sources(tmp_path, Budgets()).tree(file, "file") is None


@pytest.mark.parametrize("target", ["../secret.txt", "/etc/hostname"])
def test_a_link_out_of_the_project_is_not_read(tmp_path: Path, target: str) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "secret.txt").write_bytes(b"secret")
    (root / "a.txt").symlink_to(target)
    tree = read(root, "a.txt")
    shown = os.path.relpath(os.path.realpath(root / target), os.path.realpath(root))
    assert (tree.data, tree.readable, tree.faults) == (
        b"",
        False,
        (Fault("outside-project", Place("a.txt"), "link", {"target": shown}),),
    )


def test_a_file_below_a_linked_folder_outside_is_not_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.txt").write_bytes(b"secret")
    (root / "away").symlink_to("../out")
    assert [fault.facts for fault in read(root, "away/a.txt").faults] == [{"target": "../out/a.txt"}]


def test_a_link_inside_the_project_is_read(tmp_path: Path) -> None:
    (tmp_path / "b.txt").symlink_to("a.txt")
    (tmp_path / "a.txt").write_bytes(b"text")
    assert read(tmp_path, "b.txt").data == b"text"


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.txt")
    assert read(tmp_path, "a.txt").faults == (Fault("unreadable-file", Place("a.txt"), "not-regular"),)


def test_a_folder_in_place_of_a_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    assert read(tmp_path, "a.txt").faults == (Fault("unreadable-file", Place("a.txt"), "not-regular"),)


def test_a_link_to_itself_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").symlink_to("a.txt")
    facts = {"error": os.strerror(errno.ELOOP)}
    assert read(tmp_path, "a.txt").faults == (Fault("unreadable-file", Place("a.txt"), "system", facts),)


def test_any_refusal_of_the_system_is_a_fault(tmp_path: Path) -> None:
    class Refusing(Sources):
        def _bytes(self, file: str, _limit: int) -> bytes | Fault:
            raise PermissionError(errno.EACCES, "Permission denied", file)

    tree = Refusing(tmp_path, Budgets()).tree("a.txt", "file")
    facts = {"error": "Permission denied"}
    assert tree is not None
    assert tree.faults == (Fault("unreadable-file", Place("a.txt"), "system", facts),)


def test_a_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", b"1234", Budgets(file_size=4)).faults == ()


def test_a_larger_file_is_not_read(tmp_path: Path) -> None:
    tree = read(tmp_path, "a.txt", b"12345", Budgets(file_size=4))
    assert (tree.data, tree.faults) == (b"", (Fault("oversized-file", Place("a.txt"), facts={"size": 5, "limit": 4}),))


def test_a_byte_order_mark_is_taken_off_and_kept_as_a_fact(tmp_path: Path) -> None:
    tree = read(tmp_path, "a.txt", b"\xef\xbb\xbftext")
    assert (tree.data, tree.readable) == (b"text", True)
    assert tree.faults == (Fault("byte-order-mark", Place("a.txt", range=(0, 0))),)


def test_the_first_byte_that_is_not_utf8_is_located_in_characters_and_bytes(tmp_path: Path) -> None:
    tree = read(tmp_path, "a.txt", "é\nx".encode() + b"\xff")
    facts = {"byte": 0xFF, "offset": 4}
    assert (tree.readable, tree.faults) == (False, (Fault("not-utf8", Place("a.txt", range=(3, 4)), "byte", facts),))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le"])
def test_utf16_is_recognised(tmp_path: Path, encoding: str) -> None:
    (fault,) = read(tmp_path, "a.txt", "{é\ud83d\ude00}".encode(encoding, "surrogatepass") + b"\xff").faults
    assert (fault.topic, fault.reason) == ("not-utf8", "utf16")


@pytest.mark.parametrize(
    ("folder", "reference", "expected"),
    [
        ("a", "b.json", "a/b.json"),
        ("a", "../b.json", "b.json"),
        ("a", "../../b.json", None),
        ("a", "/etc/passwd", None),
        ("a", "..\\..\\b", None),
        ("", "..", None),
        ("a", "./x//y", "a/x/y"),
    ],
)
def test_a_reference_stays_in_the_project(folder: str, reference: str, expected: str | None) -> None:
    assert join(folder, reference) == expected


def test_files_below_a_folder_include_texts_that_stand_for_files(tmp_path: Path) -> None:
    for name in ("a/x.md", "a/deep/y.md", "a/z.txt", "ab/w.md", "a/node_modules/v.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    sources = Sources(tmp_path, Budgets(), {"a/deep/new.md": b"", "a/x.md": b"", "b/new.md": b""})
    assert sources.below("a", ".md") == ("a/deep/new.md", "a/deep/y.md", "a/x.md")
    assert sources.below("b", ".md") == ("b/new.md",)
    assert sources.below("", ".txt") == ("a/z.txt",)


@pytest.mark.parametrize("depth", [980, 2_500])
def test_files_below_a_folder_are_found_at_any_depth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, depth: int
) -> None:
    """So many folders are more than Python calls itself, and then more than a path can name."""
    (tmp_path / "a.md").touch()
    monkeypatch.chdir(tmp_path)
    for _ in range(depth):
        os.mkdir("d")
        os.chdir("d")
    try:
        assert Sources(tmp_path, Budgets()).below("", ".md") == ("a.md",)
    finally:
        for _ in range(depth):
            os.chdir("..")
            os.rmdir("d")


def test_a_linked_folder_is_not_entered_and_a_linked_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.md").touch()
    (tmp_path / "again").symlink_to("a")
    (tmp_path / "y.md").symlink_to("a/x.md")
    (tmp_path / "z.md").symlink_to("nowhere")
    (tmp_path / "loop.md").symlink_to("loop.md")
    assert Sources(tmp_path, Budgets()).below("", ".md") == ("a/x.md", "loop.md", "y.md", "z.md")


def test_a_tree_is_known_once_it_is_read(tmp_path: Path) -> None:
    sources = Sources(tmp_path, Budgets(), {"a.md": b"Hello"})
    assert sources.find_tree("a.md") is None
    tree = sources.tree("a.md", "file")
    assert sources.find_tree("a.md") is tree


def test_a_glance_shows_how_a_file_begins(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.md").write_bytes(b"0123456789")
    (tmp_path / "link.md").symlink_to("a/b.md")
    sources = Sources(tmp_path, Budgets(), {"new.md": b"abcdef"})
    assert [sources.glance(file, 4) for file in ("a/b.md", "link.md", "new.md")] == [b"0123", b"0123", b"abcd"]
    assert sources.trees == ()


def test_a_small_file_that_was_glanced_at_is_not_opened_again(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"0123456789")
    with Recording() as recording:
        sources = Sources(tmp_path, Budgets())
        assert sources.glance("a.md", 100) == sources.glance("a.md", 100) == b"0123456789"
        assert sources.glance("a.md", 4) == b"0123"
        tree = sources.tree("a.md", "file")
    assert tree is not None
    assert tree.data == b"0123456789"
    assert [kind for kind, _ in recording.observations if kind.startswith(("head", "read"))] == ["head 100"]


@pytest.mark.parametrize("most", [4, 10])
def test_a_glance_that_may_have_left_something_out_is_not_taken_for_the_file(tmp_path: Path, most: int) -> None:
    (tmp_path / "a.md").write_bytes(b"0123456789")
    sources = Sources(tmp_path, Budgets())
    sources.glance("a.md", most)
    (tmp_path / "a.md").write_bytes(b"0123456789abc")
    tree = sources.tree("a.md", "file")
    assert tree is not None
    assert tree.data == b"0123456789abc"


def test_a_glance_lifts_no_budget(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"0123456789")
    sources = Sources(tmp_path, Budgets(file_size=9))
    sources.glance("a.md", 100)
    tree = sources.tree("a.md", "file")
    assert tree is not None
    assert [fault.topic for fault in tree.faults] == ["oversized-file"]


def test_folders_on_the_way_to_a_file_may_be_links(tmp_path: Path) -> None:
    root = tmp_path / "in"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "c.md").write_bytes(b"c")
    (tmp_path / "out" / "b").mkdir(parents=True)
    (tmp_path / "out" / "b" / "c.md").write_bytes(b"secret")
    (root / "near").symlink_to("a")
    (root / "far").symlink_to("../out")
    (root / "a" / "up").symlink_to("..")
    sources = Sources(root, Budgets())
    inside = ("a/b/c.md", "near/b/c.md", "a/up/near/b/c.md", "near/../a/b/c.md", "a/up/a/b/c.md")
    assert [sources.find_real_path(each) for each in inside] == ["a/b/c.md"] * len(inside)
    outside = ("far/b/c.md", "a/up/far/b/c.md", "far/../out/b/c.md", "near/../../out/b/c.md")
    assert [sources.glance(each, 9) for each in outside] == [b""] * len(outside)
    folders = ("", "a", "near/b", "a/", "a//b", "a/up", "far", "far/b", "..", "../out", "gone/b", "a/b/c.md", str(root))
    assert [each for each in folders if sources.has_folder(each)] == [
        "",
        "a",
        "near/b",
        "a/",
        "a//b",
        "a/up",
        str(root),
    ]
    assert not sources.has_folder(str(tmp_path / "out"))


def test_a_glance_opens_nothing_but_files_of_the_project(tmp_path: Path) -> None:
    root = tmp_path / "in"
    root.mkdir()
    (tmp_path / "secret.md").write_text("secret")
    (root / "link.md").symlink_to("../secret.md")
    (root / "folder").symlink_to("..")
    os.mkfifo(root / "pipe.md")
    (root / "loop.md").symlink_to("loop.md")
    sources = Sources(root, Budgets())
    files = ("link.md", "folder/secret.md", "pipe.md", "loop.md", ".", "gone.md", "nul\0.md", "../secret.md")
    assert [sources.glance(file, 4) for file in files] == [b""] * len(files)


@pytest.mark.parametrize("how", ["pipe", "link out"])
def test_what_takes_the_place_of_a_file_after_it_was_looked_at_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """The exchange happens at the worst moment: between the last look and the opening."""
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "a.txt").write_bytes(b"text")
    really = os.open

    def exchanged(path: str, flags: int) -> int:
        os.unlink(path)
        os.mkfifo(path) if how == "pipe" else os.symlink(tmp_path / "secret", path)
        return really(path, flags)

    monkeypatch.setattr(os, "open", exchanged)
    assert Sources(root, Budgets()).tree("a.txt", "file").data == b""  # type: ignore[union-attr]

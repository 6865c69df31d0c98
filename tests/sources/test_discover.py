from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from patience import ends

from stagec.core import observations
from stagec.core.budgets import SearchScope
from stagec.core.failure import Failure
from stagec.core.place import Place
from stagec.sources.discover import Discovery, FileWish, discover
from stagec.sources.tree import Fault


def registry(file: str) -> bool:
    return file.rpartition("/")[2] == "registry.json"


def agent(file: str) -> bool:
    return file.rpartition("/")[2] == "agent.json"


def write(root: Path, *files: str, text: str = "{}") -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")


def look(root: Path, *paths: Path, scope: SearchScope | None = None) -> Discovery:
    return discover(root, paths, scope or SearchScope(), (FileWish(registry),))


def found(root: Path, *paths: Path, scope: SearchScope | None = None) -> tuple[str, ...]:
    return look(root, *paths, scope=scope).claimed[0]


def faults(root: Path, *paths: Path) -> list[Fault]:
    return [fault for tree in look(root, *paths).trees for fault in tree.faults]


def test_each_claim_gets_its_own_files_sorted(tmp_path: Path) -> None:
    write(tmp_path, "b/registry.json", "a/registry.json", "a/agent.json", "a/else.json")
    result = discover(tmp_path, (), SearchScope(), (FileWish(registry), FileWish(agent)))
    assert result == Discovery((("a/registry.json", "b/registry.json"), ("a/agent.json",)), frozenset(), (), ())


def test_hidden_folders_are_searched(tmp_path: Path) -> None:
    write(tmp_path, ".agent/x/registry.json")
    assert found(tmp_path) == (".agent/x/registry.json",)


def test_folders_of_other_programs_are_not_searched(tmp_path: Path) -> None:
    write(tmp_path, ".git/registry.json", "a/node_modules/b/registry.json", ".venv/registry.json")
    assert found(tmp_path) == ()


def test_without_paths_the_roots_of_the_scope_are_searched(tmp_path: Path) -> None:
    write(tmp_path, "a/registry.json", "b/registry.json")
    assert found(tmp_path, scope=SearchScope(roots=("b",))) == ("b/registry.json",)


def test_a_folder_named_twice_is_visited_once(tmp_path: Path) -> None:
    write(tmp_path, "a/registry.json")
    assert found(tmp_path, tmp_path, tmp_path / "a") == ("a/registry.json",)


def test_a_file_named_by_hand_that_nobody_claims_is_kept_apart(tmp_path: Path) -> None:
    write(tmp_path, "other.json", "registry.json")
    result = look(tmp_path, tmp_path / "other.json", tmp_path / "registry.json")
    assert result == Discovery((("registry.json",),), frozenset({"other.json", "registry.json"}), ("other.json",), ())


def test_a_text_that_stands_for_a_file_needs_no_file(tmp_path: Path) -> None:
    result = discover(
        tmp_path, (tmp_path / "a" / "registry.json",), SearchScope(), (FileWish(registry),), {"a/registry.json"}
    )
    assert result == Discovery((("a/registry.json",),), frozenset({"a/registry.json"}), (), ())


def test_paths_may_go_up_and_down(tmp_path: Path) -> None:
    write(tmp_path, "a/registry.json", "b/registry.json")
    assert found(tmp_path, tmp_path / "a" / ".." / "b") == ("b/registry.json",)


class TestGitignore:
    def test_a_nested_file_counts_from_its_own_folder(self, tmp_path: Path) -> None:
        write(tmp_path, "a/.gitignore", text="/x\n")
        write(tmp_path, "a/x/registry.json", "x/registry.json", "a/b/x/registry.json")
        assert found(tmp_path) == ("a/b/x/registry.json", "x/registry.json")

    def test_a_deeper_file_takes_back_what_a_higher_one_leaves_out(self, tmp_path: Path) -> None:
        write(tmp_path, ".gitignore", text="registry.json\n")
        write(tmp_path, "a/.gitignore", text="!registry.json\n")
        write(tmp_path, "a/registry.json", "b/registry.json")
        assert found(tmp_path) == ("a/registry.json",)

    def test_nothing_inside_a_folder_that_is_left_out_can_be_taken_back(self, tmp_path: Path) -> None:
        write(tmp_path, ".gitignore", text="a/\n!a/registry.json\n")
        write(tmp_path, "a/registry.json")
        assert found(tmp_path) == ()

    def test_it_can_be_switched_off(self, tmp_path: Path) -> None:
        write(tmp_path, ".gitignore", text="*\n")
        write(tmp_path, "registry.json")
        assert found(tmp_path, scope=SearchScope(gitignore=False)) == ("registry.json",)

    def test_a_file_named_by_hand_is_always_taken(self, tmp_path: Path) -> None:
        write(tmp_path, ".gitignore", text="*\n")
        write(tmp_path, "registry.json")
        scope = SearchScope(exclude=("registry.json",))
        assert found(tmp_path, tmp_path / "registry.json", scope=scope) == ("registry.json",)

    def test_a_folder_named_by_hand_is_searched_although_it_is_left_out(self, tmp_path: Path) -> None:
        write(tmp_path, ".gitignore", text="build/\n")
        write(tmp_path, "build/a/registry.json")
        assert found(tmp_path, tmp_path / "build" / "a") == ("build/a/registry.json",)
        assert found(tmp_path) == ()

    def test_files_above_a_named_folder_count(self, tmp_path: Path) -> None:
        write(tmp_path, ".gitignore", text="draft\n")
        write(tmp_path, "a/draft/registry.json", "a/registry.json")
        assert found(tmp_path, tmp_path / "a") == ("a/registry.json",)

    def test_a_link_is_none(self, tmp_path: Path) -> None:
        write(tmp_path, "outside", text="*\n")
        write(tmp_path, "project/registry.json")
        (tmp_path / "project" / ".gitignore").symlink_to(tmp_path / "outside")
        assert found(tmp_path / "project") == ("registry.json",)


def test_include_narrows_to_files_and_folders(tmp_path: Path) -> None:
    write(tmp_path, "a/registry.json", "b/c/registry.json", "registry.json")
    assert found(tmp_path, scope=SearchScope(include=("/b",))) == ("b/c/registry.json",)


def test_exclude_wins_over_a_gitignore_that_takes_back(tmp_path: Path) -> None:
    write(tmp_path, ".gitignore", text="!a\n")
    write(tmp_path, "a/registry.json", "b/registry.json")
    assert found(tmp_path, scope=SearchScope(exclude=("a",))) == ("b/registry.json",)


class TestLinks:
    def test_a_loop_ends(self, tmp_path: Path) -> None:
        write(tmp_path, "a/registry.json")
        (tmp_path / "a" / "loop").symlink_to(tmp_path)
        (tmp_path / "a" / "self").symlink_to("self")
        assert look(tmp_path) == Discovery((("a/registry.json",),), frozenset(), (), ())

    def test_what_lies_in_the_project_goes_by_its_own_name(self, tmp_path: Path) -> None:
        write(tmp_path, "real/registry.json")
        (tmp_path / "alias").symlink_to("real")
        assert found(tmp_path) == ("real/registry.json",)

    def test_a_folder_that_is_reached_by_links_only_is_visited_once(self, tmp_path: Path) -> None:
        write(tmp_path, ".gitignore", text="store/\n")
        write(tmp_path, "store/registry.json")
        (tmp_path / "one").symlink_to("store")
        (tmp_path / "two").symlink_to("store")
        assert found(tmp_path) == ("one/registry.json",)

    def test_a_folder_outside_is_not_entered(self, tmp_path: Path) -> None:
        write(tmp_path, "outside/registry.json", "project/agent.json")
        (tmp_path / "project" / "away").symlink_to(tmp_path / "outside")
        assert found(tmp_path / "project") == ()
        assert faults(tmp_path / "project") == [
            Fault("link-out-of-project", Place("away"), facts={"target": "../outside"})
        ]

    def test_a_wanted_file_outside_is_left_to_its_reader(self, tmp_path: Path) -> None:
        write(tmp_path, "outside.json", "project/agent.json")
        (tmp_path / "project" / "registry.json").symlink_to(tmp_path / "outside.json")
        assert look(tmp_path / "project") == Discovery((("registry.json",),), frozenset(), (), ())

    def test_a_wanted_file_that_leads_nowhere_is_reported(self, tmp_path: Path) -> None:
        (tmp_path / "registry.json").symlink_to("gone.json")
        (tmp_path / "other.json").symlink_to("gone.json")
        assert found(tmp_path) == ()
        assert faults(tmp_path) == [
            Fault("unreadable-file", Place("registry.json"), "dangling", {"target": "gone.json"})
        ]

    def test_one_that_is_replaced_while_it_is_looked_at_is_left_to_its_reader(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def vanish(path: str) -> str:
            raise FileNotFoundError(path)

        (tmp_path / "registry.json").symlink_to("gone.json")
        monkeypatch.setattr(observations, "read_link", vanish)
        assert look(tmp_path) == Discovery((("registry.json",),), frozenset(), (), ())

    def test_the_project_itself_may_be_reached_by_one(self, tmp_path: Path) -> None:
        write(tmp_path, "real/registry.json")
        (tmp_path / "alias").symlink_to("real")
        assert found(tmp_path / "alias", tmp_path / "alias" / "registry.json") == ("registry.json",)


def test_pipes_and_sockets_are_left_to_their_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "registry.json")
    with socket.socket(socket.AF_UNIX) as endpoint:
        endpoint.bind(os.path.relpath(tmp_path / "socket"))
        assert look(tmp_path) == Discovery((("registry.json",),), frozenset(), (), ())


def test_names_that_are_not_utf8_are_found(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    Path(os.fsdecode(folder + b"/registry.json")).touch()
    assert found(tmp_path) == ("\udcff/registry.json",)


def test_a_folder_too_deep_for_the_system_is_reported(tmp_path: Path) -> None:
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        for _ in range(20):
            os.mkdir("x" * 250)
            os.chdir("x" * 250)
    finally:
        os.chdir(here)
    (fault,) = faults(tmp_path)
    assert (fault.topic, fault.reason, fault.facts) == ("unreadable-file", "folder", {"error": "File name too long"})


@pytest.mark.parametrize(("here", "name"), [(".", "agents/registri.json"), ("agents", "registri.json")])
def test_a_path_that_does_not_exist_is_named_with_its_nearest_neighbour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, name: str
) -> None:
    write(tmp_path, "agents/registry.json")
    monkeypatch.chdir(tmp_path / here)
    with pytest.raises(Failure, match=rf"^'{name}' does not exist; did you mean 'registry.json'\?$"):
        look(tmp_path, tmp_path / "agents" / "registri.json")


def test_the_first_missing_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "agents/registry.json")
    monkeypatch.chdir(tmp_path)
    expected = r"^'agent/x/registry.json': the project has no 'agent'; did you mean 'agents'\?$"
    with pytest.raises(Failure, match=expected):
        look(tmp_path, tmp_path / "agent" / "x" / "registry.json")


def test_a_path_outside_the_root_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "outside/registry.json", "project/registry.json")
    with pytest.raises(Failure, match="lies outside the project"):
        look(tmp_path / "project", tmp_path / "project" / ".." / "outside")


def test_a_named_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "outside/registry.json", "project/registry.json")
    (tmp_path / "project" / "away").symlink_to(tmp_path / "outside")
    with pytest.raises(Failure, match="away' is a link that leads out of the project"):
        look(tmp_path / "project", tmp_path / "project" / "away")


def test_eleven_thousand_files_take_well_under_a_second(tmp_path: Path) -> None:
    for number in range(1000):
        folder = tmp_path / str(number // 50) / str(number)
        folder.mkdir(parents=True)
        for name in ("registry.json", *map(str, range(10))):
            (folder / name).touch()
    write(tmp_path, ".gitignore", text="*.pyc\n/build\n**/x/*.log\na?b*c\n")
    with ends():
        assert len(found(tmp_path)) == 1000

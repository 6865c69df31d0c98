"""A result is printed again while nothing that it follows from has changed, and never otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nursery
import pytest
from cli.conftest import CLEAN, Ended

from stagec.cli import app, result_cache
from stagec.cli.result_shelf import ResultShelf
from stagec.core.observations import find_changes

Check = Callable[..., Ended]


@pytest.fixture
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder in which a user's caches are."""
    return tmp_path_factory.mktemp("caches")


@pytest.fixture
def check(project: Path, caches: Path) -> Check:
    """Run `stagec validate` as a user with caches does."""

    def start(*arguments: str, **more: str) -> Ended:
        environment = nursery.environment(**{"XDG_CACHE_HOME": str(caches), "STAGEC_NO_CACHE": "", **more})
        return nursery.run(("validate", *arguments), project, environment)

    return start


def results(caches: Path) -> list[Path]:
    """Return the entries that are kept."""
    return sorted((caches / "stagec" / "results").glob("*"))


def tell(entry: Path, old: bytes, new: bytes) -> None:
    """Let an entry say something else, as only the owner of the secret can: what prints it has read it."""
    key = result_cache.ResultKey(entry.name, (entry.parents[1] / "secret").read_bytes())
    body = entry.read_bytes()[40:].replace(old, new)
    entry.write_bytes(key.sign(body) + body)


def test_the_second_run_prints_what_the_first_has_kept(check: Check, caches: Path) -> None:
    first = check()
    [entry] = results(caches)
    tell(entry, b"All clear", b"ALL CLEAR")
    assert check().stdout == first.stdout.replace(b"All clear", b"ALL CLEAR")
    assert results(caches) == [entry]


def test_findings_and_what_is_on_standard_error_are_kept(check: Check, project: Path, caches: Path) -> None:
    (project / "steps_registry.json").write_text('{"agentId": }\n')
    first = check("--format", "json", "--statistics")
    [entry] = results(caches)
    tell(entry, b"STG", b"stg")
    second = check("--format", "json", "--statistics")
    assert (second.returncode, second.stdout, second.stderr) == (
        1,
        first.stdout.replace(b"STG", b"stg"),
        first.stderr.replace(b"STG", b"stg"),
    )
    assert b"stg" in second.stderr


@pytest.mark.parametrize(
    "arguments", [("--no-cache",), ("--fix",), ("--diff",), ("-o", "report"), ("-o", "json:report"), ("--select", "NO")]
)
def test_what_does_more_than_print_is_not_kept(arguments: tuple[str, ...], check: Check, caches: Path) -> None:
    check(*arguments)
    assert results(caches) == []


def test_nothing_is_kept_where_the_environment_says_so(check: Check, caches: Path) -> None:
    check(STAGEC_NO_CACHE="1")
    assert list(caches.iterdir()) == []


def test_no_cache_checks_again(check: Check, caches: Path) -> None:
    check()
    tell(*results(caches), b"All clear", b"ALL CLEAR")
    assert check("--no-cache").stdout.startswith(b"All clear")


@pytest.mark.parametrize("more", [{"STAGEC_BUDGET_DEPTH": "60"}, {"FORCE_COLOR": "1"}, {"XDG_CONFIG_HOME": "/nowhere"}])
def test_variables_that_decide_have_results_of_their_own(more: dict[str, str], check: Check, caches: Path) -> None:
    check()
    check(**more)
    assert len(results(caches)) == 2


def test_others_do_not(check: Check, caches: Path) -> None:
    check()
    check(SHLVL="7")
    assert len(results(caches)) == 1


def test_only_the_user_can_read_what_is_kept(check: Check, caches: Path) -> None:
    check()
    modes = {path.name: path.stat().st_mode & 0o777 for path in (caches / "stagec", *(caches / "stagec").iterdir())}
    assert modes == {"stagec": 0o700, "results": 0o700, "secret": 0o600, "CACHEDIR.TAG": 0o600, ".gitignore": 0o600}
    assert results(caches)[0].stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_folder_can_be_named(how: str, check: Check, caches: Path) -> None:
    named = caches / "named"
    words = ("--cache-dir", str(named)) if how == "option" else ()
    more = {} if how == "option" else {"STAGEC_CACHE_DIR": str(named)}
    check(*words, **more)
    [entry] = sorted((named / "results").iterdir())
    assert results(caches) == []
    assert (named / ".gitignore").read_text() == "*\n"
    assert not (named / "secret").exists(), "whoever sends the folder could write results with it"
    key = result_cache.ResultKey(entry.name, (caches / "stagec" / "secret").read_bytes())
    body = entry.read_bytes()[40:].replace(b"All clear", b"ALL CLEAR")
    entry.write_bytes(key.sign(body) + body)
    assert check(*words, **more).stdout.startswith(b"ALL CLEAR")


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut": lambda data: data[:-1],
    "longer": lambda data: data + b"x",
    "another result": lambda data: data.replace(b"All clear", b"All CLEAR"),
    "another digest": lambda data: b"0" * 40 + data[40:],
    "no digest": lambda data: data[40:],
    "a pickle": lambda _: b"cos\nsystem\n(S'touch owned'\ntR.",
    "nothing but zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_entry_is_none(how: str, check: Check, project: Path, caches: Path) -> None:
    first = check()
    [entry] = results(caches)
    entry.write_bytes(DAMAGE[how](entry.read_bytes()))
    second = check()
    assert (second.returncode, second.stdout, second.stderr) == (first.returncode, first.stdout, first.stderr)
    assert not (project / "owned").exists()
    tell(entry, b"All clear", b"ALL CLEAR")
    assert check().stdout.startswith(b"ALL CLEAR"), "the damaged entry was replaced"


def test_an_entry_of_another_user_is_none(check: Check, caches: Path) -> None:
    """Who sends a folder of results knows no secret but his own."""
    check()
    [entry] = results(caches)
    key = result_cache.ResultKey(entry.name, b"x" * 32)
    body = entry.read_bytes()[40:].replace(b"All clear", b"ALL CLEAR")
    entry.write_bytes(key.sign(body) + body)
    assert check().stdout.startswith(b"All clear")


def test_an_entry_counts_under_its_own_name_only(check: Check, project: Path, caches: Path) -> None:
    check()
    [of_text] = results(caches)
    (project / "steps_registry.json").write_text('{"agentId": }\n')
    check("--quiet")
    [of_quiet] = [each for each in results(caches) if each != of_text]
    of_text.write_bytes(of_quiet.read_bytes())
    assert b"Found 1 error" in check().stdout


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
def test_a_secret_that_others_can_read_or_write_is_none(mode: int, check: Check, caches: Path) -> None:
    check()
    (caches / "stagec" / "secret").chmod(mode)
    tell(*results(caches), b"All clear", b"ALL CLEAR")
    assert check().stdout.startswith(b"All clear")


def _file(at: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text("mine")


def _link_to_nothing(at: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.symlink_to("nowhere/at/all")


def _loop(at: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.symlink_to(at.name)


def _folder(at: Path) -> None:
    at.mkdir(parents=True)


def _pipe(at: Path) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(at)


@pytest.mark.parametrize("obstacle", [_file, _link_to_nothing, _loop, _folder, _pipe])
@pytest.mark.parametrize("inside", ["stagec", "stagec/results", "stagec/secret", "stagec/.gitignore"])
def test_an_obstacle_in_the_place_of_a_cache_costs_nothing_but_time(
    obstacle: Callable[[Path], None], inside: str, check: Check, caches: Path
) -> None:
    obstacle(caches / inside)
    for _ in range(2):
        ended = check()
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert ended.stdout.startswith(b"All clear")


def test_a_home_that_cannot_be_written_costs_nothing_but_time(check: Check) -> None:
    for home in ("/proc/self/nowhere", "relative", ""):
        ended = check(XDG_CACHE_HOME=home, HOME=home)
        assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_full_disk_costs_nothing_but_time(check: Check) -> None:
    ended = check("--cache-dir", "/dev/full")
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_other_files_in_a_cache_folder_stay(check: Check, tmp_path: Path) -> None:
    (tmp_path / "named" / "results").mkdir(parents=True)
    mine = [tmp_path / "named" / "results" / name for name in ("notes", "a" * 39, "g" * 40)]
    for each in mine:
        each.write_text("mine")
    check("--cache-dir", "named")
    assert [each.read_text() for each in mine] == ["mine"] * 3


def test_a_folder_of_results_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stagec.cli.result_shelf._MOST_ENTRIES", 5)
    monkeypatch.setattr("stagec.cli.result_shelf._MOST_BYTES", 1_000)
    shelf = ResultShelf(str(tmp_path))
    for number in range(20):
        name = f"{number:040x}"
        shelf.put(name, b"x" * (100 if number < 15 else 400))
        os.utime(tmp_path / "results" / name, ns=(number, number))
        found = sorted(each.name for each in (tmp_path / "results").iterdir())
        assert found[-1] == name
        assert len(found) <= 5
        assert sum(each.stat().st_size for each in (tmp_path / "results").iterdir()) <= 1_000


def test_what_an_interrupted_run_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stagec.cli.result_shelf._MOST_ENTRIES", 1)
    left = tmp_path / "results" / f".stagec-{'a' * 32}.tmp"
    left.parent.mkdir()
    left.touch()
    ResultShelf(str(tmp_path)).put("b" * 40, b"x")
    assert [each.name for each in (tmp_path / "results").iterdir()] == ["b" * 40]


def test_texts_of_every_kind_survive() -> None:
    said = [(1, "a\0b\n"), (2, "\ud800 \udcff é 日本\r\n"), (1, ""), (2, "x" * 100_000)]
    observations = {("read 5", "/a/\udcff"): "1", ("type", "/a/b\nc"): "error 2"}
    body = result_cache._write_body(1, observations, said)
    assert result_cache._read_body(body) == (1, observations, said)
    assert list(find_changes(observations)) == [("read 5", "/a/\udcff")]


def test_a_known_result_needs_no_library(project: Path, caches: Path) -> None:
    environment = nursery.environment(XDG_CACHE_HOME=str(caches), STAGEC_NO_CACHE="")
    command = [sys.executable, "-m", "stagec", "validate"]
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)
    timed = [sys.executable, "-X", "importtime", *command[1:]]
    ended = subprocess.run(timed, cwd=project, env=environment, check=True, capture_output=True)
    imported = {line.rpartition(b"|")[2].strip().decode() for line in ended.stderr.splitlines()}
    own = {name for name in imported if name.startswith("stagec")}
    assert own == {
        *("stagec", "stagec.__main__", "stagec.cli", "stagec.cli.result_cache", "stagec.core"),
        *("stagec.core.bounded", "stagec.core.observations", "stagec.core.version"),
    } - {"stagec.__main__"}
    assert imported & {"click", "jiter", "jsonschema_rs", "json", "re", "typing", "pathlib", "hashlib"} == set()


def test_an_edit_is_seen(check: Check, project: Path) -> None:
    assert check().returncode == 0
    registry = project / "steps_registry.json"
    status = registry.stat()
    registry.write_text(CLEAN.replace('"initial.a": {', '"initial.b": {'))
    os.utime(registry, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert registry.stat().st_size == status.st_size
    assert check().returncode == 1


class Asked(dict[str, str]):
    """Variables of an environment, and which of them somebody asked for."""

    names: set[str]

    def get(self, name: str, default: object = None) -> object:
        self.names.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "gitlab", "junit", "concise"])
def test_every_variable_that_is_asked_for_is_a_part_of_the_name(
    form: str, broken: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    around = Asked(os.environ)
    around.names = set()
    monkeypatch.setattr(os, "environ", around)
    monkeypatch.chdir(broken)
    assert app.run(["validate", "--format", form, "--statistics"]) == 1
    assert capsys.readouterr().out
    beginnings = result_cache._BEGINNINGS
    assert around.names
    assert {name for name in around.names if not name.startswith(beginnings)} <= result_cache._VARIABLES

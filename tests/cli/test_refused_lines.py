"""Every command refuses a wrong command line in one style: one line of the error, one exit status, the nearest name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from rights import ordinary_rights

from stagec.cli.app import run, stagec
from stagec.cli.parameters import ExistingPath, Group, OneOf

Shown = pytest.CaptureFixture[str]


def _walk(group: click.Group, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from _walk(command, (*words, name))


EVERY = dict(_walk(stagec))
LEAVES = {words: each for words, each in EVERY.items() if not isinstance(each, click.Group)}
OPTIONS = [
    (words, each, max(each.opts, key=len))
    for words, command in LEAVES.items()
    for each in command.params
    if isinstance(each, click.Option)
]
CHOICES = [each for each in OPTIONS if isinstance(each[1].type, OneOf)]
EXISTING = [each for each in OPTIONS if isinstance(each[1].type, ExistingPath)]
commands = pytest.mark.parametrize("words", LEAVES, ids=" ".join)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _refuse(arguments: list[str], capfd: Shown, status: int = 2) -> str:
    """Run a command line that stagec refuses, and return its error message."""
    assert run(arguments) == status
    shown = capfd.readouterr()
    assert shown.out == ""
    first, *others = shown.err.splitlines()
    assert first.startswith("stagec: error: ")
    assert all(each.startswith(("stagec: error: ", "stagec: help: ")) for each in others)
    assert not first.endswith(".")
    return first.removeprefix("stagec: error: ")


@commands
def test_a_misspelt_option_has_the_nearest_one_beside_it(words: tuple[str, ...], capfd: Shown) -> None:
    for option in (name for path, _, name in OPTIONS if path == words):
        if len(option) < len("--xxxx"):
            continue
        wrong = f"{option[:4]}{option[5:]}"
        known = {name for path, each, _ in OPTIONS if path == words for name in (*each.opts, *each.secondary_opts)}
        if wrong not in known:
            said = _refuse([*words, wrong], capfd)
            assert said.startswith(f"stagec {' '.join(words)} has no option '{wrong}'; did you mean '--")


@commands
def test_an_option_of_another_world_gets_no_guess(words: tuple[str, ...], capfd: Shown) -> None:
    assert _refuse([*words, "--qqqqqqqq"], capfd) == f"stagec {' '.join(words)} has no option '--qqqqqqqq'"


@commands
def test_an_option_of_stagec_itself_is_shown_its_place(words: tuple[str, ...], capfd: Shown) -> None:
    said = _refuse([*words, "--budget", "depth=3"], capfd)
    assert said.endswith(f"has no option '--budget'; it stands before the command: stagec --budget … {words[-1]}")


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_a_misspelt_command_has_the_nearest_one_beside_it(words: tuple[str, ...], capfd: Shown) -> None:
    *above, name = words
    said = _refuse([*above, f"{name}x"], capfd)
    assert said == f"{' '.join(['stagec', *above])} has no command '{name}x'; did you mean '{name}'?"


@pytest.mark.parametrize(("words", "option", "name"), CHOICES, ids=str)
def test_a_misspelt_word_has_the_nearest_one_beside_it(
    words: tuple[str, ...], option: click.Option, name: str, capfd: Shown
) -> None:
    assert isinstance(option.type, OneOf)
    for choice in option.type.choices:
        said = _refuse([*words, name, f"{choice}x"], capfd)
        assert said.startswith(f"{name} '{choice}x' is not ")
        assert said.endswith(f"; did you mean '{choice}'?")


@pytest.mark.parametrize(("words", "option", "name"), EXISTING, ids=str)
def test_a_path_that_is_not_there_has_its_neighbour_beside_it(
    words: tuple[str, ...], option: click.Option, name: str, capfd: Shown
) -> None:
    assert isinstance(option.type, ExistingPath)
    assert _refuse([*words, name, "filee"], capfd) == f"{name} 'filee' does not exist; did you mean 'file'?"
    if not option.type.dir_okay:
        assert _refuse([*words, name, "folder"], capfd) == f"{name} 'folder' is a folder, and a file is expected"
    if not option.type.file_okay:
        assert _refuse([*words, name, "file"], capfd) == f"{name} 'file' is not a folder"


def test_no_parameter_has_the_words_of_the_library() -> None:
    for words, command in EVERY.items():
        assert isinstance(command, Group) or not isinstance(command, click.Group), words
        for each in command.params:
            assert isinstance(each.type, OneOf) or not isinstance(each.type, click.Choice), (words, each.name)
            assert isinstance(each.type, ExistingPath) or not getattr(each.type, "exists", False), (words, each.name)


FILES = ("markers", "plan", "run", "simulate", "verify")
ON_PROJECTS = (
    "bounds",
    "compile",
    "config show",
    "graph",
    "permissions",
    "tools diff",
    "tools list",
    "tools lock",
    "validate",
)
ON_PATHS = ("checkpoint list", "checkpoint verify")
ON_RUNS = (
    "resume {}",
    *(f"runs {each}" for each in ("answer {} yes", "cancel {}", "pause {}", "questions {}", "replay {}", "show {}")),
)


@pytest.mark.parametrize("command", [*FILES, *ON_PROJECTS, *ON_PATHS])
def test_a_named_path_that_is_not_there_is_told_in_the_same_words(command: str, capfd: Shown) -> None:
    said = _refuse([*command.split(), "filee"], capfd)
    assert said.removeprefix("PATHS... ") == "'filee' does not exist; did you mean 'file'?"


@pytest.mark.parametrize("command", FILES)
def test_a_folder_in_place_of_a_file_is_told_in_the_same_words(command: str, capfd: Shown) -> None:
    assert _refuse([*command.split(), "folder"], capfd) == "'folder' is a folder, and a file is expected"


@pytest.mark.parametrize("command", FILES)
def test_a_file_that_may_not_be_read_is_told_in_the_same_words(command: str, folder: Path, capfd: Shown) -> None:
    (folder / "file").chmod(0)
    with ordinary_rights():
        said = _refuse([*command.split(), "file"], capfd)
    assert said == "cannot read 'file': Permission denied"


@pytest.mark.parametrize("command", ON_RUNS)
def test_a_run_that_is_not_there_has_the_nearest_one_beside_it(command: str, folder: Path, capfd: Shown) -> None:
    (folder / ".stagec" / "runs").mkdir(parents=True)
    (folder / ".stagec" / "runs" / "nightly.run").write_bytes(b"")
    said = _refuse([each.format("nightli") for each in command.split()], capfd)
    assert said == "no run is called 'nightli' in '.stagec/runs'; did you mean 'nightly'?"


@pytest.mark.parametrize("command", ON_PROJECTS)
def test_a_misspelt_key_of_a_configuration_stops_every_command(command: str, folder: Path, capfd: Shown) -> None:
    (folder / "stagec.toml").write_text('selct = ["ALL"]\n', encoding="utf-8")
    said = _refuse([*command.split(), "file"], capfd)
    assert said == "stagec.toml:1: unknown key 'selct'; did you mean 'select'?"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("validate --select unknwon-target", "no rule is called 'unknwon-target'; did you mean 'unknown-target'?"),
        ("validate --ignore STG21O", "no rule is called 'STG21O'; did you mean 'STG121'?"),
        ("validate --extend-select portabilty", "no rule is called 'portabilty'; did you mean 'portability'?"),
        ("validate -o sarf:x", "--output 'sarf' is not a format; did you mean 'sarif'? './sarf:x' is a file"),
        ("help", "stagec has no command 'help'; did you mean '--help'?"),
        ("runs help", "stagec runs has no command 'help'; did you mean '--help'?"),
        ("version", "stagec has no command 'version'; did you mean '--version'?"),
        ("explain drift", "no rule, family or group is called 'drift'; it is a part of 'intent-drift'"),
        ("explain unknown-taget", "no rule, family or group is called 'unknown-taget'; did you mean 'unknown-target'?"),
        ("schema pipline", "no schema is called 'pipline'; did you mean 'pipeline'?"),
        ("--budget deth=3 validate", "--budget: no budget is called 'deth'; did you mean 'depth'?"),
    ],
)
def test_other_names_have_the_nearest_one_beside_them(arguments: str, said: str, capfd: Shown) -> None:
    assert _refuse(arguments.split(), capfd) == said


@pytest.mark.parametrize("text", ["\x1b[2J", "::error::x", "##[error]x", "a\nb", "\udcff"])
def test_what_is_said_commands_nobody(text: str, capfd: Shown) -> None:
    for arguments in ([text], ["validate", f"--{text}"], ["validate", "--format", text], ["validate", "--root", text]):
        assert run(arguments) == 2
        said = capfd.readouterr().err
        assert "\x1b" not in said
        assert all(line.startswith("stagec: ") for line in said.splitlines())


@pytest.mark.parametrize("option", ["--select", "--extend-select", "--ignore"])
@pytest.mark.parametrize("rules", ["STG6xx", "STG2xx,STG3xx", "STG6", "stg6xx"])
def test_codes_can_be_named_as_pages_write_them(option: str, rules: str, folder: Path, capfd: Shown) -> None:
    (folder / "tools.yaml").write_text("bundled: []\n", encoding="utf-8")
    assert run(["validate", option, rules]) == (2 if rules.islower() else 0)
    if not rules.islower():
        assert run(["explain", rules.split(",", maxsplit=1)[0]]) == 0
    capfd.readouterr()

"""Every kind of failure has one home and one exit status."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from stagec.cli import commands
from stagec.cli.app import MOVED, SECTIONS, read_short_help, run
from stagec.core.failure import Exit, Failure
from stagec.core.shelf import member, names
from stagec.runtime.drivers.following import write_time

COMMANDS = (
    "compile",
    "completion",
    "config",
    "explain",
    "graph",
    "init",
    "plan",
    "schema",
    "tools",
    "validate",
    "verify",
)


def failing(error: BaseException) -> click.Group:
    """Return a command line that fails as it is told."""

    def fail() -> None:
        raise error

    return click.Group("stagec", invoke_without_command=True, callback=fail)


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (Failure("no such file 'x'"), 2, "stagec: error: no such file 'x'\n"),
        (Failure("nothing to check", Exit.NOTHING), 3, "stagec: error: nothing to check\n"),
        (Failure("a\nb"), 2, "stagec: error: a\nstagec: error: b\n"),
        (Failure("named \x1b[2J\udcff"), 2, "stagec: error: named \\x1b[2J\\udcff\n"),
        (KeyboardInterrupt(), 130, "stagec: interrupted\n"),
        (click.exceptions.Exit(1), 1, ""),
    ],
)
def test_a_failure_is_told_in_one_place(
    error: BaseException, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([], failing(error)) == status
    assert capsys.readouterr() == ("", said)


def test_what_nobody_expected_is_an_internal_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([], failing(KeyError("it \x1b[2J"))) == 4
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "internal error: this is a fault of stagec" in told
    assert "please report it" in told
    assert "\x1b" not in told


def test_a_clock_that_python_cannot_read_is_no_fault_of_stagec(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    error = OverflowError("timestamp too large to convert to C _PyTime_t")
    assert run([], failing(error)) == 4
    capsys.readouterr()

    def fail() -> int:
        raise error

    monkeypatch.setattr(time, "time_ns", fail)
    assert run([], failing(error)) == 2
    assert "shows a time after the year 2262, which Python cannot read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "told"), [(1_800_000_000.5, "2027-01-15T08:00:01Z"), (1e18, "9999-12-31T23:59:59Z")]
)
def test_every_time_is_written(seconds: float, told: str) -> None:
    assert write_time(seconds) == told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["validat"], "stagec has no command 'validat'; did you mean 'validate'?"),
        (["answer", "one", "yes"], "stagec has no command 'answer'; did you mean 'runs answer'?"),
        (["validate", "--formt", "json"], "did you mean '--format'?"),
        (["validate", "--format", "jsn"], "'jsn' is not one of"),
        (["rules"], "stagec has no command 'rules'; did you mean 'explain'?"),
    ],
)
def test_a_misspelt_command_line_is_refused_with_a_hint(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["config"]])
def test_a_group_without_a_command_shows_its_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run(arguments)
    said = "".join(capsys.readouterr())
    assert said.startswith("Usage: stagec ")
    assert ("\nCommands:\n" if arguments else "\nCheck:\n") in said
    assert "Error" not in said


def test_each_command_has_its_place_in_the_help_and_says_there_what_it_is_for() -> None:
    placed = [name for members in SECTIONS.values() for name in members]
    assert sorted(placed) == sorted(names(commands))
    for name in placed:
        said = read_short_help(name)
        assert said.endswith("."), name
        assert said == member(commands, name, click.Command).short_help


def test_each_command_that_has_moved_is_where_the_hint_says() -> None:
    for name, place in MOVED.items():
        command, *inside = place.split()
        found = member(commands, command, click.Command)
        assert not inside or inside[0] in getattr(found, "commands", {})
        assert name not in names(commands)


@pytest.mark.parametrize("command", ["run", "resume", "worker"])
def test_help_shows_common_options_first_and_the_others_in_sections(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command, "--help"]) == 0
    said = capsys.readouterr().out.partition("\nOptions:\n")[2]
    common, *sections = re.split(r"^(?=\S[^\n]*:$)", said, flags=re.MULTILINE)
    assert "--model " in common
    assert "--tools-in" in common
    assert "--model-policy" not in common
    assert [each.partition(":")[0] for each in sections][:2] == ["Models", "Tools, servers and commands"]
    assert sum("--help" in each for each in (common, *sections)) == 1


def test_help_and_completion_import_no_command() -> None:
    probe = "import sys; from stagec.cli.app import run; run(['--help']); print([*filter(IS, sys.modules)])"
    probe = probe.replace("IS", "lambda name: name.startswith('stagec.cli.commands.')")
    told = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines()[-1] == "[]"


def test_a_missing_choice_is_named_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion"]) == 2
    assert "is missing: 'bash', 'fish' or 'zsh'\n" in capsys.readouterr().err


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == "stagec 0.1.0\n"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    told = capsys.readouterr().out
    assert [name for name in COMMANDS if f"  {name} " not in told] == []


def test_each_example_in_a_help_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, list[str]] = {}
    for name in names(commands):
        assert run([name, "--help"]) == 0
        _, heading, after = capsys.readouterr().out.partition("Examples:")
        if heading:
            found[name] = after.partition("\n\n")[0].splitlines()[1:]
    assert {"paths", "resume", "submit", "worker"} <= set(found)
    faulty = [name for name, lines in found.items() if not all(line.startswith("    stagec ") for line in lines)]
    assert faulty + [name for name, lines in found.items() if not lines] == []


def test_the_help_of_completion_has_a_line_for_each_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "--help"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in told if " > " in line or "completion " in line][-3:] == ["bash", "zsh", "fish"]


ON_PROJECTS = (
    "runs cancel x",
    "compile",
    "completion bash",
    "config show",
    "explain STG201",
    "graph",
    "init --from x",
    "plan x",
)
ON_RUNS = ("resume x", "run x", "runs replay x", "runs export x", "runs list", "runs show x", "simulate x", "verify x")
ON_NEITHER = ("explain", "schema stagec", "tools diff", "tools list", "tools lock", "validate", "validate --fix")


@pytest.mark.skipif(sys.platform == "win32", reason="elsewhere a working directory cannot be removed")
@pytest.mark.parametrize("command", [*ON_PROJECTS, *ON_RUNS, *ON_NEITHER])
def test_a_working_directory_that_was_removed_is_the_world_s_fault(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert run(command.split()) == Exit.USAGE
    told = "stagec: error: the working directory cannot be used: No such file or directory\n"
    assert capsys.readouterr() == ("", told)

"""stagec as a process: exit statuses, closed pipes, odd encodings, Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stagec.core.words import listing

Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]
SHELL = f"{sys.executable} -m stagec"


def shell(command: str, folder: Path, environment: dict[str, str]) -> Ended:
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, check=False)


def test_nothing_wrong_ends_with_0(project: Path, run: Run) -> None:
    ended = run("validate")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout.startswith(b"All clear: ")


def test_findings_end_with_1(broken: Path, run: Run) -> None:
    ended = run("validate")
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert b"error[STG106] invalid-json: " in ended.stdout


def test_a_path_that_is_not_there_ends_with_2(project: Path, run: Run) -> None:
    ended = run("validate", "nowhere")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.startswith(b"stagec: error: ")


def test_an_empty_folder_ends_with_3(tmp_path: Path, run: Run) -> None:
    ended = run("validate", "--format", "json")
    assert (ended.returncode, ended.stdout) == (3, b"")
    first, reads, last = ended.stderr.splitlines()
    assert reads.startswith(b"stagec: help: stagec reads 'steps_registry.json', 'pipeline.yaml', ")
    assert [first, last] == [
        b"stagec: error: nothing to check: '.' holds nothing that stagec reads",
        b"stagec: help: 'stagec init DIR' makes a new project",
    ]


def test_a_warning_fails_only_when_asked_to(warned: Path, run: Run) -> None:
    statuses = [run("validate", "--fail-on", each).returncode for each in ("error", "warning", "note", "never")]
    assert statuses == [0, 1, 1, 0]


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
@pytest.mark.needs("bash")
def test_streams_that_are_closed_change_no_status(
    broken: Path, closed: str, environment: Callable[..., dict[str, str]]
) -> None:
    ended = shell(f"{SHELL} validate {closed}", broken, environment())
    assert (ended.returncode, ended.stderr) == (1, b"")


@pytest.mark.parametrize("command", ["validate", "--version", "explain --help"])
@pytest.mark.needs("bash")
def test_a_disk_that_is_full_is_told(broken: Path, command: str, environment: Callable[..., dict[str, str]]) -> None:
    ended = shell(f"{SHELL} {command} > /dev/full", broken, environment())
    assert ended.returncode == 2
    assert ended.stderr == b"stagec: error: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.needs("bash")
def test_a_disk_that_is_full_is_nothing_to_a_command_that_writes_nothing(
    broken: Path, buffered: str, environment: Callable[..., dict[str, str]]
) -> None:
    ended = shell(f"{SHELL} runs cancel nobody > /dev/full", broken, {**environment(), "PYTHONUNBUFFERED": buffered})
    assert (ended.returncode, ended.stderr.count(b"\n")) == (2, 1)


@pytest.mark.parametrize("form", ["text", "json", "concise"])
@pytest.mark.needs("bash")
def test_a_reader_that_leaves_changes_nothing(
    broken: Path, form: str, environment: Callable[..., dict[str, str]]
) -> None:
    ended = shell(f'{SHELL} validate --format {form} | true; echo "${{PIPESTATUS[0]}}"', broken, environment())
    assert (ended.stdout, ended.stderr) == (b"1\n", b"")


@pytest.mark.needs("bash")
def test_a_reader_that_wants_one_line_gets_one(broken: Path, environment: Callable[..., dict[str, str]]) -> None:
    ended = shell(f"{SHELL} validate | head -1", broken, environment())
    assert (ended.stdout.count(b"\n"), ended.stderr) == (1, b"")


@pytest.mark.needs("bash")
def test_help_may_be_cut_off_too(broken: Path, environment: Callable[..., dict[str, str]]) -> None:
    ended = shell(f"{SHELL} --help | true", broken, environment())
    assert ended.stderr == b""


@pytest.mark.parametrize(
    "locale",
    [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
)
@pytest.mark.parametrize("form", ["text", "json", "concise"])
def test_no_encoding_stops_a_report(tmp_path: Path, run: Run, form: str, locale: dict[str, str]) -> None:
    folder = os.fsencode(tmp_path) + b"/\xff\xc3\xa4"
    os.mkdir(folder)
    with open(folder + b"/steps_registry.json", "wb") as file:
        file.write('{"審査": "🙂" \x1b[2J\u202e}\n'.encode())
    ended = run("validate", "--format", form, **locale)
    assert (ended.returncode, ended.stderr) == (1, b"")
    assert b"\x1b" not in ended.stdout


def test_colours_are_for_terminals(broken: Path, run: Run) -> None:
    assert b"\x1b" not in run("validate").stdout
    assert b"\x1b[1;31m" in run("validate", FORCE_COLOR="1").stdout
    assert b"\x1b" not in run("validate", FORCE_COLOR="1", NO_COLOR="1").stdout


def test_standard_input_stands_for_a_file(project: Path, run: Run) -> None:
    ended = run("validate", "-", "--stdin-filename", "steps_registry.json", text=b"{")
    assert ended.returncode == 1
    assert b" --> steps_registry.json:1:" in ended.stdout


def test_standard_input_stands_for_a_file_that_is_not_there(tmp_path: Path, run: Run) -> None:
    ended = run("validate", "-", "--stdin-filename", "steps_registry.json", "--root", ".", text=b"{")
    assert (ended.returncode, ended.stderr) == (1, b"")


@pytest.mark.parametrize(
    "arguments",
    [
        ["-"],
        ["--stdin-filename", "x.json"],
        ["-", "--stdin-filename", "steps_registry.json", "--fix"],
        ["--fix", "--diff"],
    ],
)
def test_options_that_cannot_be_meant_together_are_refused(project: Path, run: Run, arguments: list[str]) -> None:
    ended = run("validate", *arguments, text=b"")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.startswith(b"stagec: error: ")


def test_statistics_follow_the_text(broken: Path, run: Run) -> None:
    ended = run("validate", "--statistics")
    assert ended.stdout.endswith(b"\n     1  error    STG106  invalid-json\n")


def test_statistics_never_disturb_a_document(broken: Path, run: Run) -> None:
    ended = run("validate", "--statistics", "--format", "json")
    assert json.loads(ended.stdout)["summary"]["errors"] == 1
    assert ended.stderr == b"     1  error    STG106  invalid-json\n"


def test_a_report_is_written_to_a_file(broken: Path, run: Run) -> None:
    ended = run("validate", "--format", "json", "-o", "report.json", FORCE_COLOR="1")
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert json.loads((broken / "report.json").read_bytes())["version"] == 1
    assert sorted(each.name for each in broken.iterdir()) == ["prompts", "report.json", "steps_registry.json"]


def test_a_report_may_go_nowhere(broken: Path, run: Run) -> None:
    assert run("validate", "-o", os.devnull).returncode == 1
    assert not Path(os.devnull).is_file()


def test_quiet_and_clean_is_silence(project: Path, run: Run) -> None:
    ended = run("validate", "--quiet")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_rules_are_selected_on_the_command_line(broken: Path, run: Run) -> None:
    assert run("validate", "--ignore", "STG106,STG107", "--ignore", "STG108").returncode == 0
    assert run("validate", "--select", "byte-order-mark").returncode == 0
    assert run("validate", "--select", "invalid-jsn").stderr == (
        b"stagec: error: no rule is called 'invalid-jsn'; did you mean 'invalid-json'?\n"
    )


def test_ctrl_c_ends_quietly(project: Path, environment: Callable[..., dict[str, str]]) -> None:
    command = [sys.executable, "-m", "stagec", "validate", "-", "--stdin-filename", "steps_registry.json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=project, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe) as waiting:
        with pytest.raises(subprocess.TimeoutExpired):  # it waits for a text that never comes
            waiting.wait(1)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(5) == 130
        assert waiting.stdout is not None
        assert waiting.stderr is not None
        assert (waiting.stdout.read(), waiting.stderr.read()) == (b"", b"stagec: interrupted\n")


def test_rules_are_listed_and_explained(tmp_path: Path, run: Run) -> None:
    listed = json.loads(run("explain", "--format", "json").stdout)
    first = next(each for each in listed if each["code"] == "STG106")
    page = json.loads(run("explain", "invalid-json", "--format", "json").stdout)
    assert page == first
    assert run("explain", "stg106").stdout.startswith(b"STG106 invalid-json (error)\n\n")
    assert re.search(rb"^STG106 +invalid-json +error +", run("explain").stdout, re.MULTILINE)
    assert run("explain", "STG201", "STG106").stdout.count(b"\n") == 2
    assert run("explain", "document").stdout.startswith(b"STG101  unreadable-file ")


def test_an_unknown_rule_is_answered_with_the_nearest(tmp_path: Path, run: Run) -> None:
    ended = run("explain", "invalid-jsn")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr == (
        b"stagec: error: no rule, family or group is called 'invalid-jsn'; did you mean 'invalid-json'?\n"
    )


def test_an_unknown_rule_that_resembles_none_is_answered_with_where_to_look(tmp_path: Path, run: Run) -> None:
    assert run("explain", "xyz").stderr == (
        b"stagec: error: no rule, family or group is called 'xyz'; 'stagec explain' lists them\n"
    )


def test_schemas_are_listed_and_printed(tmp_path: Path, run: Run) -> None:
    assert b"diagnostics\n" in run("schema").stdout
    assert json.loads(run("schema", "diagnostics").stdout)["title"] == "Report of stagec validate --format json"
    assert run("schema", "diagnostic").stderr == (
        b"stagec: error: no schema is called 'diagnostic'; did you mean 'diagnostics'?\n"
    )
    known = run("schema").stdout.decode().split()
    assert run("schema", "xyz").stderr.decode() == (
        f"stagec: error: no schema is called 'xyz'; there are {listing(known)}\n"
    )


def test_completion_prints_a_script(tmp_path: Path, run: Run) -> None:
    assert b"_STAGEC_COMPLETE" in run("completion", "zsh").stdout
    answered = run(_STAGEC_COMPLETE="fish_complete", COMP_WORDS="stagec val", COMP_CWORD="val")
    assert b"validate" in answered.stdout


def test_a_clean_run_imports_nothing_it_does_not_need(
    project: Path, environment: Callable[..., dict[str, str]]
) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "stagec", "validate"]
    ended = subprocess.run(command, cwd=project, env=environment(), capture_output=True, check=False)
    imported = set(re.findall(rb"\| +([\w.]+)\n", ended.stderr))
    unwanted = {b"difflib", b"shutil", b"ruamel", b"pathspec", b"tomllib", b"referencing", b"networkx"}
    assert ended.returncode == 0
    assert (
        imported
        & {*unwanted, b"stagec.check.reporters.json", b"stagec.check.reporters.text.block", b"stagec.check.fixes"}
        == set()
    )

"""`stagec markers`: logs and pipes, each kind of output, and logs that are meant to harm."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.conftest import STAGEC, Run

from stagec.cli.app import run as start
from stagec_dev.checkout import ROOT

FAULTY = b"text\n[STAGE:end:id=S01_load_data:status=fail:duration=1s] over\n  [CHECKPOINT:begin]\n"
CLEAN = (
    b"[STAGE:begin:id=S01_load_data]\r\n12:00 working\r\n[STAGE:end:id=S01_load_data:status=success:duration=1s]\r\n"
)
Environment = Callable[..., dict[str, str]]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], str]:
    monkeypatch.chdir(tmp_path)

    def write(data: bytes) -> str:
        (tmp_path / "run.log").write_bytes(data)
        return "run.log"

    return write


Log = Callable[[bytes], str]


def test_findings_are_shown_with_their_lines(log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    assert start(["markers", log(FAULTY)]) == 0
    assert capsys.readouterr().out == (
        "warning[STG805] unclear-end-status: a stage ends as 'success', 'failed' or 'interrupted', not 'fail';"
        " did you mean 'failed'?\n"
        " --> run.log:2:29\n  |\n"
        "2 | [STAGE:end:id=S01_load_data:status=fail:duration=1s] over\n"
        "  |                             ^^^^^^^^^^^\n"
        "  = help: stagec explain STG805\n\n"
        "warning[STG809] incomplete-checkpoint-marker: the CHECKPOINT marker with 'begin' has no 'id'\n"
        " --> run.log:3:3\n  |\n3 |   [CHECKPOINT:begin]\n  |   ^^^^^^^^^^^^^^^^^^\n"
        "  = help: stagec explain STG809\n\n"
        "Found 2 warnings (checked 2 markers in 3 lines)\n"
    )


@pytest.mark.parametrize(("data", "seen"), [(CLEAN, "2 markers in 3 lines"), (b"", "0 markers in 0 lines")])
def test_a_log_without_faults_is_clear(log: Log, capsys: pytest.CaptureFixture[str], data: bytes, seen: str) -> None:
    assert start(["markers", log(data)]) == 0
    assert capsys.readouterr().out == f"All clear: {seen}\n"


def test_a_document_comes_at_the_end(log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    import jsonschema_rs

    assert start(["markers", "--format", "json", log(FAULTY + b"[CHECKPOINT:end]\n" * 1_200)]) == 0
    report = json.loads(capsys.readouterr().out)
    schema = json.loads((ROOT / "schemas" / "diagnostics.schema.json").read_bytes())
    assert jsonschema_rs.is_valid(schema, report)
    assert report["summary"]["files"] == 1
    assert report["summary"]["warnings"] == len(report["diagnostics"]) == 1_001
    assert report["summary"]["folded"] == report["diagnostics"][-1]["folded"] == 201
    assert (report["diagnostics"][0]["file"], report["diagnostics"][0]["pointer"]) == ("run.log", "/1")


def test_what_is_not_shown_is_counted(log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    assert start(["markers", log(b"[STAGE:begin]\n" * 1_500), "--statistics"]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("warning[STG803]") == 1_000
    assert shown.out.count("stagec explain") == 1
    assert shown.out.endswith(
        "Found 1000 warnings, and 500 more that are not shown (checked 1500 markers in 1500 lines)\n"
    )
    assert shown.err == "  1000  warning  STG803  marker-without-stage\n"


SELECTED: dict[tuple[str, ...], tuple[int, list[str]]] = {
    ("--ignore", "STG809"): (0, ["STG805"]),
    ("--select", "markers", "--ignore", "STG809,unclear-end-status"): (0, []),
    ("--select", "incomplete-checkpoint-marker"): (0, ["STG809"]),
    ("--fail-on", "warning"): (1, ["STG805", "STG809"]),
    ("--fail-on", "warning", "--select", "note"): (0, []),
    ("--stage", "S02_eda"): (1, ["STG804", "STG805", "STG809"]),
    ("--stage", "S01_load_data"): (0, ["STG805", "STG809"]),
    ("--ignore", "STG2"): (0, ["STG805", "STG809"]),
}


@pytest.mark.parametrize("options", SELECTED)
def test_rules_are_selected_as_for_validate(
    log: Log, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    status, codes = SELECTED[options]
    assert start(["markers", *options, "--format", "concise", log(FAULTY)]) == status
    rows = capsys.readouterr().out.splitlines()
    assert [row.partition("[")[2].partition("]")[0] for row in rows] == codes


def test_the_configuration_of_the_project_counts(log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    Path("stagec.toml").write_text('ignore = ["STG809"]\noutput-format = "concise"\n[severity]\nmarkers = "error"\n')
    assert start(["markers", log(FAULTY)]) == 1
    assert capsys.readouterr().out.startswith("run.log:2:29: error[STG805] unclear-end-status: ")


REFUSED = {
    ("--select", "STG201"): (3, "no rule about markers is selected"),
    ("--select", "broken-markers"): (2, "no rule is called 'broken-markers'; did you mean 'broken-marker'?"),
}


@pytest.mark.parametrize("options", REFUSED)
def test_selecting_nothing_that_judges_markers_is_refused(
    log: Log, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
) -> None:
    status, sentence = REFUSED[options]
    assert start(["markers", *options, log(CLEAN)]) == status
    assert capsys.readouterr().err == f"stagec: error: {sentence}\n"


@pytest.mark.parametrize(
    ("name", "why"), [("absent.log", "does not exist"), ("folder", "is a folder, and a file is expected")]
)
def test_what_cannot_be_read_is_refused(log: Log, capsys: pytest.CaptureFixture[str], name: str, why: str) -> None:
    log(CLEAN)
    Path("folder").mkdir()
    assert start(["markers", name]) == 2
    assert capsys.readouterr().err.startswith(f"stagec: error: '{name}' {why}")


def test_markers_are_listed_as_lines_of_json(log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        start(["markers", "--list", log(b"[X:a:b=c] ##[warning]\n[STAGE:begin:id=\xff\xe2\x80\xae]\nx\n[DATA]")]) == 0
    )
    out = capsys.readouterr().out
    assert out.isascii()
    assert "##[" not in out
    first, second, third = map(json.loads, out.splitlines())
    assert first == {
        "line": 1,
        "type": "X",
        "subtype": "a",
        "attributes": {"b": "c"},
        "content": "##[warning]",
        "valid": False,
        "category": "unknown",
    }
    assert (second["attributes"], second["category"]) == ({"id": "\ufffd\u202e"}, "workflow")
    assert (third["line"], third["subtype"]) == (4, None)


def test_a_pipe_is_reported_while_it_is_written(tmp_path: Path, environment: Environment) -> None:
    words = [*STAGEC, "markers", "--format", "concise", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stdin=pipe, stdout=pipe) as waiting:
        assert waiting.stdin is not None
        assert waiting.stdout is not None
        waiting.stdin.write(b"[STAGE:begin]\n[STAGE:be")
        waiting.stdin.flush()
        assert waiting.stdout.readline().startswith(b"<stdin>:1:1: warning[STG803]")
        waiting.stdin.write(b"gin]\n")
        waiting.stdin.flush()
        assert waiting.stdout.readline().startswith(b"<stdin>:2:1: warning[STG803]")
        waiting.stdin.write(b"[REHYDRATED]")
        waiting.stdin.close()
        assert waiting.stdout.readline().startswith(b"<stdin>:3:1: warning[STG810]")
        assert waiting.wait() == 0


def test_a_pipe_that_never_waits_is_waited_for(tmp_path: Path, environment: Environment) -> None:
    theirs, own = os.pipe()
    os.set_blocking(theirs, False)
    words = [*STAGEC, "markers", "-"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stdin=theirs, stdout=subprocess.PIPE) as waiting:
        os.close(theirs)
        assert waiting.stdout is not None
        os.write(own, b"[STAGE:begin]\n")
        assert waiting.stdout.readline().startswith(b"warning[STG803]")
        os.write(own, b"[STAGE:begin]\n")
        os.close(own)
        assert waiting.stdout.read().endswith(b"Found 2 warnings (checked 2 markers in 2 lines)\n")
        assert waiting.wait() == 0


def test_without_a_reader_the_command_ends(tmp_path: Path, environment: Environment) -> None:
    """Its own input never ends."""
    theirs, own = os.pipe()
    words = [*STAGEC, "markers", "--format", "concise", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stdin=theirs, stdout=pipe, stderr=pipe) as waiting:
        os.close(theirs)
        assert waiting.stdout is not None
        os.write(own, b"[STAGE:begin]\n")
        waiting.stdout.readline()
        waiting.stdout.close()
        os.write(own, b"[STAGE:begin]\n")
        assert waiting.wait(20) == 0
        assert waiting.stderr is not None
        assert waiting.stderr.read() == b""
    os.close(own)


@pytest.mark.parametrize("options", [["--format", "concise"], ["--format", "json"], ["--list"]])
@pytest.mark.needs("bash")
def test_without_a_reader_the_command_ends_also_if_it_has_nothing_to_print(
    tmp_path: Path, environment: Environment, options: list[str]
) -> None:
    words = ["bash", "-c", f"yes '' | {' '.join([*STAGEC, 'markers', *options, '-'])} | true; echo ${{PIPESTATUS[1]}}"]
    ended = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, check=False, timeout=60)
    assert (ended.stdout, ended.stderr) == (b"0\n", b"")


def test_an_interrupted_command_says_so(tmp_path: Path, environment: Environment) -> None:
    words = [*STAGEC, "markers", "--format", "concise", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, env=environment(), stdin=pipe, stdout=pipe, stderr=pipe) as waiting:
        assert waiting.stdin is not None
        assert waiting.stdout is not None
        waiting.stdin.write(b"[STAGE:begin]\n")
        waiting.stdin.flush()
        waiting.stdout.readline()
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait(20) == 130
        assert waiting.stderr is not None
        assert waiting.stderr.read() == b"stagec: interrupted\n"


MAKER = """import sys
for _ in range({}): sys.stdout.buffer.write({} * 1_000_000)
sys.stdout.buffer.write(b'\\n[STAGE:begin]')"""
FLOODS = {
    "no line feed": (100, "b'x'", "1 marker in 2 lines"),
    "opening brackets": (100, "b'['", "1 marker in 2 lines"),
    "line feeds": (5, "b'\\n'", "1 marker in 5000002 lines"),
    "zeros": (100, "b'\\0'", "1 marker in 2 lines"),
    "carriage returns": (100, "b'\\r'", "1 marker in 2 lines"),
    "lines that are nearly markers": (5, "b'\\n[ST:'", "1 marker in 5000002 lines"),
}


@pytest.mark.parametrize("name", FLOODS)
@pytest.mark.needs("bash")
def test_a_flood_needs_little_memory(tmp_path: Path, environment: Environment, name: str) -> None:
    """The limit leaves room for Python and the libraries."""
    number, given, seen = FLOODS[name]
    limit = f'ulimit -v 400000; {sys.executable} -c "{MAKER.format(number, given)}" | {" ".join(STAGEC)} markers -'
    ended = subprocess.run(
        ["bash", "-c", limit], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.endswith(f"Found 1 warning (checked {seen})\n")


HOSTILE = (
    b"[STAGE:\x1b[2J]\x1b[31m\n[\xe2\x80\xaeSTAGE]\n[STAGE:begin:id=\x1b]0;x\x07:\xed\xa0\x80]\n::error::x\n##[error]x\n"
    b"[STAGE:end:status=##vso[x] \x00\n[STAGE:" + b":" * 60_000 + b"]\n[" + b"A" * 60_000 + b"]\n[STAGE:progress:"
    + b"a=b:" * 10_000 + b"]\n[STAGE:begin:id=A:msg=a" + b": b" * 20_000 + b"]\n"
)  # fmt: skip


@pytest.mark.parametrize("form", ["text", "concise", "json"])
def test_hostile_text_is_shown_escaped(log: Log, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert start(["markers", "--format", form, log(HOSTILE)]) == 0
    shown = capsys.readouterr().out
    assert all(each.isprintable() or each == "\n" for each in shown)
    assert "##[" not in shown
    assert "##vso" not in shown
    assert len(shown) < 3_000_000


def test_colours_are_for_terminals_only(run: Run) -> None:
    plain = run("markers", "-", text=FAULTY, TERM="xterm")
    assert b"\x1b" not in plain.stdout
    assert b"\x1b" in run("markers", "-", text=FAULTY, FORCE_COLOR="1").stdout
    assert run("markers", "-", text=FAULTY, FORCE_COLOR="1", NO_COLOR="1").stdout == plain.stdout

"""Runs whose world means harm: numbers without bounds, hooks that do as they please, names beyond measure."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import nursery
import pytest
from nursery import environment
from playable import STAGES, STEPS, stages, steps
from processes import gone

from stagec.core.terminal import columns
from stagec.core.value import replace
from stagec.ir.plan import dump
from stagec.ir.plan.document import Contents
from stagec.ir.plan.facts import facts
from stagec.ir.plan.node import Go

COMMAND = (sys.executable, "-m", "stagec")
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
BEGIN = ("run", "p", "--scenario", "s.yaml", "--run", "one")

Ended = subprocess.CompletedProcess[bytes]
Run = Callable[..., Ended]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with the plan of `steps` and a scenario for it."""
    (tmp_path / "p").write_bytes(dump(steps()))
    (tmp_path / "s.yaml").write_text(STEPS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Run stagec in the folder; it must end as documented, without a traceback and without raw control characters."""

    def start(*arguments: str, text: bytes | None = None, **more: str) -> Ended:
        ended = nursery.run(arguments, folder, environment(**more), text)
        said = (ended.stdout + ended.stderr).decode()
        assert ended.returncode in {0, 1, 2, 130}, said
        assert "Traceback" not in said
        assert not RAW.search(said), ascii(said)
        return ended

    return start


def hooked(folder: Path, body: str) -> None:
    """Have the plan ask a hook of this body for admission."""
    (folder / "p").write_bytes(dump(stages(hooks={"gate": "hooks_of_mine:gate"})))
    (folder / "s.yaml").write_text(STAGES, encoding="utf-8")
    (folder / "hooks_of_mine.py").write_text(body, encoding="utf-8")


@pytest.mark.parametrize("name", ["a" * 5000, "a" * 300 + ".run", "\x1b[31m", "../one", "a\nb"])
@pytest.mark.parametrize("command", ["resume", "runs replay", "runs cancel"])
def test_no_name_of_a_run_is_more_than_a_name(run: Run, command: str, name: str) -> None:
    ended = run(*command.split(), name)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.startswith(b"stagec: error: no run is called ")


def test_no_name_of_a_folder_reaches_the_terminal_raw(run: Run) -> None:
    assert run("runs", "list", "--runs", "\x1b[31mred").stdout == b"0 runs in \\x1b[31mred\n"
    assert run("runs", "replay", "one", "--runs", "a" * 5000).returncode == 2


def test_no_name_of_a_node_is_a_command_of_a_build_service(run: Run, folder: Path) -> None:
    name = "::error file=a::close"
    plan = steps()
    nodes = {name if key == "close" else key: node for key, node in plan.nodes.items()}
    draft = replace(nodes["draft"], edges=tuple(replace(each, target=Go(name)) for each in nodes["draft"].edges))
    renamed = replace(plan, nodes={**nodes, "draft": draft}, entries={"": "draft"})
    (folder / "p").write_bytes(dump(replace(renamed, facts=facts(renamed))))
    answers = {"draft": {"action": "next"}, name: {"action": "closing"}}
    (folder / "s.yaml").write_text(json.dumps({"inputs": {"topic": "x"}, "answers": answers}), encoding="utf-8")
    told = [
        run(*BEGIN).stdout,
        run("runs", "show", "one").stdout,
        run("simulate", "p", "--input", "topic=x", text=b"next\n::error::x\nclosing\nfail\n").stdout,
    ]
    assert b"\\x3a:error file=a::close    closing" in told[0]
    for each in told:
        assert not re.search(rb"^\s*::|##\[|##vso\[", each, re.MULTILINE), each


def test_numbers_beyond_those_of_plans_are_shown(run: Run, folder: Path) -> None:
    (folder / "s.yaml").write_text(
        "inputs: {topic: x}\nanswers: {draft: {action: next, n: 12345678901234567890123}, close: {action: closing}}\n",
        encoding="utf-8",
    )
    assert run(*BEGIN).returncode == 0
    assert b'{"action":"next","n":1234567890123456' in run("runs", "show", "one").stdout
    assert run("runs", "replay", "one").returncode == 0


@pytest.mark.parametrize(
    "raised",
    ["asyncio.CancelledError()", "GeneratorExit()", "Own()", "Mute()", "ValueError('\\x1b[31mred')", "SystemExit(0)"],
)
def test_a_hook_that_raises_anything_fails_and_the_run_goes_on(run: Run, folder: Path, raised: str) -> None:
    own = "class Own(BaseException): pass\nclass Mute(Exception):\n def __str__(self): raise ValueError\n"
    hooked(folder, f"import asyncio\n{own}def gate(given):\n raise {raised}\n")
    ended = run(*BEGIN, "--allow-hooks")
    assert ended.returncode == 1
    assert b"stagec: note: the hook 'hooks_of_mine:gate' failed: " in ended.stderr
    why = b"plan, attempt 1: init failed: CheckGate: its hook has failed"
    assert ended.stdout.splitlines()[-1] == b"failed: %s, 1 execution, 2 events" % why


def test_a_hook_that_cannot_be_imported_for_whatever_reason_stops_the_run(run: Run, folder: Path) -> None:
    hooked(folder, "class Own(BaseException): pass\nraise Own('no')\n")
    ended = run(*BEGIN, "--allow-hooks")
    assert ended.returncode == 2
    assert b"the hook 'hooks_of_mine:gate' cannot be imported: Own: no\n" in ended.stderr


@pytest.mark.parametrize(
    "does", ["os.write(1, b'x\\n')", "os.system('echo x')", "sys.__stdout__.write('x')", "print('x')", "os.close(1)"]
)
def test_whatever_a_hook_prints_is_no_line_of_the_events(run: Run, folder: Path, does: str) -> None:
    hooked(folder, f"import os, sys\n{does}\ndef gate(given):\n {does}\n return 'proceed'\n")
    ended = run(*BEGIN, "--allow-hooks", "--events", "jsonl")
    assert ended.returncode == 0
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [each["seq"] for each in events] == list(range(1, len(events) + 1))
    assert (events[-1]["event"], events[-1]["status"]) == ("WorkflowExit", "done")


@pytest.mark.parametrize("typed", [b"\xff\xc3\xa9\n", b'{"action": "\xff"}\n', b"\x1b[31m\n", b"[" * 100_000 + b"\n"])
def test_whatever_is_typed_at_a_simulation_is_no_fault_of_stagec(run: Run, typed: bytes) -> None:
    for encoding in ("utf-8:strict", "ascii:strict"):
        ended = run("simulate", "p", "--input", "topic=x", text=typed, PYTHONIOENCODING=encoding)
        assert ended.returncode == 0


@pytest.mark.parametrize(
    "schema", ['{"type":"array","minItems":2.0}', '{"type":"string","minLength":5.0,"maxLength":9.0}']
)
def test_whole_numbers_with_a_point_in_a_schema_are_whole_numbers(run: Run, folder: Path, schema: str) -> None:
    plan = steps()
    name, content = next((name, each) for name, each in plan.contents.items() if each.startswith("{"))
    given = json.loads(content)
    wanted = {**given, "required": ["action", "x"], "properties": {**given["properties"], "x": json.loads(schema)}}
    contents = Contents()
    other = contents.add(json.dumps(wanted))
    nodes = {key: replace(node, act=replace(node.act, schema=other)) for key, node in plan.nodes.items()}
    kept = {key: each for key, each in plan.contents.items() if key != name}
    (folder / "p").write_bytes(dump(replace(plan, nodes=nodes, contents={**kept, **contents.texts})))
    ended = run("simulate", "p", "--input", "topic=x", text=b"next\n")
    assert "draft    next → close\n" in ended.stdout.decode()


def test_a_pace_beyond_all_time_is_waited_for_until_somebody_interrupts(folder: Path) -> None:
    (folder / "s.yaml").write_text(f"pace: {10**27}\n{STEPS}", encoding="utf-8")
    process = subprocess.Popen([*COMMAND, *BEGIN], cwd=folder, env=environment(), stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert process.stderr.readline().startswith(b"run one of writer")
    time.sleep(0.2)  # it either waits now or has failed
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1].endswith(b"stagec: interrupted\n")
    assert process.returncode == 130


@pytest.mark.parametrize("name", ["s.txt", "s", "-"])
def test_a_scenario_of_unknown_syntax_is_told_as_such(run: Run, folder: Path, name: str) -> None:
    (folder / name).write_text(STEPS, encoding="utf-8")
    told = f"stagec: error: '{name}' is not a scenario: its name must end in '.yaml', '.yml' or '.json'\n"
    assert run("run", "p", "--scenario", name, text=STEPS.encode()).stderr.decode() == told


@pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("nowhere"), os.mkfifo])
def test_what_is_no_file_is_no_run_and_is_not_proposed_either(
    run: Run, folder: Path, make: Callable[[Path], None]
) -> None:
    (folder / ".stagec" / "runs").mkdir(parents=True)
    make(folder / ".stagec" / "runs" / "odd.run")
    assert run("resume", "odd").stderr == b"stagec: error: no run is called 'odd' in '.stagec/runs'\n"
    assert run("runs", "list").returncode == 0


def test_on_a_narrow_terminal_the_line_that_says_who_takes_so_long_is_one_line(folder: Path) -> None:
    plan = steps("sleep 1.2")
    name = "a-close-that-has-a-very-long-name-" + "語" * 20
    text = dump(plan).decode()
    assert '"close"' in text
    nodes = {name if key == "close" else key: node for key, node in plan.nodes.items()}
    draft = replace(nodes["draft"], edges=tuple(replace(each, target=Go(name)) for each in nodes["draft"].edges))
    renamed = replace(plan, nodes={**nodes, "draft": draft}, entries={"": "draft"})
    (folder / "p").write_bytes(dump(replace(renamed, facts=facts(renamed))))
    (folder / "s.yaml").write_text(
        f"inputs: {{topic: x}}\nanswers: {{draft: {{action: next}}, {name}: {{action: closing}}}}\n", encoding="utf-8"
    )
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [*COMMAND, *BEGIN], cwd=folder, env=environment(COLUMNS="40"), stdout=subprocess.DEVNULL, stderr=theirs
    )
    process.wait(timeout=60)
    os.close(theirs)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    (line,) = re.findall(r"\r(a-close[^\r]*)\r", shown)
    assert line.endswith(" runs a command …")
    assert columns(line) < 40


def test_a_simulation_without_standard_input_ends(folder: Path) -> None:
    line = f"{sys.executable} -m stagec simulate p --input topic=x <&-"
    ended = subprocess.run(["sh", "-c", line], cwd=folder, env=environment(), capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


def waiting(folder: Path, ignored: signal.Signals | None = None) -> tuple[subprocess.Popen[bytes], int]:
    """Begin a run that waits for its command, in a process that ignores a signal; return it and the command's id."""
    (folder / "p").write_bytes(dump(steps("echo $$ > pid; while ! test -e go; do sleep 0.02; done")))
    ignore = f"import signal; signal.signal({int(ignored)}, signal.SIG_IGN); " if ignored is not None else ""
    code = f"import os, sys; {ignore}os.execv(sys.executable, {[*COMMAND, *BEGIN]!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    pid = folder / "pid"
    while not pid.exists() or not pid.read_text(encoding="utf-8").strip():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process, int(pid.read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_request_to_end_that_is_ignored_from_the_beginning_ends_nothing(folder: Path, number: signal.Signals) -> None:
    process, _ = waiting(folder, number)
    process.send_signal(number)
    (folder / "go").touch()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert out.splitlines()[-1] == b"done: completed, 3 executions, 5 events"


@pytest.mark.parametrize("gap", [0.0, 0.0005, 0.005])
def test_impatience_leaves_no_program_behind(folder: Path, gap: float) -> None:
    process, command = waiting(folder)
    for _ in range(6):
        process.send_signal(signal.SIGINT)
        time.sleep(gap)
    _, err = process.communicate(timeout=60)
    assert process.returncode in {130, -signal.SIGINT}  # the second request ends it at once, and shells show the same
    assert b"Traceback" not in err
    assert gone(command)

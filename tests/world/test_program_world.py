"""Worlds that are programs: the example of the page, and programs that do not keep to the protocol."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest
from processes import KILLS_ITS_SUPERVISOR, await_orphans, gone

from stagec.core.failure import Failure
from stagec.core.json import Json
from stagec.ir.plan.node import Outcome
from stagec.runtime.drivers.local.drive import run
from stagec.runtime.machine import Started
from stagec.runtime.machine.exchange import Call, Confirm, Grant, Turn
from stagec.runtime.machine.program import load
from stagec.runtime.world.program_world import Opening, ProgramWorld

TOP = Path(__file__).parents[2]
DATA = (TOP / "tests" / "plan_vectors" / "code-review" / "plan.json").read_bytes()
PROGRAM = load(DATA)
OPENING = Opening("run-1", PROGRAM.plan, PROGRAM.digest)
READY = """
import json, sys, os
hello = json.loads(sys.stdin.readline())
def send(**message):
    print(json.dumps(message), flush=True)
send(**{"is": "ready", "protocol": hello["protocol"], "answers": ["confirm", "grant"]})
"""
ASKED = Confirm("run-1/plan#1/1.0", "Go on?")
Begin = Callable[[str], ProgramWorld]


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Begin]:
    worlds: list[ProgramWorld] = []

    def start(script: str) -> ProgramWorld:
        path = tmp_path / "world.py"
        path.write_text(script)
        worlds.append(ProgramWorld((sys.executable, str(path)), OPENING))
        return worlds[-1]

    yield start
    for each in worlds:
        each.close()


@pytest.mark.needs("node")
def test_the_example_of_the_page_runs_a_whole_pipeline(tmp_path: Path) -> None:
    (script,) = re.findall(r"```js\n(.*?)```", (TOP / "docs" / "world-protocol.md").read_text(), re.DOTALL)
    (tmp_path / "world.mjs").write_text(script)
    assert len(script.splitlines()) <= 45
    with closing(ProgramWorld(("node", str(tmp_path / "world.mjs")), OPENING)) as world:
        state = run(DATA, world, Started("run-1", None, {"branch": "fix", "task": "Mend it."}))
    assert state.ended is Outcome.DONE, state.reason


def test_requests_are_answered_in_any_order(begin: Begin) -> None:
    world = begin(
        READY
        + """
keys = [json.loads(sys.stdin.readline())["key"] for _ in range(2)]
for key in reversed(keys):
    send(key=key, answer={"yes": key.endswith("1")})
sys.stdin.read()
"""
    )
    found: dict[str, Json] = {}

    def ask(key: str) -> None:
        found[key] = world.answer(Confirm(key, "?"))

    threads = [Thread(target=ask, args=(f"run-1/plan#1/1.{index}",)) for index in (0, 1)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(20)
    assert found == {"run-1/plan#1/1.0": {"yes": False}, "run-1/plan#1/1.1": {"yes": True}}


def test_it_takes_what_it_has_said_and_nothing_else(begin: Begin) -> None:
    world = begin(READY + "sys.stdin.read()")
    assert world.takes(ASKED)
    assert world.takes(Grant("run-1/plan#1/1.0", "e", 1, "p", "t", "d"))
    assert not world.takes(Call("run-1/plan#1/1.0", "grep", {}))
    assert not world.takes(Turn("run-1/plan#1/1.0", (), (), "c", "s"))
    assert world.overlaps(ASKED)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("", "it has ended"),
        ("print('hello there')", "it wrote a line that is not a JSON object: 'hello there'"),
        ("print('[1]')", "not a JSON object"),
        ("""print('{"is": "ready"}')""", "its first line is not"),
        ("""print('{"is":"ready","protocol":"stagec.world/1","answers":[]}')""", "it answers no requests"),
        (
            """print('{"is":"ready","protocol":"stagec.world/1","answers":["sing"]}')""",
            "unknown kinds of requests: 'sing'",
        ),
        ("""print('{"is":"ready","protocol":"stagec.world/9","answers":["ask"]}')""", "its first line is not"),
    ],
)
def test_a_program_that_does_not_begin_as_it_should_is_refused(begin: Begin, script: str, why: str) -> None:
    with pytest.raises(Failure, match="does not start") as caught:
        begin(script)
    assert why in str(caught.value)


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="could not be started"):
        ProgramWorld((str(tmp_path / "nothing"),), OPENING)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("sys.stdin.readline()", "it has ended"),
        ("sys.stdin.readline(); print('oops', flush=True); sys.stdin.read()", "not a JSON object: 'oops'"),
        (
            "key = json.loads(sys.stdin.readline())['key']; send(key=key, failure='no model'); sys.stdin.read()",
            "no model",
        ),
        ("key = json.loads(sys.stdin.readline())['key']; send(key=key); sys.stdin.read()", "neither an 'answer' nor"),
        ("os.close(1); sys.stdin.read()", "it has ended"),
    ],
)
def test_a_request_that_gets_no_answer_stops_the_run(begin: Begin, script: str, why: str) -> None:
    with pytest.raises(Failure) as caught:
        begin(READY + script).answer(ASKED)
    assert why in str(caught.value)


def test_after_that_nothing_can_be_asked(begin: Begin) -> None:
    world = begin(READY + "sys.stdin.readline()")
    for _ in range(2):
        with pytest.raises(Failure):
            world.answer(ASKED)


def test_what_is_cancelled_returns_and_is_told(begin: Begin, tmp_path: Path) -> None:
    note = tmp_path / "note"
    world = begin(
        READY + f"sys.stdin.readline(); open({str(note)!r}, 'w').write(sys.stdin.readline()); sys.stdin.read()"
    )
    outcome: list[str] = []

    def ask() -> None:
        with pytest.raises(Failure) as caught:
            world.answer(ASKED)
        outcome.append(str(caught.value))

    thread = Thread(target=ask)
    thread.start()
    time.sleep(0.2)
    world.cancel(ASKED.key)
    thread.join(20)
    assert "cancelled" in outcome[0]
    end = time.monotonic() + 20
    while (not note.exists() or not note.read_text()) and time.monotonic() < end:
        time.sleep(0.02)
    assert '"cancel"' in note.read_text()


def test_an_answer_that_nobody_waits_for_is_ignored(begin: Begin) -> None:
    world = begin(
        READY
        + """
key = json.loads(sys.stdin.readline())["key"]
send(key="another", answer={})
send(key=key, answer={"yes": True})
sys.stdin.read()
"""
    )
    assert world.answer(ASKED) == {"yes": True}


def test_nothing_of_it_is_left_when_it_is_closed(begin: Begin, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    script = f"""
import signal, time
open({str(note)!r}, "w").write(str(os.getpid()))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
"""
    ready, send = READY.rsplit("send(**", 1)
    begin(f"{ready}{script}send(**{send}while True: time.sleep(1)").close()
    assert gone(int(note.read_text()))


def test_nothing_is_left_of_a_world_that_kills_its_supervisor(begin: Begin, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    world = begin(f"{READY}sys.argv[1:] = [{str(note)!r}]{KILLS_ITS_SUPERVISOR}")
    others = await_orphans(note)
    world.close()
    assert all(map(gone, others))


def test_what_it_writes_to_standard_error_arrives_without_secrets(
    begin: Begin, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "correct horse battery")
    world = begin(
        READY
        + r"""
os.write(2, b"plain \xff\n" + os.environ["MY_TOKEN"][:9].encode())
os.write(2, os.environ["MY_TOKEN"][9:].encode() + b"\nAuthorization: Bearer abcdefghijklmnopqrstuvwxyz\n")
os.write(2, b"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----\n")
os.write(2, b"x" * 300_000 + b"\nthe last, without an end")
sys.stdin.read()
"""
    )
    world.close()
    told = capfd.readouterr().err.splitlines()
    assert told[:2] == ["plain \N{REPLACEMENT CHARACTER}", "[redacted]"]
    assert told[-1] == "the last, without an end"
    for each in ("horse", "abcdefgh", "MIIE"):
        assert all(each not in line for line in told)


def test_a_standard_error_that_nobody_reads_does_not_stop_it(begin: Begin) -> None:
    world = begin(
        READY + "os.close(2)\nkey = json.loads(sys.stdin.readline())['key']; send(key=key, answer={'yes': True})"
    )
    assert world.answer(ASKED) == {"yes": True}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ('{"yes": NaN}', {"yes": pytest.approx(float("nan"), nan_ok=True)}),
        ("[" * 100_000, {"error": "the answer cannot be read: it is nested more than 128 levels deep"}),
        ("{'yes': true}", {"error": "the answer cannot be read: it is not JSON: Expecting property name"}),
    ],
    ids=["NaN", "deep", "syntax"],
)
def test_a_line_that_is_no_json_is_an_unreadable_answer_to_the_request_whose_key_it_has(
    begin: Begin, answer: str, told: Json
) -> None:
    """What is no JSON in an object stays in it: whoever reads the answer tells its place."""
    line = f'{{"answer": {answer}, "key": "run-1/plan#1/1.0"}}'
    world = begin(f"{READY}\nsys.stdin.readline()\nprint({line!r}, flush=True)\nsys.stdin.readline()\n")
    found = world.answer(ASKED)
    assert isinstance(found, dict)
    if "error" in found:
        assert isinstance(told, dict)
        assert str(found["error"]).startswith(str(told["error"]))
    else:
        assert found == told


def test_a_line_without_a_key_stops_the_run_which_can_be_resumed(begin: Begin) -> None:
    world = begin(f"{READY}\nsys.stdin.readline()\nprint('hello', flush=True)\nsys.stdin.readline()\n")
    with pytest.raises(Failure, match="a line that is not a JSON object: 'hello'"):
        world.answer(ASKED)

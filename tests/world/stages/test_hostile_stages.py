"""Stages that do what stages should not: nothing of them is left, and nothing is lost because of them."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from threading import Thread

import pytest
from processes import gone
from world.stages.workshop import Workshop, is_success, stage, writes

from stagec.ir.plan.act import ProcessInput, ProcessLimits
from stagec.runtime.world.supervised_program import MOST

IGNORES = """
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
"""
STUBBORN = (
    IGNORES
    + """
pids = [os.getpid()]
for session in (False, True, True):
    pids.append(subprocess.Popen([sys.executable, '-c', 'import time\\nwhile True:\\n    time.sleep(60)'],
                                 start_new_session=session).pid)
Path('pids').write_text(' '.join(map(str, pids)))
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
"""
)
"""Processes that ignore what asks them to end; children inherit that, and some leave the session."""


def pids(root: Path) -> list[int]:
    return [int(each) for each in (root / "pids").read_text(encoding="utf-8").split()]


def scaled(interrupt: int, terminate: int = 200, kill: int = 200) -> ProcessLimits:
    """Return limits that are milliseconds after each other."""
    return ProcessLimits(interrupt // 2, interrupt, interrupt + terminate, interrupt + terminate + kill)


def test_a_stage_that_ignores_everything_is_gone_eight_seconds_after_its_hard_limit(tmp_path: Path) -> None:
    """In real time: five seconds from SIGINT to SIGTERM, three from there to SIGKILL."""
    shop = Workshop(tmp_path, {"S01_load_data": stage(STUBBORN, limits=ProcessLimits(500, 1_000, 6_000, 9_000))})
    begun = time.monotonic()
    answer = shop.execute("S01_load_data")
    lasted = time.monotonic() - begun
    assert (answer["exit"], answer["interrupted"]) == (None, "timeout")
    assert all(map(gone, pids(tmp_path)))
    assert 9 <= answer["seconds"] <= lasted
    assert answer["seconds"] < 10


def test_a_stage_is_warned_of_in_the_log_and_goes_on(tmp_path: Path) -> None:
    shop = Workshop(
        tmp_path, {"S01_load_data": stage("time.sleep(0.5)", limits=ProcessLimits(200, 60_000, 60_000, 60_000))}
    )
    assert is_success(shop.execute("S01_load_data"))
    assert "[STAGE:progress:id=S01_load_data:pct=0:msg=over 0.2 s]" in shop.log().splitlines()
    assert shop.told == [("S01_load_data", "takes longer than 0.2 s")]


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_that_was_sent_is_the_end_of_success_whatever_the_exit_status(tmp_path: Path, number: str) -> None:
    program = f"""
    {IGNORES.strip().replace(chr(10), chr(10) + "    ")}
    signal.signal(signal.{number}, lambda *_: (print('[STAGE:end:id=S01_load_data:status=success]'), os._exit(0)))
    {writes().strip()}
    while True:
        time.sleep(60)
    """
    shop = Workshop(tmp_path, {"S01_load_data": stage(program, {"data": "data"}, limits=scaled(1_000, 300, 60_000))})
    answer = shop.execute("S01_load_data")
    assert (answer["exit"], answer["interrupted"], answer["status"]) == (0, "timeout", "success")
    assert shop.log().splitlines()[-1].startswith("[STAGE:end:id=S01_load_data:status=interrupted:")
    assert shop.preserve("S01_load_data", "timeout") == {
        "checkpoint": "ckpt-emergency-S01_load_data-1",
        "valid": True,
    }


@pytest.mark.parametrize("when", ["before", "while"])
def test_a_stage_is_aborted_as_its_watchdog_would_do_it(tmp_path: Path, when: str) -> None:
    shop = Workshop(
        tmp_path, {"S01_load_data": stage(STUBBORN, limits=ProcessLimits(500_000, 600_000, 600_200, 600_400))}
    )
    if when == "before":
        assert shop.interrupt("S01_load_data") == {}
        assert shop.execute("S01_load_data")["interrupted"] == "abort"
        return
    answers: list[object] = []
    thread = Thread(target=lambda: answers.append(shop.execute("S01_load_data")["interrupted"]))
    thread.start()
    while not (tmp_path / "pids").exists():
        time.sleep(0.01)
    assert shop.interrupt("S01_load_data") == {}
    thread.join()
    assert answers == ["abort"]
    assert all(map(gone, pids(tmp_path)))


def test_an_interrupt_of_what_is_over_changes_nothing(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, {"S01_load_data": stage("")})
    assert is_success(shop.execute("S01_load_data"))
    assert shop.interrupt("S01_load_data") == {}


def test_a_flood_needs_no_memory_and_is_kept_in_part_and_hides_no_marker(tmp_path: Path) -> None:
    program = """
    line = b'x' * 99 + b'\\n'
    for _ in range(1_000):
        os.write(1, line * 1_000)
    print('[STAGE:end:id=S01_load_data:status=failed]')
    """
    shop = Workshop(tmp_path, {"S01_load_data": stage(program)})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = shop.execute("S01_load_data")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (answer["exit"], answer["status"]) == (0, "failed")
    assert grown < 20_000  # KiB, of 100 MB
    assert MOST < shop.path("run.log").stat().st_size < MOST + 200_000
    assert f"[…] {MOST:,} bytes of an output are kept\n" in shop.log()


def test_both_outputs_can_be_full_at_once(tmp_path: Path) -> None:
    program = """
    for _ in range(100):
        os.write(2, b'e' * 65_536)
        os.write(1, b'o' * 65_536)
    """
    shop = Workshop(tmp_path, {"S01_load_data": stage(program)})
    assert is_success(shop.execute("S01_load_data"))


def test_noise_is_text_in_the_log_and_no_marker(tmp_path: Path) -> None:
    program = """
    import random
    noise = random.Random(1).randbytes(1_000_000)
    os.write(1, noise); os.write(2, noise)
    print('\\n[STAGE:end:id=S01_load_data:status=success]')
    """
    shop = Workshop(tmp_path, {"S01_load_data": stage(program)})
    answer = shop.execute("S01_load_data")
    assert is_success(answer)
    assert answer["status"] == "success"
    assert shop.log().encode()


def test_a_line_without_end_is_cut(tmp_path: Path) -> None:
    program = "os.write(1, b'a' * 3_000_000 + b'\\nnext\\n' + b'b' * 3_000_000)"
    shop = Workshop(tmp_path, {"S01_load_data": stage(program)})
    assert is_success(shop.execute("S01_load_data"))
    begin, first, second, third, end = shop.log().splitlines()
    assert (set(first[:-4]), first[-4:], second) == ({"a"}, " […]", "next")
    assert (set(third[:-4]), third[-4:]) == ({"b"}, " […]")
    assert begin.startswith("[STAGE:begin")
    assert end.startswith("[STAGE:end")


def test_markers_of_another_stage_say_nothing_and_are_told(tmp_path: Path) -> None:
    program = "print('[STAGE:end:id=S02_clean_data:status=failed]\\n' * 3)"
    shop = Workshop(tmp_path, {"S01_load_data": stage(program)})
    answer = shop.execute("S01_load_data")
    assert is_success(answer)
    assert answer["status"] is None
    assert shop.told == [("S01_load_data", "prints markers of 'S02_clean_data', which say nothing about it")]


def test_a_stage_that_closes_its_output_is_waited_for(tmp_path: Path) -> None:
    program = "os.close(1); os.close(2); time.sleep(0.3); " + writes().strip()
    shop = Workshop(tmp_path, {"S01_load_data": stage(program, {"data": "data"})})
    assert is_success(shop.execute("S01_load_data"))


FORKS = {
    "a child": "child = subprocess.Popen(['sleep', '600'])",
    "a child of a child": (
        "child = subprocess.Popen(['sh', '-c', 'sleep 600 & echo $! > grandchild'], start_new_session=True);"
        "child.wait(); child.pid = int(Path('grandchild').read_text())"
    ),
    "a daemon": (
        "r, w = os.pipe()\n"
        "if os.fork() == 0:\n    os.setsid()\n    child = subprocess.Popen(['sleep', '600'], close_fds=True)\n"
        "    os.write(w, str(child.pid).encode())\n    os._exit(0)\n"
        "class child: pid = int(os.read(r, 20))"
    ),
}


@pytest.mark.parametrize("kind", FORKS)
def test_what_a_stage_leaves_running_is_killed_before_its_outputs_are_looked_at(tmp_path: Path, kind: str) -> None:
    program = f"{FORKS[kind]}\nPath('pids').write_text(str(child.pid))\n{writes()}"
    shop = Workshop(tmp_path, {"S01_load_data": stage(program, {"data": "data"})})
    begun = time.monotonic()
    assert is_success(shop.execute("S01_load_data"))
    assert time.monotonic() - begun < 60
    assert all(map(gone, pids(tmp_path)))


def test_a_stage_that_kills_its_supervisor_has_failed_and_leaves_nothing(tmp_path: Path) -> None:
    program = """
    child = subprocess.Popen(['sleep', '600'])
    Path('pids').write_text(f'{os.getpid()} {child.pid}')
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)
    """
    shop = Workshop(tmp_path, {"S01_load_data": stage(program)})
    assert not is_success(shop.execute("S01_load_data"))
    assert all(map(gone, pids(tmp_path)))


def test_a_child_that_writes_on_changes_no_output_that_was_looked_at(tmp_path: Path) -> None:
    program = """
    if os.fork() == 0:
        while True:
            with open(outputs['data'], 'a') as file:
                file.write('more')
    while not Path(outputs['data']).exists():
        pass
    """
    shop = Workshop(tmp_path, {"S01_load_data": stage(program, {"data": "data"})})
    answer = shop.execute("S01_load_data")
    assert shop.publish("S01_load_data", answer["outputs"]) == {"checkpoint": "ckpt-S01_load_data"}


def test_a_partial_output_is_kept_for_people_and_is_no_result(tmp_path: Path) -> None:
    program = "Path(outputs['a']).write_text('x'); os.kill(os.getpid(), 9)"
    shop = Workshop(tmp_path, {"S01_load_data": stage(program, {"a": "a", "b": "b"})})
    answer = shop.execute("S01_load_data")
    assert (answer["exit"], answer["missing"], list(answer["outputs"])) == (None, ["b"], ["a"])
    assert shop.preserve("S01_load_data")["checkpoint"] == "ckpt-emergency-S01_load_data-1"
    assert shop.path(".attempts/S01_load_data-1/a").read_text(encoding="utf-8") == "x"
    assert not shop.path("S01_load_data").exists()


def test_a_stage_that_removes_its_directory_has_left_nothing(tmp_path: Path) -> None:
    program = "import shutil; shutil.rmtree(os.environ['STAGEC_ATTEMPT_DIR'])"
    shop = Workshop(tmp_path, {"S01_load_data": stage(program, {"a": "a"})})
    answer = shop.execute("S01_load_data")
    assert (answer["exit"], answer["missing"]) == (0, ["a"])
    assert shop.preserve("S01_load_data") == {"checkpoint": None, "valid": True}


def test_a_log_that_is_full_ends_no_stage(tmp_path: Path) -> None:
    shop = Workshop(tmp_path, {"S01_load_data": stage(f"print('x' * 100_000)\n{writes()}", {"data": "data"})})
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, shop.world._log._descriptor)
    os.close(full)
    assert is_success(shop.execute("S01_load_data"))
    assert shop.told == [("S01_load_data", "the log lacks some of its output: No space left on device")]


def test_a_program_with_too_many_variables_is_an_error(tmp_path: Path) -> None:
    inputs = {f"i{number}": ProcessInput(url=f"https://example.org/{'x' * 200}") for number in range(1_000)}
    shop = Workshop(tmp_path, {"S01_load_data": stage("", {}, inputs)})
    answer = shop.execute("S01_load_data")
    assert answer["exit"] is None
    assert "Argument list too long" in answer["error"]

"""`stagec worker` as a process: what it tells by HTTP, how it ends, and what it refuses and removes."""

from __future__ import annotations

import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import active_count
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from cli.test_signing import KEY, POLICY
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from in_databases import (
    PATIENCE,
    ScriptedTestWorld,
    WorkerProcess,
    end_worker,
    start_worker,
    submission,
    wait_for,
    wait_until,
)
from playable import STEPS, steps
from postgres import open_own

from stagec.cli.app import run
from stagec.core.failure import Failure
from stagec.ir.plan import dump
from stagec.runtime.drivers.dbos import RunPhase, RunStore, Submission, Worker, WorkerSettings, migrate, open_database
from stagec.runtime.drivers.dbos.health import open_health, read_address
from stagec.runtime.machine import load

LINE = re.compile(r'(?:# (?:HELP|TYPE) stagec_\w+ .+|stagec_\w+(?:\{standing="\w+"\})? \d+)')
SLOW = """
from pathlib import Path
from time import sleep
from in_databases import ScriptedTestWorld


class World(ScriptedTestWorld):
    def takes(self, _effect):
        return True

    def overlaps(self, _effect):
        return Path("overlaps").exists()

    def answer(self, effect):
        with Path("asked").open("a") as asked:
            asked.write(f"{effect.key}\\n")
        while not Path("go").exists():
            sleep(0.05)
        return super().answer(effect)


def make(_program):
    return World()
"""
STAGED = (Path(__file__).parents[1] / "plan_vectors" / "stages" / "plan.json").read_bytes()
SLOWLY = ("--world", "slow:make")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunStore]:
    """Make a folder with a plan and a database the current one."""
    monkeypatch.chdir(tmp_path)
    url = f"sqlite:///{tmp_path / 'runs.sqlite'}"
    monkeypatch.setenv("STAGEC_DATABASE", url)
    Path("steps.plan.json").write_bytes(dump(steps()))
    Path("steps.yaml").write_text(f"{STEPS}commands: {{exit 0: {{exit: 0}}}}\n", encoding="utf-8")
    Path("slow.py").write_text(SLOW, encoding="utf-8")
    database = open_database(url)
    migrate(database)
    yield RunStore(database)
    database.close()


def submit(name: str) -> int:
    words = ["submit", "steps.plan.json", "--scenario", "steps.yaml", "--input", "topic=cats", "--run", name]
    return run(words)


def find_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def ask(port: int, path: str, method: str = "GET") -> tuple[int, str]:
    try:
        with urlopen(Request(f"http://127.0.0.1:{port}{path}", method=method), timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def is_healthy(port: int) -> bool:
    try:
        return ask(port, "/health") == (200, '{"trouble": ""}')
    except OSError:
        return False


def start_slowly(store: RunStore, *words: str) -> WorkerProcess:
    """Start a worker whose world answers when the file `go` is there, and wait until somebody is asked."""
    list(store.submit([submission("one")]))
    worker = start_worker(*SLOWLY, *words)
    wait_for(Path("asked").exists)
    return worker


def test_a_worker_tells_how_it_is_and_what_it_has_done(store: RunStore) -> None:
    port = find_port()
    worker = start_worker("--listen", f"127.0.0.1:{port}")
    wait_for(lambda: is_healthy(port))
    assert submit("one") == 0
    wait_until(store, "one", RunPhase.DONE)

    def list_metrics() -> list[str]:
        status, text = ask(port, "/metrics")
        assert status == 200
        lines = text.splitlines()
        assert [each for each in lines if LINE.fullmatch(each) is None] == []
        return lines

    wait_for(lambda: 'stagec_runs_total{standing="done"} 1' in list_metrics())
    lines = list_metrics()
    assert "stagec_segments_total 1" in lines
    assert f"stagec_events_total {len(store.read_history(store.find('one')).events) - 1}" in lines
    assert "stagec_under_way 0" in lines
    assert 'stagec_database_runs{standing="done"} 1' in lines
    told = [each.split()[2] for each in lines if each.startswith("# TYPE")]
    assert len(told) == len(set(told))
    end_worker(worker)


def test_a_worker_answers_nothing_else_and_alone(store: RunStore) -> None:
    port = find_port()
    worker = start_worker("--listen", f"127.0.0.1:{port}")
    wait_for(lambda: is_healthy(port))
    for path, method, status in (("/", "GET", 404), ("/health/", "GET", 404), ("/health", "POST", 501)):
        assert ask(port, path, method)[0] == status
    second = start_worker("--listen", f"127.0.0.1:{port}")
    assert "cannot listen at 127.0.0.1" in second.communicate(timeout=PATIENCE)[1]
    assert second.returncode == 2
    end_worker(worker)


@pytest.mark.parametrize("address", ["here", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:70000", ":-1"])
def test_what_is_no_address_is_refused(store: RunStore, capsys: pytest.CaptureFixture[str], address: str) -> None:
    assert run(["worker", "--listen", address]) == 2
    assert "is not an address: write HOST:PORT" in capsys.readouterr().err


@pytest.mark.parametrize("segment", [0, 1])
def test_a_worker_that_drains_says_so_and_ends_when_its_grace_is_over(store: RunStore, segment: int) -> None:
    port = find_port()
    if segment:  # a request that keeps the thread of its run cannot be given up before the process ends
        Path("overlaps").touch()
    worker = start_slowly(store, "--grace", "2", "--listen", f"127.0.0.1:{port}")
    worker.send_signal(signal.SIGTERM)
    wait_for(lambda: ask(port, "/health") == (503, '{"trouble": "is draining"}'))
    worker.communicate(timeout=PATIENCE)
    assert worker.returncode == 0
    record = store.find("one")
    assert (record.phase, record.segment) == (RunPhase.ACTIVE, segment)
    assert store.list_queued([record]) == {"one"}
    assert store.list_workers() == []
    Path("go").touch()
    second = start_worker(*SLOWLY)
    wait_until(store, "one", RunPhase.DONE)
    end_worker(second)
    asked = Path("asked").read_text(encoding="utf-8").splitlines()
    assert asked[0] == asked[1], "the request that was given up is made again under its key"
    assert len(asked[1:]) == len(set(asked))


def test_a_second_signal_ends_a_worker_at_once(store: RunStore) -> None:
    worker = start_slowly(store, "--grace", "3600")
    worker.send_signal(signal.SIGTERM)
    wait_for(lambda: [each.is_draining for each in store.list_workers()] == [True])
    worker.send_signal(signal.SIGTERM)
    assert "has returned its runs" not in worker.communicate(timeout=PATIENCE)[1]
    assert worker.returncode != 0
    record = store.find("one")
    assert (record.phase, record.segment) == (RunPhase.ACTIVE, 0)
    Path("go").touch()
    second = start_worker(*SLOWLY, "--patience", "5")
    wait_until(store, "one", RunPhase.DONE)
    assert "is gone: 1 request or segment put back" in end_worker(second)


@pytest.mark.needs("postgres")
def test_a_worker_without_a_database_says_so_and_keeps_its_grace(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = find_port()
    Path("overlaps").touch()
    with open_own() as server:
        database = open_database(server.create_database())
        migrate(database)
        monkeypatch.setenv("STAGEC_DATABASE", database.url)
        worker = start_slowly(RunStore(database), "--grace", "3", "--listen", f"127.0.0.1:{port}")
        database.close()
        server.stop("immediate")
        wait_for(lambda: "cannot be used" in ask(port, "/health")[1])
        status, metrics = ask(port, "/metrics")
        assert (status, "stagec_under_way 1" in metrics) == (200, True)
        worker.send_signal(signal.SIGTERM)
        time.sleep(2)
        assert worker.poll() is None, "a request that is under way has its grace"
        _, errors = worker.communicate(timeout=PATIENCE)
        assert worker.returncode == 2
    assert "cannot be used" in errors.splitlines()[-1]
    assert "has returned its runs" not in errors
    assert "Traceback" not in errors


def test_a_crowd_that_asks_how_a_worker_is_takes_few_threads(store: RunStore) -> None:
    port, before = find_port(), active_count()
    worker = Worker(store.database, WorkerSettings(ScriptedTestWorld().open, print))
    with open_health(worker, ("127.0.0.1", port)), ExitStack() as opened:
        for _ in range(100):
            opened.enter_context(socket.create_connection(("127.0.0.1", port)))
        wait_for(lambda: active_count() > before + 20)
        time.sleep(0.5)
        assert active_count() < before + 40
        opened.close()
        wait_for(lambda: ask(port, "/health")[0] == 503)


def test_a_worker_listens_at_an_address_of_ipv6(store: RunStore) -> None:
    worker, port = Worker(store.database, WorkerSettings(ScriptedTestWorld().open, print)), find_port()
    told = ""
    try:
        with open_health(worker, read_address(f"[::1]:{port}")), urlopen(f"http://[::1]:{port}/metrics") as answer:
            assert b"stagec_under_way 0" in answer.read()
    except Failure as failure:  # a machine that has no such address
        told = str(failure)
    assert "Address family for hostname" not in told


def test_a_worker_removes_what_ended_long_ago(store: RunStore) -> None:
    assert submit("old") == 0
    worker = start_worker()
    wait_until(store, "old", RunPhase.DONE)
    end_worker(worker)
    Path("go").touch()
    other = start_worker("--keep-days", "0.000001")
    wait_for(lambda: store.list_records() == [])
    end_worker(other)


def make_project(folder: Path, key: Ed25519PrivateKey) -> None:
    """Make a folder where a key is trusted, and no plan runs without a signature."""
    signers = folder / "keys" / "signers"
    signers.parent.mkdir(parents=True)
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    signers.write_text(f"ci@example.org {public}\n", encoding="utf-8")
    (folder / "stagec.toml").write_text(POLICY, encoding="utf-8")


def test_only_workers_that_trust_the_signer_of_a_plan_run_it(
    store: RunStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert submit("unsigned") == 0
    make_project(tmp_path / "trusting", KEY)
    make_project(tmp_path / "other", Ed25519PrivateKey.from_private_bytes(b"s" * 32))
    Path("stagec.toml").write_text(POLICY.replace("keys/", "trusting/keys/"), encoding="utf-8")
    assert submit("refused") == 2
    assert "steps.plan.json.sig" in capsys.readouterr().err
    Path("key").write_bytes(KEY.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()))
    assert run(["sign", "steps.plan.json", "--key", "key"]) == 0
    assert submit("signed") == 0
    other = start_worker(folder=tmp_path / "other")
    for name in ("signed", "unsigned"):
        assert "is refused: " in wait_until(store, name, RunPhase.WAITING).reason
    assert "run signed is returned" in end_worker(other)
    trusting = start_worker(folder=tmp_path / "trusting")
    wait_until(store, "signed", RunPhase.DONE)
    wait_for(lambda: store.find("unsigned").refusals > 1)
    assert "run unsigned is returned" in end_worker(trusting)
    assert {each.run for each in store.list_records()} == {"signed", "unsigned"}


def test_a_submitted_run_is_taken_back_in_a_copy_in_a_folder(
    store: RunStore, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.yaml").write_text(Path("steps.yaml").read_text().replace("closing", "abort"), encoding="utf-8")
    assert run(["submit", "steps.plan.json", "--scenario", "bad.yaml", "--input", "topic=cats", "--run", "one"]) == 0
    worker = start_worker()
    wait_until(store, "one", RunPhase.FAILED)
    end_worker(worker)
    url = f"sqlite:///{Path('runs.sqlite').absolute()}"
    for words in (("--from", "close"), ("--from", "close", "--fork", "two")):
        assert run(["resume", "one", *words, "--database", url]) == 2
        told = capsys.readouterr().err
        assert "because workers read the events of a run only forwards" in told
        assert "'stagec runs export RUN --database URL --journal FILE.run' copies it" in told
    assert run(["runs", "export", "one", "--database", url, "--journal", "copy.run"]) == 0
    assert run(["resume", "copy.run", "--from", "close", "--scenario", "steps.yaml"]) == 0
    assert run(["runs", "replay", "copy.run"]) == 0


def test_plans_with_stages_are_refused_by_whoever_is_asked(store: RunStore, capsys: pytest.CaptureFixture[str]) -> None:
    Path("stages.plan.json").write_bytes(STAGED)
    why = "'stagec run' executes it on the machine that has the folder, and 'stagec resume' continues it there"
    assert run(["submit", "stages.plan.json"]) == 2
    assert why in capsys.readouterr().err
    assert store.list_records() == []
    list(store.submit([Submission("one", STAGED, load(STAGED).digest)]))
    worker = start_worker("--answers", "allow", "--allow-hooks")
    assert why in wait_until(store, "one", RunPhase.WAITING).reason
    assert why in end_worker(worker)


def test_the_health_of_a_worker_whose_database_is_gone(store: RunStore) -> None:
    port = find_port()
    worker = start_worker("--listen", f"127.0.0.1:{port}")
    wait_for(lambda: is_healthy(port))
    with store.database.transact() as connection:
        connection.exec_driver_sql("ALTER TABLE workers RENAME TO elsewhere")
    wait_for(lambda: ask(port, "/health")[0] == 503)
    assert "cannot be used" in json.loads(ask(port, "/health")[1])["trouble"]
    with store.database.transact() as connection:
        connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO workers")
    wait_for(lambda: is_healthy(port))
    end_worker(worker)

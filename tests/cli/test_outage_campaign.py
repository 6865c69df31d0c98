"""Many runs while a provider is down: all of them are done in the end, and nothing that was answered is asked twice."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import Any

import nursery
import pytest
from campaigns import choose, is_full
from in_databases import end_worker, start_worker
from world.models.wire import Said, serve

from stagec.runtime.drivers.dbos import RunPhase, RunStore, Submission, migrate, open_database
from stagec.runtime.machine import load

PLAN = Path(__file__).parents[1] / "plan_vectors" / "docs-repair" / "plan.json"
RUNS = choose(6, full=6, whole=40)
SECONDS = choose(2, full=3, whole=30)
LIMIT = 60 + 30 * SECONDS
QUICK = ("attempts=3", "first-pause=0.1", "longest-pause=0.5", "request-timeout=3")
POLICY = tuple(word for each in QUICK for word in ("--model-policy", each))
WRITTEN = Said("I write.", [("c", "submit_page", '{"page": "docs/a.md"}')])
CHECKED = Said("", [("c", "submit_verdict", '{"page": "docs/a.md", "broken": false, "faults": []}')])
FAULTS = {
    "500": Said(status=500),
    "429": Said(status=429, headers={"retry-after": "1"}),
    "hangs": Said(status=504, delay=4),
    "401": Said(status=401),
}


class Provider:
    """A provider that answers `first` requests, then fails for a while, and then answers again."""

    def __init__(self, fault: Said, first: int) -> None:
        self.fault, self.first, self.answered, self.failed = fault, first, 0, 0
        self._lock, self._end = Lock(), 0.0

    def say(self, asked: dict[str, Any]) -> Said:
        now = time.monotonic()
        with self._lock:
            if not self._end and self.answered == self.first:
                self._end = now + SECONDS
            if now < self._end:
                self.failed += 1
                return self.fault
            self.answered += 1
        return WRITTEN if "submit_page" in json.dumps(asked.get("tools")) else CHECKED


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def runs(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunStore]:
    url = f"sqlite:///{tmp_path / 'runs.sqlite'}"
    if request.param == "postgres":
        url = request.getfixturevalue("database")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STAGEC_DATABASE", url)
    database = open_database(url)
    migrate(database)
    yield RunStore(database)
    database.close()


def submit(store: RunStore) -> list[str]:
    """Submit the runs; return their names."""
    data = PLAN.read_bytes()
    digest = load(data).digest
    names = [f"run-{number}" for number in range(RUNS)]
    given = [Submission(each, data, digest, inputs={"topic": each}) for each in names]
    assert all(store.submit(given))
    return names


@pytest.mark.parametrize("fault", FAULTS)
def test_runs_on_two_workers_survive_an_outage(
    runs: RunStore, fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    provider = Provider(FAULTS[fault], RUNS // 2)
    names = submit(runs)
    with ExitStack() as opened:
        wire = opened.enter_context(serve(answer=provider.say))
        monkeypatch.setenv("OPENAI_BASE_URL", f"{wire.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        words = ("--model", "openai:gpt-4o", "--grace", "5", *POLICY)
        for worker in [start_worker(*words, folder=tmp_path) for _ in range(2)]:
            opened.callback(end_worker, worker)
        end = time.monotonic() + LIMIT
        while runs.count_phases().get(RunPhase.DONE, 0) < RUNS and time.monotonic() < end:
            time.sleep(0.1)
        records = [runs.find(each) for each in names]
    assert {each.phase for each in records} == {RunPhase.DONE}, [(each.phase, each.reason) for each in records]
    assert provider.failed > 0
    assert provider.answered == 2 * RUNS
    used = [each.summary["usage"] for each in records]
    assert {(each["requests"], each["cost"]) for each in used if isinstance(each, dict)} == {(2, "0.00015")}


@pytest.mark.skipif(not is_full(), reason="tests/cli/test_outages.py resumes single runs")
@pytest.mark.parametrize(("fault", "count"), [("500", RUNS), ("401", 6)])
def test_runs_of_a_folder_survive_an_outage(fault: str, count: int, tmp_path: Path) -> None:
    provider = Provider(FAULTS[fault], count // 2)
    with serve(answer=provider.say) as wire:
        servers = {"OPENAI_BASE_URL": f"{wire.url}/v1", "OPENAI_API_KEY": "key"}
        environment = nursery.environment(**servers)
        names = [f"run-{number}" for number in range(count)]
        for each in names:
            words = ("run", str(PLAN), "--run", each, "--input", f"topic={each}", "--model", "openai:gpt-4o", *POLICY)
            assert nursery.run(words, tmp_path, environment).returncode in {0, 130}
        time.sleep(SECONDS)
        for each in names:
            assert nursery.run(("resume", each), tmp_path, environment).returncode == 0
        listed = json.loads(nursery.run(("runs", "list", "--format", "json"), tmp_path, environment).stdout)["runs"]
    assert {(each["status"], each["usage"]["requests"], each["usage"]["cost"]) for each in listed} == {
        ("done", 2, "0.00015")
    }
    assert provider.failed > 0
    assert provider.answered == 2 * count

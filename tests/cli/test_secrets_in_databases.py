"""No secret that a run meets is in its database: neither in a file of SQLite nor in a dump of PostgreSQL."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.test_secrets_of_runs import CALLS, ENDS, GIVEN, SECRETS, Stagec, project, stagec
from in_databases import end_worker, start_worker, wait_for
from playable import STEPS, steps
from postgres import Postgres, find_programs
from world.models.wire import serve

from stagec.ir.plan import dump
from stagec.runtime.drivers.dbos import RunPhase, RunStore, open_database

__all__ = ["project", "stagec"]
OVER = (RunPhase.DONE, RunPhase.FAILED, RunPhase.INTERRUPTED)
BYTES = re.compile(rb"\\\\x([0-9a-f]{2,})")


def dump_files(project: Path) -> Iterator[bytes]:
    """Yield all files of a database of SQLite."""
    yield from (path.read_bytes() for path in project.glob("runs.sqlite*"))


def dump_server(url: str) -> Iterator[bytes]:
    """Yield a dump of a database of PostgreSQL as text, and each value of bytes that is in it."""
    programs = find_programs()
    assert programs is not None
    done = subprocess.run([programs / "pg_dump", url], capture_output=True, check=True)
    yield done.stdout
    yield from (bytes.fromhex(each.decode()) for each in BYTES.findall(done.stdout))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let commands and workers have an empty database."""
    is_file = request.param == "sqlite"
    found = "sqlite:///runs.sqlite" if is_file else request.getfixturevalue("postgres_server").create_database()
    assert isinstance(found, str)
    monkeypatch.setenv("STAGEC_DATABASE", found)
    return found


def find_secrets(url: str, project: Path) -> set[str]:
    kept = list(dump_files(project) if url.startswith("sqlite") else dump_server(url))
    assert sum(map(len, kept)) > 10_000
    assert any(b"[redacted]" in each for each in kept)
    return {each for each in SECRETS if any(each.encode() in data for data in kept)}


def execute(url: str, *options: str) -> None:
    """Let a worker execute what is there."""
    database = open_database(url)
    worker = start_worker(*options)
    wait_for(lambda: all(each.phase in OVER for each in RunStore(database).list_records()))
    end_worker(worker)
    database.close()


@pytest.mark.parametrize("end", ENDS)
def test_no_secret_of_a_run_is_in_its_database(end: str, url: str, project: Path, stagec: Stagec) -> None:
    with serve(*CALLS, ENDS[end]) as wire:
        told = [stagec(wire, *words) for words in (("tools", "lock"), ("compile", ".", "-o", "plan.json"))]
        told += [stagec(wire, *words) for words in (("database", "migrate"), ("submit", "plan.json", "--run", "one"))]
        assert [status for status, *_ in told] == [0, 0, 0, 0], told
        execute(url, "--model", "openai:gpt", "--tools-in", "folder", "--pass-env", "DB_PASSWORD", "--answers", "deny")
    assert find_secrets(url, project) == set()


def test_no_secret_that_is_submitted_is_in_the_database(url: str, project: Path, stagec: Stagec) -> None:
    every = " ".join(GIVEN.values())
    (project / "steps.plan.json").write_bytes(dump(steps()))
    scenario = f"{STEPS}commands: {{exit 0: {{exit: 0, stdout: {json.dumps(every)}}}}}\n"
    (project / "steps.yaml").write_text(scenario, encoding="utf-8")
    job = {"run": "two", "inputs": {"topic": every}}
    (project / "jobs.jsonl").write_text(json.dumps(job), encoding="utf-8")
    words = ("submit", "steps.plan.json", "--scenario", "steps.yaml")
    with serve() as wire:
        assert stagec(wire, "database", "migrate")[0] == 0
        assert stagec(wire, *words, "--run", "one", "--input", f"topic={every}")[0] == 0
        assert stagec(wire, *words, "--jobs", "jobs.jsonl")[0] == 0
        scheduled = (*words, "--input", f"topic={every}", "--every", "0 0 1 1 *", "--name", "yearly")
        assert stagec(wire, *scheduled)[0] == 0
        execute(url)
        assert stagec(wire, "runs", "replay", "one")[0] == 0
    assert find_secrets(url, project) == set()


def test_a_secret_that_is_there_is_found(postgres_server: Postgres, project: Path) -> None:
    name = (url := postgres_server.create_database()).rpartition("/")[2]
    hidden = f"[redacted] {SECRETS[0]}".encode().hex()
    postgres_server.execute(f"CREATE TABLE t AS SELECT '\\x{hidden}'::bytea, repeat('x', 20000)", name)
    assert find_secrets(url, project) == {SECRETS[0]}

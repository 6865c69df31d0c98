"""Servers of PostgreSQL for tests: each in a folder of its own, for this machine alone, stopped when nobody needs it.

`open_shared` gives all workers of a test run one server. A keeper, a process of its own, stops it when the last of them
is gone, however that happened: each holds a lock on a file, and the keeper waits for it.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import programs

FAST = {"fsync": "off", "full_page_writes": "off"}
"""Settings of a server whose data need not survive the machine; they survive its processes nevertheless."""
_SETTINGS = {
    "max_connections": "200",
    "shared_buffers": "64MB",
    "listen_addresses": "127.0.0.1",
    "log_min_messages": "warning",
}
_USER = "postgres"
_PATIENCE = 60.0
_PROBLEM_OF_USER = "PostgreSQL refuses to run as root, and this machine has no user 'postgres'"


@functools.cache
def find_programs() -> Path | None:
    """Return the folder with the newest `initdb` and `postgres`; of these, Debian puts only `psql` on the `PATH`."""
    folders_of_debian = Path("/usr/lib/postgresql").glob("*/bin") if shutil.which("psql", path=programs.WHOLE) else ()
    debian = sorted(folders_of_debian, key=lambda each: float(each.parent.name))
    found = shutil.which("initdb", path=programs.WHOLE)
    folders = [*debian[::-1], *([Path(found).resolve().parent] if found else [])]
    return next((each for each in folders if (each / "initdb").exists() and (each / "postgres").exists()), None)


@functools.cache
def find_obstacle() -> str | None:
    """Return why no server can be started here."""
    if sys.platform != "linux":
        return "the tests start PostgreSQL on Linux"
    if find_programs() is None:
        return "PostgreSQL is not installed"
    try:
        _find_user()
    except KeyError:
        return _PROBLEM_OF_USER
    return None if find_spec("psycopg") else "the extra 'dbos' is not installed"


def _find_user() -> dict[str, Any]:
    """Return with which rights the programs of the server run: never those of root."""
    if os.geteuid() != 0:
        return {}
    found = pwd.getpwnam(_USER)
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": ()}


class Postgres:
    """A server in a folder; `start`, `stop` and `kill` may follow each other in any order."""

    def __init__(self, folder: Path, settings: Mapping[str, str] = FAST) -> None:
        self.folder, self.settings = folder, dict(settings)
        self._told = folder / "server.json"
        self._names = count()

    @classmethod
    def make(cls, folder: Path, settings: Mapping[str, str] = FAST) -> Postgres:
        """Make a server in a folder, which others may be unable to reach; it is not started."""
        folder.mkdir(mode=0o700, exist_ok=True)
        made, rights = cls(folder, settings), _find_user()
        if rights:
            os.chown(folder, rights["user"], rights["group"])
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        password = secrets.token_hex(16)
        told = folder / "password"
        told.write_text(password, encoding="ascii")
        if rights:
            os.chown(told, rights["user"], rights["group"])
        made._run(
            "initdb", "-U", _USER, f"--pwfile={told}", "--auth=password", "--no-sync", "--encoding=UTF8",
            "--locale=C.UTF-8", "--wal-segsize=1", "-D", str(folder / "data"),
        )  # fmt: skip
        made._told.write_text(json.dumps({"port": port, "password": password}), encoding="ascii")
        return made

    @property
    def port(self) -> int:
        """Its port on this machine."""
        return int(json.loads(self._told.read_text(encoding="ascii"))["port"])

    def url(self, database: str = "postgres") -> str:
        """Return the URL of a database."""
        told = json.loads(self._told.read_text(encoding="ascii"))
        return f"postgresql://{_USER}:{told['password']}@127.0.0.1:{told['port']}/{database}"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.folder / "log"

    def start(self) -> None:
        """Start the server; it takes connections when this returns."""
        options = {**_SETTINGS, "unix_socket_directories": str(self.folder), "port": str(self.port), **self.settings}
        words = " ".join(f"-c {name}={value}" for name, value in options.items())
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.log), "-w", "-t", "60", "-o", words, "start"
        )

    def stop(self, mode: str = "fast") -> None:
        """Stop the server: `fast` ends its connections, `immediate` leaves it as if it had crashed."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-w", "-t", "60", "-m", mode, "stop")

    def is_running(self) -> bool:
        """Tell whether the server runs."""
        words = [self._program("pg_ctl"), "-D", str(self.folder / "data"), "status"]
        return subprocess.run(words, capture_output=True, check=False, cwd="/", **_find_user()).returncode == 0

    def create_database(self, name: str | None = None, template: str = "template1") -> str:
        """Make an empty database, or a copy of another, and return its URL."""
        name = name or f"test_{os.getpid()}_{next(self._names)}_{secrets.token_hex(3)}"
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        return self.url(name)

    def cut_connections(self) -> int:
        """End the connections of all others; return how many there were."""
        ended = self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        return len(ended)

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Execute a statement in a database, and return the rows that it yields."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            rows = connection.execute(statement.encode())
            return rows.fetchall() if rows.description else []

    def _program(self, name: str) -> str:
        programs = find_programs()
        assert programs is not None
        return str(programs / name)

    def _run(self, name: str, *words: str) -> None:
        with tempfile.TemporaryFile() as said:  # no pipe: the server would hold it open
            done = subprocess.run(
                [self._program(name), *words], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                check=False, cwd="/", env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}, **_find_user(),
            )  # fmt: skip
            if done.returncode:
                said.seek(0)
                log = self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""
                raise PostgresError(f"{name} ended with {done.returncode}: {said.read().decode(errors='replace')}{log}")


class PostgresError(Exception):
    """A program of PostgreSQL that has failed, with what it said."""


@contextmanager
def open_own(settings: Mapping[str, str] = FAST, folder: Path | None = None) -> Iterator[Postgres]:
    """Start a server that the body may stop, kill and starve."""
    programs.demand("postgres")
    place = folder or Path(tempfile.mkdtemp(prefix="stagec-postgres-"))
    with _hold(place) as keeper:
        server = Postgres.make(place, settings)
        server.start()
        yield server
    os.waitpid(keeper, 0)


@contextmanager
def open_shared(session: str) -> Iterator[Postgres]:
    """Return the server of a session of tests, which the first who asks starts."""
    programs.demand("postgres")
    folder = Path(tempfile.gettempdir()) / f"stagec-postgres-{session}"
    with _hold(folder):
        with _lock(folder.with_name(f"{folder.name}.starting"), fcntl.LOCK_EX):
            server = Postgres(folder)
            if not (folder / "server.json").exists():
                server = Postgres.make(folder)
                server.start()
        yield server


@contextmanager
def _hold(folder: Path) -> Iterator[int]:
    """Hold the folder of a server, and yield the id of its keeper, which removes it when nobody does any more."""
    lock = folder.with_name(f"{folder.name}.lock")
    with _lock(lock, fcntl.LOCK_SH):
        silent = [(os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_RDWR, 0) for each in (0, 1, 2)]
        words = [sys.executable, __file__, str(folder), str(lock)]
        around = {**os.environ, "PATH": programs.WHOLE}  # it may live longer than the links of a test
        keeper = os.posix_spawn(sys.executable, words, around, file_actions=silent, setsid=True)
        yield keeper


@contextmanager
def _lock(path: Path, kind: int) -> Iterator[None]:
    """Hold a lock on the file that has a name now: a keeper may remove it while somebody waits for it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, kind)
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                yield
                return
        finally:
            os.close(descriptor)


def keep(folder: Path, lock: Path) -> None:
    """Wait until nobody holds a server, and stop and remove it; a keeper that comes second finds nothing to do."""
    with _lock(lock, fcntl.LOCK_EX):
        server, until = Postgres(folder), time.monotonic() + _PATIENCE
        while (folder / "data" / "postmaster.pid").exists() and time.monotonic() < until:
            try:
                server.stop("immediate")
            except PostgresError:  # it is starting, or has gone
                time.sleep(0.2)
                if not server.is_running():
                    break
        shutil.rmtree(folder, ignore_errors=True)
        for each in (lock, folder.with_name(f"{folder.name}.starting")):
            each.unlink(missing_ok=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), Path(sys.argv[2]))

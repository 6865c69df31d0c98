"""The HTTP endpoint of a worker: whether it can take work, and how much it has done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, AF_INET6
from threading import BoundedSemaphore, Thread
from typing import Any

from stagec.core.failure import Failure
from stagec.core.words import quote
from stagec.runtime.drivers.dbos.worker import Worker
from stagec.runtime.drivers.following import UnreachableError

_HELP = {
    "segments": "Segments of runs that were begun.",
    "children": "Requests of runs that were executed as workflows of their own.",
    "events": "Events that were recorded.",
    "runs": "Runs that a segment has left, by their state after it.",
    "workers_recovered": "Workers that were found dead.",
}
_PATIENCE = 10
"""Seconds that whoever asks may take."""
_MOST = 32
"""Connections at the same time; further ones are closed."""


def read_address(text: str) -> tuple[str, int]:
    """Return the host and the port in `HOST:PORT`, of which the host may be absent."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) < 1 << 16:
        raise Failure(f"{quote(text)} is not an address: write HOST:PORT, such as '127.0.0.1:9464'")
    return host.strip("[]") or "127.0.0.1", int(port)


class HealthServer(ThreadingHTTPServer):
    """Listens at an address, for a worker."""

    daemon_threads = True

    def __init__(self, worker: Worker, address: tuple[str, int]) -> None:
        self.address_family = AF_INET6 if ":" in address[0] else AF_INET
        super().__init__(address, HealthAnswer)
        self.worker = worker
        self._room = BoundedSemaphore(_MOST)

    def verify_request(self, *_given: object) -> bool:
        """Tell whether there is room for a connection."""
        return self._room.acquire(blocking=False)

    def process_request_thread(self, *given: Any) -> None:
        """Answer, and make room for another connection."""
        try:
            super().process_request_thread(*given)
        finally:
            self._room.release()


class HealthAnswer(BaseHTTPRequestHandler):
    """Answers one request: `/health` and `/metrics`."""

    timeout = _PATIENCE

    def do_GET(self) -> None:
        """Answer with what is asked for."""
        worker = self.server.worker if isinstance(self.server, HealthServer) else None
        if worker is not None and self.path == "/health":
            trouble = worker.trouble
            self._send(503 if trouble else 200, "application/json", json.dumps({"trouble": trouble}))
        elif worker is not None and self.path == "/metrics":
            self._send(200, "text/plain; version=0.0.4", format_metrics(worker))
        else:
            self._send(404, "text/plain", "there are /health and /metrics\n")

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_given: object) -> None:
        """Say nothing."""


@contextmanager
def open_health(worker: Worker, address: tuple[str, int]) -> Iterator[None]:
    """Answer at an address while the body runs."""
    try:
        server = HealthServer(worker, address)
    except OSError as error:
        raise Failure(f"cannot listen at {address[0]}, port {address[1]}: {error.strerror or error}") from error
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


def format_metrics(worker: Worker) -> str:
    """Return the counters of a worker, and the number of runs by status, in the text format of Prometheus."""
    lines, told = [], set()
    for name, count in sorted(worker.tally.counts().items()):
        first, _, phase = name.partition(" ")
        metric = first if phase != "recovered" else "workers_recovered"
        if metric not in told:
            lines += [f"# HELP stagec_{metric}_total {_HELP[metric]}", f"# TYPE stagec_{metric}_total counter"]
            told.add(metric)
        label = f'{{standing="{phase}"}}' if metric == "runs" else ""
        lines.append(f"stagec_{metric}_total{label} {count}")
    lines += ["# HELP stagec_under_way Segments that this worker executes now.", "# TYPE stagec_under_way gauge"]
    lines.append(f"stagec_under_way {worker.under_way}")
    lines += [
        "# HELP stagec_database_runs Runs in the database, by state.",
        "# TYPE stagec_database_runs gauge",
    ]
    with suppress(UnreachableError):  # `/health` says so
        lines += [f'stagec_database_runs{{standing="{phase}"}} {count}' for phase, count in worker.count_runs().items()]
    return "\n".join(lines) + "\n"

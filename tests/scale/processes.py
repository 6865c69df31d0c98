"""What the figures are measured with: workers of stagec, and workers that do bare steps of the engine."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

CONCURRENCY = 16
"""Workflows that a worker executes at once, as `stagec worker` does."""
QUEUE = "bare"
BODY = "0" * 32 + '\n{"is":"answered","key":"code-review-straight.0/plan#1/1.0","answer":{"text":"' + "x" * 250 + '"}}'
"""What a bare step returns: about as much as an event has."""


def launch(url: str, name: str) -> Any:
    """Start the engine in this process."""
    from dbos import DBOS, DBOSPortableJSONSerializer

    DBOS(
        config={
            "name": QUEUE,
            "system_database_url": url,
            "application_version": "1",
            "executor_id": name,
            "serializer": DBOSPortableJSONSerializer(),
            "use_listen_notify": False,
            "run_migrations": False,
            "log_level": "ERROR",
        }
    )

    def execute(steps: int) -> str:
        for number in range(steps):
            DBOS.run_step({"name": f"step {number}"}, lambda: BODY)
        return "done"

    DBOS.workflow(name="bare")(execute)
    DBOS.launch()
    return DBOS


def work(url: str) -> None:
    """Execute bare workflows until somebody asks for the end."""
    engine = launch(url, f"bare-{os.getpid()}")
    signal.sigwait([signal.SIGTERM])
    engine.destroy(workflow_completion_timeout_sec=1)


@contextmanager
def open_client(url: str) -> Iterator[Any]:
    """Return what enqueues bare workflows."""
    from dbos import DBOSClient, DBOSPortableJSONSerializer

    client = DBOSClient(system_database_url=url, serializer=DBOSPortableJSONSerializer(), application_name=QUEUE)
    try:
        yield client
    finally:
        client.destroy()


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    work(sys.argv[1])

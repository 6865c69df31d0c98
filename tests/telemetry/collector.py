"""A collector on loopback that keeps what it is sent, or misbehaves as it is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Kept:
    """What has arrived: the bodies, and the headers of each request."""

    url: str = ""
    status: int = 200
    delay: float = 0.0
    bodies: list[tuple[str, bytes]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def spans(self) -> list[Any]:
        requests = [ExportTraceServiceRequest.FromString(body) for path, body in self.bodies if path == "/v1/traces"]
        return [
            span
            for each in requests
            for resource in each.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    @property
    def metrics(self) -> list[Any]:
        requests = [ExportMetricsServiceRequest.FromString(body) for path, body in self.bodies if path == "/v1/metrics"]
        return [
            metric
            for each in requests
            for resource in each.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        ]


def attributes(given: Any) -> dict[str, object]:
    """Return the attributes of a span or a point."""
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in given.attributes}


def _handler(kept: Kept) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            time.sleep(kept.delay)
            kept.bodies.append((self.path, body))
            kept.headers.append({name.lower(): each for name, each in self.headers.items()})
            self.send_response(kept.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_given: object) -> None: ...

    return Handler


@contextmanager
def collect(status: int = 200, delay: float = 0.0) -> Iterator[Kept]:
    """Serve a collector until the body ends."""
    kept = Kept(status=status, delay=delay)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(kept))
    server.daemon_threads = True
    kept.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

"""The door to OpenTelemetry: sends spans and figures to a collector, as OTLP over HTTP."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from threading import Event as Flag
from threading import Thread
from typing import Any

from stagec.core.extras import explain_missing_extra
from stagec.core.failure import Failure
from stagec.core.secrets import Redactor
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.core.words import quote
from stagec.runtime.drivers.following import FollowedRun
from stagec.runtime.drivers.history import UNTIMED, JournalError
from stagec.runtime.drivers.replay import BranchWalk
from stagec.runtime.machine import Program
from stagec.runtime.telemetry.spans import Figures, Histogram, RunTracer, TraceSpan

_LOGGER = "opentelemetry"
_MOST, _LARGEST = 500, 1_000_000
"""Spans in one request, and about how many characters; a collector refuses bodies of some megabytes."""


@value
class RunIdentity:
    """The identity of a run: its name, the digest of its plan, and its beginning."""

    name: str
    digest: str
    begun: int | None

    @property
    def trace(self) -> int:
        """The id of its trace: the same in every session of the run, and whenever it is sent."""
        return self._hash("trace", 16)

    def span(self, key: str) -> int:
        """Return the id of one of its spans."""
        return self._hash(f"span {key}", 8)

    def _hash(self, what: str, size: int) -> int:
        text = "\n".join((what, self.name, self.digest, str(self.begun)))
        return int.from_bytes(sha256(text.encode(errors="surrogatepass")).digest()[:size]) or 1


class Collector:
    """Sends to a collector; `trouble` is why it does not take what it is sent. Nothing is raised but `Failure`, here.

    Without an address the variables of the environment say where it is, as OpenTelemetry has them.
    """

    def __init__(self, address: str | None = None) -> None:
        protocol = os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
        if address is None and protocol != "http/protobuf":
            raise Failure(f"OTEL_EXPORTER_OTLP_PROTOCOL asks for {quote(protocol)}, and stagec sends 'http/protobuf'")
        try:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
        except ImportError as error:
            raise explain_missing_extra("sending telemetry needs", "otel") from error
        base = None if address is None else address.rstrip("/")
        self.trouble = ""
        self._listen()
        named = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or "stagec", "service.version": __version__}
        self._resource = Resource.create(named)
        self._spans = OTLPSpanExporter(endpoint=None if base is None else f"{base}/v1/traces")
        self._figures = OTLPMetricExporter(endpoint=None if base is None else f"{base}/v1/metrics")

    def send(self, run: RunIdentity, spans: Sequence[TraceSpan]) -> bool:
        """Send spans of a run; tell whether the collector has taken them all."""
        return all(
            self._spans.export(list(_convert(run, self._resource, each))).name == "SUCCESS"
            for each in split_spans(spans)
        )

    def send_figures(self, run: RunIdentity, figures: Figures, until: int) -> bool:
        """Send the figures of a run up to a time; tell whether the collector has taken them."""
        from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics

        found = list(figures.list_histograms())
        if not found:
            return True
        begun = until if run.begun is None else min(run.begun, until)
        named = dict.fromkeys(each.name for each in found)
        metrics = [
            _convert_figures(run, [each for each in found if each.name == name], (begun, until)) for name in named
        ]
        scope = ScopeMetrics(_scope(), metrics, "")
        data = MetricsData([ResourceMetrics(self._resource, [scope], "")])
        return self._figures.export(data).name == "SUCCESS"

    def close(self) -> None:
        """Send nothing any more; what is under way is given up."""
        exporters: tuple[Any, ...] = (self._spans, self._figures)
        for each in exporters:
            each.shutdown()

    def _listen(self) -> None:
        """Keep the log records of the library away from every terminal."""
        logger, redact = logging.getLogger(_LOGGER), Redactor(os.environ).redact_output
        logger.propagate = False
        for each in tuple(logger.handlers):
            logger.removeHandler(each)
        logger.addHandler(_Listener(lambda text: setattr(self, "trouble", redact(text))))


class _Listener(logging.Handler):
    """Hands on what is logged."""

    def __init__(self, hear: Any) -> None:
        super().__init__(logging.WARNING)
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        """Hand a line on."""
        text, _, _ = " ".join(record.getMessage().split()).partition(" encountered while exporting")
        self._hear(text[:_LONGEST])


_LONGEST = 300


def split_spans(spans: Sequence[TraceSpan]) -> Iterator[Sequence[TraceSpan]]:
    """Yield spans in parts that a collector takes; one that is too large by itself is a part."""
    start, size = 0, 0
    for end, each in enumerate(spans):
        own = sum(len(told) for told in each.attributes.values() if isinstance(told, str))
        if end > start and (end - start == _MOST or size + own > _LARGEST):
            yield spans[start:end]
            start, size = end, 0
        size += own
    if start < len(spans):
        yield spans[start:]


def _scope() -> Any:
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    return InstrumentationScope("stagec", __version__)


def _convert(run: RunIdentity, resource: Any, spans: Iterable[TraceSpan]) -> Iterable[Any]:
    """Yield spans as the library has them."""
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

    def context(key: str) -> SpanContext:
        return SpanContext(run.trace, run.span(key), is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))

    for each in spans:
        yield ReadableSpan(
            _clean(each.name),
            context(each.key),
            None if each.parent is None else context(each.parent),
            resource,
            {name: _clean(given) for name, given in each.attributes.items()},
            kind=SpanKind.CLIENT if each.is_client else SpanKind.INTERNAL,
            status=Status(StatusCode.ERROR) if each.error else Status(StatusCode.UNSET),
            start_time=each.start,
            end_time=each.end,
            instrumentation_scope=_scope(),
        )


def _clean(given: Any) -> Any:
    """Return a value as it can be sent: texts may have halves of characters, which no UTF-8 has."""
    return given.encode(errors="replace").decode() if isinstance(given, str) else given


def _convert_figures(run: RunIdentity, given: Sequence[Histogram], times: tuple[int, int]) -> Any:
    """Return the series of one figure as the library has them: all since the run began, so that none counts twice."""
    from opentelemetry.sdk.metrics.export import AggregationTemporality, HistogramDataPoint, Metric
    from opentelemetry.sdk.metrics.export import Histogram as Data

    points = []
    for each in given:
        about = {**each.attributes, "stagec.run.name": run.name, "stagec.plan.digest": run.digest}
        values = {name: _clean(told) for name, told in about.items()}
        spread: dict[str, Any] = {
            "bucket_counts": each.counts,
            "explicit_bounds": each.bounds,
            "min": each.least,
            "max": each.most,
        }
        points.append(HistogramDataPoint(values, *times, sum(each.counts), each.total, **spread))
    return Metric(given[0].name, "", given[0].unit, Data(points, AggregationTemporality.CUMULATIVE))


_PACE = 0.5
"""Seconds between two looks at the journal."""
_PATIENCE, _BRIEF = 2.0, 0.5
"""Seconds that a run waits for the collector after its end, and after a request to end at once."""


Note = Callable[[int], None]


class LiveTelemetry:
    """Follows a run and sends its spans, without those of an earlier session: the first `known` events.

    `program` is the one that the run began with. `note` is told how many events have been sent. Nothing that is wrong
    with the collector reaches the run. It is told when the run is over, by `finish`.
    """

    def __init__(
        self, run: FollowedRun, program: Program, collector: Collector, known: int = 0, note: Note = lambda _: None
    ) -> None:
        self._run, self._walk, self._collector, self._known = run, BranchWalk(program), collector, known
        self._note = note
        self._tracer, self._figures = RunTracer(program), Figures()
        self._digest = program.digest
        self._count, self._lost = 0, 0
        self._over = Flag()
        self._trouble = ""
        self._thread = Thread(target=self._follow, daemon=True)

    def start(self, *, messages: bool) -> None:
        """Begin to follow; `messages` asks for what was said as well."""
        self._tracer = RunTracer(self._walk.program, messages=messages)
        self._thread.start()

    def finish(self, *, is_urgent: bool = False) -> str:
        """Send what is left, wait a little for it, and return what has not arrived, nothing if all has."""
        seconds = _BRIEF if is_urgent else _PATIENCE
        self._over.set()
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._collector.close()
            return self._collector.trouble or f"the collector did not accept everything within {seconds:g} s"
        return self._trouble or (self._collector.trouble or "the collector refused it" if self._lost else "")

    def _follow(self) -> None:
        try:
            with closing(self._run):
                while not self._over.wait(_PACE):
                    self._send()
                self._send()
                self._collector.send_figures(self._identity, self._figures, self._tracer.last or 0)
        except (JournalError, Failure) as error:
            self._trouble = str(error)

    @property
    def _identity(self) -> RunIdentity:
        return RunIdentity(self._tracer.run, self._digest, self._tracer.first)

    def _send(self) -> None:
        """Send the spans of what has happened since the last time."""
        found = self._read()
        if found and not self._collector.send(self._identity, found):
            self._lost += len(found)
        elif found and not self._lost:
            self._note(self._count)

    def _read(self) -> list[TraceSpan]:
        news, found = self._run.read_more(), list[TraceSpan]()
        times = news.times or (UNTIMED,) * len(news.events)
        for event, each in zip(news.events, times, strict=True):
            step = self._walk.take(event)
            self._count += 1
            spans = self._tracer.take(event, step, each)
            for span in spans:
                self._figures.take(span)
            found += spans if self._count > self._known else ()
        return found

"""Send what runs do to a collector of OpenTelemetry: during the run on request, or later."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from stagec.cli.running.inputs import load_program
from stagec.cli.running.run_session import RunSetup
from stagec.cli.running.world_options import WorldOptions
from stagec.cli.streams import put, say
from stagec.core.failure import Failure
from stagec.core.words import format_count, quote
from stagec.runtime.drivers.following import StoredHistory
from stagec.runtime.drivers.local.live_journal import LiveJournal
from stagec.runtime.drivers.replay import advance_through

if TYPE_CHECKING:
    from stagec.runtime.telemetry.otlp import LiveTelemetry

_ADDRESSES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def is_configured(environment: Mapping[str, str]) -> bool:
    """Tell whether the environment asks for telemetry, as OpenTelemetry has it: by an exporter or an address."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    exporters = [each.strip() for each in environment.get("OTEL_TRACES_EXPORTER", "").split(",") if each.strip()]
    return "otlp" in exporters if exporters else any(environment.get(each) for each in _ADDRESSES)


@contextmanager
def send_live(options: WorldOptions, run: RunSetup) -> Iterator[None]:
    """Send what a run does while the body executes it, if somebody asks for it; a collector that is down is told once.

    `--telemetry` without the libraries is a `Failure`. Variables of the environment may be meant for others, so what
    they cannot have is told, and the run goes on.
    """
    live = _open_live(options, run) if options.telemetry or is_configured(os.environ) else None
    if live is None:
        yield
        return
    live.start(messages=options.telemetry_messages)
    is_urgent = True
    try:
        yield
        is_urgent = False
    except Failure:
        is_urgent = False
        raise
    finally:
        trouble = live.finish(is_urgent=is_urgent)
        if trouble:
            say(f"stagec: note: telemetry is not complete: {trouble}; 'stagec runs export --otlp' sends all of it")


def _open_live(options: WorldOptions, run: RunSetup) -> LiveTelemetry | None:
    from stagec.runtime.telemetry.otlp import Collector, LiveTelemetry

    try:
        history = run.journal.history
        begun = run.program if history.last_change is None else load_program(history.plan, "the plan of the run")
        return LiveTelemetry(LiveJournal(run.path), begun, Collector(), len(history.events))
    except Failure as failure:
        if options.telemetry:
            raise
        say(f"stagec: note: no telemetry is sent: {failure}")
        return None


def read_address(address: str) -> str:
    """Return the address of a collector, which may be empty; raise `Failure` for what is none."""
    if address and not address.startswith(("http://", "https://")):
        raise Failure(f"--otlp {quote(address)} is not the address of a collector, such as 'http://localhost:4318'")
    return address


def send_stored(run: str, stored: StoredHistory, address: str, *, messages: bool) -> None:
    """Send what is kept of a run, all of it; without an address to where the environment says."""
    from stagec.runtime.telemetry.otlp import Collector, RunIdentity
    from stagec.runtime.telemetry.spans import Figures, RunTracer, list_spans

    history = stored.history
    program = load_program(history.plan, f"the plan of run {quote(run)}")
    tracer, figures = RunTracer(program, messages=messages), Figures()
    spans = list(list_spans(tracer, advance_through(program, history.events), history.times))
    if not spans:
        raise Failure(f"run {quote(run)} has no times: an older version of stagec executed it")
    for each in spans:
        figures.take(each)
    collector, identity = Collector(address or None), RunIdentity(tracer.run, program.digest, tracer.first)
    if not collector.send(identity, spans) or not collector.send_figures(identity, figures, spans[-1].end):
        raise Failure(f"the collector did not accept the run: {collector.trouble or 'it refused it'}")
    put(f"sent: {format_count(len(spans), 'span')}, trace {identity.trace:032x}\n")

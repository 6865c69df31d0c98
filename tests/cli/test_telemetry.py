"""`--telemetry` and `runs export --otlp`: what arrives at a collector, and what happens when there is none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from playable import steps
from telemetry.collector import Kept, attributes, collect

from stagec.cli.app import run
from stagec.cli.running.telemetry import is_configured
from stagec.core.extras import explain_missing_extra
from stagec.ir.plan import dump
from stagec.runtime.drivers.local import create
from stagec.runtime.machine import Started, load

Shown = pytest.CaptureFixture[str]
ADDRESS = "OTEL_EXPORTER_OTLP_ENDPOINT"
WHOLE = (
    "inputs: {topic: winter}\nanswers:\n  draft: {action: next}\n  close: {action: closing}\ncommands: {'exit 0': {}}\n"
)
START = "from stagec.cli.app import run; "
HALF = "inputs: {topic: winter}\nanswers:\n  draft: {action: next}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("p").write_bytes(dump(steps()))
    Path("whole.yaml").write_text(WHOLE, encoding="utf-8")
    Path("half.yaml").write_text(HALF, encoding="utf-8")
    return tmp_path


def _names(kept: Kept) -> list[str]:
    return [each.name for each in kept.spans]


def _run(*more: str, scenario: str = "whole.yaml") -> int:
    return run(["run", "p", "--scenario", scenario, "--run", "one", *more])


ALL = ["chat", "invoke_agent draft", "chat", "shell", "invoke_agent close", "invoke_workflow writer"]


def test_a_run_sends_its_spans_to_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    with collect() as kept:
        monkeypatch.setenv(ADDRESS, kept.url)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=opaque-collector-key")
        assert _run() == 0
    assert _names(kept) == ALL
    assert kept.headers[0]["x-team"] == "opaque-collector-key"
    assert "telemetry" not in capfd.readouterr().err


def test_a_finished_run_is_sent_as_it_was_sent_live(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    with collect() as live, collect() as later:
        monkeypatch.setenv(ADDRESS, live.url)
        assert _run("--telemetry", "--telemetry-messages") == 0
        assert run(["runs", "export", "one", "--otlp", later.url, "--messages"]) == 0
    assert live.spans == later.spans
    assert "gen_ai.output.messages" in attributes(later.spans[0])
    out = capfd.readouterr().out
    assert out.splitlines()[-1] == f"sent: 6 spans, trace {later.spans[0].trace_id.hex()}"


def test_a_resumed_run_goes_on_with_its_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    with collect() as first, collect() as second:
        monkeypatch.setenv(ADDRESS, first.url)
        assert _run(scenario="half.yaml") == 2
        monkeypatch.setenv(ADDRESS, second.url)
        assert run(["resume", "one", "--scenario", "whole.yaml"]) == 0
    assert (_names(first), _names(second)) == (ALL[:2], ALL[2:])
    assert len({each.trace_id for each in (*first.spans, *second.spans)}) == 1
    root = second.spans[-1].span_id
    assert {each.parent_span_id for each in (first.spans[1], second.spans[2])} == {root}


@pytest.mark.parametrize("status", [400, 503])
def test_a_collector_that_refuses_is_told_once_and_the_run_ends_as_it_would(
    status: int, monkeypatch: pytest.MonkeyPatch, capfd: Shown
) -> None:
    with collect(status) as kept:
        monkeypatch.setenv(ADDRESS, kept.url)
        assert _run("--telemetry") == 0
    out, err = capfd.readouterr()
    assert out.endswith("done: completed, 2 executions, 4 events\n")
    assert err.count("telemetry is not complete") == 1, err


def test_a_collector_that_is_not_there_is_told_once_without_any_secret(
    monkeypatch: pytest.MonkeyPatch, capfd: Shown
) -> None:
    monkeypatch.setenv(ADDRESS, "http://me:opaque-password@127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    assert _run("--telemetry") == 0
    err = capfd.readouterr().err
    assert err.count("telemetry is not complete") == 1
    assert "opaque-password" not in err
    assert run(["runs", "export", "one", "--otlp", "http://127.0.0.1:9"]) == 2
    assert "the collector did not accept the run" in capfd.readouterr().err


def test_a_slow_collector_does_not_keep_a_run(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    with collect(delay=8) as kept:
        monkeypatch.setenv(ADDRESS, kept.url)
        assert _run("--telemetry") == 0
        assert kept.bodies == []
    assert "telemetry is not complete" in capfd.readouterr().err


WORLD = """
class World:
    def __init__(self, program):
        pass

    def answer(self, effect):
        raise KeyboardInterrupt
"""


def test_an_interrupted_run_says_what_has_not_arrived_and_how_it_is_resumed(
    monkeypatch: pytest.MonkeyPatch, capfd: Shown
) -> None:
    Path("interrupting.py").write_text(WORLD, encoding="utf-8")
    with collect(delay=8) as kept:
        monkeypatch.setenv(ADDRESS, kept.url)
        assert run(["run", "p", "--run", "one", "--input", "topic=x", "--world", "interrupting:World"]) == 130
    err = capfd.readouterr().err
    assert "stagec resume one" in err


def test_a_run_of_an_older_version_has_no_times_to_send(capfd: Shown) -> None:
    data = dump(steps())
    journal = create(Path(".stagec/runs/one.run"), data, load(data).digest)
    journal.append(Started("one", None, {"topic": "winter"}))
    journal.close()
    assert run(["runs", "export", "one", "--otlp", "http://127.0.0.1:9"]) == 2
    assert "run 'one' has no times: an older version" in capfd.readouterr().err


@pytest.mark.parametrize("address", ["localhost:4318", "one", "ftp://a"])
def test_an_address_that_is_none_is_refused(address: str, capfd: Shown) -> None:
    assert _run() == 0
    assert run(["runs", "export", "one", "--otlp", address]) == 2
    assert "is not the address of a collector" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, False),
        ({ADDRESS: "http://a"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://a"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", ADDRESS: "http://a"}, False),
        ({"OTEL_TRACES_EXPORTER": "console", ADDRESS: "http://a"}, False),
        ({"OTEL_SDK_DISABLED": "true", ADDRESS: "http://a"}, False),
    ],
)
def test_the_environment_asks_for_telemetry_as_opentelemetry_has_it(
    environment: dict[str, str], wanted: object
) -> None:
    assert is_configured(environment) is wanted


def test_another_protocol_is_told_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch, capfd: Shown) -> None:
    monkeypatch.setenv(ADDRESS, "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    assert _run() == 0
    assert "no telemetry is sent: OTEL_EXPORTER_OTLP_PROTOCOL asks for 'grpc'" in capfd.readouterr().err
    assert _run("--runs", "x", "--telemetry") == 2


def test_without_the_libraries_the_option_says_what_to_install() -> None:
    block = (
        "import sys; sys.modules['opentelemetry'] = None; from stagec.cli.app import run; sys.exit(run(sys.argv[1:]))"
    )
    command = (sys.executable, "-c", block, "run", "p", "--scenario", "whole.yaml", "--telemetry")
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert str(explain_missing_extra("sending telemetry needs", "otel")) in ended.stderr


def test_a_run_that_sends_nothing_imports_nothing_for_it() -> None:
    look = f"import sys; {START}run(sys.argv[1:]); print([name for name in sys.modules if 'telemetry' in name])"
    command = (sys.executable, "-c", look, "run", "p", "--scenario", "whole.yaml")
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stdout.splitlines()[-1] == "['stagec.cli.running.telemetry']"

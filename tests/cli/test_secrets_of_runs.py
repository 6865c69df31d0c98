"""No secret that a run meets is in anything that is written: journal, events, terminal, exports, plan and folders."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from telemetry.collector import collect
from world.models.wire import Said, Wire, serve

from stagec.cli.app import run
from stagec.core.secrets import holds_secret

Stagec = Callable[..., tuple[int, str, str]]
PLAN = Path(__file__).parents[1] / "plan_vectors" / "docs-repair" / "plan.json"
INPUTS = ("--input", "topic=installation")
WORLD = """
import json
import sys

for line in sys.stdin:
    told = json.loads(line)
    ready = {"is": "ready", "protocol": "stagec.world/1", "answers": ["turn"]}
    print(json.dumps(ready if told["is"] == "hello" else {"is": "answer", "key": told["key"], "failure": "tired"}))
    sys.stdout.flush()
    if told["is"] == "end":
        break
"""
SERVER = Path(__file__).parents[1] / "world" / "server.py"
KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
PHRASE = 'correct "horse" b\\ttery stäple'
ADDRESS = "postgres://me:addresspassword@db/x"
GIVEN = {
    "OPENAI_API_KEY": KEY,
    "DB_PASSWORD": PHRASE,
    "DATABASE_URL": ADDRESS,
    "SERVER_TOKEN": "opaque-token-of-a-server",
    "STAGEC_HEADER_OTHER_X_TENANT": "Bearer opaque-header-value",
    "OTEL_EXPORTER_OTLP_HEADERS": "x-team=opaque-collector-key",
    "SIGNING_KEY": "opaque-signing-key",
}
"""What the environment holds, by itself or in a part of it."""
SETTINGS = """\
SMTP_PASSWORD=hunter2 hunter2
CI_TOKEN="quoted-in-a-file"
  "clientSecret": "written-in-json",
X-Api-Key: sent-as-a-header
Authorization: Basic bWU6b3BlbnNlc2FtZQ==
Cookie: session=kept-by-a-browser; Path=/
GET https://api.example.org/v1?api_key=put-into-an-address&page=2
ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2
"""
"""What a file of the working folder holds that tools read."""
SECRETS = (
    KEY,
    PHRASE,
    json.dumps(PHRASE)[1:-1],
    json.dumps(PHRASE, ensure_ascii=False)[1:-1],
    "addresspassword",
    "opaque-token-of-a-server",
    "opaque-header-value",
    "opaque-collector-key",
    "opaque-signing-key",
    "opaque1",
    "SMTP_PASSWORD=hunter2",
    "quoted-in-a-file",
    "written-in-json",
    "sent-as-a-header",
    "bWU6b3BlbnNlc2FtZQ",
    "kept-by-a-browser",
    "put-into-an-address",
    "ghp_a1B2",
)
STAGE = {
    "id": "work",
    "name": "Work",
    "allowedTools": ["Read", "Bash", "secret", "fail"],
    "completionTool": "hand_in",
    "completionSchema": {"type": "object", "properties": {"note": {"type": "string"}}},
    "retryPolicy": {"maxAttempts": 1, "backoff": "none"},
    "turnCap": 20,
    "resolutionPolicy": "fail",
}
ECHO = json.dumps({"text": "\n".join([*GIVEN.values(), "ghp_" + "a1B2" * 9])})


def _call(tool: str, arguments: str) -> Said:
    return Said("", [("c", tool, arguments)])


CALLS = (
    _call("Read", '{"path": "settings"}'),
    _call("Bash", '{"command": "cat settings; cat settings >&2; env; echo \\"$DB_PASSWORD\\""}'),
    _call("secret", "{}"),
    _call("fail", ECHO),
    _call(f"no-{KEY}", ECHO),
    Said(" ".join(GIVEN.values()), [("c", "Read", json.dumps({"path": f"{KEY}/{PHRASE}"}))]),
)
ENDS = {
    "handed in": _call("hand_in", json.dumps({"note": " ".join(GIVEN.values())})),
    "refused": Said(status=400, body=json.dumps({"error": {"message": f"bad {list(GIVEN.values())} {SETTINGS}"}})),
    "unauthorised": Said(status=401, body=json.dumps({"error": {"message": f"bad {list(GIVEN.values())} {SETTINGS}"}})),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    server = {"command": sys.executable, "args": [str(SERVER), "calling"], "env": {"SERVER_TOKEN": "${SERVER_TOKEN}"}}
    (tmp_path / "tools.yaml").write_text(json.dumps({"bundled": ["Read", "Bash"], "mcp": {"s": server}}))
    (tmp_path / "work.md").write_text(f"---\n{json.dumps(STAGE)}\n---\nWork. Call hand_in.\n")
    (tmp_path / "pipeline.yaml").write_text("entry: work\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "settings").write_text(SETTINGS)
    return tmp_path


@pytest.fixture
def stagec(project: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Stagec:
    """Run a command line in the project, with all secrets in the environment; return its status and what it wrote."""
    monkeypatch.chdir(project)
    for name, each in GIVEN.items():
        monkeypatch.setenv(name, each)

    def call(wire: Wire, *words: str) -> tuple[int, str, str]:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{wire.url}/v1")
        capfd.readouterr()
        return (run(list(words)), *capfd.readouterr())

    return call


def _search(folder: Path, *outputs: str) -> Iterator[tuple[str, str]]:
    """Yield each secret that something holds, and what holds it."""
    written = {"an output": "\n".join(outputs).encode()}
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != "settings")
    written |= {str(path.relative_to(folder)): path.read_bytes() for path in paths}
    for name, data in written.items():
        yield from ((each, name) for each in SECRETS if each.encode() in data)


@pytest.mark.parametrize("end", ENDS)
def test_nothing_that_is_written_holds_a_secret(end: str, project: Path, stagec: Stagec) -> None:
    options = ("--model", "openai:gpt", "--tools-in", "folder", "--pass-env", "DB_PASSWORD", "--events", "jsonl")
    with serve(*CALLS, ENDS[end]) as wire:
        told = [stagec(wire, "tools", "lock"), stagec(wire, "compile", ".", "-o", "plan.json")]
        told.append(stagec(wire, "run", "plan.json", "--run", "one", *options))
        assert told[-1][0] == {"handed in": 0, "refused": 1, "unauthorised": 130}[end], told
        told += (stagec(wire, *words, "one") for words in (("runs", "show"), ("runs", "export"), ("replay",)))
        with collect() as kept:
            told.append(stagec(wire, "runs", "export", "one", "--otlp", kept.url, "--messages"))
    texts = [text for _, *texts in told for text in texts]
    (project / "sent").write_bytes(b"".join(body for _, body in kept.bodies))
    assert len(kept.spans) > len(CALLS)
    assert told[4][1].count("[redacted]") > 20
    assert {*_search(project, *texts)} == set()
    assert KEY in wire.keys[0]


def test_what_was_searched_for_was_there(project: Path) -> None:
    """Every secret is in what the run met: else the search would find nothing whatever stagec wrote."""
    met = [*GIVEN.values(), SETTINGS, "opaque1", json.dumps(PHRASE), json.dumps(PHRASE, ensure_ascii=False)]
    assert [each for each in SECRETS if not any(each in text for text in met)] == []


@pytest.mark.parametrize(
    ("command", "is_secret"),
    [
        ("world --token abcdefgh", True),
        ("world --token=abcdefgh", True),
        ("world opaque-signing-key", True),
        ("world ghp_" + "a1" * 18, True),
        ("world --token-file secrets --model gpt", False),
    ],
)
def test_a_command_line_with_a_secret_is_known(command: str, is_secret: object) -> None:
    assert holds_secret(command, GIVEN) is is_secret


def test_a_world_whose_command_line_holds_a_secret_is_not_remembered(project: Path, stagec: Stagec) -> None:
    (project / "world.py").write_text(WORLD)
    line = f"{sys.executable} world.py --token opaque-to-everybody"
    with serve(ENDS["handed in"]) as wire:
        status, _, said = stagec(wire, "run", str(PLAN), "--run", "one", *INPUTS, "--world-command", line)
        assert (status, said.count("--world-command holds a secret")) == (2, 1), said
        assert "opaque-to" not in said
        assert b"opaque-to" not in (project / ".stagec/runs/one.run").read_bytes()
        status, _, said = stagec(wire, "resume", "one")
    assert (status, "answer" in said) == (2, True), said

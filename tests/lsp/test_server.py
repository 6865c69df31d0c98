"""The real process speaks the protocol: a client sends messages over standard input and output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from lsp.conftest import EXAMPLES

COMPILER = Path(__file__).parents[2] / "compiler"


class Client:
    """A client of the protocol. Notifications that come while it waits are kept in `told`."""

    def __init__(self, folder: Path, errors: IO[bytes]) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.errors = errors
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stagec", "lsp", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, "PYTHONPATH": str(COMPILER)},
        )
        self.told: list[dict[str, Any]] = []
        self._id = 0

    def uri(self, file: str) -> str:
        return (self.folder / file).as_uri()

    def send(self, method: str, params: object, **more: object) -> None:
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        message: dict[str, Any] = json.loads(self.process.stdout.read(length) or b"null")
        assert message is not None, self.read_errors()
        return message

    def read_errors(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode()

    def ask(self, method: str, params: object) -> Any:
        """Return the result of a request, or its error."""
        self._id += 1
        self.send(method, params, id=self._id)
        while True:
            message = self.receive()
            if message.get("id") == self._id and "method" not in message:
                return message.get("result", message.get("error"))
            self.told.append(message)

    def findings(self, file: str, codes: list[str]) -> list[dict[str, Any]]:
        """Wait until the findings of a file are those with some codes."""
        while True:
            params = self.told.pop(0) if self.told else self.receive()
            if params.get("method") == "textDocument/publishDiagnostics" and params["params"]["uri"] == self.uri(file):
                found: list[dict[str, Any]] = params["params"]["diagnostics"]
                if [each["code"] for each in found] == codes:
                    return found

    def at(self, file: str, line: int, character: int) -> dict[str, Any]:
        return {"textDocument": {"uri": self.uri(file)}, "position": {"line": line, "character": character}}

    def open(self, file: str) -> str:
        text = (self.folder / file).read_text()
        document = {"uri": self.uri(file), "languageId": "any", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})
        return text

    def begin(self, *, fetches_edits: bool = True) -> dict[str, Any]:
        folders = [{"uri": self.uri(""), "name": "it"}]
        actions = {"codeAction": {"resolveSupport": {"properties": ["edit"]}}} if fetches_edits else {}
        result: dict[str, Any] = self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": {"textDocument": actions},
                "workspaceFolders": folders,
                "initializationOptions": {"inlayHints": True},
            },
        )
        self.send("initialized", {})
        return result

    def end(self) -> int:
        self.ask("shutdown", None)
        self.send("exit", None)
        return self.process.wait(20)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    shutil.copytree(EXAMPLES / "code-review", tmp_path / "it")
    with (tmp_path / "errors").open("w+b") as errors:
        started = Client(tmp_path / "it", errors)
        try:
            yield started
        finally:
            started.process.kill()
            started.process.communicate()


def test_a_session_of_an_editor(client: Client) -> None:
    offered = client.begin()["capabilities"]
    assert {"hoverProvider", "renameProvider", "completionProvider", "codeLensProvider"} <= set(offered)
    pipeline = "pipeline.yaml"
    text = client.open(pipeline)
    line = text.splitlines().index("entry: plan")

    def change(version: int, start: int, end: int, new: str) -> None:
        where = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
        document = {"uri": client.uri(pipeline), "version": version}
        client.send(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [{"range": where, "text": new}]}
        )

    change(2, 7, 11, "paln")
    (found,) = client.findings(pipeline, ["STG340"])
    assert found["source"] == "stagec"
    assert found["range"] == {"start": {"line": line, "character": 7}, "end": {"line": line, "character": 11}}
    document = {"textDocument": {"uri": client.uri(pipeline)}}
    context = {"range": found["range"], "context": {"diagnostics": [found]}}
    offers = client.ask("textDocument/codeAction", {**document, **context})
    fix = next(each for each in offers if each.get("edit") and "plan" in each["title"])
    (edit,) = fix["edit"]["changes"][client.uri(pipeline)]
    assert text.replace("entry: plan", f"entry: {_put('paln', edit, 7)}") == text
    everything = next(each for each in offers if each["kind"] == "source.fixAll.stagec.guesses")
    assert client.ask("codeAction/resolve", everything)["edit"]["changes"]
    change(3, 7, 11, "plan")
    client.findings(pipeline, [])
    assert client.end() == 0
    assert client.read_errors() == ""


def test_an_editor_that_fetches_no_edits_gets_all_fixes_of_a_file_at_once(client: Client) -> None:
    path = client.folder / "pipeline.yaml"
    right = path.read_text()
    path.write_text(right.replace("entry: plan", "entry: paln"))
    client.begin(fetches_edits=False)
    client.open("pipeline.yaml")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    only = {"diagnostics": [], "only": ["source.fixAll.stagec.guesses"]}
    document = {"textDocument": {"uri": client.uri("pipeline.yaml")}}
    (offer,) = client.ask("textDocument/codeAction", {**document, "range": whole, "context": only})
    (edit,) = offer["edit"]["changes"][client.uri("pipeline.yaml")]
    line = right.splitlines().index("entry: plan")
    assert edit["range"]["start"]["line"] == line
    assert f"entry: {_put('paln', edit, 7)}" == "entry: plan"
    assert client.end() == 0


def test_every_request_has_an_answer(client: Client) -> None:
    client.begin()
    pipeline, document = "pipeline.yaml", {"textDocument": {"uri": client.uri("pipeline.yaml")}}
    line = client.open(pipeline).splitlines().index("entry: plan")
    assert "stage **plan**" in client.ask("textDocument/hover", client.at(pipeline, line, 8))["contents"]["value"]
    (place,) = client.ask("textDocument/definition", client.at(pipeline, line, 8))
    assert place["uri"] == client.uri("stages/plan.md")
    references = client.ask(
        "textDocument/references", {**client.at(pipeline, line, 8), "context": {"includeDeclaration": True}}
    )
    assert len(references) > 5
    assert client.ask("textDocument/documentHighlight", client.at(pipeline, line, 8))
    assert client.ask("textDocument/documentSymbol", document)
    assert client.ask("workspace/symbol", {"query": "exec"})
    assert client.ask("textDocument/foldingRange", document)
    items = client.ask("textDocument/completion", client.at(pipeline, line, 7))["items"]
    assert {"plan", "review"} <= {each["label"] for each in items}
    assert client.ask("textDocument/prepareRename", client.at(pipeline, line, 8))["placeholder"] == "plan"
    changes = client.ask("textDocument/rename", {**client.at(pipeline, line, 8), "newName": "outline"})["changes"]
    assert client.uri("stages/plan.md") in changes
    refused = client.ask("textDocument/rename", {**client.at(pipeline, line, 8), "newName": "lint"})
    assert refused["message"] == "there is already a stage 'lint'"
    assert client.ask("textDocument/formatting", {**document, "options": {"tabSize": 2, "insertSpaces": True}}) == []
    lenses = client.ask("textDocument/codeLens", document)
    assert [each["command"]["title"] for each in lenses] == ["Draw", "Bounds", "Simulate"]
    client.ask("workspace/executeCommand", lenses[1]["command"])
    shown = next(each for each in client.told if each.get("method") == "window/showMessage")
    assert "at most 20 executions" in shown["params"]["message"]
    page = client.ask("workspace/executeCommand", {**lenses[0]["command"], "command": "stagec.page"})
    assert page["html"].startswith("<!DOCTYPE html>")
    spots = {(each["node"], each["uri"].rpartition("/")[2]) for each in page["nodes"]}
    assert ("plan", "plan.md") in spots
    gone = client.ask(
        "workspace/executeCommand", {"command": "stagec.page", "arguments": [document["textDocument"]["uri"], "x"]}
    )
    assert "message" in gone
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    assert client.ask("textDocument/inlayHint", {**document, "range": whole}) == []
    assert client.end() == 0
    assert client.read_errors() == ""


def _put(word: str, edit: dict[str, Any], shift: int) -> str:
    start, end = (edit["range"][each]["character"] - shift for each in ("start", "end"))
    return word[:start] + edit["newText"] + word[end:]


def test_a_change_on_the_disk_and_a_broken_configuration_are_told(client: Client) -> None:
    client.begin()
    path = client.folder / "pipeline.yaml"
    path.write_text(path.read_text().replace("entry: plan", "entry: paln"))
    client.send("workspace/didChangeWatchedFiles", {"changes": []})
    client.findings("pipeline.yaml", ["STG340"])
    (client.folder / "stagec.toml").write_text("fail-on = 1\n")
    client.send("workspace/didChangeWatchedFiles", {"changes": []})
    client.findings("pipeline.yaml", [])
    assert client.end() == 0

"""A client of the language server that speaks with the real process over standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

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
        self._id, self._version = 0, 1

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
        return self.wait_for(file, lambda found: found == codes)

    def wait_for(self, file: str, fits: Callable[[list[str]], bool]) -> list[dict[str, Any]]:
        """Wait until the codes of the findings of a file are the right ones, and return the findings."""
        while True:
            params = self.told.pop(0) if self.told else self.receive()
            if params.get("method") == "textDocument/publishDiagnostics" and params["params"]["uri"] == self.uri(file):
                found: list[dict[str, Any]] = params["params"]["diagnostics"]
                if fits([each["code"] for each in found]):
                    return found

    def at(self, file: str, line: int, character: int) -> dict[str, Any]:
        return {"textDocument": {"uri": self.uri(file)}, "position": {"line": line, "character": character}}

    def open(self, file: str) -> str:
        text = (self.folder / file).read_text()
        document = {"uri": self.uri(file), "languageId": "any", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": document})
        return text

    def change(self, file: str, line: int, start: int, end: int, new: str) -> None:
        """Put a text in place of some characters of one line of an open document."""
        self._version += 1
        where = {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}
        document = {"uri": self.uri(file), "version": self._version}
        self.send(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [{"range": where, "text": new}]}
        )

    def begin(self, *, fetches_edits: bool = True, moves_files: bool = False) -> dict[str, Any]:
        folders = [{"uri": self.uri(""), "name": "it"}]
        actions = {"codeAction": {"resolveSupport": {"properties": ["edit"]}}} if fetches_edits else {}
        edits = {"documentChanges": True, "resourceOperations": ["create", "rename"]} if moves_files else {}
        result: dict[str, Any] = self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": None,
                "capabilities": {"textDocument": actions, "workspace": {"workspaceEdit": edits}},
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

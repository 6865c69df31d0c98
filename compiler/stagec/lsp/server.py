"""The language server: the protocol and nothing else; what it answers comes from the other modules."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from stagec.core.disk import create_private, make_private_folder, write_all
from stagec.core.failure import Failure
from stagec.core.version import __version__
from stagec.core.words import visible
from stagec.lsp import conversion as protocol
from stagec.lsp.checker import Checker
from stagec.lsp.symbols import Task, draw_flow, list_node_spots, tell_bounds
from stagec.lsp.workspace import CheckedProject, LoadProject, Workspace, find_real, list_findings


class StagecServer(LanguageServer):
    """A server for one editor."""

    def __init__(self, load: LoadProject, drawing: Path) -> None:
        super().__init__("stagec", __version__, types.TextDocumentSyncKind.Incremental)
        self.opened = Workspace(load)
        self.checker = Checker(self.opened, self._tell_later, self.blame)
        self.shows_hints = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._addresses: dict[str, str] = {}
        self._told: dict[str, list[types.Diagnostic]] = {}
        self._failures: tuple[str, ...] = ()
        self._drawing = drawing

    def begin(self, params: types.InitializeParams) -> None:
        """Open the folders of the editor."""
        options = params.initialization_options
        self.shows_hints = isinstance(options, dict) and options.get("inlayHints") is True
        folders = [each.uri for each in params.workspace_folders or ()] or [params.root_uri or ""]
        paths = [to_fs_path(each) for each in folders if each]
        self.opened.open_folders(path for path in paths if path is not None)

    def start_checks(self) -> None:
        """Begin to check; the editor can be told now."""
        self._loop = asyncio.get_running_loop()
        self.checker.start()
        self.checker.ask()

    def change_folders(self, event: types.WorkspaceFoldersChangeEvent) -> None:
        """Open and close folders."""
        gone = {find_real(str(to_fs_path(each.uri))) for each in event.removed}
        fresh = [str(to_fs_path(each.uri)) for each in event.added]
        self.opened.open_folders([*(each for each in self.opened.folders if each not in gone), *fresh])
        self.checker.ask()

    def open_document(self, document: types.TextDocumentItem) -> None:
        """Take a text for that of its file."""
        path = to_fs_path(document.uri)
        if path is not None and document.uri.startswith("file:"):
            self._addresses[find_real(path)] = document.uri
            self.opened.open_text(path, document.text)
            self.checker.ask()

    def find_path(self, uri: str) -> str:
        """Return the path of a document; raise an error of the protocol for one that is no file."""
        path = to_fs_path(uri) if uri.startswith("file:") else None
        if path is None:
            raise JsonRpcInvalidParams(message=f"{uri} is no file")
        return path

    def find_checked(self, uri: str) -> tuple[CheckedProject, str] | None:
        """Return the project of a document, checked as it is now, and what the project calls the file."""
        path = self.find_path(uri)
        self.opened.check()
        project = self.opened.find_project(path)
        if project is None or project.compilation is None:
            return None
        return project, project.name(find_real(path))

    def _tell_later(self, projects: Sequence[CheckedProject]) -> None:
        told = {path: protocol.write_findings(each) for path, each in list_findings(projects).items()}
        failures = tuple(each.failure for each in projects if each.failure)
        for each in projects:
            for file, finding in protocol.write_failure(each.failure):
                told.setdefault(each.path(file), []).append(finding)
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._tell, told, failures)

    def _tell(self, told: dict[str, list[types.Diagnostic]], failures: tuple[str, ...]) -> None:
        for path in {**self._told, **told}:
            if self._told.get(path) != told.get(path):
                address = self._addresses.get(path) or protocol.write_address(path)
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(address, told.get(path, [])))
        for failure in failures:
            if failure not in self._failures:
                self._show(visible(failure), types.MessageType.Warning)
        self._told, self._failures = told, failures

    def _show(self, text: str, kind: types.MessageType) -> None:
        self.window_show_message(types.ShowMessageParams(kind, text))

    def blame(self, error: Exception) -> None:
        """Write what nobody expected to where editors keep the messages of servers."""
        sys.stderr.write("".join(traceback.format_exception(error)))
        sys.stderr.flush()

    async def run_task(self, task: Task, path: str, flow: str) -> None:
        """Do what a lens says, and show the result."""
        if task is Task.SIMULATE:
            command = f"stagec compile {shlex.quote(path)} -o plan.json && stagec simulate plan.json"
            self._show(f"In a terminal: {command}", types.MessageType.Info)
            return
        try:
            text = await asyncio.to_thread(self._answer_task, task, path, flow)
        except Failure as failure:
            self._show(str(failure), types.MessageType.Warning)
            return
        if task is Task.BOUNDS:
            self._show(text, types.MessageType.Info)
        else:
            await self.window_show_document_async(types.ShowDocumentParams(protocol.write_address(text), external=True))

    def make_page(self, path: str, flow: str) -> dict[str, object]:
        """Return the page with the drawing of a flow, and the places of its nodes as `uri` and `range`."""
        project, file = self._find_open(path)
        page = draw_flow(project, file, flow)
        spots = [
            {"node": each.node, **protocol.write_plain_spot(each.spot)} for each in list_node_spots(project, file, flow)
        ]
        return {"html": page.decode(), "nodes": spots}

    def _find_open(self, path: str) -> tuple[CheckedProject, str]:
        self.opened.check()
        project = self.opened.find_project(path)
        if project is None:
            raise Failure("the file belongs to no open project")
        return project, project.name(find_real(path))

    def _answer_task(self, task: Task, path: str, flow: str) -> str:
        project, file = self._find_open(path)
        if task is Task.BOUNDS:
            return tell_bounds(project, file, flow)
        page = draw_flow(project, file, flow)
        make_private_folder(self._drawing.parent)
        os.close(create_private(self._drawing, lambda opened: write_all(opened, page), replace=True, durable=False))
        return str(self._drawing)

    def end(self) -> None:
        """End the checks."""
        self.checker.end()

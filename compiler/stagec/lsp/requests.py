"""Every request of the protocol, each answered by one function: what is asked about is checked as it is now."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from stagec.core.disk import create_private, make_private_folder, write_all
from stagec.core.failure import Failure
from stagec.core.version import __version__
from stagec.core.words import visible
from stagec.lsp import conversion as protocol
from stagec.lsp.actions import fix_file, lay_out, list_actions
from stagec.lsp.completion import complete
from stagec.lsp.hover import describe, find_syntax
from stagec.lsp.name_places import FileSpot, find_renamed, read_places, rename
from stagec.lsp.symbols import (
    Task,
    draw_flow,
    find_symbols,
    list_folds,
    list_hints,
    list_lenses,
    list_node_spots,
    list_symbols,
    tell_bounds,
)
from stagec.lsp.workspace import CheckedProject, Checker, LoadProject, Workspace, find_real, list_findings


class StagecServer(LanguageServer):
    """A server for one editor."""

    def __init__(self, load: LoadProject, drawing: Path) -> None:
        super().__init__("stagec", __version__, types.TextDocumentSyncKind.Incremental)
        self.opened = Workspace(load)
        self.checker = Checker(self.opened, self._tell_later, self.blame)
        self.shows_hints = False
        self.fetches_edits = False
        self.moves_files = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._addresses: dict[str, str] = {}
        self._told: dict[str, list[types.Diagnostic]] = {}
        self._failures: tuple[str, ...] = ()
        self._drawing = drawing

    def begin(self, params: types.InitializeParams) -> None:
        """Open the folders of the editor."""
        options = params.initialization_options
        self.shows_hints = isinstance(options, dict) and options.get("inlayHints") is True
        document = params.capabilities.text_document
        offers = None if document is None else document.code_action
        support = None if offers is None else offers.resolve_support
        self.fetches_edits = support is not None and "edit" in support.properties
        workspace = params.capabilities.workspace
        edits = None if workspace is None else workspace.workspace_edit
        operations = () if edits is None or not edits.document_changes else edits.resource_operations or ()
        self.moves_files = types.ResourceOperationKind.Rename in operations
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

    def tell(self, text: str) -> None:
        """Show a message in the editor; from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._show, visible(text), types.MessageType.Info)

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


_FIX_ALL = "source.fixAll.stagec"
_GUESS_ALL = "source.fixAll.stagec.guesses"
_MOST_SYMBOLS = 500
R = TypeVar("R")
_AtPosition = types.DefinitionParams | types.ReferenceParams | types.DocumentHighlightParams


def make_server(load: LoadProject, drawing: Path) -> StagecServer:
    """Return a server that answers everything; it writes drawings to one file."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # refusals are answers, and faults are told once
    server = StagecServer(load, drawing)
    _take_notifications(server)
    requests = _Requests(server)
    actions = types.CodeActionOptions([types.CodeActionKind.QuickFix, _FIX_ALL, _GUESS_ALL], resolve_provider=True)
    completion = types.CompletionOptions(trigger_characters=['"', ":", ".", "{", "[", "-", " "])
    for method, answer, options in (
        (types.TEXT_DOCUMENT_CODE_ACTION, requests.list_actions, actions),
        (types.CODE_ACTION_RESOLVE, requests.resolve_action, None),
        (types.TEXT_DOCUMENT_FORMATTING, requests.lay_out, None),
        (types.TEXT_DOCUMENT_HOVER, requests.describe, None),
        (types.TEXT_DOCUMENT_DEFINITION, requests.find_definitions, None),
        (types.TEXT_DOCUMENT_REFERENCES, requests.find_references, None),
        (types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, requests.find_highlights, None),
        (types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, requests.list_symbols, None),
        (types.WORKSPACE_SYMBOL, requests.find_symbols, None),
        (types.TEXT_DOCUMENT_FOLDING_RANGE, requests.list_folds, None),
        (types.TEXT_DOCUMENT_COMPLETION, requests.complete, completion),
        (types.TEXT_DOCUMENT_PREPARE_RENAME, requests.find_renamed, None),
        (types.TEXT_DOCUMENT_RENAME, requests.rename, types.RenameOptions(prepare_provider=True)),
        (types.TEXT_DOCUMENT_CODE_LENS, requests.list_lenses, types.CodeLensOptions()),
        (types.TEXT_DOCUMENT_INLAY_HINT, requests.list_hints, None),
    ):
        server.feature(method, options)(_answer_apart(answer, server.blame))
    for task in Task:
        server.command(task)(_run_task(server, task))
    server.command("stagec.page")(_make_page(server))
    return server


def _answer_apart(answer: Callable[[Any], R], blame: Callable[[Exception], None]) -> Callable[[Any], Awaitable[R]]:
    """Return a function that answers in another thread, so that the editor can go on to tell of changes."""

    async def answer_later(params: Any) -> R:
        try:
            return await asyncio.to_thread(answer, params)
        except Failure as failure:
            raise JsonRpcInvalidRequest(message=str(failure)) from failure
        except JsonRpcException:
            raise
        except Exception as error:
            blame(error)
            raise

    return answer_later


def _run_task(server: StagecServer, task: Task) -> Callable[..., Awaitable[None]]:
    async def run(*arguments: Any) -> None:
        path, flow = arguments[-1] if isinstance(arguments[-1], list) else arguments[-2:]
        await server.run_task(task, str(path), str(flow))

    return run


def _make_page(server: StagecServer) -> Callable[..., Awaitable[dict[str, object]]]:
    async def make(*arguments: Any) -> dict[str, object]:
        path, flow = arguments[-1] if isinstance(arguments[-1], list) else arguments[-2:]
        try:
            return await asyncio.to_thread(server.make_page, str(path), str(flow))
        except Failure as failure:
            raise JsonRpcInvalidRequest(message=str(failure)) from failure

    return make


def _take_notifications(server: StagecServer) -> None:
    opened, checker = server.opened, server.checker

    def begin(params: types.InitializeParams) -> None:
        server.begin(params)  # the library writes to what it is given, which cannot be a method

    def change(params: types.DidChangeTextDocumentParams) -> None:
        opened.change_text(server.find_path(params.text_document.uri), protocol.read_changes(params.content_changes))
        checker.ask()

    def save(params: types.DidSaveTextDocumentParams) -> None:
        opened.save_text(server.find_path(params.text_document.uri))
        checker.ask()

    def close(params: types.DidCloseTextDocumentParams) -> None:
        opened.close_text(server.find_path(params.text_document.uri))
        checker.ask()

    for method, take in (
        (types.INITIALIZE, begin),
        (types.INITIALIZED, lambda _params: server.start_checks()),
        (types.TEXT_DOCUMENT_DID_OPEN, lambda params: server.open_document(params.text_document)),
        (types.TEXT_DOCUMENT_DID_CHANGE, change),
        (types.TEXT_DOCUMENT_DID_SAVE, save),
        (types.TEXT_DOCUMENT_DID_CLOSE, close),
        (types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, lambda params: server.change_folders(params.event)),
        (types.WORKSPACE_DID_CHANGE_WATCHED_FILES, lambda _params: checker.ask()),
    ):
        server.feature(method)(take)


class _Requests:
    """The answers to the requests of one editor."""

    def __init__(self, server: StagecServer) -> None:
        self._server = server

    def list_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        found = self._server.find_checked(params.text_document.uri)
        only = params.context.only
        if found is None:
            return []
        fixes = [
            types.CodeAction(title, kind, data={"uri": params.text_document.uri, "guesses": guesses})
            for title, kind, guesses in (
                ("Fix all safe findings of this file", _FIX_ALL, False),
                ("Fix all findings of this file, also by guesses", _GUESS_ALL, True),
            )
            if any(each.at.file == found[1] and each.fix and (each.fix.is_safe or guesses) for each in found[0].found)
        ]
        quick = list_actions(*found, protocol.read_stretch(params.range))
        every = [*(protocol.write_action(found[0], each) for each in quick), *fixes]
        asked = tuple(f"{getattr(kind, 'value', kind)}." for kind in only or ())
        wanted = [
            each for each in every if only is None or f"{getattr(each.kind, 'value', each.kind)}.".startswith(asked)
        ]
        # an editor that does not ask for the edits of an action that somebody chooses needs them now
        return wanted if self._server.fetches_edits else [self.resolve_action(each) for each in wanted]

    def resolve_action(self, action: types.CodeAction) -> types.CodeAction:
        data: Any = action.data
        found = self._server.find_checked(data["uri"]) if data else None
        if found is not None:
            action.edit = protocol.write_edits(fix_file(*found, guesses=bool(data["guesses"])))
        return action

    def lay_out(self, params: types.DocumentFormattingParams) -> list[types.TextEdit]:
        found = self._server.find_checked(params.text_document.uri)
        edits = () if found is None else lay_out(*found)
        return [types.TextEdit(protocol.write_range(each.where), each.text) for each in edits]

    def describe(self, params: types.HoverParams) -> types.Hover | None:
        found = self._server.find_checked(params.text_document.uri)
        text = self._read(params.text_document.uri)
        shown = None if found is None else describe(*found, text, protocol.read_point(params.position))
        if shown is None:
            return None
        where = None if shown.where is None else protocol.write_range(shown.where)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, shown.text), where)

    def find_definitions(self, params: types.DefinitionParams) -> list[types.Location]:
        return [protocol.write_spot(spot) for spot in self._find_spots(params, definitions=True)]

    def find_references(self, params: types.ReferenceParams) -> list[types.Location]:
        with_definitions = params.context.include_declaration
        return [protocol.write_spot(spot) for spot in self._find_spots(params, with_definitions=with_definitions)]

    def find_highlights(self, params: types.DocumentHighlightParams) -> list[types.DocumentHighlight]:
        path = find_real(self._server.find_path(params.text_document.uri))
        spots = self._find_spots(params)
        return [types.DocumentHighlight(protocol.write_range(spot.where)) for spot in spots if spot.path == path]

    def _find_spots(
        self, params: _AtPosition, *, definitions: bool = False, with_definitions: bool = True
    ) -> list[FileSpot]:
        found = self._server.find_checked(params.text_document.uri)
        if found is None:
            return []
        project, file = found
        places = read_places(project)
        placed = places.find(file, protocol.read_point(params.position))
        if placed is None:
            return []
        subject = placed.occurrence.subject
        if definitions:
            return list(places.find_definitions(subject))
        return list(places.find_references(subject, with_definitions=with_definitions))

    def list_symbols(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        found = self._server.find_checked(params.text_document.uri)
        return [] if found is None else [protocol.write_symbol(each) for each in list_symbols(*found)]

    def find_symbols(self, params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation]:
        projects = self._server.opened.check()
        found = [protocol.write_workspace_symbol(each) for each in find_symbols(projects, params.query)]
        return found[:_MOST_SYMBOLS]

    def list_folds(self, params: types.FoldingRangeParams) -> list[types.FoldingRange]:
        syntax = find_syntax(self._server.find_path(params.text_document.uri))
        return [types.FoldingRange(*each) for each in list_folds(self._read(params.text_document.uri), syntax)]

    def complete(self, params: types.CompletionParams) -> types.CompletionList:
        found = self._server.find_checked(params.text_document.uri)
        if found is None:
            return types.CompletionList(is_incomplete=False, items=[])
        known = self._server.opened.find_readable(self._server.find_path(params.text_document.uri)) or found[0]
        text, point = self._read(params.text_document.uri), protocol.read_point(params.position)
        items = protocol.write_proposals(complete(known, found[1], text, point))
        return types.CompletionList(is_incomplete=False, items=items)

    def find_renamed(self, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder:
        project, file = self._find_project(params.text_document.uri)
        renamed = find_renamed(project, file, protocol.read_point(params.position))
        return types.PrepareRenamePlaceholder(protocol.write_range(renamed.placed.spot.where), renamed.name)

    def rename(self, params: types.RenameParams) -> types.WorkspaceEdit:
        project, file = self._find_project(params.text_document.uri)
        point, can_move = protocol.read_point(params.position), self._server.moves_files
        renamed = rename(project, file, point, params.new_name, can_move=can_move)
        if renamed.kept:
            self._server.tell(renamed.kept)
        if renamed.move is None:
            return protocol.write_edits(renamed.edits)
        paths = project.path(renamed.move.old), project.path(renamed.move.new)
        return protocol.write_move(renamed.edits, *paths)

    def _find_project(self, uri: str) -> tuple[CheckedProject, str]:
        found = self._server.find_checked(uri)
        if found is None:
            raise Failure("the file belongs to no open project")
        return found

    def list_lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        found = self._server.find_checked(params.text_document.uri)
        path = self._server.find_path(params.text_document.uri)
        return [] if found is None else [protocol.write_lens(each, path) for each in list_lenses(*found)]

    def list_hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        found = self._server.find_checked(params.text_document.uri) if self._server.shows_hints else None
        wanted = protocol.read_stretch(params.range)
        hints = () if found is None else list_hints(*found)
        return [protocol.write_hint(each) for each in hints if wanted.holds(each.at)]

    def _read(self, uri: str) -> str:
        return self._server.opened.find_text(self._server.find_path(uri)) or ""

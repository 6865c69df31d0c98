"""Values of the compiler as values of the protocol, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from lsprotocol import types
from pygls.uris import from_fs_path

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.ir.flow import NameKind
from stagec.lsp.actions import EditorAction, FileEdit
from stagec.lsp.completion import Proposal
from stagec.lsp.name_places import FileSpot
from stagec.lsp.positions import Point, Stretch, TextChange
from stagec.lsp.symbols import InlineHint, Lens, Symbol
from stagec.lsp.workspace import CheckedProject, FileFindings

SOURCE = "stagec"
_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_TAGS = (
    (("unused-", "unreachable-", "ignored-", "dead-"), types.DiagnosticTag.Unnecessary),
    ("legacy-", types.DiagnosticTag.Deprecated),
)
"""The beginnings of the names of rules whose findings editors show in another way."""
_SYMBOLS = {
    NameKind.STEP: types.SymbolKind.Function,
    NameKind.STAGE: types.SymbolKind.Function,
    NameKind.ENVELOPE: types.SymbolKind.Function,
    NameKind.PHASE: types.SymbolKind.EnumMember,
    NameKind.AGENT: types.SymbolKind.Class,
    NameKind.VALIDATOR: types.SymbolKind.Interface,
    NameKind.PATTERN: types.SymbolKind.Event,
    NameKind.TOOL: types.SymbolKind.Method,
    NameKind.VARIABLE: types.SymbolKind.Variable,
}
_PROPOSALS = {
    "key": types.CompletionItemKind.Property,
    "value": types.CompletionItemKind.EnumMember,
    "intent": types.CompletionItemKind.EnumMember,
    "variable": types.CompletionItemKind.Variable,
    "tool": types.CompletionItemKind.Method,
}
_PLACED = re.compile(r"(?P<file>[^\s:]+\.toml):(?P<line>\d+): (?P<message>.*)")


def write_range(where: Stretch) -> types.Range:
    """Return a part of a text."""
    start, end = where.start, where.end
    return types.Range(types.Position(start.line, start.character), types.Position(end.line, end.character))


def read_point(position: types.Position) -> Point:
    """Return a position."""
    return Point(position.line, position.character)


def read_stretch(where: types.Range) -> Stretch:
    """Return a part of a text."""
    return Stretch(read_point(where.start), read_point(where.end))


def read_changes(changes: Iterable[types.TextDocumentContentChangeEvent]) -> list[TextChange]:
    """Return the changes of a text."""
    return [
        TextChange(each.text, read_stretch(each.range))
        if isinstance(each, types.TextDocumentContentChangePartial)
        else TextChange(each.text)
        for each in changes
    ]


@cache
def write_address(path: str) -> str:
    """Return the address of a file."""
    return str(from_fs_path(path))


def write_findings(findings: FileFindings) -> list[types.Diagnostic]:
    """Return the findings of a file."""
    return [write_finding(findings.project, each) for each in findings.found]


def write_finding(project: CheckedProject, each: Diagnostic) -> types.Diagnostic:
    """Return one finding."""
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(
                write_address(project.path(remark.at.file)),
                write_range(project.lines(remark.at.file).stretch_of(remark.span)),
            ),
            remark.message,
        )
        for remark in each.related
    ]
    folded = f" (and {each.folded} more with the same cause)" if each.folded else ""
    return types.Diagnostic(
        range=write_range(project.lines(each.at.file).stretch_of(each.span)),
        message=each.message + folded,
        severity=_SEVERITIES[each.severity],
        code=each.code,
        code_description=types.CodeDescription(each.url) if each.url is not None else None,
        source=SOURCE,
        tags=[tag for begin, tag in _TAGS if each.name.startswith(begin)] or None,
        related_information=related or None,
        data={"name": each.name, "help": each.help},
    )


def write_failure(failure: str) -> Iterable[tuple[str, types.Diagnostic]]:
    """Yield the lines of a failure that name a place in a configuration: its file, and the finding there."""
    for line in failure.splitlines():
        match = _PLACED.fullmatch(line)
        if match is not None:
            number = max(int(match["line"]) - 1, 0)
            where = types.Range(types.Position(number, 0), types.Position(number, 1))
            yield (
                match["file"],
                types.Diagnostic(where, match["message"], types.DiagnosticSeverity.Error, source=SOURCE),
            )


def write_edits(edits: Iterable[FileEdit]) -> types.WorkspaceEdit:
    """Return changes of files."""
    return types.WorkspaceEdit(changes=_group_edits(edits))


def write_move(edits: Iterable[FileEdit], old: str, new: str) -> types.WorkspaceEdit:
    """Return changes of files, and after them the new path of one of them."""
    changes: list[types.TextDocumentEdit | types.CreateFile | types.RenameFile | types.DeleteFile] = []
    for address, own in _group_edits(edits).items():
        changes.append(types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(address), own))
    changes.append(types.RenameFile(write_address(old), write_address(new)))
    return types.WorkspaceEdit(document_changes=changes)


def _group_edits(edits: Iterable[FileEdit]) -> dict[str, list[types.TextEdit]]:
    changes: dict[str, list[types.TextEdit]] = {}
    for each in edits:
        changes.setdefault(write_address(each.path), []).append(types.TextEdit(write_range(each.where), each.text))
    return changes


def write_action(project: CheckedProject, action: EditorAction) -> types.CodeAction:
    """Return something that an editor offers."""
    return types.CodeAction(
        title=action.title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[write_finding(project, action.about)],
        edit=write_edits(action.edits),
        is_preferred=action.is_safe or None,
    )


def write_spot(spot: FileSpot) -> types.Location:
    """Return a place."""
    return types.Location(write_address(spot.path), write_range(spot.where))


def write_plain_spot(spot: FileSpot) -> dict[str, object]:
    """Return a place as the protocol writes it, for answers whose members the library does not know."""
    start, end = ({"line": each.line, "character": each.character} for each in (spot.where.start, spot.where.end))
    return {"uri": write_address(spot.path), "range": {"start": start, "end": end}}


def write_symbol(symbol: Symbol) -> types.DocumentSymbol:
    """Return a definition of a document."""
    return types.DocumentSymbol(
        symbol.name,
        _SYMBOLS[symbol.kind],
        write_range(symbol.whole.where),
        write_range(symbol.named.where),
        detail=str(symbol.kind),
    )


def write_workspace_symbol(symbol: Symbol) -> types.SymbolInformation:
    """Return a definition of a workspace."""
    return types.SymbolInformation(
        write_spot(symbol.named), symbol.name, _SYMBOLS[symbol.kind], container_name=symbol.file
    )


def write_proposals(proposals: Sequence[Proposal]) -> list[types.CompletionItem]:
    """Return the proposals as completion items."""
    return [
        types.CompletionItem(
            label=each.label,
            kind=_PROPOSALS.get(each.sort, types.CompletionItemKind.Reference),
            documentation=types.MarkupContent(types.MarkupKind.Markdown, each.told) if each.told else None,
            filter_text=each.label,
            sort_text=f"{index:05}",
            text_edit=types.TextEdit(write_range(each.where), each.text),
        )
        for index, each in enumerate(proposals)
    ]


def write_lens(lens: Lens, path: str) -> types.CodeLens:
    """Return a command above a flow."""
    return types.CodeLens(write_range(lens.where), types.Command(lens.title, lens.task, arguments=[path, lens.flow]))


def write_hint(hint: InlineHint) -> types.InlayHint:
    """Return a short text behind a part of a line."""
    return types.InlayHint(types.Position(hint.at.line, hint.at.character), hint.text)

"""Code actions of an editor: fixes, suppressions and the baseline; and the layout of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.check.acceptance import make_entry
from stagec.check.fixes import fix_project, list_edits, make_edits
from stagec.check.formatting import format_file, is_laid_out
from stagec.check.pipeline import list_families
from stagec.core.bounded import OversizedError
from stagec.core.diagnostic import Change, Diagnostic, Edit
from stagec.core.json import Json, find_inside
from stagec.core.observations import read_whole
from stagec.core.place import Place, Pointer
from stagec.core.value import value
from stagec.lsp.positions import Stretch, TextLines
from stagec.lsp.workspace import CheckedProject
from stagec.sources.project.baseline import BaselineError, make_baseline, read_baseline, write_baseline
from stagec.sources.suppression import MEMBER
from stagec.sources.tree import Tree


@value
class FileEdit:
    """A new text for a part of a file, which is named by its path."""

    path: str
    where: Stretch
    text: str


def find_difference(path: str, before: str, after: str) -> FileEdit:
    """Return the smallest change of one part of a text that makes another one of it."""
    shortest = min(len(before), len(after))
    start = 0
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    # an editor cannot change one half of a line break
    if before[start - 1 : start] == "\r" and start:
        start -= 1
    if end and before[-end] == "\n":
        end -= 1
    return FileEdit(path, TextLines(before).stretch(start, len(before) - end), after[start : len(after) - end])


def list_file_edits(project: CheckedProject, files: Mapping[str, tuple[bytes, bytes]]) -> Iterable[FileEdit]:
    """Yield the changes of the files of a project, which are given as bytes before and after."""
    for file, (before, after) in files.items():
        texts = [each.decode("utf-8-sig", errors="replace") for each in (before, after)]
        yield find_difference(project.path(file), *texts)


_LARGEST = 100_000_000
"""Bytes of a baseline."""
REASON = "say here why this is right"
"""The placeholder for the reason of a suppression until somebody writes one."""


@value
class EditorAction:
    """Something that an editor offers: a sentence, the edits, and the finding that it is about."""

    title: str
    edits: tuple[FileEdit, ...]
    about: Diagnostic
    is_safe: bool = False


def list_actions(project: CheckedProject, file: str, where: Stretch) -> Iterator[EditorAction]:
    """Yield the actions for the findings in a part of a file; the fixes of each come first."""
    lines = project.lines(file)
    for each in project.found:
        own = lines.stretch_of(each.span)
        if each.at.file != file or not (own.holds(where.start) or where.holds(own.start)):
            continue
        yield from _offer_fix(project, each)
        yield from _offer_suppression(project, each)
        yield from _offer_acceptance(project, each)


def fix_file(project: CheckedProject, file: str, *, guesses: bool) -> tuple[FileEdit, ...]:
    """Return the edits of all fixes of the findings in a file that leave the project better."""
    if project.compilation is None or project.project is None:
        return ()
    fixed = fix_project(project.as_open(), guesses=guesses, file=file)
    return tuple(list_file_edits(project, {name: (fixed.before[name], after) for name, after in fixed.after.items()}))


def lay_out(project: CheckedProject, file: str) -> tuple[FileEdit, ...]:
    """Return the edits that give a file its canonical layout; none where it has one, or cannot be laid out."""
    tree = None if project.compilation is None else project.compilation.trees.get(file)
    if tree is None or project.project is None or not tree.readable or not is_laid_out(tree):
        return ()
    formatted = format_file(file, tree, project.project.settings.budgets)
    files = {file: (formatted.before, formatted.after)} if formatted.before != formatted.after else {}
    return tuple(list_file_edits(project, files))


def _offer_fix(project: CheckedProject, each: Diagnostic) -> Iterator[EditorAction]:
    if each.fix is None or project.compilation is None:
        return
    try:
        files = make_edits(list_edits((each,)), project.compilation.trees)
    except (KeyError, ValueError):  # a text in which these places cannot be changed alone
        return
    if files:
        title = each.fix.message if each.fix.is_safe else f"{each.fix.message} (a guess)"
        edits = tuple(list_file_edits(project, files))
        yield EditorAction(title[:1].upper() + title[1:], edits, each, is_safe=each.fix.is_safe)


def _offer_suppression(project: CheckedProject, each: Diagnostic) -> Iterator[EditorAction]:
    tree = None if project.compilation is None else project.compilation.trees.get(each.at.file)
    if tree is None or not tree.readable or _is_mandatory(each):
        return
    before = tree.data.decode(errors="replace")
    try:
        after = _suppress(project, tree, before, each)
    except ValueError:
        return
    if after is not None:
        edit = find_difference(project.path(each.at.file), before, after)
        yield EditorAction(f"Suppress {each.code} here, with a reason", (edit,), each)


def _is_mandatory(each: Diagnostic) -> bool:
    rules = (rule for family in list_families() for rule in family.rules() if rule.code == each.code)
    return any(rule.mandatory for rule in rules)


def _offer_acceptance(project: CheckedProject, each: Diagnostic) -> Iterator[EditorAction]:
    """Yield the edit of the baseline that accepts a finding, in a project that has a baseline."""
    opened = project.project
    name = None if opened is None or opened.baseline is None else opened.settings.baseline
    if name is None or _is_mandatory(each):
        return
    path = project.path(name)
    try:
        before = project.overlay.get(name) or read_whole(path, _LARGEST)
        baseline = read_baseline(before)
    except (BaselineError, OSError, OversizedError):  # it is just being edited, or gone
        return
    after = write_baseline(make_baseline((*baseline.entries, make_entry(each.code, each.at, each.message))))
    (edit,) = list_file_edits(project, {name: (before, after)})
    yield EditorAction(f"Add to the baseline {name}", (edit,), each)


def _suppress(project: CheckedProject, tree: Tree, text: str, each: Diagnostic) -> str | None:
    """Return a text in which a finding is suppressed: by a member in JSON, else by a comment above its line."""
    if tree.format.name == "json":
        owner = _find_object(tree.value, each.at.pointer)
        if owner is None:
            return None
        at = Place(tree.file, (*owner, MEMBER))
        is_there = any(one.at.pointer[:-1] == at.pointer for one in tree.suppressions)
        edit = Edit(Change.INSERT, at / each.code, REASON) if is_there else None
        return tree.format.apply(text, [edit or Edit(Change.INSERT, at, {each.code: REASON})])
    if tree.format.name not in {"yaml", "markdown"} or tree.value is None:
        return None
    number, indent = _find_comment_line(project, tree, each)
    at_line = project.lines(tree.file).line_start(number)
    end = "\r\n" if "\r\n" in text else "\n"
    return f"{text[:at_line]}{indent}# stagec: ignore[{each.code}] {REASON}{end}{text[at_line:]}"


def _find_comment_line(project: CheckedProject, tree: Tree, each: Diagnostic) -> tuple[int, str]:
    """Return the line above which a comment speaks for a finding, and its indentation."""
    lines = project.lines(tree.file)
    number = lines.stretch_of(each.span).start.line
    if tree.body is not None:
        # the last line of a frontmatter speaks for the text below it
        fence = lines.point(tree.body[0]).line - 1
        if number > fence:
            return fence, ""
        number = max(number, 1)
    line = lines.line(number)
    return number, line[: len(line) - len(line.lstrip())]


def _find_object(value: Json, pointer: Pointer) -> Pointer | None:
    """Return the pointer of the innermost object around a place."""
    lengths = range(len(pointer), -1, -1)
    return next((pointer[:each] for each in lengths if isinstance(find_inside(value, pointer[:each]), dict)), None)

"""Read the files of a project, each once, and never one that lies outside it."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeVar

from stagec.core import observations
from stagec.core.bounded import OversizedError
from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.expansion import PatternTally
from stagec.core.json import Json
from stagec.core.memo import KeptAnswers, Memo
from stagec.core.place import Key, Place
from stagec.core.value import NOTHING, replace
from stagec.sources.discover import NEVER
from stagec.sources.formats import format_of, format_of_content
from stagec.sources.formats.plain import FORMAT as PLAIN
from stagec.sources.suppression import SIGN
from stagec.sources.tree import Fault, Format, Parsed, Tree

T = TypeVar("T")

TOPIC = "conflict-markers"
_BEGIN, _BASE, _MIDDLE, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"
_LINE = re.compile(
    r"^(?:(?P<mark><{7}|\|{7}|={7}|>{7})(?P<label> [^\r\n]*)?|[ \t]*(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*))\r?$",
    re.MULTILINE,
)
"""A line that is a marker, or a fence around a code block of Markdown."""
_OF_EDITS = frozenset({" SEARCH", " ORIGINAL"})
"""The labels behind the first marker in edits that models write in this form; git names a revision."""
_MOST = 20
"""Other markers that are shown with the first one."""


Span = tuple[int, int]
"""The offsets of a marker's characters, end exclusive."""


def find_conflict(file: str, text: str, *, is_prose: bool) -> Fault | None:
    """Return the fault of a text with conflicts, at the first marker; the others are related.

    Only all markers of a conflict in their order count. In prose, the examples in code blocks between fences do not.
    """
    if _BEGIN not in text or _END not in text:
        return None
    found = list(_list_conflicts(text, is_prose=is_prose))
    if not found:
        return None
    first, *others = (Place(file, range=span) for conflict in found for span in conflict)
    related = tuple((place, text[slice(*place.range)] if place.range else "") for place in others[:_MOST])
    return Fault(TOPIC, first, facts={"count": len(found)}, related=related)


def _list_conflicts(text: str, *, is_prose: bool) -> Iterator[list[Span]]:
    """Yield the spans of the markers of each conflict.

    Both sides of a conflict may have a fence: only the first side says whether the text below is in a code block.
    """
    fence = ""
    marks: list[str] = []
    spans: list[Span] = []
    for line in _LINE.finditer(text):
        mark = line["mark"]
        if mark is None:
            fence = _move(fence, line["fence"], line["info"]) if is_prose and marks in ([], [_BEGIN]) else fence
        elif mark == _BEGIN:
            is_one = (marks or not fence) and line["label"] not in _OF_EDITS
            marks, spans = ([mark], [line.span("mark")]) if is_one else ([], [])
        elif marks in _BEFORE[mark]:
            if mark == _MIDDLE and line["label"]:
                continue
            marks, spans = [*marks, mark], [*spans, line.span("mark")]
            if mark == _END:
                yield spans
                marks, spans = [], []
        elif mark == _END:
            marks, spans = [], []


_BEFORE = {
    _BASE: ([_BEGIN],),
    _MIDDLE: ([_BEGIN], [_BEGIN, _BASE]),
    _END: ([_BEGIN, _MIDDLE], [_BEGIN, _BASE, _MIDDLE]),
}
"""The markers that a conflict has before each of its others."""


def _move(fence: str, found: str, info: str) -> str:
    """Return the fence of the code block that the text below a fence is in, the empty text if it is in none."""
    if not fence:
        return "" if found[0] == "`" and "`" in info else found
    closes = found[0] == fence[0] and len(found) >= len(fence) and not info.strip()
    return "" if closes else fence


BOM = b"\xef\xbb\xbf"
CONFLICT = b"<<<<<<<"
"""The beginning of the first line of a conflict that git could not merge."""
_MARKDOWN = ".md"
_HEADS = 8 * 2**20
"""Bytes of small files that somebody has glanced at, and that are kept until they are read."""
_CLOSED = frozenset({"unreadable-file", "outside-project"})
"""The topics of faults that keep a file from being opened."""


class Sources:
    """The files of one project as trees, by their path relative to its root.

    `overlay` holds texts that stand for files, such as standard input; they win over what lies on disk. `hidden` files
    are taken for absent. `patterns` counts the regular expressions of all of them. `own_names` are names of tools
    and the like that the project adds to those that stagec knows, by list; `named` are the files and folders that a
    user named, without the project itself. `memo` has what front ends found out about the project, `kept` what earlier
    checks, of this project or another, found out about the same texts.
    """

    def __init__(
        self,
        root: Path,
        budgets: Budgets,
        overlay: Mapping[str, bytes] = NOTHING,
        hidden: frozenset[str] = frozenset(),
        kept: KeptAnswers | None = None,
    ) -> None:
        self.root = Path(observations.resolve(root))
        self.budgets = budgets
        self.patterns = PatternTally(budgets)
        self.named: tuple[str, ...] = ()
        self.own_names: Mapping[str, tuple[str, ...]] = NOTHING
        self.memo = Memo()
        self.kept = KeptAnswers() if kept is None else kept
        self._overlay = overlay
        self._hidden = hidden
        self._trees: dict[str, Tree | None] = {}
        self._folders = {"": str(self.root)}
        self._within = f"{str(self.root).rstrip('/')}/"
        self._heads: dict[str, bytes] = {}
        self._room = _HEADS

    def keep(self, question: object, answer: Callable[[], T]) -> T:
        """Return the answer to a question about texts and budgets, from an earlier check if there is one."""
        return self.kept.once((question, self.budgets), answer)

    @property
    def trees(self) -> tuple[Tree, ...]:
        """Every tree read so far, by file."""
        return tuple(tree for _, tree in sorted(self._trees.items()) if tree is not None)

    def tree(self, file: str, kind: str, room: int = 1) -> Tree | None:
        """Return the tree of a file, or None if there is no such file.

        `kind` and `room`, how many times larger than others it may be, count at the first reading.
        """
        if file not in self._trees:
            self._trees[file] = None if file in self._hidden else self._read(file, kind, room)
        return self._trees[file]

    def find_tree(self, file: str) -> Tree | None:
        """Return the tree of a file if it has been read."""
        return self._trees.get(file)

    def replace(self, tree: Tree) -> None:
        """Remember a tree with more facts in place of the one read."""
        self._trees[tree.file] = tree

    def forget(self, file: str) -> None:
        """Drop a tree that turned out to be none of the project's: no rule will judge it, unless somebody reads it."""
        self._trees.pop(file, None)

    def below(self, folder: str, suffix: str) -> tuple[str, ...]:
        """Return the files under a folder whose names end in a suffix, by path; links to folders are not followed.

        A folder that is named as prompts and stages are is among them: reading it says what it is.
        """
        inside = f"{folder}/" if folder else ""
        found = {file for file in self._overlay if file.startswith(inside) and file.endswith(suffix)}
        folders = [inside] if self.has_folder(folder) else []
        while folders:
            base = folders.pop()
            for entry in self._entries(base):
                if entry.is_folder and entry.name not in NEVER:
                    folders.append(f"{base}{entry.name}/")
                # whether what lies in a folder is a file with a suffix, or a folder in the place of a prompt or a stage
                if entry.is_folder:
                    is_meant = entry.name.endswith(_MARKDOWN) and _MARKDOWN.endswith(suffix)
                else:
                    leads_to_folder = entry.is_link and observations.is_folder(entry.path)
                    is_meant = entry.name.endswith(suffix) and not leads_to_folder
                if is_meant:
                    found.add(base + entry.name)
        return tuple(sorted(found - self._hidden))

    def _entries(self, folder: str) -> list[observations.FolderEntry]:
        """Return the entries of a folder; the walk through the project reports one that cannot be listed."""
        try:
            return observations.list_folder(f"{self.root}/{folder}")
        except OSError:
            return []

    def glance(self, file: str, most: int) -> bytes:
        """Return so many first bytes of a file, none where there is no file to read."""
        if file in self._hidden:
            return b""
        if file in self._overlay:
            return self._overlay[file][:most]
        if file in self._heads:
            return self._heads[file][:most]
        try:
            path, kind = self._resolve(file) if _nameable(file) else ("", 0)
            head = observations.read_head(path, most) if kind == stat.S_IFREG and self._holds(path) else b""
        except OSError:
            return b""
        if 0 < len(head) < min(most, self._room):  # that is the whole file, which need not be opened again
            self._heads[file] = head
            self._room -= len(head)
        return head

    def find_real_path(self, file: str) -> str:
        """Return the path in the project that leads to a file without a link; of one that is not there, its name."""
        try:
            real = self._resolve(file)[0] if _nameable(file) and file not in self._overlay else ""
        except OSError:
            return file
        return os.path.relpath(real, self.root) if real else file

    def _resolve(self, file: str) -> tuple[str, int]:
        """Return the real path of a file, and its type; its folder, in which many may lie, is resolved once."""
        given = f"{self.root}/{file}"
        folder, name = posixpath.split(file)
        real = self._find_folder(folder)
        if name not in {"", ".", ".."} and self._holds(real):
            kind = observations.find_type(given, follow=False)
            if kind != stat.S_IFLNK:
                return os.path.join(real, name), kind
        path = observations.resolve(given)
        return path, observations.find_type(given) if self._holds(path) else 0

    def _find_folder(self, folder: str) -> str:
        """Return the real path of a folder; each folder on the way to it is looked at once."""
        missing: list[str] = []
        while folder not in self._folders:
            missing.append(folder)
            folder = posixpath.dirname(folder) if _leads_down(folder) else ""
        found = self._folders[folder]
        for each in reversed(missing):
            found = self._folders[each] = self._enter(found, each)
        return found

    def _enter(self, above: str, folder: str) -> str:
        """Return the real path of a folder, if those around it really are in a folder `above`."""
        below = os.path.join(above, posixpath.basename(folder))
        try:
            is_there = _leads_down(folder) and observations.find_type(below, follow=False) != stat.S_IFLNK
        except OSError:
            is_there = False
        return below if is_there else observations.resolve(os.path.join(self.root, folder))

    def exists(self, file: str) -> bool:
        """Tell whether something has this name, be it only to learn why it cannot be read."""
        if file in self._hidden:
            return False
        if file in self._overlay:
            return True
        path = f"{self.root}/{file}"
        try:
            return _nameable(file) and bool(observations.find_type(path, follow=False))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True  # a folder on the way cannot be searched; reading it says so

    def is_closed(self, file: str) -> bool:
        """Tell whether a file is there and cannot be opened; its tree says why, and that of any other is not kept."""
        known = self.find_tree(file)
        if known is None and (self.glance(file, 1) or not self.exists(file)):
            return False
        tree = self.tree(file, "file")
        is_closed = tree is not None and any(fault.topic in _CLOSED for fault in tree.faults)
        if known is None and not is_closed:
            self.forget(file)
        return is_closed

    def has_folder(self, folder: str) -> bool:
        """Tell whether a folder is there, inside the project."""
        return (
            _nameable(folder) and self._holds(self._find_folder(folder)) and observations.is_folder(self.root / folder)
        )

    def _read(self, file: str, kind: str, room: int) -> Tree | None:
        form = format_of(file) or PLAIN
        if file in self._overlay:
            return self._parse(file, kind, form, self._overlay[file])
        try:
            data = self._bytes(file, room * self.budgets.file_size) if _nameable(file) else None
        except (FileNotFoundError, NotADirectoryError):
            data = self._dangling(file)
        except OSError as error:
            data = Fault("unreadable-file", Place(file), "system", {"error": error.strerror or type(error).__name__})
        if data is None:
            return None
        if isinstance(data, Fault):
            return Tree(file, kind, form, faults=(data,), readable=False)
        return self._parse(file, kind, form, data)

    def _parse(self, file: str, kind: str, form: Format, data: bytes) -> Tree:
        return self.keep(("tree", file, kind, data), lambda: _parse(file, kind, form, data, self.budgets))

    def _dangling(self, file: str) -> Fault | None:
        """Return the fault of a link to nothing; an absent name is no fault of its own."""
        try:
            facts = {"target": observations.read_link(self.root / file)}
        except OSError:
            return None
        return Fault("unreadable-file", Place(file), "dangling", facts)

    def _bytes(self, file: str, limit: int) -> bytes | Fault:
        head = self._heads.pop(file, b"")
        self._room += len(head)
        if 0 < len(head) <= limit:
            return head
        path, kind = self._resolve(file)
        if not self._holds(path):
            return Fault("outside-project", Place(file), "link", {"target": os.path.relpath(path, self.root)})
        if kind != stat.S_IFREG:  # opening a device may already do something
            return Fault("unreadable-file", Place(file), "not-regular")
        try:
            return observations.read_whole(path, limit)
        except OversizedError as error:
            return Fault("oversized-file", Place(file), facts={"size": error.size, "limit": limit})

    def _holds(self, real: str) -> bool:
        return real.startswith(self._within) or real == str(self.root)


def legible(data: bytes) -> bytes:
    """Return the recognisable part of a text, of UTF-16 or UTF-32 its ASCII: for messages, not for reading."""
    return data.strip(b"\xff\xfe").replace(b"\0", b"") if _is_wide(data) else data


def _is_wide(data: bytes) -> bool:
    """Tell whether bytes begin as UTF-16 or UTF-32 does: with its mark, or with two ASCII characters."""
    return data[:2] in {b"\xff\xfe", b"\xfe\xff"} or b"\0\0" in {data[:3:2], data[1:4:2]}


def _nameable(file: str) -> bool:
    """Tell whether a file can have such a name: short enough for a system, without NUL and lone surrogates."""
    try:
        name = os.fsencode(file)
    except UnicodeEncodeError:
        return False
    parts = (name,) if len(name) > _LONGEST_PATH else name.split(b"/")
    return b"\0" not in name and max(map(len, parts)) <= _LONGEST_NAME


_LONGEST_PATH, _LONGEST_NAME = 4_000, 255
"""Bytes; asking a system about a longer one fails, and resolving it first costs the square of its length."""


def _leads_down(folder: str) -> bool:
    """Tell whether a path leads from folder to folder below it, unless one is a link: what `..` means depends on links.

    Elsewhere than on POSIX a folder may lead away that is no link.
    """
    return os.name == "posix" and posixpath.normpath(folder) == folder and not folder.startswith(("/", ".."))


def join(folder: str, reference: str) -> str | None:
    """Return the project path that a relative reference in a folder means; none if it is empty or leads outside."""
    if not reference:
        return None
    path = posixpath.normpath(posixpath.join(folder, reference.replace("\\", "/")))
    return None if path.startswith(("../", "/")) or path == ".." else path


def _parse(file: str, kind: str, form: Format, data: bytes, budgets: Budgets) -> Tree:
    faults: tuple[Fault, ...] = ()
    if data.startswith(BOM):
        data = data[len(BOM) :]
        faults = (Fault("byte-order-mark", Place(file, range=(0, 0))),)
    if form is PLAIN and format_of(file) is None:
        form = format_of_content(data) or PLAIN
    broken = _encoding_fault(file, data)
    parsed = _parse_whole(file, form, data, budgets) if broken is None else Parsed(faults=(broken,))
    readable = parsed.value is not None or not parsed.faults
    is_silenced = readable and SIGN in data
    suppressions = form.take_suppressions(file, data, parsed.value) if is_silenced else ()
    return Tree(file, kind, form, data, parsed.value, (*faults, *parsed.faults), parsed.body, readable, suppressions)


def _parse_whole(file: str, form: Format, data: bytes, budgets: Budgets) -> Parsed:
    """Return the content of a text; of one with conflicts only the frontmatter is read, if they all are below it."""
    parsed = form.parse(file, data, budgets)
    is_prose = form is PLAIN or parsed.body is not None
    conflict = find_conflict(file, data.decode(), is_prose=is_prose) if CONFLICT in data else None
    if conflict is None or conflict.at.range is None:
        return parsed
    is_below = parsed.value is not None and parsed.body is not None and parsed.body[0] <= conflict.at.range[0]
    return replace(parsed, faults=(*parsed.faults, conflict)) if is_below else Parsed(faults=(conflict,))


def _encoding_fault(file: str, data: bytes) -> Fault | None:
    is_wide = _is_wide(data)
    if data.isascii() and not is_wide:
        return None
    try:
        data.decode()
    except UnicodeDecodeError as error:
        start = error.start
    else:
        start = data.find(b"\0") if is_wide else -1
    if start < 0:
        return None
    at = len(data[:start].decode())
    facts = {"byte": data[start], "offset": start}
    return Fault("not-utf8", Place(file, range=(at, at + 1)), "utf16" if is_wide else "byte", facts)


def revise(given: Json, edits: Iterable[Edit]) -> Json:
    """Return a value with edits made; indexes and names are those before any of them.

    Raises ValueError for a place that is not there.
    """
    root: list[Any] = [deepcopy(given)]
    for edit in sorted(edits, key=_rank, reverse=True):
        *way, last = 0, *edit.at.pointer
        holder: Any = root
        for key in way:
            holder = holder[key] if _has(holder, key) else None
        if not _is_possible(holder, last, edit.change):
            raise ValueError(f"nothing at {edit.at.pointer} can be changed by {edit.change}")
        _make(holder, last, edit)
    revised: Json = root[0]
    return revised


def _rank(edit: Edit) -> tuple[int, int, bool]:
    """Rank edits so that the last can be made first: deep before shallow, late before early, taking before adding."""
    last = edit.at.pointer[-1:]
    index = last[0] if last and isinstance(last[0], int) else 0
    return len(edit.at.pointer), index, edit.change is not Change.INSERT


def _is_possible(holder: object, key: Key, change: Change) -> bool:
    if change is not Change.INSERT:
        return _has(holder, key)
    return isinstance(holder, list) if isinstance(key, int) else isinstance(holder, dict) and key not in holder


def _make(holder: Any, key: Key, edit: Edit) -> None:
    match edit.change:
        case Change.REPLACE:
            holder[key] = edit.value
        case Change.RENAME:
            if _has(holder, str(edit.value)) or not isinstance(holder, dict):
                raise ValueError(f"{key} cannot be called {edit.value}")
            holder[str(edit.value)] = holder.pop(key)
        case Change.REMOVE:
            del holder[key]
        case Change.INSERT if isinstance(holder, list):
            holder.insert(int(key), edit.value)
        case Change.INSERT:
            holder[key] = edit.value
        case _:
            raise ValueError(f"{edit.change} is a change of prose")


def _has(holder: object, key: Key) -> bool:
    if isinstance(holder, list):
        return isinstance(key, int) and 0 <= key < len(holder)
    return isinstance(holder, dict) and key in holder

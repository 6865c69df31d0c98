"""Bundled tools for files: read, write, edit, find by name, find by content; all of them inside one folder."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from time import monotonic

from stagec.core.bounded import OversizedError, read_stream
from stagec.core.disk import open_folder
from stagec.core.failure import Failure
from stagec.core.folders import descriptor_of, enter_folder, open_file
from stagec.core.json import Json, Object
from stagec.core.value import NOTHING, replace, value
from stagec.core.words import quote
from stagec.runtime.world.request_json import ToolDefinition
from stagec.runtime.world.tools.toolbox import ToolError, read_count, read_text
from stagec.sources.project.toml import parse

_OWN = {".git": "the data of git", ".hg": "the data of a repository", ".svn": "the data of a repository"}
_STAGEC = ".stagec"
_REPORTS = "reports"
_KEPT_OF_STAGES = {"checkpoints", ".attempts", "run.log"}
_RUN = ".run"
_BESIDE_RUNS = (".run.messages", ".run.commands", ".run-wal", ".run-shm", ".run-journal")
_OWN_FILE, _SHARED = "stagec.toml", "pyproject.toml"
_FIXED = {_OWN_FILE: "the configuration of stagec", "tools.lock.json": "the lock of the tools"}
_GIT_FOLDER = ("HEAD", "objects", "refs")
"""The entries by which a folder of git's data is known, whatever its name."""
_MOST = 100_000
"""Files of protected places that are looked at for the other name of a file."""
RUNS = "the runs of stagec"


_Identity = tuple[int, int]


class ProtectedError(Exception):
    """A file or a folder that no tool may use so; `str()` is a clause that follows its path."""


@value
class Protection:
    """The places that tools may not use (`hidden`), and the files and folders that they may not write (`fixed`).

    Each has words for what it is. What does not exist yet is protected all the same. Only a folder of runs may hold the
    working folder: of what lies directly in it, runs are protected.
    """

    hidden: Mapping[str, str] = NOTHING
    fixed: Mapping[str, str] = NOTHING

    def extend(self, fixed: Iterable[str], what: str) -> Protection:
        """Return a protection with more that may not be written."""
        return replace(self, fixed={**self.fixed, **dict.fromkeys(fixed, what)})


class ProtectedPlaces:
    """Tells for a working folder what in it is protected; of the disk nothing is remembered: places come and go."""

    def __init__(self, root: str, protection: Protection) -> None:
        self._root = os.path.realpath(root)
        self._hidden = {os.path.realpath(each): what for each, what in protection.hidden.items()}
        self._fixed = {os.path.realpath(each): what for each, what in protection.fixed.items()}

    def check_root(self) -> None:
        """Raise `ProtectedError` for a working folder that is or lies in what tools may not use."""
        real = _fold_path(self._root)
        inside = (what for place, what in self._hidden.items() if what != RUNS and _is_below(real, _fold_path(place)))
        what = next((each for each in map(_name_place, real.split("/")) if each is not None), next(inside, None))
        if what is not None:
            raise ProtectedError(f"belongs to {what}, which tools may not use")

    def check_path(self, path: str, *, writes: bool) -> None:
        """Raise `ProtectedError` for a real path, relative to the working folder, by its names."""
        names = [] if path == os.curdir else [_fold(each) for each in path.split(os.sep)]
        root = _fold_path(self._root)
        whole = "/".join((root.rstrip("/"), *names))
        what = next((each for each in map(_name_place, names) if each is not None), None)
        if what is None and any(_is_of_stages(names[: at + 1]) for at in range(len(names))):
            what = "checkpoints and attempts of stages"
        for place, known in self._hidden.items() if what is None else ():
            above = _fold_path(place)
            if _is_below(root, above):
                what = known if len(names) == 1 and root == above and names[0].endswith(_RUN) else what
            elif _is_below(whole, above):
                what = known
        if what is not None:
            raise ProtectedError(f"belongs to {what}, which tools may not use")
        if writes and names:
            self._check_fixed(whole, names[-1])

    def _check_fixed(self, whole: str, name: str) -> None:
        inside = (what for place, what in self._fixed.items() if _is_below(whole, _fold_path(place)))
        what = _FIXED.get(name) or next(inside, None)
        if what is not None:
            raise ProtectedError(f"belongs to {what}, which tools may not change")

    def is_shared(self, name: str) -> bool:
        """Tell whether a file has the configuration of stagec beside that of others."""
        return _fold(name) == _SHARED

    def check_shared(self, before: bytes, after: bytes) -> None:
        """Raise `ProtectedError` for a file that others share with stagec, if the part of stagec would be another."""
        if _read_own_part(before) != _read_own_part(after):
            raise ProtectedError(f"has {_FIXED[_OWN_FILE]} in [tool.stagec], which tools may not change")

    def check_folder(self, descriptor: int) -> None:
        """Raise `ProtectedError` for an opened folder, by what it is: its names may hide that."""
        what = self._find(self._hidden, os.fstat(descriptor))
        if what is not None and not self._is_root_or_above(os.fstat(descriptor)):
            raise ProtectedError(f"belongs to {what}, which tools may not use")
        if all(_exists(name, descriptor) for name in _GIT_FOLDER):
            raise ProtectedError("belongs to the data of git, which tools may not use")

    def check_file(self, status: os.stat_result, *, writes: bool) -> None:
        """Raise `ProtectedError` for a file, by what it is, also under another name of it."""
        what = self._find(self._hidden, status)
        if what is None and writes:
            what = self._find(self._fixed, status)
        if what is None and stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            what = self._find_other_name(status)
        if what is not None:
            raise ProtectedError(f"is another name of {what}, which tools may not use")

    def _find(self, places: Mapping[str, str], status: os.stat_result) -> str | None:
        own = _identify(status)
        return next((what for place, what in places.items() if own == _identify_path(place)), None)

    def _is_root_or_above(self, status: os.stat_result) -> bool:
        above = [self._root, *map(str, Path(self._root).parents)]
        return _identify(status) in {_identify_path(each) for each in above}

    def _find_other_name(self, status: os.stat_result) -> str | None:
        """Return in which protected place another name of a file lies; one with too many files counts as such."""
        own, left = _identify(status), _MOST
        above = (self._root, *map(str, Path(self._root).parents))
        git = {os.path.join(each, ".git"): "the data of git" for each in above}
        for place, what in {**self._hidden, os.path.join(self._root, _STAGEC): RUNS, **git}.items():
            at_root = os.path.realpath(place) == self._root
            for name, other in _list_files(place):
                left -= 1
                if left < 0 or (other == own and (not at_root or _RUN in _fold(name))):
                    return what
        return None


def _read_own_part(data: bytes) -> object:
    """Return the configuration of stagec in a `pyproject.toml`; of one that cannot be read, all of it."""
    if b"stagec" not in data:  # nearly every one, and only such a file counts
        return None
    try:
        tools = parse(_SHARED, data.decode("utf-8-sig")).get("tool")
    except (Failure, UnicodeDecodeError):
        return data
    return tools.get("stagec") if isinstance(tools, dict) else None


def _name_place(name: str) -> str | None:
    """Return the name of a folder or a file that is protected wherever it lies, given its folded name; else None."""
    return RUNS if name == _STAGEC or name.endswith(_BESIDE_RUNS) else _OWN.get(name)


def _is_of_stages(names: list[str]) -> bool:
    """Tell whether a path ends with `reports/TITLE/RUN/checkpoints`, or with another place in which stages are kept."""
    return names[-4:-3] == [_REPORTS] and names[-1] in _KEPT_OF_STAGES


def _is_below(path: str, place: str) -> bool:
    return path == place or path.startswith(place.rstrip("/") + "/")


def _fold(name: str) -> str:
    """Return the common form of all names that some file system takes for the same."""
    if name.isascii():
        return name.lower().rstrip(". ") or name
    kept = "".join(each for each in name if unicodedata.category(each) != "Cf")
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", kept).casefold()).rstrip(". ") or name


def _fold_path(path: str) -> str:
    return "/".join(map(_fold, path.split(os.sep)))


def _identify(status: os.stat_result) -> _Identity:
    return status.st_dev, status.st_ino


def _identify_path(path: str, *, follow: bool = True) -> _Identity | None:
    try:
        return _identify(os.stat(path, follow_symlinks=follow))
    except (OSError, ValueError):
        return None


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return True


def _list_files(place: str) -> Iterator[tuple[str, _Identity | None]]:
    """Yield the name of each file in a place, or of the file that it is, and what it is."""
    if os.path.isfile(place):
        yield os.path.basename(place), _identify_path(place)
    for folder, _, names in os.walk(place):
        yield from ((name, _identify_path(os.path.join(folder, name), follow=False)) for name in names)


_LONGEST = 1_000
"""Characters of a pattern."""
_ANY = "**"


class NamePattern:
    """One pattern; what matching costs is bounded by the product of both lengths, whatever a model writes."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ToolError(f"the pattern has more than {_LONGEST:,} characters")
        self._parts = tuple(text.split("/"))

    def matches(self, path: str) -> bool:
        """Tell whether a path, whose names are separated by `/`, is meant."""
        parts, states = self._parts, self._skip({0})
        for name in path.split("/"):
            moved = {at for at in states if at < len(parts) and parts[at] == _ANY}
            moved |= {at + 1 for at in states if at < len(parts) and parts[at] != _ANY and _fits(parts[at], name)}
            states = self._skip(moved)
        return len(parts) in states

    def _skip(self, states: set[int]) -> set[int]:
        """Add the states behind folders of which there may be none."""
        found = set(states)
        for at in sorted(states):
            after = at
            while after < len(self._parts) and self._parts[after] == _ANY:
                after += 1
                found.add(after)
        return found


def _fits(pattern: str, name: str) -> bool:
    """Tell whether one name fits a part of a pattern; only the last star is ever tried again."""
    at = position = 0
    star, mark = -1, 0
    while position < len(name):
        if at < len(pattern) and pattern[at] == "*":
            star, mark, at = at, position, at + 1
        elif at < len(pattern) and pattern[at] in {"?", name[position]}:
            at, position = at + 1, position + 1
        elif star >= 0:
            mark += 1
            at, position = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")


_SKIPPED = {"node_modules", "__pycache__", ".venv"}
"""Folders that no search enters, beside those that no tool may use."""
_FOLDER_MODE = 0o777


@value
class FolderLimits:
    """Bytes of a file that is read or written, files and folders that a search looks at, and its seconds."""

    size: int = 10_000_000
    entries: int = 100_000
    seconds: float = 30


class WorkingFolder:
    """Looks names up one by one in opened folders: a link that appears meanwhile is refused, and never followed.

    Links that were there before may lead to other places in the folder. `OSError`, `ValueError` and `ToolError` say why
    something cannot be done.
    """

    def __init__(self, root: Path, limits: FolderLimits, protection: Protection) -> None:
        self._root = os.path.realpath(root)
        self._places = ProtectedPlaces(self._root, protection)
        self.limits = limits
        try:
            self._places.check_root()
        except ProtectedError as error:
            raise Failure(f"--tools-in {quote(root)} {error}") from error

    def locate(self, given: str, *, writes: bool = False) -> str:
        """Return the real target of a path, relative to the folder; refuse one that leads out, or is protected."""
        real = os.path.realpath(os.path.join(self._root, given))
        path = os.path.relpath(real, self._root)
        if path == os.pardir or path.startswith(os.pardir + os.sep):
            raise ToolError(f"{quote(given)} lies outside the working folder")
        try:
            self._places.check_path(path, writes=writes)
        except ProtectedError as error:
            raise ToolError(f"{quote(given)} {error}") from error
        return path

    def read(self, path: str) -> bytes:
        """Return the bytes of a regular file."""
        with open_folder(self._root) as top, open(open_file(top, path, self._admit), "rb", buffering=0) as file:
            self._check_file(os.fstat(file.fileno()), writes=False)
            return read_stream(file, self.limits.size)

    def write(self, path: str, data: bytes, before: bytes | None = None) -> None:
        """Write a file with its folders, as a whole; with `before`, only if the file still has these bytes."""
        if len(data) > self.limits.size:
            raise ToolError(f"the file would have more than {self.limits.size:,} bytes")
        folder, name = os.path.split(path)
        with (
            open_folder(self._root) as top,
            enter_folder(top, folder, make=True, mode=_FOLDER_MODE, admit=self._admit) as opened,
        ):
            status = opened.status(name)
            if status is not None:
                self._check_file(status, writes=True)
            if before is not None and self.read(path) != before:
                raise ToolError("the file has changed meanwhile")
            if self._places.is_shared(name):
                self._check_shared(path, self.read(path) if status is not None else b"", data)
            opened.replace(name, data)

    def _check_shared(self, path: str, before: bytes, after: bytes) -> None:
        try:
            self._places.check_shared(before, after)
        except ProtectedError as error:
            raise ToolError(f"{quote(path)} {error}") from error

    def _admit(self, descriptor: int) -> None:
        """Refuse an opened folder that is protected, whatever it is called."""
        try:
            self._places.check_folder(descriptor)
        except ProtectedError as error:
            raise ToolError(f"its folder {error}") from error

    def _check_file(self, status: os.stat_result, *, writes: bool) -> None:
        try:
            self._places.check_file(status, writes=writes)
        except ProtectedError as error:
            raise ToolError(f"the file {error}") from error

    def walk(self, base: str) -> Iterator[str]:
        """Yield the regular files below a folder, or a file itself, in the order of their paths."""
        if os.path.isfile(os.path.join(self._root, base)):
            yield base
            return
        end, count = monotonic() + self.limits.seconds, 0
        left = ["" if base == os.curdir else base + "/"]
        while left:
            path = left.pop()
            if monotonic() > end:
                raise ToolError(f"the search takes more than {self.limits.seconds:g} seconds: name a folder")
            if not path.endswith("/") and path:
                yield path
                continue
            names = self._list(path.rstrip("/"))
            count += len(names)
            if count > self.limits.entries:
                raise ToolError(f"there are more than {self.limits.entries:,} files and folders: name a folder")
            left += sorted((path + each for each in names), reverse=True)

    def _list(self, folder: str) -> list[str]:
        """Return the regular files in a folder, and its folders with a slash; nothing of one that cannot be listed."""
        try:
            with (
                open_folder(self._root) as top,
                enter_folder(top, folder, admit=self._admit) as opened,
                os.scandir(descriptor_of(opened)) as found,
            ):
                return [each for each in _name_entries(found) if self._is_free(os.path.join(folder, each.rstrip("/")))]
        except (OSError, ToolError):
            return []

    def _is_free(self, path: str) -> bool:
        try:
            self._places.check_path(path, writes=False)
        except ProtectedError:
            return False
        return True


def _name_entries(found: Iterator[os.DirEntry[str]]) -> Iterator[str]:
    for each in found:
        if each.is_dir(follow_symlinks=False):
            if each.name not in _SKIPPED:
                yield each.name + "/"
        elif each.is_file(follow_symlinks=False):
            yield each.name


_SHOWN = 1_000
"""Names and lines that a search returns."""
_LINES = 2_000
"""Lines that are read unless somebody asks for more or fewer, and characters of a line that a search shows."""
_HEAD = 8_192
"""Bytes at the beginning of a file among which a text has no NUL."""


@value
class FileTool:
    """One bundled tool: its definition, and what it does with a folder and arguments."""

    definition: ToolDefinition
    act: Callable[[WorkingFolder, Object], Json]


class FileTools:
    """Carries out the bundled tools for files inside a folder; links out of it and protected places are refused."""

    def __init__(self, root: Path, limits: FolderLimits | None = None, protection: Protection | None = None) -> None:
        self._folder = WorkingFolder(root, limits or FolderLimits(), protection or Protection())
        self.names = tuple(each.definition.name for each in _TOOLS.values())

    def define(self, name: str) -> ToolDefinition | None:
        """Return a tool; its name may begin with a small letter."""
        found = _TOOLS.get(name.lower())
        return None if found is None or name not in {found.definition.name, name.lower()} else found.definition

    def call(self, _key: str, tool: str, arguments: Object) -> Json:
        """Return the result of a tool, or raise `ToolError`."""
        try:
            return _TOOLS[tool.lower()].act(self._folder, arguments)
        except OversizedError as error:
            raise ToolError(f"it {error}") from error
        except (OSError, ValueError) as error:
            raise ToolError(getattr(error, "strerror", None) or str(error)) from error

    def cancel(self, key: str) -> None:
        """Let a call end by itself: it has little time."""

    def close(self) -> None:
        """Hold nothing open."""


_PATH = "A path, relative to the working folder"
_Act = Callable[[WorkingFolder, Object], Json]
_TOOLS: dict[str, FileTool] = {}
"""The tools by their names in small letters."""


def _tool(name: str, effects: str, description: str, **arguments: str) -> Callable[[_Act], _Act]:
    """Make a function a tool; an argument whose description ends with `?` is optional."""
    kinds = {"offset": "integer", "limit": "integer", "replace_all": "boolean"}
    properties: Mapping[str, Json] = {
        each: {"type": kinds.get(each, "string"), "description": told.removesuffix("?")}
        for each, told in arguments.items()
    }
    required = [each for each, told in arguments.items() if not told.endswith("?")]
    schema: Object = {"type": "object", "properties": properties, "required": required}

    def add(act: _Act) -> _Act:
        _TOOLS[name.lower()] = FileTool(ToolDefinition(name, description, schema, effects, "bundled"), act)
        return act

    return add


@_tool("Read", "read", "Read a text file.", path=_PATH, offset="The first line, from 1?", limit="How many lines?")
def _read(folder: WorkingFolder, arguments: Object) -> Json:
    given = read_text(arguments, "path", "file_path")
    data = folder.read(folder.locate(given))
    if b"\0" in data[:_HEAD]:
        raise ToolError(f"{quote(given)} is not text: it has {len(data):,} bytes, with NUL among them")
    begin, count = read_count(arguments, "offset", 1) or 1, read_count(arguments, "limit", _LINES)
    lines = data.decode("utf-8", errors="replace").splitlines()
    shown = lines[begin - 1 : begin - 1 + count]
    left = len(lines) - (begin - 1) - len(shown)
    return "\n".join((*shown, f"[{left:,} more lines]") if left > 0 else shown)


@_tool("Write", "mutating", "Write a file, or replace it.", path=_PATH, content="All of its text")
def _write(folder: WorkingFolder, arguments: Object) -> Json:
    path, text = folder.locate(read_text(arguments, "path", "file_path"), writes=True), read_text(arguments, "content")
    folder.write(path, text.encode())
    return f"wrote {len(text.encode()):,} bytes to {path}"


@_tool(
    "Edit",
    "mutating",
    "Replace a text in a file, which must be there exactly once.",
    path=_PATH,
    old_string="The text as it is",
    new_string="The text as it is to be",
    replace_all="Replace it wherever it is?",
)
def _edit(folder: WorkingFolder, arguments: Object) -> Json:
    path = folder.locate(read_text(arguments, "path", "file_path"), writes=True)
    old, new = read_text(arguments, "old_string", "old"), read_text(arguments, "new_string", "new")
    data, is_everywhere = folder.read(path), arguments.get("replace_all") is True
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ToolError("the file is not UTF-8: an edit would change more than the old text") from error
    found = text.count(old) if old else 0
    if found == 0:
        raise ToolError("the old text is not in the file")
    if found > 1 and not is_everywhere:
        raise ToolError(f"the old text occurs {found} times in the file: give more of it, or set 'replace_all'")
    if len(text) + found * (len(new) - len(old)) > folder.limits.size:
        raise ToolError(f"the file would have more than {folder.limits.size:,} bytes")
    folder.write(path, text.replace(old, new).encode(), data)
    return f"replaced {found} in {path}"


@_tool("Glob", "read", "Find files by name.", pattern="A pattern such as src/**/*.py", path="Where to search?")
def _find_names(folder: WorkingFolder, arguments: Object) -> Json:
    pattern = NamePattern(read_text(arguments, "pattern"))
    base = folder.locate(read_text(arguments, "path", default="."))
    return _list(each for each in folder.walk(base) if pattern.matches(_name_below(base, each)))


@_tool(
    "Grep",
    "read",
    "Find lines that have a text in them.",
    pattern="The text, which is no regular expression",
    path="Where to search?",
    glob="Which files, by name?",
)
def _find_lines(folder: WorkingFolder, arguments: Object) -> Json:
    wanted = read_text(arguments, "pattern", "text")
    base, only = folder.locate(read_text(arguments, "path", default=".")), read_text(arguments, "glob", default="**")
    names = NamePattern(only if "/" in only or only == "**" else f"**/{only}")
    files = (each for each in folder.walk(base) if each == base or names.matches(_name_below(base, each)))
    return _list(line for each in files for line in _match(folder, each, wanted))


def _match(folder: WorkingFolder, file: str, wanted: str) -> Iterator[str]:
    """Yield `file:line: text` for each line that has a text in it; what cannot be read, or is no text, has none."""
    try:
        data = folder.read(file)
    except (OSError, OversizedError, ToolError):
        return
    if b"\0" in data[:_HEAD]:
        return
    for number, line in enumerate(data.decode("utf-8", errors="replace").splitlines(), 1):
        if wanted in line:
            yield f"{file}:{number}: {line[:_LINES]}"


def _name_below(base: str, path: str) -> str:
    return path if base == "." else path.removeprefix(base + "/")


def _list(found: Iterable[str]) -> str:
    """Return as many lines as are shown; a file may have a name that is no text."""
    lines = [each.encode(errors="surrogateescape").decode(errors="replace") for each in islice(found, _SHOWN + 1)]
    if not lines:
        return "nothing is found"
    return "\n".join((*lines[:_SHOWN], "[there is more]") if len(lines) > _SHOWN else lines)

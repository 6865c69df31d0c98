"""Bundled tools for files: read, write, edit, find by name, find by content; all of them inside one folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from stagec.core.bounded import OversizedError, read_path
from stagec.core.disk import leads_out, make_folder, write_inside
from stagec.core.json import Json, Object
from stagec.core.value import value
from stagec.core.words import quote
from stagec.world.briefing import ToolDefinition
from stagec.world.tools.toolbox import ToolError, read_count, read_text

_MOST_BYTES = 10_000_000
_MOST_FILES = 100_000
"""Files that a search looks at."""
_SHOWN = 1_000
"""Names and lines that a search returns."""
_LINES = 2_000
"""Lines that are read unless somebody asks for more or fewer."""
_SKIPPED = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".stagec"}
"""Folders that no search enters."""


@value
class FileTool:
    """One bundled tool: its definition, and what it does with a folder and arguments."""

    definition: ToolDefinition
    act: Callable[[Path, Object], Json]


class FileTools:
    """Carries out the bundled tools for files inside a folder; links that lead out of it are refused."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))

    def define(self, name: str) -> ToolDefinition | None:
        """Return a tool; its name may begin with a small letter."""
        found = _TOOLS.get(name.lower())
        return None if found is None or name not in {found.definition.name, name.lower()} else found.definition

    def call(self, _key: str, tool: str, arguments: Object) -> Json:
        """Return what a tool finds, or raise `ToolError`."""
        try:
            return _TOOLS[tool.lower()].act(self._root, arguments)
        except OversizedError as error:
            raise ToolError(f"it {error}") from error
        except (OSError, ValueError) as error:
            raise ToolError(getattr(error, "strerror", None) or str(error)) from error

    def cancel(self, key: str) -> None:
        """Let a call end by itself: it takes no long time."""

    def close(self) -> None:
        """Hold nothing open."""


def _locate(root: Path, given: str) -> str:
    """Return a path relative to the folder; refuse one that leads out of it."""
    path = os.path.relpath(given, root) if os.path.isabs(given) else os.path.normpath(given)
    if leads_out(root, path):
        raise ToolError(f"{quote(given)} lies outside of the working folder")
    return path


def _read_text(root: Path, path: str) -> str:
    if not os.path.isfile(root / path):
        raise ToolError(f"{quote(path)} is no file")
    return read_path(root / path, _MOST_BYTES).decode("utf-8", errors="replace")


def _read(root: Path, arguments: Object) -> Json:
    text = _read_text(root, _locate(root, read_text(arguments, "path", "file_path")))
    begin, count = read_count(arguments, "offset", 1) or 1, read_count(arguments, "limit", _LINES)
    lines = text.splitlines()
    shown = lines[begin - 1 : begin - 1 + count]
    left = len(lines) - (begin - 1) - len(shown)
    return "\n".join((*shown, f"[{left:,} more lines]") if left > 0 else shown)


def _write(root: Path, arguments: Object) -> Json:
    path, text = _locate(root, read_text(arguments, "path", "file_path")), read_text(arguments, "content")
    make_folder((root / path).parent)
    write_inside(root, path, text.encode())
    return f"wrote {len(text.encode()):,} bytes to {path}"


def _edit(root: Path, arguments: Object) -> Json:
    path = _locate(root, read_text(arguments, "path", "file_path"))
    old, new = read_text(arguments, "old_string", "old"), read_text(arguments, "new_string", "new")
    text = _read_text(root, path)
    found = text.count(old) if old else 0
    if found == 0:
        raise ToolError("the old text is not in the file")
    if found > 1 and arguments.get("replace_all") is not True:
        raise ToolError(f"the old text is {found} times in the file: give more of it, or set 'replace_all'")
    write_inside(root, path, text.replace(old, new).encode())
    return f"replaced {found if arguments.get('replace_all') is True else 1} in {path}"


def _find_names(root: Path, arguments: Object) -> Json:
    pattern = translate_glob(read_text(arguments, "pattern"))
    base = _locate(root, read_text(arguments, "path", default="."))
    found = [each for each in _walk(root, base) if pattern.fullmatch(os.path.relpath(each, base))]
    return _list(sorted(found))


def _find_lines(root: Path, arguments: Object) -> Json:
    wanted = read_text(arguments, "pattern", "text")
    base, only = _locate(root, read_text(arguments, "path", default=".")), read_text(arguments, "glob", default="**")
    names = translate_glob(only if "/" in only or only == "**" else f"**/{only}")
    files = (each for each in _walk(root, base) if names.fullmatch(os.path.relpath(each, base)) or each == base)
    return _list([*_match(root, files, wanted)])


def _match(root: Path, files: Iterator[str], wanted: str) -> Iterator[str]:
    """Yield `file:line: text` for each line that has a text in it, as many as are shown."""
    count = 0
    for file in sorted(files):
        try:
            text = read_path(root / file, _MOST_BYTES)
        except (OSError, OversizedError):
            continue  # what cannot be read has no lines that could be shown
        for number, line in enumerate(text.decode("utf-8", errors="replace").splitlines(), 1):
            if wanted in line:
                count += 1
                yield f"{file}:{number}: {line[:_LINES]}"
            if count > _SHOWN:
                return


def _walk(root: Path, base: str) -> Iterator[str]:
    """Yield the files below a folder by their paths from the root, without following links."""
    if os.path.isfile(root / base):
        yield base
        return
    count = 0
    for folder, folders, files in os.walk(root / base):
        folders[:] = sorted(each for each in folders if each not in _SKIPPED)
        for each in files:
            count += 1
            if count > _MOST_FILES:
                raise ToolError(f"there are more than {_MOST_FILES:,} files: name a folder")
            if not os.path.islink(os.path.join(folder, each)):
                yield os.path.relpath(os.path.join(folder, each), root)


def _list(found: list[str]) -> str:
    if not found:
        return "nothing is found"
    return "\n".join((*found[:_SHOWN], "[there is more]") if len(found) > _SHOWN else found)


def translate_glob(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a pattern: `**` for any folders, `*` and `?` inside one name."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(parts.get(each, re.escape(each)) for each in pieces), re.DOTALL)


def _define(name: str, effects: str, description: str, **arguments: str) -> ToolDefinition:
    """Return the definition of a tool; an argument whose description ends with `?` is optional."""
    kinds = {"offset": "integer", "limit": "integer", "replace_all": "boolean"}
    properties: Mapping[str, Json] = {
        each: {"type": kinds.get(each, "string"), "description": told.removesuffix("?")}
        for each, told in arguments.items()
    }
    required = [each for each, told in arguments.items() if not told.endswith("?")]
    schema: Object = {"type": "object", "properties": properties, "required": required}
    return ToolDefinition(name, description, schema, effects, "bundled")


_PATH = "A path, relative to the working folder"
_EVERY = (
    FileTool(
        _define(
            "Read", "read", "Read a text file.", path=_PATH, offset="The first line, from 1?", limit="How many lines?"
        ),
        _read,
    ),
    FileTool(
        _define("Write", "mutating", "Write a file, or replace it.", path=_PATH, content="All of its text"), _write
    ),
    FileTool(
        _define(
            "Edit",
            "mutating",
            "Replace a text in a file, which must be there exactly once.",
            path=_PATH,
            old_string="The text as it is",
            new_string="The text as it is to be",
            replace_all="Replace it wherever it is?",
        ),
        _edit,
    ),
    FileTool(
        _define(
            "Glob", "read", "Find files by name.", pattern="A pattern such as src/**/*.py", path="Where to search?"
        ),
        _find_names,
    ),
    FileTool(
        _define(
            "Grep",
            "read",
            "Find lines that have a text in them.",
            pattern="The text, which is no regular expression",
            path="Where to search?",
            glob="Which files, by name?",
        ),
        _find_lines,
    ),
)
_TOOLS: Mapping[str, FileTool] = {each.definition.name.lower(): each for each in _EVERY}

"""The files of the project that a plan names and that are not there: inputs, and the scripts of `run`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from stagec.core.value import replace
from stagec.frontends.envelopes.document import Envelope, InputKind, StagePlan
from stagec.sources.read import Sources, join

_FLAGS = {"python": "uBOEsSIbqvdiP", "sh": "euxvnf", "node": "", "ruby": "w", "perl": "wTt", "php": "", "Rscript": ""}
"""Interpreters whose first argument is a file, and their options of one letter that take no value."""
_INTERPRETER = re.compile(r"(?P<python>pythonw?[\d.]*)|(?P<sh>sh|bash|dash|zsh|ksh)|node|ruby|perl|php|Rscript")
_EXPANDED = re.compile(r"[$~*{}%<>\\]|://")
"""What somebody may replace before a program is started: variables, home folders, patterns."""
_INSTALLED = re.compile(r"\.[^./]|(node_modules|venv|env|__pypackages__)/")
"""Folders that a tool fills, such as `.venv/`: they are not part of a project as it is checked out."""


def mark_missing(plan: StagePlan, sources: Sources) -> StagePlan:
    """Return a plan that knows which of the files that it names are not there."""
    named = (*_list_inputs(plan.envelopes), *(script for each in plan.envelopes if (script := find_script(each.run))))
    paths = dict.fromkeys(path for path in named if _is_certain(path))
    folders = tuple(_list_folders(plan.file)) if paths else ()
    missing = frozenset(path for path in paths if not _is_there(sources, folders, path))
    return replace(plan, missing=missing) if missing else plan


def find_script(words: tuple[str, ...]) -> str | None:
    """Return the file of a command line that is to be executed; none for programs that a system finds by their name."""
    place = locate_script(words)
    return None if place is None else words[place]


def locate_script(words: tuple[str, ...]) -> int | None:
    """Return which word of a command line is the file that is to be executed.

    It is the first word if that is a path, or the first argument of a known interpreter: `python x.py`.
    """
    found = _INTERPRETER.fullmatch(posixpath.basename(words[0])) if words else None
    if words and "/" in words[0] and (found is None or _is_certain(words[0])):
        return 0
    if found is None:
        return None
    flags = _FLAGS[found.lastgroup or found[0]]
    place = 1
    while place < len(words) and flags and re.fullmatch(f"-[{flags}]+", words[place]):
        place += 1
    word = words[place] if place < len(words) else "-"
    is_file = "/" in word or posixpath.splitext(word)[1] != ""
    return place if is_file and not word.startswith("-") else None


def _list_inputs(envelopes: Iterable[Envelope]) -> Iterator[str]:
    for stage in envelopes:
        for each in stage.inputs.odd.values():
            if each.kind is InputKind.FILE:
                yield each.path


def _is_certain(path: str) -> bool:
    """Tell whether a path means a file of the project as it stands there."""
    return not path.startswith("/") and _EXPANDED.search(path) is None and _INSTALLED.match(path) is None


def _list_folders(file: str) -> Iterator[str]:
    """Yield the folders in which a run may execute: that of the plan, and those around it up to the root."""
    folder = posixpath.dirname(file)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def _is_there(sources: Sources, folders: tuple[str, ...], path: str) -> bool:
    """Tell whether a file is in one of some folders; of one outside the project nothing is said."""
    found = [join(folder, path) for folder in folders]
    return any(each is None or sources.exists(each) for each in found)

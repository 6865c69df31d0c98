"""Which names and relative paths the files of stages may have, and which check refuses the others.

Three judgements, each stricter than the one before. `find_segment_fault` judges one name, such as that of a report or a
run. `find_artifact_fault` judges a path as the protocol's reference implementation does; manifests from elsewhere are
held to that. `find_path_fault` adds what stagec asks of paths that it reads in plans and writes itself.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum

from stagec.core.value import value


class PathCheck(StrEnum):
    """The checks of a path, named as the rules of stage plans are."""

    ABSOLUTE = "artifact-path-absolute"
    TRAVERSAL = "artifact-path-traversal"
    SEGMENT = "artifact-path-segment"
    CONTROL = "artifact-path-control"
    TRAILING_SLASH = "artifact-path-trailing-slash"
    PORTABILITY = "artifact-path-portability"
    """The only one that warns: the path works here, and not everywhere."""


@value
class PathFault:
    """Why a path is refused; `words` continue a sentence whose subject is the path or the part of it in `part`."""

    check: PathCheck
    words: str
    part: str = ""


LONGEST = 255
"""The most bytes that file systems allow a name."""
_BLANK = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_BLANK += "\u2028\u2029\u202f\u205f\u3000\ufeff"
"""What ECMAScript removes from the ends of a text; the list of Python differs."""
_DEVICES = frozenset(
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"]
    + [f"{port}{number}" for port in ("COM", "LPT") for number in "123456789¹²³"]
)
_SEPARATORS = re.compile(r"[/\\]")
_DRIVE = re.compile(r"[A-Za-z]:")
_HIDDEN = (
    (re.compile(r"[\x00-\x1f\x7f-\x9f]"), "contains a control character"),
    (re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"), "contains a mark that turns the direction of text"),
    (re.compile("[\u180e\u200b-\u200d\u2060-\u2064\ufeff]"), "contains a character without width"),
    (re.compile("[\ud800-\udfff]"), "contains half a character, which UTF-8 cannot write"),
)
_FOREIGN = re.compile(r'[<>:"|?*\\]')


def find_segment_fault(name: object) -> PathFault | None:
    """Return why a name cannot be one part of a path, or nothing if it can; what is no text cannot."""
    for words in _segment_faults(name):
        return PathFault(PathCheck.SEGMENT, words, name if isinstance(name, str) else "")
    return None


def _segment_faults(name: object) -> Iterable[str]:
    if not isinstance(name, str) or not name:
        yield "is empty" if name == "" else "is not a text"
        return
    if not name.strip(_BLANK):
        yield "consists of blanks"
    normal = unicodedata.normalize("NFC", name)
    climbing = normal if normal == "." else next((each for each in ("..", "/", "\\") if each in normal), None)
    if climbing is not None:
        yield f"{'is' if climbing == normal else 'contains'} '{climbing}'"
    if "\0" in normal:
        yield "contains a null character"
    if len(normal.encode("utf-8", "surrogatepass")) > LONGEST:
        yield f"is longer than {LONGEST} bytes"
    if normal.partition(".")[0].rstrip(". ").upper() in _DEVICES:
        yield "is the name of a device on Windows"
    if normal.endswith((".", " ")):
        yield "ends with a dot or a space"


def find_artifact_fault(path: str) -> PathFault | None:
    """Return why a path below a folder is refused by the protocol: absolute, climbing, or with an impossible part."""
    if path.startswith("/"):
        return PathFault(PathCheck.ABSOLUTE, "is absolute")
    parts = [part for part in _SEPARATORS.split(path) if part]
    climbing = next((part for part in parts if part in {".", ".."}), None)
    if climbing is not None:
        return PathFault(PathCheck.TRAVERSAL, f"contains the part '{climbing}'", climbing)
    if not parts:
        return PathFault(PathCheck.SEGMENT, "is empty" if not path else "names no file", path)
    return next((fault for fault in map(find_segment_fault, parts) if fault is not None), None)


def find_path_fault(path: str) -> PathFault | None:
    """Return why stagec refuses a path or, with the check `PORTABILITY`, warns of it."""
    if path.startswith("\\") or _DRIVE.match(path):
        return PathFault(PathCheck.ABSOLUTE, "is absolute on Windows")
    fault = find_artifact_fault(path)
    if fault is not None:
        return fault
    for characters, words in _HIDDEN:
        if characters.search(path):
            return PathFault(PathCheck.CONTROL, words)
    if path.endswith("/"):
        return PathFault(PathCheck.TRAILING_SLASH, "names a folder, because it ends with '/'")
    return _portability_fault(path)


def _portability_fault(path: str) -> PathFault | None:
    foreign = _FOREIGN.search(path)
    if foreign is not None:
        return PathFault(PathCheck.PORTABILITY, f"contains {foreign[0]!r}, which not every system allows in names")
    for part in path.split("/"):
        if part.startswith(("-", "~")):
            return PathFault(PathCheck.PORTABILITY, f"has a part that begins with {part[0]!r}", part)
    return None


def place_artifact(root: str, path: str) -> str:
    """Return where a path without faults leads, below an absolute folder; `a//b/` is `a/b`."""
    return _resolve(root, path)


def is_contained(child: str, parent: str, base: str = "/") -> bool:
    """Tell whether a path is a folder or lies below it, by the texts alone; `base` is what relative ones start from.

    The root of a file system is no boundary: nothing but itself is in it.
    """
    inner, outer = _resolve(base, child), _resolve(base, parent)
    return inner == outer or inner.startswith(f"{outer}/")


def _resolve(base: str, path: str) -> str:
    """Return an absolute path without `.`, `..` and repeated slashes; POSIX lets two at the beginning stand."""
    return "/" + posixpath.normpath(posixpath.join(base, path)).lstrip("/")

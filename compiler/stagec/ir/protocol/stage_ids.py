"""Ids of stages, `S{NN}_{verb}_{noun}`, and names and paths of their files: parts, mistakes, and what was meant."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum

from stagec.core.nearest import NameIndex
from stagec.core.value import value

VERBS = NameIndex(
    [
        "load",
        "validate",
        "clean",
        "explore",
        "engineer",
        "split",
        "train",
        "tune",
        "evaluate",
        "analyze",
        "generate",
        "export",
    ]
)
"""The protocol's vocabulary of verbs."""
ACTIONS = frozenset({*VERBS, "eda", "conclude"})
"""Words that stand alone as an action in the protocol's examples, besides its verbs."""
VAGUE_VERBS = frozenset({"do", "handle", "make", "misc", "stuff", "thing"})
EMPTY_VERBS = frozenset({"do"})
EMPTY_NOUNS = frozenset({"it", "misc", "something", "stuff", "that", "thing", "things", "this", "work"})
"""A verb and nouns that together say nothing, as in the protocol's anti-pattern `S01_do_stuff`."""
SIDE_EFFECTS = frozenset(
    {"announce", "delete", "deploy", "email", "notify", "post", "publish", "release", "send", "upload"}
)
"""Verbs of stages that change something outside, which another attempt would change again."""
LONGEST_ID = 255
"""Bytes: an id is the name of a folder."""


_ID = re.compile(r"S(?P<number>[0-9]{2})_(?P<verb>[a-z0-9]+)(?:_(?P<noun>[a-z0-9_]*))?")
_USUAL = re.compile(r"S([0-9]{2})_([a-z]+)_([a-z]+(?:_[a-z]+)*)")
"""An id about whose form there is nothing to say."""
_KNOWN = frozenset(VERBS)
_SHORT = re.compile(r"S[0-9]{2}")
_LIKE = re.compile(r"S[0-9]{2}_[a-z0-9_]*", re.IGNORECASE)
_PREFIX = re.compile(r"(?:s|stage|step)?[ _-]*(?P<number>[0-9]{1,2})(?![0-9])", re.IGNORECASE)
_DIGIT = re.compile("[0-9]")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


class StageIdFault(StrEnum):
    """The faults of a stage id, by the names of the protocol's rules."""

    FORMAT = "stage-id-format"
    TOO_LONG = "stage-id-path-unsafe"
    SEQUENCE_ZERO = "stage-id-sequence-zero"
    MISSING_VERB = "stage-id-missing-verb"
    MISSING_NOUN = "stage-id-missing-noun"
    DIGITS = "stage-id-digits"
    UNDERSCORE_RUN = "stage-id-underscore-run"
    MEANINGLESS = "stage-id-meaningless"
    VAGUE_VERB = "stage-id-vague-verb"
    UNKNOWN_VERB = "stage-id-unknown-verb"


@value
class StageId:
    """The parts of an id: number, verb and noun are 0 and empty in an id of another form."""

    text: str
    number: int = 0
    verb: str = ""
    noun: str = ""
    faults: tuple[StageIdFault, ...] = ()


def read_stage_id(text: str) -> StageId:
    """Return the parts of an id and what is wrong with it; of an id of another form that is all there is to say."""
    usual = _USUAL.fullmatch(text)
    if usual is not None and usual[2] in _KNOWN and len(text) <= LONGEST_ID and usual[1] != "00":
        return StageId(text, int(usual[1]), usual[2], usual[3])
    match = _ID.fullmatch(text)
    if match is None:
        return StageId(text, faults=(StageIdFault.FORMAT,))
    number, verb, noun = int(match["number"]), match["verb"], match["noun"] or ""
    faults = [StageIdFault.TOO_LONG] if len(text) > LONGEST_ID else []
    if number == 0:
        faults.append(StageIdFault.SEQUENCE_ZERO)
    if text.endswith("_") or "__" in text:
        faults.append(StageIdFault.UNDERSCORE_RUN)
    has_digits = _DIGIT.search(verb + noun) is not None
    if has_digits:
        faults.append(StageIdFault.DIGITS)
    found = [*faults, *_judge_words(verb, noun.strip("_"))]
    return StageId(
        text,
        number,
        verb,
        noun,
        tuple([each for each in found if not (has_digits and each is StageIdFault.UNKNOWN_VERB)]),
    )


def is_short_form(text: str) -> bool:
    """Tell whether a text is the number of a stage without its words, such as `S01`."""
    return _SHORT.fullmatch(text) is not None


def looks_like_stage_id(text: str) -> bool:
    """Tell whether a text is or was meant to be the id of a stage rather than the name of a folder."""
    return _LIKE.fullmatch(text) is not None or is_short_form(text)


def suggest_stage_id(text: str) -> str | None:
    """Return the id without faults that a text of another form was most likely meant to be, or None."""
    prefix = _PREFIX.match(text) if text.isascii() and len(text) <= LONGEST_ID else None
    if prefix is None:
        return None
    words = [word.lower() for word in _WORD.findall(text[prefix.end() :])]
    meant = "_".join([f"S{int(prefix['number']):02}", *words])
    return None if read_stage_id(meant).faults else meant


def _judge_words(verb: str, noun: str) -> list[StageIdFault]:
    if not noun:
        is_action = verb.strip("0123456789") in ACTIONS
        return [StageIdFault.MISSING_NOUN if is_action else StageIdFault.MISSING_VERB]
    if verb in EMPTY_VERBS and noun in EMPTY_NOUNS:
        return [StageIdFault.MEANINGLESS]
    if verb in VAGUE_VERBS:
        return [StageIdFault.VAGUE_VERB]
    return [] if verb in VERBS else [StageIdFault.UNKNOWN_VERB]


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
"""The characters that ECMAScript removes from the ends of a text; the list of Python differs."""


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
    """Return why a name cannot be one part of a path, or None if it can; what is no text cannot."""
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
    """Return the place of a path without faults below an absolute folder; `a//b/` is `a/b`."""
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

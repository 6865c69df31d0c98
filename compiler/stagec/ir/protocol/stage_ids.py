"""Ids of stages, `S{NN}_{verb}_{noun}`: their parts, what is wrong with them, and what may have been meant."""

from __future__ import annotations

import re
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
    """What can be wrong with the id of a stage, as the protocol's rules call it."""

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
    """Return the id without faults that a text of another form was most likely meant to be, or nothing."""
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

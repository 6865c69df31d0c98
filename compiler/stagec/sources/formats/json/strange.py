"""Recognise what people write that is no JSON: comments, other quotes, words, and numbers of other languages."""

from __future__ import annotations

import re

from stagec.sources.formats.json.faults import Faults

_COMMENT = re.compile(r"//[^\r\n]*|/\*(?:[^*]+|\*(?!/))*+(?:\*/)?|#[^\r\n]*")
_SPACE = re.compile("[\x0b\x0c\x85\xa0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]+")
_TYPOGRAPHIC = "\u2018-\u201f\u2033\xab\xbb"
_OTHER_QUOTES = re.compile(
    r"""(?P<single>'(?:[^'\\\r\n]+|\\.)*+' | `(?:[^`\\\r\n]+|\\.)*+` | ['`][^\s,:{}\[\]"]*)
      | (?P<smart>[QUOTES][^QUOTES"\r\n]*[QUOTES"]?)""".replace("QUOTES", _TYPOGRAPHIC),
    re.VERBOSE,
)
_STAND_INS = {";": ",", "=": ":"}
_RUN = re.compile(r"=+>?|(.)\1*", re.DOTALL)
_WORD = re.compile(r"""(?:[^\s,:{}\[\]"'`;=\#/(){}<>*\x00-\x1f]|/(?![/*]))+(?:"(?=[ \t]*(?:[,:}\]\r\n]|\Z)))?""")
_NUMBERS = (
    (re.compile(r"\+.*"), "plus-sign"),
    (re.compile(r"-?0[xXoObB][0-9a-fA-F]+"), "other-base"),
    (re.compile(r"-?0[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"), "leading-zero"),
    (re.compile(r"-?\.[0-9]+(?:[eE][+-]?[0-9]+)?"), "bare-point"),
    (re.compile(r"-?[0-9]+\.(?:[eE][+-]?[0-9]+)?"), "bare-point"),
    (re.compile(r"-?[0-9]+(?:_[0-9]+)+"), "digit-separator"),
    (re.compile(r"-?[0-9]+(?:\.[0-9]+)?[eE][+-]?"), "bare-exponent"),
    (re.compile(r"-?(?:nan|inf|infinity)", re.IGNORECASE), "no-number"),
    (re.compile(r"[-.]?[0-9].*|-"), "bad-number"),
)
_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null", "nil": "null", "undefined": "null"}


class Strange:
    """Whatever in one text is no JSON token."""

    def __init__(self, text: str, faults: Faults) -> None:
        self._text = text
        self._faults = faults

    def read(self, start: int) -> tuple[str, int]:
        """Return the kind of token that was probably meant, nothing for what is best skipped, and where it ends.

        All but words (`w`) are reported; what is wrong with a word depends on where it stands.
        """
        skipped = self._skipped(start)
        if skipped:
            return "", skipped
        quotes = _OTHER_QUOTES.match(self._text, start)
        if quotes:
            reason = "single-quotes" if quotes["single"] else "smart-quotes"
            self._faults.token(reason, start, quotes.end(), {"found": quotes[0]})
            return "s", quotes.end()
        word = _WORD.match(self._text, start)
        return ("w", word.end()) if word else self._character(start)

    def _skipped(self, start: int) -> int | None:
        for pattern, reason in ((_COMMENT, "comment"), (_SPACE, "foreign-space")):
            match = pattern.match(self._text, start)
            if match:
                self._faults.token(reason, *match.span(), {"found": match[0]})
                return match.end()
        return None

    def _character(self, start: int) -> tuple[str, int]:
        found = self._text[start]
        run = _RUN.match(self._text, start)
        end = run.end() if run else start + 1
        self._faults.word("unexpected-character", start, end, {"found": self._text[start:end]})
        return _STAND_INS.get(found, ""), end


def reason_for(word: str) -> tuple[str, dict[str, object]]:
    """Return why a word is no JSON value, and the facts a sentence about it needs."""
    for pattern, reason in _NUMBERS:
        if pattern.fullmatch(word):
            return reason, {"found": word}
    if word.lower() in _LITERALS:
        return "foreign-literal", {"found": word, "expected": _LITERALS[word.lower()]}
    return "unquoted-text", {"found": word}

"""The sentence for each mistake in a YAML text."""

from __future__ import annotations

from stagec.core.words import quote
from stagec.rules.document import name_value
from stagec.sources.tree import Fault

_SENTENCES = {
    "after-bracket": "{character} follows the closing {bracket} of {subject}; put the whole value {value} in quotes",
    "after-quote": (
        "{character} follows the closing {quote} of {subject}; "
        "put the whole value in {others}, or write each {quote} inside it as {escaped}"
    ),
    "after-key": "{character} stands between a closing quote and ':'; put the whole key {key} in other quotes",
    "alias": "{subject} begins with '*', which YAML reads as a reference to an anchor; put {value} in quotes",
    "anchor": "{subject} begins with '&', which YAML reads as the name of an anchor; put {value} in quotes",
    "block-header": (
        "{subject} goes on behind {character}, where its line must end; "
        "begin the text on the next line, or put {value} in quotes"
    ),
    "block-indentation": "this line is indented less than the blank line that begins its block",
    "bullet": "{character} begins no list in YAML; write {written}",
    "colon": "{subject} holds {held}, which ends a key in YAML; put the value in quotes",
    "colon-below": (
        "this line continues the value of {key} and holds ': '; put the whole value in quotes, "
        "or write '|' behind {key} and the text indented below it"
    ),
    "control": "the control character {code} in {subject} must be written as an escape in double quotes",
    "dash": "{subject} begins with '- ', as a list does; begin the list on the line below, or put {value} in quotes",
    "directive": "a line that begins with '%' is a directive and must stand above a line '---'; a key needs quotes",
    "escape": "{escape} in {subject} is no escape; write the backslash twice, or put the value in single quotes",
    "extra-bracket": "there is one {character} too many in {subject}",
    "flow-colon": "{subject} holds a second ': ' inside brackets; put the text around it in quotes",
    "foreign-colon": "{character} ({code}) is no ':'; write {written}",
    "foreign-sign": "{character} gives no key a value in YAML; write {written}",
    "foreign-space": "the space behind ':' is none that YAML knows ({code}); write {written}",
    "indentation": "{text} is indented by {indent}, and the lines above it by {allowed}; they must line up",
    "key-not-text": "{subject} has {character} where YAML expects a key; put {value} in quotes",
    "key-start": "no key can begin with {character}; put {key} in quotes",
    "list-after-value": (
        "{text} begins a list below {key}, which has a value already; "
        "remove one of them, or indent the line if it continues the value"
    ),
    "lost-break": (
        "{text} stands in the value of {key}; begin a line with it if it is a key, else put the whole value in quotes"
    ),
    "missing-colon": "{text} is no 'key: value'; add the ':'",
    "missing-comma": "a ',' or a closing bracket is missing before {character} in {subject}",
    "missing-space": "a space must follow {character} in {text}; write {written}",
    "nested": (
        "{text} is indented below {key}, which has a value already; "
        "indent it like {key}, or put the whole value in quotes"
    ),
    "other": "YAML cannot be read here: {problem}",
    "question": "{subject} begins with '? ', as a key does; put {value} in quotes",
    "remark": "{text} is no comment in YAML; begin it with '#'",
    "reserved": "{subject} begins with {character}, which no unquoted value can; put {value} in quotes",
    "stray": "{character} behind the closing {quote} of {subject} has no meaning; remove it",
    "tab": "a tab stands before {text}; indent it with spaces",
    "tag": "{subject} has the tag {tag}, which is not part of the core schema; put it in quotes if it is text",
    "text-after": "found {character} after the end of the document",
    "unclosed-bracket": "the {character} of {subject} is never closed",
    "unclosed-quote": "the {character} that begins {subject} is never closed",
    "unindented": "{text} is no 'key: value'; indent it if it continues the value of {key}, else add the ':'",
}

_BARE = {"code", "escaped"}
"""Facts that stand in a sentence as they are."""
_QUOTES = {'"': "single quotes", "'": "double quotes"}
"""What to put around a text that holds the other kind."""


def sentence(fault: Fault) -> str:
    """Return the sentence for a fault of a YAML text."""
    facts = {name: given if name in _BARE else _show(given) for name, given in fault.facts.items()}
    return _SENTENCES[fault.reason].format_map(
        facts | {"subject": name_value(fault), "others": _QUOTES.get(str(fault.facts.get("quote")))}
    )


def _show(given: object) -> str:
    if isinstance(given, tuple):
        return " or ".join(str(each) for each in given)
    return str(given) if isinstance(given, int) else quote(given)

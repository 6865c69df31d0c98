"""The questions of a run to people, in words and data: the same for the terminal, for commands and for a page."""

from __future__ import annotations

import json
import posixpath
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from ipaddress import IPv4Address
from typing import TypeGuard

from stagec.core.json import MISSING, Json, Object, follow
from stagec.core.secrets import Redactor
from stagec.core.terminal import columns
from stagec.core.value import NOTHING, value
from stagec.core.words import listing, quote
from stagec.ir.plan.act import Converse
from stagec.ir.plan.codec import Path
from stagec.ir.plan.document import Plan
from stagec.ir.plan.gate import Admission, Among, Exists, Term
from stagec.ir.plan.node import Chain, ForEach, Fork, Go, Node, Schedule, Stop, Target
from stagec.runtime.machine.acts.conversation_state import conversation_of
from stagec.runtime.machine.exchange import (
    Confirm,
    Effect,
    Grant,
    Judge,
    execution_of,
    label_execution,
    read_agent_run,
    read_key,
)
from stagec.runtime.machine.execution import Execution
from stagec.runtime.machine.json_values import all_hold
from stagec.runtime.machine.program import Program, find_program

_WIDTH = 70
"""Columns of a row; the rest of a line follows in the next row."""
_FOLDED, _FOLDED_TARGET = 400, 4_000
"""Characters from which a value is folded; what a call acts on is shown at once up to the larger number."""
_HEAD, _TAIL = 240, 120
_MOST_INSIDE = 20
"""Members inside a long value that are shown besides it."""
_NAME = re.compile(r"[A-Za-z0-9_.$-]{1,40}")
"""Names of arguments that cannot be taken for anything else; others are shown as JSON."""
_BLANKS = 3
"""Blanks in a row that are spelled out, except where a line begins."""
_INDENT = 24
"""Blanks at the beginning of a line that are shown as they are."""
_TARGETS = (
    *(
        "command",
        "cmd",
        "script",
        "code",
        "sql",
        "query",
        "statement",
        "path",
        "file",
        "filename",
        "folder",
        "directory",
    ),
    *("dir", "cwd", "url", "uri", "address", "host", "endpoint", "to", "recipient", "target", "destination", "source"),
    *("remote", "channel", "email", "domain"),
    *("repository", "repo", "branch", "database", "table", "bucket", "name", "id", "method", "action"),
)
"""Names that say what a call acts on, in this order; also as the end of a name, such as `file_path` or `targetUrl`."""


@value
class ShownArgument:
    """One argument: its name, its length in characters, the rows that are shown at once, and all of its rows."""

    name: str
    length: int
    rows: tuple[str, ...]
    whole: tuple[str, ...]

    @property
    def is_folded(self) -> bool:
        """Whether the rows that are shown at once are not all."""
        return self.rows != self.whole


def show_arguments(arguments: Json) -> tuple[ShownArgument, ...]:
    """Return the arguments of a call: first what it acts on, then the others, the short ones first."""
    if not isinstance(arguments, dict):
        return (_show("arguments", arguments),)
    known = [name for name in arguments if _NAME.fullmatch(name)]
    others = {name: each for name, each in arguments.items() if name not in known}
    ranked = sorted(known, key=lambda name: (_rank(name), len(_write(arguments[name]))))
    inside = sorted(_find_targets(arguments), key=lambda found: _rank(found[0]))[:_MOST_INSIDE]
    at = next((at for at, name in enumerate(ranked) if _rank(name) == len(_TARGETS)), len(ranked))
    shown = [_show(name, arguments[name], is_target=place < at) for place, name in enumerate(ranked)]
    shown[at:at] = [_show(name, each, is_target=True) for name, each in inside]
    return (*shown, _show("unusual names", others)) if others else tuple(shown)


def _find_targets(arguments: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    """Yield the targets of a call that lie inside a folded value."""
    waiting = [(name, each) for name, each in arguments.items() if _NAME.fullmatch(name) and _is_long(each)]
    while waiting:
        path, given = waiting.pop()
        items = given.items() if isinstance(given, dict) else enumerate(given if isinstance(given, list) else ())
        for name, each in items:
            inner = f"{path}[{name}]" if isinstance(name, int) else f"{path}.{name}"
            if isinstance(name, str) and not _NAME.fullmatch(name):
                continue
            if isinstance(each, dict | list):
                waiting.append((inner, each))
            elif _rank(str(name)) < len(_TARGETS) and len(inner) <= _WIDTH:
                yield inner, each


def _is_long(given: Json) -> bool:
    return isinstance(given, dict | list) and len(_write(given)) > _FOLDED


def list_rows(shown: tuple[ShownArgument, ...], *, whole: bool = False) -> Iterator[str]:
    """Yield the rows of arguments as a text, folded or whole; only the names and the marks are no text of a caller."""
    for each in shown:
        rows = each.whole if whole else each.rows
        if len(rows) == 1:
            yield f"{each.name}: {rows[0]}"
            continue
        folded = "" if whole or not each.is_folded else ", folded: the details show all of them"
        yield f"{each.name}: {each.length:,} characters{folded}"
        yield from (f"  {row}" for row in rows)


def argument_to_json(shown: ShownArgument) -> Mapping[str, Json]:
    """Return an argument for JSON and the page; `whole` is there where it is more than `rows`."""
    told: dict[str, Json] = {"name": shown.name, "length": shown.length, "rows": list(shown.rows)}
    return {**told, "whole": list(shown.whole)} if shown.is_folded else told


def spell(text: str) -> str:
    """Return a text on one line, in which what is not seen, or looks like something else, is spelled out."""
    return "".join(_spell_line(line) + ("" if end else "⟦line break⟧") for line, end in _split(text))


def _rank(name: str) -> int:
    """Return the place of an argument among those that say what a call acts on; the others come last."""
    words = [each.lower() for each in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    return next((at for at, target in enumerate(_TARGETS) if words[-1:] == [target]), len(_TARGETS))


def _write(given: Json) -> str:
    if isinstance(given, str):
        return given
    return json.dumps(given, indent=2, ensure_ascii=False)


def _show(name: str, given: Json, *, is_target: bool = False) -> ShownArgument:
    text = _write(given)
    whole = _explain_marks(_make_rows(text))
    most = _FOLDED_TARGET if is_target else _FOLDED
    if len(text) <= most:
        whole = (*whole, *_explain(name, text)) if is_target and isinstance(given, str) else whole
        return ShownArgument(name, len(text), whole, whole)
    head, tail = (most // 2, most // 4) if is_target else (_HEAD, _TAIL)
    left = len(text) - head - tail
    mark = f"⟦{left:,} more characters are folded here⟧"
    return ShownArgument(
        name, len(text), _explain_marks((*_make_rows(text[:head]), mark, *_make_rows(text[-tail:]))), whole
    )


def _explain_marks(rows: tuple[str, ...]) -> tuple[str, ...]:
    """Return rows with a word about those that go on with a line, if there are such."""
    has_long = any(each.startswith(_CONTINUED) for each in rows)
    return ("⟦a row with ':' continues the row above it⟧", *rows) if has_long else rows


_PATHS = frozenset({"path", "file", "filename", "folder", "directory", "dir", "cwd", "destination", "source", "target"})
_ADDRESS = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]*:[/\\]{2,}(?P<place>[^/?#]*)")


def _explain(name: str, text: str) -> Iterator[str]:
    """Yield a row for each path with `..` and each address that is easy to misread: its real target or host."""
    address = _ADDRESS.match(text)
    if address is not None:
        yield from _explain_host(address["place"])
        return
    plain = posixpath.normpath(text) if text else text
    words = [each.lower() for each in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)]
    if (
        words[-1:]
        and words[-1] in _PATHS
        and "\n" not in text
        and plain.lstrip("/") != text.removeprefix("./").strip("/")
    ):
        yield "⟦without parts such as '.' and '..' this is⟧"
        yield from _make_rows(plain)


def _explain_host(place: str) -> Iterator[str]:
    host = place.rpartition("@")[2].partition(":")[0]
    if "\\" in place:
        yield "⟦programs take one of these for the host of this address⟧"
        for each in dict.fromkeys((place.partition("\\")[0].rpartition("@")[2].partition(":")[0], host)):
            yield from _make_rows(each)
    elif "@" in place or "%" in place:
        yield "⟦the host of this address is⟧"
        yield from _make_rows(host)
    elif "xn--" in host.lower():
        yield "⟦the host of this address has letters of other alphabets⟧"
        with suppress(UnicodeError):
            yield from _make_rows(host.encode("ascii").decode("idna"))
    elif re.fullmatch(r"(?:0[xX][0-9A-Fa-f]*|\d+)(?:\.(?:0[xX][0-9A-Fa-f]*|\d+)){0,2}|(?:\d+\.)*0\d[\d.]*", host):
        with suppress(ValueError, OverflowError):
            number = _read_address(host)
            yield "⟦most programs read the host of this address as this IP address⟧"
            yield from _make_rows(number)


def _read_address(host: str) -> str:
    """Return the IP address of a host of numbers as `inet_aton` of POSIX reads it.

    Raises `ValueError` or `OverflowError` if it is no address.
    """
    *first, last = (
        int(each, 16 if each[:2] in ("0x", "0X") else 8 if each[:1] == "0" else 10) for each in host.split(".")
    )
    return str(IPv4Address(bytes(first) + last.to_bytes(max(1, 4 - len(first)), "big")))


_CONTINUED = ": "
"""The beginning of a row that continues the line of the row above."""


def _make_rows(text: str) -> tuple[str, ...]:
    """Return the lines of a text as rows that begin with a bar, or with a colon where they go on with a line."""
    rows: list[str] = []
    for line, _ in _split(text):
        begin = "| "
        for piece in _wrap(_spell_line(line)):
            rows.append(begin + piece)
            begin = _CONTINUED
    return tuple(rows)


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a text, each with whether it is the last one; an empty text is spelled out."""
    lines = text.split("\n")
    yield from ((line, at == len(lines)) for at, line in enumerate(lines, 1))


def _wrap(line: str) -> Iterator[str]:
    """Yield the pieces of a line that a row has room for."""
    if line.isascii():
        yield from (line[at : at + _WIDTH] for at in range(0, len(line), _WIDTH))
        return
    piece, width = "", 0
    for each in line:
        taken = _measure(each)
        if width + taken > _WIDTH:
            yield piece
            piece, width = "", 0
        piece, width = piece + each, width + taken
    yield piece


@lru_cache(maxsize=4_096)
def _measure(character: str) -> int:
    return columns(character)


def _spell_line(line: str) -> str:
    if not line:
        return "⟦empty⟧"
    indent = len(line) - len(line.lstrip(" "))
    begin = line[:indent] if indent <= _INDENT and indent < len(line) else ""
    rest = re.sub(rf" {{{_BLANKS},}}| +$|^ +(?! )", _count_blanks, line[len(begin) :])
    if line.isascii() and line.isprintable():
        return begin + rest
    mixed = {at for match in _WORD.finditer(line) for at in _find_mixed(match)} | _find_reordered(line)
    told = "".join(_spell_character(line, at, is_mixed=at in mixed) for at in range(len(begin), len(line)))
    return begin + re.sub(rf" {{{_BLANKS},}}| +$", _count_blanks, told)


def _count_blanks(match: re.Match[str]) -> str:
    count = len(match[0])
    return f"⟦{count} blank{'' if count == 1 else 's'}⟧"


_WORD = re.compile(r"[^\W\d_]+(?:[-._/:@][^\W\d_]+)*")
_LOOKALIKES = frozenset(
    "\u2044\u2215\u2571\u29f8\u2216\u29f5\u037e\u2024\u2236\u02d0\u2010\u2011\u2212\u2223\u01c0\u2758"
)
"""Signs that look like others with which commands, paths and addresses are written."""
_SELECTORS = (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
_UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | {
    *map(chr, _SELECTORS)
}
"""Invisible letters, marks and signs."""


_SIMILAR = frozenset({"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
"""Alphabets with letters that look like those in which most commands are written."""
_LIKE_LATIN = frozenset(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u051d\u04bb\u04cf\u043a\u0433"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408"
    "\u03bf\u03bd\u03c1\u03b1\u03b9\u03ba\u03c5\u03c7\u03b3\u03c3\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c"
    "\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u0578\u057d\u0570\u0581\u0585\u0566"
)
"""Letters of these, each of which looks like a Latin one: a word of nothing else looks like another word."""


def _find_reordered(line: str) -> set[int]:
    """Return the positions of right-to-left letters on a line with left-to-right letters.

    Where both directions meet, a terminal shows signs and numbers in another order than a program reads them.
    """
    kinds = [unicodedata.bidirectional(each) for each in line]
    found = {at for at, kind in enumerate(kinds) if kind in _FROM_THE_RIGHT}
    return found if found and ("L" in kinds or "EN" in kinds) else set()


_FROM_THE_RIGHT = frozenset({"R", "AL", "AN"})


def _find_mixed(match: re.Match[str]) -> Iterator[int]:
    """Yield the letters of a word that belong to another alphabet than its neighbours."""
    alphabets = {unicodedata.name(each, "").partition(" ")[0] for each in match[0] if each.isalpha()}
    is_mixed = "LATIN" in alphabets and bool(alphabets & _SIMILAR)
    is_like_latin = len(match[0]) > 1 and all(each in _LIKE_LATIN or not each.isalpha() for each in match[0])
    if is_mixed or is_like_latin or "CHEROKEE" in alphabets or "LISU" in alphabets:
        yield from (at for at in range(*match.span()) if not unicodedata.name(match.string[at], "").startswith("LATIN"))


def _spell_character(line: str, at: int, *, is_mixed: bool) -> str:
    character = line[at]
    if character.isascii() and character.isprintable():
        return character
    return _spell_between(line[max(0, at - 1) : at], character, line[at + 1 : at + 2], is_mixed=is_mixed)


@lru_cache(maxsize=65_536)
def _spell_between(before: str, character: str, after: str, *, is_mixed: bool) -> str:
    """Return a character as it is shown; one that is not seen, or looks like another, by its number and its name."""
    if character == "\t":
        return "⟦tab⟧"
    kind = unicodedata.category(character)
    is_unseen = kind[0] in "CZ" or character in _UNSEEN
    is_stacked = kind[0] == "M" and (not before or unicodedata.category(before)[0] in "MPSZ")
    is_stacked = is_stacked or kind == "Me" or unicodedata.combining(character) == _OVERLAY
    if is_unseen or is_stacked or character in _LOOKALIKES or character in "⟦⟧" or is_mixed:
        return _name(character)
    plain = unicodedata.normalize("NFKC", character)
    is_like = plain.isascii() and plain.isprintable() and any("!" <= each <= "~" for each in before + after)
    return _name(character) if is_like or (plain.isascii() and plain.isalnum()) else character


_OVERLAY = 1
"""The class of marks that strike a letter through."""


@lru_cache(maxsize=4_096)
def _name(character: str) -> str:
    name = unicodedata.name(character, "") or _NAMELESS.get(unicodedata.category(character), "CHARACTER")
    return f"⟦U+{ord(character):04X} {name}⟧"


_NAMELESS = {
    "Cc": "CONTROL",
    "Cs": "HALF CHARACTER",
    "Co": "PRIVATE USE",
    "Cn": "UNKNOWN",
}
"""The names, by category, of characters to which Unicode gives none."""


_SHOWN, _LONGEST = 8, 120
"""How many names are shown, and characters of a value."""
Redact = Callable[[str], str]


def explain_grant(plan: Plan, node: str) -> Iterator[str]:
    """Yield the calls that need no question."""
    found = plan.nodes.get(node)
    if found is not None and isinstance(found.act, Converse):
        tools = [quote(each) for each in found.act.tools]
        more = f" and {len(tools) - _SHOWN} more" if len(tools) > _SHOWN else ""
        allowed = f"calls {', '.join(tools[:_SHOWN])}{more} without a question" if tools else "calls no tool"
        yield f"rule: {plan.names.node} {quote(node)} {allowed}; people are asked about every other call"


def explain_confirmation(plan: Plan, node: str, execution: Execution | None, redact: Redact) -> Iterator[str]:
    """Yield the conditions that delay a node, with their values if the execution is known."""
    found = plan.nodes.get(node)
    if found is None or found.admission is None:
        return
    scope: Json = {} if execution is None else {"ctx": dict(conversation_of(execution).context)}
    word, terms = _find_rule(found.admission, scope, is_known=execution is not None)
    hook = found.hooks.get("gate")
    reasons = [" and ".join(map(_describe_term, terms))] if terms else []
    reasons += [f"the callable {quote(hook)} says so"] if hook is not None else []
    if reasons:
        yield f"rule: the node is {word} when {', or '.join(reasons)}; then its policy is to ask"
    for term in terms if execution is not None else ():
        yield f"value: {_format_path(term.path)} is {spell(redact(_format_value(follow(scope, term.path))))}"


def explain_judgement(effect: Judge, redact: Redact) -> Iterator[str]:
    """Yield the condition of the plan that asks whether the work is done."""
    settings = f", with the settings {spell(redact(_format_value(dict(effect.settings))))}" if effect.settings else ""
    yield f"rule: the condition {spell(effect.kind)} of the plan asks people{settings}"


def describe_refusal(plan: Plan, node: str) -> str:
    """Return the consequence if a person does not let a node act."""
    found = plan.nodes.get(node)
    targets = [] if found is None else list(_list_targets(found))
    leads = f": {', or '.join(targets)}" if targets else ""
    return f"the node does not act, and its outcome is 'fail'{leads}"


def _list_targets(node: Node) -> Iterator[str]:
    for edge in node.edges:
        if edge.on == "fail":
            when = f" when {' and '.join(map(_describe_term, edge.when))}" if edge.when else ""
            yield f"{_describe_target(edge.target)}{when}"


def _describe_target(target: Target) -> str:
    match target:
        case Stop(outcome=outcome):
            return f"the run, or its branch, ends as {outcome}"
        case Go(node=node):
            return f"the run continues with {quote(node)}"
        case Fork(nodes=nodes) | Chain(nodes=nodes) | ForEach(nodes=nodes):
            return f"the run continues with {listing(nodes)}"
        case Schedule(needs=needs):
            return f"the run continues with {listing(list(needs))}"
        case _:
            return "the run continues with the node that the answer names"


def _find_rule(given: Admission, scope: Json, *, is_known: bool) -> tuple[str, tuple[Term, ...]]:
    """Return the word for a node that does not act at once, and the terms that decide it."""
    is_blocked = given.on_block == "ask"
    if given.on_defer == given.on_block == "ask" and is_known:
        is_blocked = bool(given.block) and all_hold(given.block, scope)
    return ("blocked", given.block) if is_blocked else ("deferred", given.defer)


def _describe_term(term: Term) -> str:
    path = _format_path(term.path)
    if isinstance(term, Exists):
        return f"{path} {'exists' if term.present else 'does not exist'}"
    values = [_format_value(each) for each in (term.values if isinstance(term, Among) else term.texts)]
    return f"{path} is {' or '.join(values)}"


def _format_path(path: Path) -> str:
    return spell(".".join(map(str, path)))


def _format_value(given: object) -> str:
    if given is MISSING:
        return "absent"
    text = json.dumps(given, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


AskedOfPeople = Grant | Confirm | Judge
"""The requests that people answer, each with yes or no."""
_MEMBERS: Mapping[type[AskedOfPeople], str] = {Grant: "granted", Confirm: "yes", Judge: "done"}


@value
class OpenQuestion:
    """A question that waits for yes or no.

    `kind` is `grant`, `confirm` or `judge`; `who` is the execution that asks. The sentence has no question mark.
    `shown` are the arguments of a call, or the work that is judged, as people may see them; `details` are lines that
    help to answer, `consequences` say what follows from `yes` and from `no`. `arguments` are all facts about the call,
    for a full view.
    """

    key: str
    kind: str
    who: str
    sentence: str
    details: tuple[str, ...]
    consequences: Mapping[str, str]
    arguments: str = ""
    shown: tuple[ShownArgument, ...] = ()

    @property
    def rows(self) -> tuple[str, ...]:
        """The first lines: the arguments, the effects of the call, and the consequences of the answers."""
        follows = (f"{word}: {each}" for word, each in self.consequences.items())
        return (*list_rows(self.shown), *self.details, *follows)


def is_for_people(effect: Effect | None) -> TypeGuard[AskedOfPeople]:
    """Tell whether people answer a request."""
    return isinstance(effect, AskedOfPeople)


def describe_question(plan: Plan, effect: AskedOfPeople, execution: Execution | None = None) -> OpenQuestion:
    """Return the question, and its rule; nothing in it looks like a secret.

    With the execution that asks, also the values for which it does.
    """
    key, redact = read_key(effect.key), Redactor().redact
    who = label_execution(key.node, key.visit)
    agent = read_agent_run(key.run)
    asking = f"{plan.names.node} {quote(who)}{'' if agent is None else f' of the agent {quote(agent.agent)}'}"
    ask = partial(OpenQuestion, effect.key, type(effect).__name__.lower(), who)
    match effect:
        case Grant():
            shown = show_arguments(_find_arguments(effect, redact))
            is_cut = effect.arguments is None and [each.name for each in shown] == ["beginning"]
            details = ((_UNKNOWN_REST,) if is_cut else ()) + tuple(_describe_effects(plan, effect.tool))
            details += tuple(explain_grant(plan, key.node))
            act = plan.nodes[key.node].act if key.node in plan.nodes else None
            is_allowed = isinstance(act, Converse) and effect.tool in act.tools  # since the plan has changed
            reach = "allows since it was changed" if is_allowed else "does not allow"
            length = f" ({len(effect.tool):,} characters)" if len(effect.tool) > _LONG_NAME else ""
            sentence = f"may {asking} call the tool '{spell(effect.tool)}'{length}, which its plan {reach}"
            arguments = "\n".join((*list_rows(shown, whole=True), f"digest of the arguments: {effect.digest}"))
            return ask(sentence, details, _OF_GRANTS, arguments, shown)
        case Confirm():
            follows = {"yes": "the node acts", "no": describe_refusal(plan, key.node)}
            reasons = tuple(explain_confirmation(plan, key.node, execution, redact))
            return ask(f"may {asking} act: {spell(redact(effect.question).rstrip(' ?'))}", reasons, follows)
        case Judge():
            work = show_arguments(_redact(effect.answer, redact))
            told = "\n".join(list_rows(work, whole=True))
            reasons = tuple(explain_judgement(effect, redact))
            return ask(f"is the work of {asking} done", reasons, _OF_JUDGEMENTS, told, work)


_EFFECTS = {
    "read": "effects: read, it changes nothing",
    "mutating": "effects: mutating, it changes something",
    "unknown": "effects: unknown, it may change anything",
}
_UNKNOWN_REST = "the rest of the arguments is not known: the run was begun by an older version"
_LONG_NAME = 64
"""Characters of a tool's name that people take in at a glance; most providers allow no more."""
_CUT = 200
"""Characters from which the beginning of arguments is not all of them."""


def _find_arguments(effect: Grant, redact: Callable[[str], str]) -> Json:
    """Return the arguments of a call; where only their beginning is known, as what it is."""
    if effect.arguments is not None or len(effect.summary) < _CUT:
        given = effect.arguments
        if given is None:
            with suppress(ValueError):
                given = json.loads(effect.summary)
        return _redact(effect.summary if given is None else given, redact)
    return {"beginning": redact(effect.summary)}


def _redact(given: Json, redact: Callable[[str], str]) -> Json:
    """Return a value in which nothing looks like a secret."""
    text = json.dumps(given, ensure_ascii=False)
    hidden = redact(text)
    try:
        return given if hidden == text else json.loads(hidden)
    except ValueError:
        return hidden


def _describe_effects(plan: Plan, name: str) -> Iterator[str]:
    """Yield the known effects of a tool."""
    tool = plan.tools.get(name)
    known = None if tool is None or tool.origin == "bundled" else tool
    bundled = _BUNDLED.get(name.lower()) if known is None else None
    effects = "unknown" if tool is None else tool.effects
    yield _EFFECTS.get(effects, f"effects: {spell(effects)}")
    if bundled is not None:
        yield f"the bundled tool {bundled}"
        if name.lower() != "bash":
            yield "it refuses paths that lead out of the working folder"
    if known is not None and known.command:
        yield f"it runs the program: {spell(' '.join(known.command))}"
    if known is not None and known.server is not None:
        yield f"it asks the server: {spell(known.server)}"


_BUNDLED = {
    "bash": "runs the command in the working folder, with your rights",
    "write": "writes the file, or replaces it",
    "edit": "changes the file",
    "read": "gives the text of the file to the model",
    "glob": "gives the names of files to the model",
    "grep": "gives lines of files to the model",
}
_OF_GRANTS = {"yes": "the tool is called", "no": "the model learns that the call is denied, and continues"}
_OF_JUDGEMENTS = {"yes": "the work is over", "no": "the work continues"}


def list_open_questions(
    program: Program, pending: Iterable[Effect], active: Mapping[str, Execution] = NOTHING
) -> Iterator[OpenQuestion]:
    """Yield the questions among the requests of a run that nobody has answered; `active` are its executions."""
    for each in pending:
        if is_for_people(each):
            yield describe_question(find_program(program, each.key).plan, each, active.get(execution_of(each.key)))


def question_to_json(question: OpenQuestion) -> Object:
    """Return a question as a JSON object."""
    named = ("key", "kind", "who", "sentence", "arguments")
    told: dict[str, Json] = {name: getattr(question, name) for name in named}
    told |= {"details": list(question.details), "consequences": dict(question.consequences)}
    return {**told, "shown": [argument_to_json(each) for each in question.shown]}


def make_answer(effect: AskedOfPeople, *, yes: bool) -> Object:
    """Return a yes or a no in the form that a request wants."""
    return {_MEMBERS[type(effect)]: yes}


def read_decision(effect: Effect | None, answer: Json) -> bool | None:
    """Return whether an answer says yes; None for one that does not fit the request."""
    given = answer.get(_MEMBERS[type(effect)]) if is_for_people(effect) and isinstance(answer, dict) else None
    return given if isinstance(given, bool) else None


def is_decision(answer: Json) -> bool:
    """Tell whether an answer is one that people give."""
    return isinstance(answer, dict) and any(isinstance(answer.get(member), bool) for member in _MEMBERS.values())

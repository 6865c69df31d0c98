"""Turns text into nodes, within the limits of depth and, with aliases counted, of size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from stagec.core.budgets import Budgets
from stagec.core.collector import PausedCollector
from stagec.core.value import NOTHING, replace, value
from stagec.sources.yaml_text.mistakes import (
    Mistake,
    Outline,
    after_value,
    colon,
    explain_key,
    flow,
    indentation,
    quotes,
    start_of_value,
)
from stagec.sources.yaml_text.nodes import Kind, YamlNode

if TYPE_CHECKING:
    from ruamel.yaml.events import Event

__all__ = [
    "LONGEST_EXPLAINED",
    "MOST_EXPANDED",
    "Composed",
    "YamlTrouble",
    "compose",
    "compose_quickly",
    "events",
    "explain_alias",
    "fast_events",
    "has_fast_events",
    "nodes_of",
    "too_deep",
    "trouble_of",
]


@value
class YamlTrouble:
    """Why a text could not be read to its end: the topic and reason of a fault, and its range."""

    topic: str
    reason: str
    start: int
    end: int
    facts: Mapping[str, object] = NOTHING


def explain_alias(text: str, start: int, end: int) -> YamlTrouble:
    """Return the trouble with a `*` that refers to no anchor, most often a glob or emphasis without quotes."""
    return _trouble(start_of_value("alias")(Outline(text), start, None) or ("other", start, end, {}), text)


def trouble_of(error: Exception, text: str) -> YamlTrouble:
    """Return the trouble of the parser's exception, in our terms."""
    if hasattr(error, "position") and hasattr(error, "character"):
        return YamlTrouble(
            "invalid-yaml",
            "control",
            error.position,
            error.position + 1,
            Outline(text).facts(error.position) | {"code": f"U+{error.character:04X}"},
        )
    problem = str(getattr(error, "problem", None) or getattr(error, "context", None) or error)
    at, since = _index(error, "problem_mark"), _index(error, "context_mark")
    context = str(getattr(error, "context", None) or "")
    problem = _in_other_words(problem, text[at : at + 1] if at is not None else "")
    where = Outline(text)
    for pattern, look in _TABLE:
        if pattern.search(f"{context}: {problem}"):
            found = look(where, len(text) if at is None else at, since)
            if found is not None:
                return _trouble(found, text)
    start = min((at if at is not None else since) or 0, max(len(text) - 1, 0))
    return _trouble(("other", start, min(start + 1, len(text)), {"problem": problem}), text)


def _in_other_words(problem: str, found: str) -> str:
    """Say in the words of the parser that explains what libyaml says in its own."""
    for words, others in _OTHER_WORDS.items():
        problem = problem.replace(words, others)
    return problem.replace("found character that", f"found character {found!r} that")


_OTHER_WORDS = {
    "did not find expected key": "expected <block end>",
    "did not find expected '-' indicator": "expected <block end>",
    "did not find expected <document start>": "expected '<document start>'",
    "did not find expected node content": "expected the node content",
    "did not find expected": "expected",
}


def _trouble(mistake: Mistake, text: str) -> YamlTrouble:
    reason, start, end, facts = mistake
    return YamlTrouble("invalid-yaml", reason, min(start, len(text)), min(end, len(text)), facts)


def _index(error: Exception, mark: str) -> int | None:
    index: int | None = getattr(getattr(error, mark, None), "index", None)
    return index


_Look = Callable[[Outline, int, int | None], Mistake | None]


def _simple(reason: str) -> _Look:
    def look(where: Outline, at: int, _since: int | None) -> Mistake:
        start = min(at, max(len(where.text) - 1, 0))
        return reason, start, min(start + 1, len(where.text)), where.facts(start)

    return look


def _tab(where: Outline, at: int, _since: int | None) -> Mistake:
    start = min(at, max(len(where.text) - 1, 0))
    return "tab", start, min(start + 1, len(where.text)), {"text": where.line(start)}


def _dash(where: Outline, at: int, since: int | None) -> Mistake | None:
    """Tell a list on the line of its key from one below a value."""
    return None if at == where.content(at)[0] else _simple("dash")(where, at, since)


def _escape(where: Outline, at: int, _since: int | None) -> Mistake | None:
    if at >= len(where.text):
        beyond = re.search(r"\\U(?!000|0010)[0-9a-fA-F]{8}", where.text)
        return ("escape", *beyond.span(), where.facts(beyond.start()) | {"escape": beyond[0]}) if beyond else None
    start = where.text.rfind("\\", 0, at + 1)
    if start < 0:  # an escape like `%0` in a tag
        return _tag(where, max(where.text.rfind("!", 0, at + 1), 0), None)
    return "escape", start, at + 1, where.facts(start) | {"escape": where.text[start : at + 1]}


def _describe_unclosed(where: Outline, _at: int, since: int | None) -> Mistake | None:
    return None if since is None else ("unclosed-quote", since, since + 1, where.facts(since))


def _block_header(where: Outline, _at: int, since: int | None) -> Mistake | None:
    return None if since is None else ("block-header", since, where.line_end(since), where.facts(since))


def _tag(where: Outline, at: int, since: int | None) -> Mistake | None:
    start = at if since is None else since
    written = re.compile(r"!\S*").match(where.text, start)
    return ("tag", start, written.end(), where.facts(start) | {"tag": written[0]}) if written else None


def _describe_outside(where: Outline, at: int, since: int | None) -> Mistake | None:
    directive = re.search(r"^%", where.text, re.MULTILINE)
    if directive:
        return _simple("directive")(where, directive.start(), since)
    outdented = where.entry(at) is not None and where.indent(at) < where.indent(max(where.before(at), 0))
    return indentation(where, at, since) if outdented else _simple("text-after")(where, at, since)


def _table(*rows: tuple[str, _Look]) -> tuple[tuple[re.Pattern[str], _Look], ...]:
    return tuple((re.compile(pattern), look) for pattern, look in rows)


_TABLE = _table(
    (r"mapping values are not allowed|unexpected ':'", colon),
    (r"could not find expected ':'", explain_key),
    (r"found character '\\t'", _tab),
    (r"cannot start any token|expected the node content", start_of_value("reserved")),
    (r"scanning an alias", start_of_value("alias")),
    (r"scanning an anchor", start_of_value("anchor")),
    (r"scanning a block scalar|sequence entries are not|mapping keys are not|expected <block end>", after_value),
    (r"sequence entries are not allowed", _dash),
    (r"mapping keys are not allowed", _simple("question")),
    (r"more indented follow up", _simple("block-indentation")),
    (r"scanning a block scalar", _block_header),
    (r"scanning a quoted scalar", _describe_unclosed),
    (r"escape|chr\(\)", _escape),
    (r"expected <block end>", quotes),
    (r"expected <block end>|sequence entries are not", indentation),
    (r"parsing a flow", flow),
    (r"tag", _tag),
    (r"scanning a directive|directive'|YAML directive|version 1", _simple("directive")),
    (r"expected '<document start>'", after_value),
    (r"expected '<document start>'", _describe_outside),
)


_ANCHOR = r"(?:\A|(?<=[:?-] )|(?<=:\n)|(?<=---\n))"
_KEY = r'(?:(?:"[^"\\\n]*"|[A-Za-z0-9_.-]+)[ ]*:[ ]*)?'
_CONFUSING = re.compile(r"[|>'\"#]")
"""After one of these, what looks like structure may be the text of a scalar or a comment."""


_STAIR = re.compile(r"^(?P<indent> *)(?:- +)*[^\s:#'\"|>\[\]{},-][^:#'\"|>\[\]{},\n]*:[ \t]*$")


def too_deep(text: str, limit: int) -> int | None:
    """Return the place from which the text surely exceeds `limit` levels, or None; the parser counts in doubt.

    Three forms are looked for: brackets one after another, dashes or question marks one after another, and lines of
    bare keys each further in than the one before.
    """
    inside = re.compile(rf"{_ANCHOR}(?P<run>(?:[\[{{]\s*{_KEY}){{{limit + 1}}}|(?:[?-] +){{{limit + 1}}})")
    found = inside.search(text)
    if found and not _CONFUSING.search(text, 0, found.start()):
        return found.start("run")
    start = levels = 0
    before = -1
    for line in text.split("\n"):
        match = _STAIR.match(line)
        indent = len(match["indent"]) if match else -1
        if match is None and _CONFUSING.search(line):
            return None
        levels = levels + 1 if indent > before else int(match is not None)
        before = indent
        if levels > limit:
            return start + indent
        start += len(line) + 1
    return None


_DIRECTIVE = re.compile(r"^%YAML[ \t]+1\.\d(?=[ \t\r\n]|\Z)", re.MULTILINE)
_BREAKS = "\x85\u2028\u2029"
_RAISED = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""Other exceptions of the parser on strange input."""


_TOO_DEEP = "exceeded maximum nesting depth"
_DEEPEST = 1_000
"""Open brackets at which libyaml, since its version of PyYAML 6.0.4, stops with that sentence."""


class _DeepError(ValueError):
    """Too many open brackets, the last of them at an offset."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


@cache
def has_fast_events() -> bool:
    """Tell whether PyYAML was built with libyaml; some systems pack it without."""
    return find_spec("yaml._yaml") is not None


def fast_events(text: str, depth: int) -> Iterator[Any]:
    """Yield the events of libyaml, and a `Trouble` as the last of them where it stops.

    It reads what is well formed as `events` does, about twenty times as fast. What it says of mistakes is coarser, and
    it knows no halves of characters.
    """
    from yaml import YAMLError
    from yaml.cyaml import CParser

    readable, hidden = _hide_old_breaks(text)
    try:
        parser = CParser(readable)
        while (event := parser.get_event()) is not None:
            if hidden and getattr(event, "value", None):
                event.value = event.value.translate(hidden)
            yield event
    except (YAMLError, *_RAISED) as error:
        trouble = trouble_of(error, text)
        is_deep = getattr(error, "problem", None) == _TOO_DEEP and depth < _DEEPEST
        yield (
            YamlTrouble("deep-nesting", "", trouble.start, trouble.start + 1, {"limit": depth}) if is_deep else trouble
        )


def events(text: str, depth: int) -> Iterator[Any]:
    """Yield the events of the parser that explains mistakes, and a `Trouble` as the last of them where it stops."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    # every document is read by the same rules, whatever version it claims
    same = _DIRECTIVE.sub(lambda directive: directive[0][:-1] + "2", text, count=1)
    readable, hidden = _hide_old_breaks(same)
    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.Scanner = _scanner(depth)
        for event in yaml.parse(readable):
            if hidden and getattr(event, "value", None):
                event.value = event.value.translate(hidden)
            yield event
    except _DeepError as error:
        yield YamlTrouble("deep-nesting", "", error.at, error.at + 1, {"limit": depth})
    except (YAMLError, *_RAISED) as error:
        yield trouble_of(error, text)


@cache
def _scanner(depth: int) -> Any:
    """Return the parser's scanner, except that it looks no further ahead once too many brackets are open."""
    from ruamel.yaml.scanner import Scanner

    class Shallow(Scanner):
        def fetch_flow_collection_start(self, *args: Any, **kwargs: Any) -> None:
            if self.flow_level >= depth:
                raise _DeepError(self.reader.index)
            super().fetch_flow_collection_start(*args, **kwargs)

        def need_more_tokens(self) -> bool:
            if self.tokens and not self.possible_simple_keys:
                return False  # the usual case, asked for several times per token
            return bool(super().need_more_tokens())

    return Shallow


def _hide_old_breaks(text: str) -> tuple[str, dict[int, str]]:
    """Put stand-ins for characters that the parser takes for line breaks, as only YAML 1.1 does."""
    if not any(each in text for each in _BREAKS):
        return text, {}
    free = [chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in text][: len(_BREAKS)]
    there = {ord(each): stand_in for each, stand_in in zip(_BREAKS, free, strict=False)}
    return text.translate(there), {ord(stand_in): each for each, stand_in in zip(_BREAKS, free, strict=False)}


MOST_EXPANDED = 100_000
"""Values that aliases may stand for in one document."""


LONGEST_EXPLAINED = 20_000
"""Characters of a text that is read by the parser which explains mistakes; a longer one is read by libyaml.

Where PyYAML was built without libyaml, the parser reads texts of any length."""


_MOST_TABS, _MOST_READ = 20, 100_000
"""The parser that explains refuses tabs between words; so many are put right, each costs another reading."""


_SURROGATE = re.compile("[\ud800-\udfff]")
_COLON = re.compile(r"[ \t]*:")
_TABS = re.compile(r"[ \t]+")


@value
class Composed:
    """The root of the first document, if any, what stopped the reading, and the marker of a second document."""

    root: YamlNode | None = None
    trouble: YamlTrouble | None = None
    second: tuple[int, int] | None = None


@lru_cache(maxsize=1)
def compose(text: str, budgets: Budgets) -> Composed:
    """Read a text into nodes; never raises for anything the text may contain.

    The last text is remembered: whoever has read a file with mistakes asks next where they stand.
    """
    deep = too_deep(text, budgets.depth)
    if deep is not None:
        return Composed(trouble=YamlTrouble("deep-nesting", "", deep, deep + 1, {"limit": budgets.depth}))
    with PausedCollector():
        is_fast = len(text) > LONGEST_EXPLAINED and has_fast_events()
        return _attempt(text, budgets, fast_events(text, budgets.depth)) if is_fast else _explain(text, budgets)


@lru_cache(maxsize=1)
def compose_quickly(text: str, budgets: Budgets) -> YamlNode | None:
    """Return the root of a text, if any; the parser in C reads it, where there is one. The last text is remembered."""
    if has_fast_events():
        with PausedCollector():
            composed = _attempt(text, budgets, fast_events(text, budgets.depth))
        if composed.trouble is None:
            return composed.root
    return compose(text, budgets).root  # the parser that explains takes more


def _explain(text: str, budgets: Budgets) -> Composed:
    composed = _attempt(text, budgets, events(text, budgets.depth))
    for _ in range(min(_MOST_TABS, _MOST_READ // (len(text) + 1))):
        # the tabs the parser stumbled over when YAML allows them: between words and in blank lines
        trouble = composed.trouble
        if trouble is None or trouble.reason != "tab":
            tab = None
        else:
            tabs = _TABS.match(text, trouble.start)
            start = max(text.rfind("\n", 0, trouble.start), text.rfind("\r", 0, trouble.start)) + 1
            indentation = not text[start : trouble.start].strip(" -?")
            tab = None if tabs is None or (indentation and text[tabs.end() : tabs.end() + 1] not in "\r\n#") else tabs
        if tab is None:
            break
        text = text[: tab.start()] + " " * len(tab[0]) + text[tab.end() :]
        composed = _attempt(text, budgets, events(text, budgets.depth))
    return composed


def _attempt(text: str, budgets: Budgets, read: Iterator[Any]) -> Composed:
    building = _Building(text, budgets)
    for number, event in enumerate(read):
        trouble = event if isinstance(event, YamlTrouble) else building.take(event)
        if trouble is None and number > budgets.nodes:
            start = event.start_mark.index
            trouble = YamlTrouble("oversized-file", "values", start, start + 1, {"limit": budgets.nodes})
        if trouble is not None:
            return Composed(trouble=trouble)
        if building.second is not None:
            break
    return Composed(building.root, None, building.second)


@value
class _Open:
    """A collection whose end has not been read yet."""

    event: Any
    items: list[YamlNode]


class _Building:
    """Nodes under construction: a stack of open collections, and the anchors seen."""

    def __init__(self, text: str, budgets: Budgets) -> None:
        self.root: YamlNode | None = None
        self.second: tuple[int, int] | None = None
        self._text = text
        self._depth = budgets.depth
        self._expandable = min(budgets.nodes, MOST_EXPANDED)
        self._open: list[_Open] = []
        self._anchors: dict[str, YamlNode | None] = {}
        self._steps: dict[str, Callable[[Any], YamlTrouble | None]] = {
            "ScalarEvent": self._scalar,
            "AliasEvent": self._alias,
            "SequenceStartEvent": self._start,
            "MappingStartEvent": self._start,
            "SequenceEndEvent": self._end,
            "MappingEndEvent": self._end,
            "DocumentStartEvent": self._document,
        }

    def take(self, event: Event) -> YamlTrouble | None:
        """Use one event of the parser; return what makes going on impossible."""
        step = self._steps.get(type(event).__name__)
        return step(event) if step else None

    def _document(self, event: Any) -> None:
        if self.root is not None:
            end = event.end_mark.index
            start = max(event.start_mark.index, end - len("---"))  # libyaml counts directives, too
            self.second = (start, max(end, start + 1))

    def _scalar(self, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        style = event.style or ""
        node = YamlNode(
            Kind.SCALAR,
            start,
            self._trim(start, end) if style in {"|", ">"} else end,
            _pair_up(event.value) if style == '"' else event.value,
            style,
            anchor=event.anchor or "",
            tag=event.tag or "",
        )
        self._add(node)

    def _alias(self, event: Any) -> YamlTrouble | None:
        start, end, name = event.start_mark.index, event.end_mark.index, event.anchor
        if name not in self._anchors:
            return explain_alias(self._text, start, end)
        target = self._anchors[name]
        if target is None:
            return YamlTrouble("alias-expansion", "recursive", start, end, {"alias": name})
        self._expandable -= target.size
        if self._expandable < 0:
            return YamlTrouble("alias-expansion", "large", start, end, {"alias": name, "limit": MOST_EXPANDED})
        self._add(YamlNode(Kind.ALIAS, start, end, items=(target,), size=target.size))
        return None

    def _start(self, event: Any) -> YamlTrouble | None:
        start = event.start_mark.index
        if len(self._open) >= self._depth:
            return YamlTrouble("deep-nesting", "", start, start + 1, {"limit": self._depth})
        if event.anchor:
            self._anchors[event.anchor] = None
        self._open.append(_Open(event, []))
        return None

    def _end(self, event: Any) -> None:
        opened = self._open.pop()
        start, flow = opened.event.start_mark.index, opened.event.flow_style
        sequence = type(event).__name__ == "SequenceEndEvent"
        items = tuple(opened.items if sequence else self._settle(opened.items))
        node = YamlNode(
            Kind.SEQUENCE if sequence else Kind.MAPPING,
            start,
            self._end_of(flow, items, event),
            style=("[" if sequence else "{") if flow else "",
            items=items,
            anchor=opened.event.anchor or "",
            tag=opened.event.tag or "",
            size=1 + sum(item.size for item in items),
        )
        self._add(node)

    def _settle(self, items: list[YamlNode]) -> Iterator[YamlNode]:
        """Put values that are not written right behind the colon of their key."""
        for key, node in zip(items[::2], items[1::2], strict=True):
            yield key
            colon = _COLON.match(self._text, key.end) if node.start == node.end else None
            yield replace(node, start=colon.end(), end=colon.end()) if colon else node

    def _end_of(self, flow: object, items: tuple[YamlNode, ...], event: Any) -> int:
        end: int = event.end_mark.index
        return items[-1].end if items and not flow else end

    def _add(self, node: YamlNode) -> None:
        if node.anchor:
            self._anchors[node.anchor] = node
        if self._open:
            self._open[-1].items.append(node)
        else:
            self.root = node

    def _trim(self, start: int, end: int) -> int:
        return start + len(self._text[start:end].rstrip())


def _pair_up(text: str) -> str:
    """Join the halves of characters that were escaped one by one, as JSON does."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def nodes_of(root: YamlNode) -> Iterator[YamlNode]:
    """Yield every node as written, aliases not followed, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.kind is not Kind.ALIAS:
            waiting.extend(reversed(node.items))

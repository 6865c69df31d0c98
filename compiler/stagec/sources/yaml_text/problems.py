"""What is wrong with a YAML text, told from what its parser says and from the line it stands in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from stagec.core.value import NOTHING, value
from stagec.sources.yaml_text.mistakes import (
    Mistake,
    after_value,
    colon,
    explain_key,
    flow,
    indentation,
    quotes,
    start_of_value,
)
from stagec.sources.yaml_text.outline import Outline

__all__ = ["YamlTrouble", "explain_alias", "trouble_of"]


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
    """Return what an exception of the parser is about, in our terms."""
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

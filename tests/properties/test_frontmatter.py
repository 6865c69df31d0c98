"""Frontmatter with one mistake has one diagnostic, in the right line and naming the key; without any it has none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.check.pipeline import Project, compile_project
from stagec.core.diagnostic import Diagnostic, Severity
from stagec.sources.project.settings import Settings

ROOT = Path(__file__).parent.resolve()
KEYS = ("name", "description", "model", "allowed-tools", "argument-hint", "applyTo", "version", "x_y", "emoji")
PLAIN = (
    "review",
    "Use this agent, when (really) needed",
    "it's done",
    'say "hi" to it',
    "https://example.org/a:b",
    "C# and 100% & more * x",
    "使用 it 🎨",
    "\u201csmart\u201d \u2018quotes\u2019",
    "a\u00a0b",
    "10:30",
    "see [a] and {b}",
    "value # the rest: is a comment",
)
GOOD = st.one_of(
    st.sampled_from(PLAIN).map(" {}".format),
    st.sampled_from(PLAIN).map(lambda text: " '" + text.replace("'", "''") + ": *x'"),
    st.sampled_from(PLAIN).map(lambda text: ' "' + text.replace('"', '\\"') + ': @x"'),
    st.sampled_from(PLAIN).map(lambda text: f" |\n  {text}: [a] | [b]\n\n  - @x"),
    st.sampled_from(PLAIN).map(lambda text: f" >-\n    {text}\n    : *"),
    st.sampled_from(PLAIN).map(lambda text: f" # first\n  - {text}\n  - ['a', \"b\", c]"),
    st.sampled_from(PLAIN).map(lambda text: f"\n  inner: {text}\n  other: {{a: b}}"),
    st.sampled_from(PLAIN[:4]).map(lambda text: f" {text}\n  goes on\n\n  and on"),
    st.just(""),
)


class Entry(NamedTuple):
    """A key of a frontmatter and what stands behind its colon."""

    key: str
    written: str

    @property
    def text(self) -> str:
        return f"{self.key}:{self.written}"


class Faulty(NamedTuple):
    """What stands in place of one entry, and in which of its lines the mistake is."""

    text: str
    line: int = 0


ENTRIES = st.lists(st.sampled_from(KEYS), unique=True, min_size=1, max_size=5).flatmap(
    lambda keys: st.tuples(*(st.builds(Entry, st.just(key), GOOD) for key in keys))
)
WORDS = st.sampled_from(("a", "review", "Use it", "one, two", "使用", "🎨 x", "x" * 300))
OPERATORS: dict[str, Callable[[str, str], Faulty]] = {
    "colon": lambda key, words: Faulty(f"{key}: {words} when: it is ready"),
    "colon at the end": lambda key, words: Faulty(f"{key}: {words}:"),
    "colon in quotes and outside": lambda key, words: Faulty(f"{key}: '{words}': y"),
    "colon in a later line": lambda key, words: Faulty(f"{key}: {words}\n  that goes\n  on: and on", 2),
    "colon in an element": lambda key, words: Faulty(f"{key}:\n  - x: {words}\n    y{key}: a: b", 2),
    "lost line break": lambda key, words: Faulty(f"{key}: {words}. license: MIT"),
    "key below a value": lambda key, words: Faulty(f"{key}: {words}\n  model: x", 1),
    "asterisk": lambda key, words: Faulty(f"{key}: *.{words}"),
    "asterisks": lambda key, words: Faulty(f"{key}: **/*.{words}"),
    "asterisk in brackets": lambda key, words: Faulty(f'{key}: ["{words}", *.ts]'),
    "asterisk in an element": lambda key, words: Faulty(f"{key}:\n  - {words}\n  - *.ts", 2),
    "mention": lambda key, words: Faulty(f"{key}: @{words}"),
    "backtick": lambda key, words: Faulty(f"{key}: `{words}`"),
    "percent": lambda key, words: Faulty(f"{key}: %{words}"),
    "statement": lambda key, words: Faulty(f"{key}: {{% {words} %}}"),
    "template": lambda key, words: Faulty(f"{key}: {{{{ {words} }}}}"),
    "anchor": lambda key, words: Faulty(f"{key}: &a {words}"),
    "tag": lambda key, words: Faulty(f"{key}: !!str {words}"),
    "dash": lambda key, words: Faulty(f"{key}: - {words}"),
    "question": lambda key, words: Faulty(f"{key}: ? {words}"),
    "second bracket": lambda key, words: Faulty(f"{key}: [{words}] [b]"),
    "bar": lambda key, words: Faulty(f"{key}: [{words}] | [b]"),
    "text behind a bracket": lambda key, words: Faulty(f"{key}: [{words}] - more"),
    "bracket too many": lambda key, words: Faulty(f"{key}: [{words}]]"),
    "open bracket": lambda key, words: Faulty(f"{key}: [{words}"),
    "open brace": lambda key, words: Faulty(f"{key}: {{a: [{words}]"),
    "text behind quotes": lambda key, words: Faulty(f'{key}: "{words}" and more'),
    "comma behind quotes": lambda key, words: Faulty(f'{key}: "{words}",'),
    "apostrophe": lambda key, words: Faulty(f"{key}: '{words} it's here'"),
    "quotes in quotes": lambda key, words: Faulty(f'{key}: "{words} "b" c"'),
    "escape": lambda key, words: Faulty(f'{key}: "{words} \\d+"'),
    "text behind a block's sign": lambda key, words: Faulty(f"{key}: > {words}"),
    "outdented block": lambda key, words: Faulty(f"{key}: |\n<{words}>\nname2: x", 1),
    "line without a colon": lambda key, words: Faulty(f"{key}: x\n<{words}>\nname2: x", 1),
    "tab before an element": lambda key, words: Faulty(f"{key}:\n\t- {key} {words}", 1),
    "tab before a key": lambda key, words: Faulty(f"{key}:\n  a: b\n\tb{key}: {words}", 2),
    "no space": lambda key, words: Faulty(f"x: y\n{key}:{words}", 1),
    "other space": lambda key, words: Faulty(f"x: y\n{key}:\u00a0{words}", 1),
    "other colon": lambda key, words: Faulty(f"x: y\n{key}\uff1a{words}", 1),
    "equals": lambda key, words: Faulty(f"x: y\n{key} = {words}", 1),
    "list below a value": lambda key, words: Faulty(f"{key}: x\n- {words}", 1),
    "element out of line": lambda key, words: Faulty(f"{key}:\n  - a\n - {key} {words}", 2),
    "key out of line": lambda key, words: Faulty(f"{key}:\n    a: b\n  b{key}: {words}", 2),
    "same key": lambda key, words: Faulty(f"{key}: x\n{key}: '{words}'", 1),
    "bold key": lambda key, words: Faulty(f"x: y\n**{key}**: {words}", 1),
    "key with a sign": lambda key, words: Faulty(f"@{key}: {words}"),
}
UNCLOSED = ('"', "'")


def told(text: str) -> list[Diagnostic]:
    """Return what is said of a Markdown file's syntax."""
    project = Project(ROOT, (ROOT / "given.md",), Settings(), {"given.md": text.encode()})
    found = compile_project(project).diagnostics
    return [each for each in found if each.severity is Severity.ERROR and "STG102" < each.code < "STG115"]


def fenced(parts: list[str], line_break: str = "\n") -> str:
    return "\n".join(["---", *parts, "---", "Body: with *text*", ""]).replace("\n", line_break)


@given(ENTRIES)
def test_well_formed_frontmatter_is_silent(entries: tuple[Entry, ...]) -> None:
    assert told(fenced([each.text for each in entries])) == []


@pytest.mark.parametrize("operator", OPERATORS)
@given(entries=ENTRIES, index=st.integers(0, 4), words=WORDS, line_break=st.sampled_from(("\n", "\r\n")))
@settings(max_examples=12)
def test_a_mistake_is_told_once_in_its_line_with_its_key(
    operator: str, entries: tuple[Entry, ...], index: int, words: str, line_break: str
) -> None:
    index %= len(entries)
    faulty = OPERATORS[operator](entries[index].key, words)
    parts = [each.text for each in entries]
    before = "\n".join(["---", *parts[:index]])
    text = fenced([*parts[:index], faulty.text, *parts[index + 1 :]], line_break)
    (found,) = told(text)
    assert found.span.start.line == before.count("\n") + 2 + faulty.line
    assert entries[index].key in found.message


@pytest.mark.parametrize("mark", UNCLOSED)
@given(entries=ENTRIES, words=WORDS)
def test_a_quote_that_is_not_closed_is_shown_where_it_opens(mark: str, entries: tuple[Entry, ...], words: str) -> None:
    (found,) = told(fenced([f"first: {mark}{words}", *(f"{each.key}: {mark}x{mark}" for each in entries)]))
    assert (found.code, found.span.start.line) == ("STG107", 2)
    assert "'first'" in found.message


@given(ENTRIES.filter(lambda entries: any(each.written.strip() for each in entries)))
def test_a_frontmatter_without_its_second_fence_is_told_at_the_first(entries: tuple[Entry, ...]) -> None:
    (found,) = told("\n".join(["---", *(each.text for each in entries), "", "Body"]))
    assert (found.code, found.span.start.line) == ("STG108", 1)


@given(entries=ENTRIES, words=WORDS)
@settings(max_examples=12)
def test_what_is_offered_leaves_nothing_to_say(entries: tuple[Entry, ...], words: str) -> None:
    from stagec.check.fixes import fix_project

    text = fenced([f"globs: *.{words}", *(each.text for each in entries)])
    project = Project(ROOT, (ROOT / "given.md",), Settings(), {"given.md": text.encode()})
    after = fix_project(project).after["given.md"]
    assert told(after.decode()) == []
    assert after.decode() == text.replace(f"*.{words}", f'"*.{words}"', 1)

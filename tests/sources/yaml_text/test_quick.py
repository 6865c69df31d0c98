"""Everyday YAML is read without a parser; the rest is left to it, at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from stagec.core.budgets import Budgets
from stagec.core.json import Json
from stagec.sources.formats.markdown import FORMAT as MARKDOWN
from stagec.sources.formats.yaml import FORMAT as YAML
from stagec.sources.tree import Parsed
from stagec.sources.yaml_text.quick import quick

TOP = Path(__file__).parents[3]
N = 100_000
PROBE = """
import sys
from stagec.core.budgets import Budgets
from stagec.sources.formats.markdown import FORMAT as MARKDOWN
from stagec.sources.formats.yaml import FORMAT as YAML
from stagec.core.place import Place
markdown = MARKDOWN.parse("f.md", b"---\\na: [1, {b: c}]\\nd: >\\n  e\\n  f\\n---\\n", Budgets())
empty = MARKDOWN.parse("f.md", b"---\\n---\\n", Budgets())
read = YAML.parse("f.yaml", b"- a: 'b'\\n", Budgets()).value
place = Place("f.yaml", (0, "a"))
(span,) = YAML.locate(b"- a: 'b'\\n", [place]).values()
print(markdown.value, empty.value, read, span.start.column, "ruamel" in sys.modules)
"""


def read(text: str) -> Json:
    return quick(text, Budgets().depth)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a: b\n", {"a": "b"}),
        ("a: b", {"a": "b"}),
        ("---\n# c\na: b # c\n", {"a": "b"}),
        ("a: 012\r\nb: 1.5\r\n", {"a": 12, "b": 1.5}),
        ("a:\nb: ~ # c\n", {"a": None, "b": None}),
        ("a b: c:d#e\n'x: y': it's\n", {"a b": "c:d#e", "x: y": "it's"}),
        ("a: 'it''s # no'\nb: \"x\\u00e9\\n\"\n", {"a": "it's # no", "b": "xé\n"}),
        ("a: b\n  c\n\n  d\ne: f\n", {"a": "b c\nd", "e": "f"}),
        ("a: 'b\n  c\n\n d'\n", {"a": "b c\nd"}),
        ("a:\n  b c\n  d\n", {"a": "b c d"}),
        ("a:\n  b:\n    c: 1\n  d: 2\ne: 3\n", {"a": {"b": {"c": 1}, "d": 2}, "e": 3}),
        ("a:\n- 1\n- 2\nb:\n  - 3\n", {"a": [1, 2], "b": [3]}),
        ("- a: 1\n  b: 2\n- - 3\n  -\n    4\n-\n", [{"a": 1, "b": 2}, [3, 4], None]),
        ("a: [b, 'c', {d: [1], \"e\":2}, []]\n", {"a": ["b", "c", {"d": [1], "e": 2}, []]}),
        ("a: [\n  b, # c\n  d,\n]\n", {"a": ["b", "d"]}),
        ("[a, b]\n", ["a", "b"]),
        ("a: |\n  b\n    c\n\n  d\n\ne: 1\n", {"a": "b\n  c\n\nd\n", "e": 1}),
        ("a: |-\n  b\nc: |+\n  d\n\n", {"a": "b", "c": "d\n\n"}),
        ("a: >\n  b\n  c\n\n  d\n    e\n  f\n", {"a": "b c\nd\n  e\nf\n"}),
        ("description: Use “this” — 使用\n", {"description": "Use “this” — 使用"}),
    ],
)
def test_everyday_yaml_needs_no_parser(text: str, meant: Json) -> None:
    assert read(text) == meant
    assert YAML.parse("f.yaml", text.encode(), Budgets()) == Parsed(meant)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n# c\n",
        "text\n",
        "a: b: c\n",
        "a: [b\n",
        "a: 'b\n",
        "a: b\na: c\n",
        "a: {b: c, b: d}\n",
        "a: &x b\n",
        "a: *x\n",
        "a: !t b\n",
        "? a\n",
        "[a]: b\n",
        "%YAML 1.2\n---\na: b\n",
        "a: b\n---\nc: d\n",
        "a: b\n...\n",
        "a:\tb\n",
        "a: b\rc: d\r",
        "a: b\x85c\n",
        "a: b\u2028c\n",
        "\ufeffa: b\n",
        "a: b\0\n",
        'a: "\\ud83d"\n',
        'a: "\\q"\n',
        "a: .inf\n",
        f"a: {'9' * 5_000}\n",
        "a: |2\n    b\n",
        "a:\n  b: 1\n c: 2\n",
        "a:\n-b\n",
        "a: |\n  b",
        f"{'a' * 1_100}: b\n",
        f"a{' ' * 1_100}: b\n",
    ],
)
def test_what_is_unusual_or_wrong_is_left_to_the_parser(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize("form", ["a: {}\n", "a:\n  {}\n", "- {}\n"])
def test_nesting_is_read_up_to_the_limit(form: str) -> None:
    assert quick(form.format("[" * 7 + "]" * 7), 8) is not None
    assert quick(form.format("[" * 8 + "]" * 8), 8) is None


@pytest.mark.parametrize("levels", [8, 9])
def test_nested_lines_are_read_up_to_the_limit(levels: int) -> None:
    text = "".join(f"{' ' * level}a:\n" for level in range(levels))
    assert (quick(text, 8) is None) is (levels > 8)


@pytest.mark.parametrize(
    "text",
    [
        f"a: {'[' * N}{']' * N}",
        "a: " + "{a: " * N,
        "- " * N + "x",
        "-  " * N + "x",
        "".join(f"{' ' * level}a:\n" for level in range(1_000)),
        "a: [\n" + "# c\n" * N,
        "a: [" + "'b, " * N,
        '- "b\n' * N,
        "a: " + "b " * N + ": c",
        "a " * N + ": c",
    ],
    ids=["brackets", "braces", "dashes", "wide dashes", "stairs", "comments", "quotes", "items", "words", "key"],
)
def test_hostile_text_is_left_to_the_parser_at_once(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("- {a: 1, b: [x, y]}\n" * 50_000, 50_000),
        ("".join(f"key{number}: value {number}\n" for number in range(85_000)), 85_000),
        ("- |\n  b\n" * N, N),
        ("- a\n   b\n" * N, N),
        ("# c\n" * N + "- a\n", 1),
        ("- 'a" + " " * N * 5 + "b'\n", 1),
        ("- a\n" + "\n" * N * 5 + "  b\n", 1),
        ("- >\n  a\n" + "   b\n" * N, 1),
    ],
    ids=["dense", "keys", "blocks", "lines", "comments", "blanks", "breaks", "folded"],
)
def test_large_text_is_read_in_one_pass(text: str, count: int) -> None:
    given = read(text)
    assert isinstance(given, (dict, list))
    assert len(given) == count


def test_frontmatter_that_is_no_mapping_is_judged_as_before() -> None:
    (fault,) = MARKDOWN.parse("f.md", b"---\n- a\n---\n", Budgets()).faults
    assert (fault.topic, fault.reason) == ("invalid-frontmatter", "not-a-mapping")


def test_everyday_yaml_does_not_import_the_parser() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROBE],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(TOP / "compiler")},
    )
    told = "{'a': [1, {'b': 'c'}], 'd': 'e f\\n'} {} [{'a': 'b'}] 6 False\n"
    assert (ended.stdout, ended.stderr) == (told, "")

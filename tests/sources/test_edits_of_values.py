"""Edits of values, prose and guesses do what they say, and nothing where that cannot be."""

from __future__ import annotations

import pytest

from stagec.check.findings import resolve_guess
from stagec.check.reporters.sarif import find_replacement
from stagec.core.budgets import Budgets
from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json
from stagec.core.nearest import Guess, NameIndex, guess
from stagec.core.place import Place, Pointer
from stagec.sources.formats.json import FORMAT as JSON
from stagec.sources.formats.markdown import FORMAT as MARKDOWN
from stagec.sources.read import revise
from stagec.sources.tree import Format, Tree, write_stretches

_BUDGETS = Budgets()
GIVEN: Json = {"a": {"b": [1, 2, 3]}, "c": "text"}


def edit(change: Change, *pointer: str | int, new: Json = None) -> Edit:
    return Edit(change, Place("x", pointer), new)


def test_indexes_are_those_before_any_edit() -> None:
    edits = (
        edit(Change.REMOVE, "a", "b", 0),
        edit(Change.REPLACE, "a", "b", 2, new=4),
        edit(Change.INSERT, "a", "b", 3, new=5),
        edit(Change.INSERT, "a", "b", 0, new=0),
        edit(Change.RENAME, "c", new="d"),
        edit(Change.INSERT, "e", new=6),
    )
    assert revise(GIVEN, edits) == {"a": {"b": [0, 2, 4, 5]}, "d": "text", "e": 6}
    assert GIVEN == {"a": {"b": [1, 2, 3]}, "c": "text"}


@pytest.mark.parametrize(
    "wrong",
    [
        edit(Change.REMOVE, "z"),
        edit(Change.REPLACE, "a", "z", "y", new=1),
        edit(Change.REMOVE, "a", "b", 3),
        edit(Change.INSERT, "c", new=1),
        edit(Change.INSERT, "c", "z", new=1),
        edit(Change.RENAME, "c", new="a"),
        edit(Change.RENAME, "a", "b", 0, new="z"),
    ],
)
def test_what_cannot_be_done_is_refused(wrong: Edit) -> None:
    with pytest.raises(ValueError, match="can"):
        revise(GIVEN, [wrong])


def test_stretches_are_written_as_they_are() -> None:
    edits = [Edit(Change.WRITE, Place("x", range=at), new) for at, new in (((4, 5), "C"), ((0, 1), "A"))]
    assert write_stretches("a b c", edits) == "A b C"
    with pytest.raises(ValueError, match="stretch"):
        write_stretches("a b c", edits, start=2)
    with pytest.raises(ValueError, match="stretch"):
        write_stretches("a b c", [*edits, Edit(Change.WRITE, Place("x", range=(3, 5)), "")])


def tree_of(text: str, form: Format = JSON) -> Tree:
    parsed = form.parse("x", text.encode(), _BUDGETS)
    return Tree("x", "file", form, text.encode(), parsed.value, parsed.faults, parsed.body)


@pytest.mark.parametrize(
    ("text", "pointer", "change", "new"),
    [
        ('{"k": "nmae"}', ("k",), Change.REPLACE, "name"),
        ('{"k": "see ${nmae}"}', ("k",), Change.REPLACE, "see ${name}"),
        ('{"nmae": 1}', ("nmae",), Change.RENAME, "name"),
        ('{"k": "nmae and nmae"}', ("k",), None, None),
        ('{"k": "nmaes"}', ("k",), None, None),
        ('{"k": "my-nmae"}', ("k",), None, None),
        ('{"k": "other"}', ("k",), None, None),
        ('{"k": 1}', ("k",), None, None),
        ('{"nmae": 1, "name": 2}', ("nmae",), None, None),
        ('{"k": 1}', ("z",), None, None),
        ('["nmae"]', (0,), Change.REPLACE, "name"),
    ],
)
def test_a_guess_is_made_where_the_name_stands(text: str, pointer: Pointer, change: Change | None, new: Json) -> None:
    fix = resolve_guess(Guess("nmae", "name"), Place("x", pointer), {"x": tree_of(text)})
    found = None if fix is None else (fix.edits, fix.is_safe)
    assert found == (None if change is None else ((edit(change, *pointer, new=new),), False))


def test_a_guess_is_made_at_all_of_its_places_or_at_none() -> None:
    trees = {"x": tree_of('{"a": "nmae", "b": "nmae", "c": "other"}')}
    both, one = (Guess("nmae", "name", (Place("x", (key,)),)) for key in ("b", "c"))
    fix = resolve_guess(both, Place("x", ("a",)), trees)
    assert fix is not None
    assert len(fix.edits) == 2
    assert resolve_guess(one, Place("x", ("a",)), trees) is None
    assert resolve_guess(one, Place("lost", ("a",)), trees) is None


def test_prose_below_a_frontmatter_is_written_and_the_frontmatter_is_not() -> None:
    text = "---\nid: x\n---\n\u2013 {{ctx.nmae}}\n"
    tree = tree_of(text, MARKDOWN)
    start = text.index("{{")
    at = Place("x", range=(start, start + len("{{ctx.nmae}}")))
    fix = resolve_guess(Guess("nmae", "name"), at, {"x": tree})
    assert fix is not None
    assert MARKDOWN.apply(text, fix.edits) == text.replace("nmae", "name")
    assert resolve_guess(Guess("id", "name"), Place("x", range=(4, 6)), {"x": tree}) is None


@pytest.mark.parametrize("text", ['{"a": [1, 2],\r\n "c": 3}', '{"a": [1, 2], "c": 3}', '{"a":[\n1,\n2\n],"c":3}'])
@pytest.mark.parametrize(
    "made", [edit(Change.REMOVE, "a", 0), edit(Change.RENAME, "c", new="cc"), edit(Change.INSERT, "a", 2, new=2)]
)
def test_a_replacement_is_all_that_edits_change(text: str, made: Edit) -> None:
    found = find_replacement(tree_of(text), [made])
    assert found is not None
    rows = text.split("\n")
    starts = [sum(len(row) + 1 for row in rows[:index]) for index in range(len(rows))]
    begin, end = (starts[at.line - 1] + at.column - 1 for at in (found.span.start, found.span.end))
    assert text[:begin] + found.text + text[end:] == JSON.apply(text, [made])


def test_what_cannot_be_replaced_is_left_out() -> None:
    assert find_replacement(tree_of("{}"), [edit(Change.REMOVE, "z")]) is None


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("nmae", ("name", "size"), "name"),
        ("nam", ("name", "names"), "name"),
        ("boak", ("boat", "book"), None),
        ("BOOK", ("boot", "book"), "book"),
        ("a_b", ("a-b", "a b"), None),
        ("verfication", ("verification", "closure"), "verification"),
        ("zzz", ("name",), None),
        ("name", ("name",), None),
    ],
)
def test_a_name_is_guessed_if_it_is_the_only_near_one(name: str, known: tuple[str, ...], meant: str | None) -> None:
    assert guess(name, NameIndex(known)) == (None if meant is None else Guess(name, meant))

"""Changing a JSON text by symbolic edits."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from campaigns import choose
from hypothesis import given, settings
from hypothesis import strategies as st

from stagec.core.diagnostic import Change, Edit
from stagec.core.json import Json
from stagec.core.place import Key, Part, Place
from stagec.sources.formats.json.outline import apply

SCALARS = st.none() | st.booleans() | st.integers() | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5), max_leaves=20
)
PRETTY = """\
{
    "name": "x",
    "list": [
        1,
        2
    ],
    "inline": {"a": 1, "b": 2},
    "last": {}
}
"""


def replace(value: Json, *pointer: Key) -> Edit:
    return Edit(Change.REPLACE, Place("f.json", pointer), value)


def rename(value: str, *pointer: Key) -> Edit:
    return Edit(Change.RENAME, Place("f.json", pointer, Part.KEY), value)


def remove(*pointer: Key) -> Edit:
    return Edit(Change.REMOVE, Place("f.json", pointer))


def insert(value: Json, *pointer: Key) -> Edit:
    return Edit(Change.INSERT, Place("f.json", pointer), value)


CHANGED = {
    "a value": ([replace("é", "name")], '"x"', '"é"'),
    "a name": ([rename('new "name"', "name")], '"name"', '"new \\"name\\""'),
    "a name and its value": ([rename("n", "name"), replace(1, "name")], '"name": "x"', '"n": 1'),
    "the first member": ([remove("name")], '    "name": "x",\n', ""),
    "a member in the middle": ([remove("inline")], '    "inline": {"a": 1, "b": 2},\n', ""),
    "the last member": ([remove("last")], ',\n    "last": {}', ""),
    "the first of a line": ([remove("inline", "a")], '"a": 1, ', ""),
    "the last of a line": ([remove("inline", "b")], ', "b": 2', ""),
    "all of a line": ([remove("inline", "a"), remove("inline", "b")], '{"a": 1, "b": 2}', "{}"),
    "the last element": ([remove("list", 1)], ",\n        2", ""),
    "a new member": ([insert(True, "new")], '"last": {}', '"last": {},\n    "new": true'),
    "a new member on a line": ([insert([1], "inline", "c")], '"b": 2', '"b": 2, "c": [1]'),
    "a new member of an empty object": ([insert(1, "last", "a")], "{}", '{"a": 1}'),
    "a new first element": ([insert(0, "list", 0)], "        1,", "        0,\n        1,"),
    "a new element in the middle": ([insert(0, "list", 1)], "        2", "        0,\n        2"),
    "a new last element": ([insert(0, "list", 2)], "        2", "        2,\n        0"),
    "an object over several lines": (
        [insert({"a": 1}, "new")],
        '"last": {}',
        '"last": {},\n    "new": {\n        "a": 1\n    }',
    ),
    "the last member and a new one": (
        [remove("last"), insert(1, "new")],
        '"last": {}',
        '"new": 1',
    ),
    "every element": (
        [remove("list", 0), remove("list", 1), insert(9, "list", 0)],
        "        1,\n        2\n",
        "        9\n",
    ),
}


@pytest.mark.parametrize(("edits", "old", "fresh"), CHANGED.values(), ids=CHANGED.keys())
def test_only_what_is_named_changes(edits: list[Edit], old: str, fresh: str) -> None:
    assert PRETTY.count(old) == 1
    assert apply(PRETTY, edits) == PRETTY.replace(old, fresh)


@pytest.mark.parametrize(("edits", "old", "fresh"), CHANGED.values(), ids=CHANGED.keys())
def test_the_line_breaks_of_a_file_are_kept(edits: list[Edit], old: str, fresh: str) -> None:
    assert apply(PRETTY.replace("\n", "\r\n"), edits) == PRETTY.replace(old, fresh).replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ('{"a":1,"b":2}', insert({"x": [1, 2]}, "c"), '{"a":1,"b":2,"c":{"x":[1,2]}}'),
        ('{"a":1}', insert(2, "b"), '{"a":1,"b":2}'),
        ('{"a": 1}', insert(2, "b"), '{"a": 1, "b": 2}'),
        ('{ "a": 1 }', insert(2, "b"), '{ "a": 1, "b": 2 }'),
        ("[1]", insert(0, 0), "[0, 1]"),
        ("[]", insert(0, 0), "[0]"),
        ("\ufeff[1]", remove(0), "\ufeff[]"),
        (' {"a": 1}\n', replace([]), " []\n"),
    ],
)
def test_one_line_stays_one_line(text: str, edit: Edit, expected: str) -> None:
    assert apply(text, [edit]) == expected


@pytest.mark.parametrize(
    ("edits", "named"),
    [
        ([replace(1, "name"), replace(2, "name")], "two edits of '/name'"),
        ([replace(1, "name"), remove("name")], "two edits of '/name'"),
        ([rename("x", "name"), remove("name")], "two edits of '/name'"),
        ([insert(1, "new"), insert(2, "new")], "two edits of '/new'"),
        ([remove("list"), replace(1, "list", 0)], "'/list/0' lies inside the edit of '/list'"),
        ([insert(1, "inline", "c"), replace(1, "inline")], "'/inline/c' lies inside the edit of '/inline'"),
        ([replace(1)], None),
        ([remove()], "the root can only be replaced"),
        ([remove("missing")], "'/missing' is not there"),
        ([replace(1, "name", "x")], "'/name/x' is not there"),
        ([insert(1, "name", "x")], "'/name/x' is in no object or array"),
        ([insert(1, "name")], "'/name' is there already"),
        ([rename("x", "list", 0)], "'/list/0' has no name"),
    ],
)
def test_edits_that_make_no_sense_are_refused_by_place(edits: list[Edit], named: str | None) -> None:
    if named is None:
        assert json.loads(apply(PRETTY, edits)) == 1
        return
    with pytest.raises(ValueError, match=named):
        apply(PRETTY, edits)


def containers(given_value: Any, above: tuple[Key, ...] = ()) -> list[tuple[Key, ...]]:
    pairs: Any = {list: enumerate, dict: dict.items}.get(type(given_value), lambda _: ())(given_value)
    inner = [each for key, value in pairs for each in containers(value, (*above, key))]
    return [above, *inner] if isinstance(given_value, (list, dict)) else inner


def at(given_value: Any, pointer: tuple[Key, ...]) -> Any:
    for key in pointer:
        given_value = given_value[key]
    return given_value


def change_object(data: st.DataObject, holder: dict[str, Any], pointer: tuple[Key, ...]) -> list[Edit]:
    edits = []
    for key in list(holder):
        what = data.draw(st.sampled_from(["keep", "replace", "remove"]))
        if what == "replace":
            holder[key] = data.draw(VALUES)
            edits.append(replace(holder[key], *pointer, key))
        elif what == "remove":
            del holder[key]
            edits.append(remove(*pointer, key))
    for key in data.draw(st.lists(st.text(), max_size=3, unique=True)):
        if key not in holder and remove(*pointer, key) not in edits:
            holder[key] = data.draw(VALUES)
            edits.append(insert(holder[key], *pointer, key))
    return edits


def change_array(data: st.DataObject, holder: list[Any], pointer: tuple[Key, ...]) -> list[Edit]:
    edits, fresh = [], []
    for index in range(len(holder) + 1):
        for added in data.draw(st.lists(SCALARS, max_size=2)):
            fresh.append(added)
            edits.append(insert(added, *pointer, index))
        if index < len(holder) and data.draw(st.booleans()):
            edits.append(remove(*pointer, index))
        elif index < len(holder):
            fresh.append(holder[index])
    holder[:] = fresh
    return edits


@settings(max_examples=choose(60, whole=300))
@given(st.data(), VALUES.filter(lambda value: isinstance(value, (list, dict))), st.sampled_from([None, 0, 3, "\t"]))
def test_an_edited_text_reads_as_the_edited_value(data: st.DataObject, given_value: Any, indent: Any) -> None:
    separators = data.draw(st.sampled_from([None, (",", ":")]))
    text = json.dumps(given_value, indent=indent, separators=separators, ensure_ascii=data.draw(st.booleans()))
    expected = copy.deepcopy(given_value)
    pointer = data.draw(st.sampled_from(containers(given_value)))
    holder = at(expected, pointer)
    edits = (change_object if isinstance(holder, dict) else change_array)(data, holder, pointer)
    assert json.loads(apply(text, edits)) == expected


@given(VALUES)
def test_no_edit_is_no_change(given_value: Any) -> None:
    text = json.dumps(given_value, indent=2)
    assert apply(text, []) == text

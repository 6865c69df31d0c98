"""Every text becomes the one that its meaning, its comments and its author's choices call for."""

from __future__ import annotations

from pathlib import Path

import pytest

from stagec.check.formatting import format_file
from stagec.check.formatting.reading import UnusualLayoutError
from stagec.core.budgets import Budgets
from stagec.core.value import replace
from stagec.sources.read import Sources
from stagec.sources.tree import Tree

BUDGETS = Budgets()


def tree_of(name: str, kind: str, data: bytes, budgets: Budgets = BUDGETS) -> Tree:
    tree = Sources(Path("/"), budgets, {name: data}).tree(name, kind)
    assert tree is not None
    assert tree.readable, tree.faults
    return replace(tree, kind=kind)


def lay_out(name: str, kind: str, text: str) -> str:
    """Return a text as it is formatted, having formatted it again, which must change nothing."""
    formatted = format_file(name, tree_of(name, kind, text.encode()), BUDGETS)
    assert formatted.unusual == 0
    again = format_file(name, tree_of(name, kind, formatted.after), BUDGETS)
    assert again.after == formatted.after
    return formatted.after.decode()


YAML = {
    "members in order, unknown ones behind": ("zeta: 1\nname: N\nown: 2\nid: p\n", "id: p\nname: N\nzeta: 1\nown: 2\n"),
    "a comment above moves along": ("name: N\n# of id\n# too\nid: p\n", "# of id\n# too\nid: p\nname: N\n"),
    "a comment behind moves along": ("name: N # n\nid: p   # i\n", "id: p   # i\nname: N # n\n"),
    "a header stays": ("# all\n\n# of name\nname: N\nid: p\n", "# all\n\nid: p\n# of name\nname: N\n"),
    "an end stays": ("name: N\nid: p\n# the end\n", "id: p\nname: N\n# the end\n"),
    "blank lines": ("\n\nid: p\n\n\n\nname: N\n\n\n", "id: p\n\nname: N\n"),
    "no blank line at the top after sorting": ("name: N\n\nid: p\n", "id: p\nname: N\n"),
    "colons and dashes": ("id:   p\nstages:\n-    a\n-   b\n", "id: p\nstages:\n  - a\n  - b\n"),
    "compact elements": ("own:\n-\n    a: 1\n    b: 2\n", "own:\n  - a: 1\n    b: 2\n"),
    "lists in lists": ("own:\n- -  a\n  - b\n-\n  - c\n", "own:\n  - - a\n    - b\n  - - c\n"),
    "a comment behind a dash": ("own:\n- # why\n  a: 1\n", "own:\n  - # why\n    a: 1\n"),
    "a comment below a dash": ("own:\n-\n  # why\n  a: 1\n", "own:\n  -\n    # why\n    a: 1\n"),
    "a comment behind a key": ("own:   # why\n    a: 1\n", "own:   # why\n  a: 1\n"),
    "a comment above a value": ("own: # k\n    # v\n    a\n", "own: # k\n  # v\n  a\n"),
    "comments of a list above its key's": (
        "own:\n- a\n# of the key\nmine: 1\n",
        "own:\n  - a\n# of the key\nmine: 1\n",
    ),
    "a comment at the end of a block": (
        "own:\n    a: 1\n    # last\n  # own\nmine: 2\n",
        "own:\n  a: 1\n  # last\n# own\nmine: 2\n",
    ),
    "an empty value": ("name:\nown:   # why\nid: p\n", "id: p\nname:\nown:   # why\n"),
    "brackets on one line": ("own: [ a,b ,c]\nmine: {a: 1,b:  [ ]}\n", "own: [a, b, c]\nmine: {a: 1, b: []}\n"),
    "padding is the author's": (
        "own: { a: 1,b: 2}\nmine: {a: 1, b: 2 }\n",
        "own: { a: 1, b: 2 }\nmine: {a: 1, b: 2}\n",
    ),
    "brackets that begin on one line": ("own: [a,\n   b]\n", "own: [a, b]\n"),
    "brackets on several lines": ("own: [\n a, b]\n", "own: [\n    a,\n    b\n  ]\n"),
    "brackets below their key": ("own:\n    [\n a, b,]\n", "own:\n  [\n    a,\n    b,\n  ]\n"),
    "brackets with comments": (
        "own: {  # all\n a: 1,  # one\n  # of b\n b: 2 # two\n # end\n}\n",
        "own: {  # all\n    a: 1,  # one\n    # of b\n    b: 2 # two\n    # end\n  }\n",
    ),
    "members in brackets in order": (
        "next:\n  a: [{stages: [b], when: {x: 1}}]\n",
        "next:\n  a: [{when: {x: 1}, stages: [b]}]\n",
    ),
    "a literal text": ("own: |\n      a\n        b\n\n      c\nid: p\n", "id: p\nown: |\n  a\n    b\n\n  c\n"),
    "a text that keeps its end": ("own: |+\n    a\n\n\nid: p\n", "id: p\nown: |+\n  a\n\n\n"),
    "a text with an indicator": ("own:\n    mine: |2\n        a\n       b\n", "own:\n  mine: |2\n      a\n     b\n"),
    "a folded text with a comment": ("own: >- # why\n   a\n   b\n # below\n", "own: >- # why\n  a\n  b\n# below\n"),
    "an empty text": ("own: |\nid: p\n", "id: p\nown: |\n"),
    "blanks inside a text": ("own: |\n   a  \n     \n   b\n", "own: |\n  a  \n    \n  b\n"),
    "a plain text on several lines": ("own: a\n       b\n\n       c\n", "own: a\n  b\n\n  c\n"),
    "a quoted text on several lines": ('own: "a\n       b\\\n     \\ c  \n   d"\n', 'own: "a\n  b\\\n  \\ c  \n  d"\n'),
    "anchors keep the order": ("name: &n N\nid: *n\n", "name: &n N\nid: *n\n"),
    "an anchor of a block": ("own:   &x   # why\n    a: 1\nmine: *x\n", "own: &x   # why\n  a: 1\nmine: *x\n"),
    "an anchor of brackets": ("own: &x  {a: 1,b: 2}\n", "own: &x {a: 1, b: 2}\n"),
    "a marker and a directive": ("%YAML 1.2\n---\nname: N\nid: p\n...\n", "%YAML 1.2\n---\nid: p\nname: N\n...\n"),
    "quotes, numbers and escapes": (
        "own: ['a', \"\\u0041\", 0x1F, 1e3, 01, ~]\n",
        "own: ['a', \"\\u0041\", 0x1F, 1e3, 01, ~]\n",
    ),
    "characters beyond ASCII": ("own: 🙂 # é\n日本: ü\nid: p\n", "id: p\nown: 🙂 # é\n日本: ü\n"),
    "no line break at the end": ("name: N\nid: p", "id: p\nname: N\n"),
    "an open text at the end": ("name: N\nid: p\nown: |\n    a", "name: N\nid: p\nown: |\n  a"),
    "a document in brackets": ("# h\n{name: N, id: p}\n# e\n", "# h\n{id: p, name: N}\n# e\n"),
    "carriage returns": ("name: N\r\nid: p\r\n", "id: p\r\nname: N\r\n"),
    "tabs between words": ("name:\tN\t# n\nid: p\n", "id: p\nname: N  # n\n"),
    "no blank line becomes a part of a text": (
        "name: |+\n  a\nown: b\n\nid: |+\n  c\n",
        "id: |+\n  c\nname: |+\n  a\nown: b\n",
    ),
    "nor one at the end of a block": (
        "own:\n  - |+\n    a\n  # e\nid: |+\n  c\nname: n\n\n# end\n",
        "id: |+\n  c\nname: n\nown:\n  - |+\n    a\n  # e\n\n# end\n",
    ),
    "comments in and around brackets": ("# a\n[\n # b\n]\n# c\n", "# a\n[\n  # b\n]\n# c\n"),
    "a comment further out than a list": ("own:\n- a\n  # c\n", "own:\n  - a\n  # c\n"),
    "a set": ("own: {a, b}\n", "own: {a, b}\n"),
}


@pytest.mark.parametrize("case", YAML)
def test_yaml(case: str) -> None:
    before, after = YAML[case]
    assert lay_out("pipeline.yaml", "pipeline", before) == after


JSON = {
    "members in order": ('{"b":1,"version":"1","agentId":"a"}', '{ "agentId": "a", "version": "1", "b": 1 }\n'),
    "the comment of an object first": (
        '{"agentId":"a","$comment":"c","own":1}',
        '{ "$comment": "c", "agentId": "a", "own": 1 }\n',
    ),
    "the schema first": ('{"version":"1","$schema":"s"}', '{ "$schema": "s", "version": "1" }\n'),
    "names of users as they are": ('{"steps":{"z":{},"a":{}}}', '{ "steps": { "z": {}, "a": {} } }\n'),
    "inside named members": (
        '{"steps":{"z":{"name":1,"stepId":2}}}',
        '{ "steps": { "z": { "stepId": 2, "name": 1 } } }\n',
    ),
    "lines where the first member has one": (
        '{\n"x":[\n1,2], "y":[1,\n2]}',
        '{\n  "x": [\n    1,\n    2\n  ],\n  "y": [1, 2]\n}\n',
    ),
    "what is too long": (f'["{"a" * 60}","{"b" * 60}"]', f'[\n  "{"a" * 60}",\n  "{"b" * 60}"\n]\n'),
    "what just fits": (f'["{"a" * 110}","b"]', f'["{"a" * 110}", "b"]\n'),
    "what is too long by a bracket": (f'["{"a" * 112}","b"]', f'[\n  "{"a" * 112}",\n  "b"\n]\n'),
    "texts as written": (
        '{"x":"\\u00e9\\/é🙂","y":1.50E+3,"z":-0}',
        '{ "x": "\\u00e9\\/é🙂", "y": 1.50E+3, "z": -0 }\n',
    ),
    "a blank line": ('{\n\n"x":1,\n\n\n"y":2\n\n}', '{\n  "x": 1,\n\n  "y": 2\n}\n'),
    "repeated names": (
        '{"b":1,"version":"1","b":2,"version":"2"}',
        '{ "version": "1", "version": "2", "b": 1, "b": 2 }\n',
    ),
    "names with escapes": ('{"b":1,"\\u0076ersion":"1"}', '{ "\\u0076ersion": "1", "b": 1 }\n'),
    "carriage returns": ('{\r\n"x":1}\r\n', '{\r\n  "x": 1\r\n}\r\n'),
}


@pytest.mark.parametrize("case", JSON)
def test_json(case: str) -> None:
    before, after = JSON[case]
    assert lay_out("steps_registry.json", "registry", before) == after


def test_a_stage_is_laid_out_above_its_body_alone() -> None:
    body = "\n  Hello   {{ctx.x}}\t\r\n\n\n---\nname: no\nid: no\n--- \nend  "
    text = f"---  \nname: N\nid:  plan\n\nallowedTools: [ Read ]\n---\t\n{body}"
    assert lay_out("plan.md", "stage", text) == f"---  \nid: plan\nname: N\n\nallowedTools: [Read]\n---\t\n{body}"


def test_a_stage_keeps_its_line_ends() -> None:
    text = "---\r\nname: N\r\nid: plan\r\n---\r\nBody\n\r\nend"
    assert lay_out("plan.md", "stage", text) == "---\r\nid: plan\r\nname: N\r\n---\r\nBody\n\r\nend"


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("plan.md", "stage", "---\n---\nbody"),
        ("plan.md", "stage", "---\n# nothing\n\n---\nbody"),
        ("a.schema.json", "schema", "true"),
        ("a.schema.json", "schema", '{\n  "type": "object",\n  "$schema": "s",\n  "description": "d"\n}\n'),
        (".mcp.json", "mcp", '{ "mcpServers": { "a": { "type": "stdio", "command": "c" } } }\n'),
    ],
)
def test_what_stays_as_it_is(name: str, kind: str, text: str) -> None:
    assert lay_out(name, kind, text) == text


def test_a_byte_order_mark_stays() -> None:
    formatted = format_file("r.json", tree_of("r.json", "registry", b'\xef\xbb\xbf{"b":1,"c1":2}'), BUDGETS)
    assert formatted.before == b'\xef\xbb\xbf{"b":1,"c1":2}'
    assert formatted.after == b'\xef\xbb\xbf{ "c1": 2, "b": 1 }\n'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("id: p\n? name\n: N\n", 2),
        ("id: p\nown: {? a : 1}\n", 2),
        ("id: p\nown: [a: 1]\n", 2),
        ("id: p\nown: {a: , b: 1}\n", 2),
        ("--- {id: p}\n", 1),
        ("{id: p} # end\n", 1),
        ("own: &x\n  [a]\n", 2),
        ("own: [a # why\n  , # what\n  c]\n", 2),
        ("own: {a: # why\n  b}\n", 1),
        ("own: {a: ..  :}\n", 1),
        (" --- a: 1\n", 1),
        (" ... : 1\n", 1),
        ("\n\ufeffa: 1\n", 2),
        ("own: [&a ]\n", 1),
        ("own: {&a : 1}\n", 1),
        ("own: {&a , b}\n", 1),
        ("own:\n  &a : 1\n", 2),
        ("- [a, b]: c\n", 1),
        ("? [a, b]\n: c\n", 1),
        ("own: {[a, b]: c}\n", 1),
        ("&x\nown: 1\n", 1),
        ("own: # why\n  &x # what\n  a: 1\n", 2),
    ],
)
def test_rare_forms_are_left_alone_and_told(text: str, line: int) -> None:
    formatted = format_file("pipeline.yaml", tree_of("pipeline.yaml", "pipeline", text.encode()), BUDGETS)
    assert formatted.after == formatted.before
    assert formatted.unusual == line


@pytest.mark.parametrize("name", ["r.json", "r.yaml"])
def test_whatever_is_too_deep_is_left_alone(name: str) -> None:
    budgets = Budgets(depth=200)
    deep = tree_of(name, "registry", b'{"steps":' * 150 + b"1" + b"}" * 150, budgets)
    assert format_file(name, deep, budgets).unusual == 1
    nearly = tree_of(name, "registry", b'{"steps":' * 99 + b"1" + b"}" * 99, budgets)
    assert format_file(name, nearly, budgets).unusual == 0


def test_the_error_of_a_rare_form_says_where_it_is() -> None:
    assert UnusualLayoutError(3).line == 3


LONG = ", ".join(f"tool_{number}" for number in range(20))
DIRECTIVES = {
    "a comment beside a list that becomes too long": (
        f"own: [{LONG}] # stagec: ignore[STG1] x\n",
        "own: [ # stagec: ignore[STG1] x\n    " + LONG.replace(", ", ",\n    ") + "\n  ]\n",
    ),
    "a first member that would cover the file": ("name: N\n# stagec: ignore[STG1] x\nid: p\n", None),
    "a first member that covers the file": ("# stagec: ignore[STG1] x\n\nname: N\nid: p\n", None),
    "a last member that covers the text below": ("name: N\nid: p # stagec: ignore[STG1] x\n", None),
    "a first member beside a dash": ("stages:\n  - turnCap: 1\n    id: a # stagec: ignore[STG1] x\n", None),
    "a dash alone": ("own:\n  -\n    a: 1 # stagec: ignore[STG1] x\n", None),
    "a member in the middle": (
        "id: p\nentry: e\n# stagec: ignore[STG1] x\nname: N\nnext: {}\n",
        "id: p\n# stagec: ignore[STG1] x\nname: N\nentry: e\nnext: {}\n",
    ),
}


@pytest.mark.parametrize("case", DIRECTIVES)
def test_a_suppression_covers_what_it_covered(case: str) -> None:
    before, after = DIRECTIVES[case]
    assert lay_out("pipeline.yaml", "pipeline", before) == (before if after is None else after)


def test_a_suppression_in_a_list_on_several_lines_leaves_the_file_alone() -> None:
    data = b"id: p\nown: [a, # stagec: ignore[STG1] x\n  b]\n"
    formatted = format_file("pipeline.yaml", tree_of("pipeline.yaml", "pipeline", data), BUDGETS)
    assert (formatted.after, formatted.unusual) == (data, 2)


def test_suppressions_of_json_stay_members() -> None:
    text = '{"x-stagec-ignore":{"STG1":"x"},"version":"1","steps":{}}'
    wanted = '{ "version": "1", "steps": {}, "x-stagec-ignore": { "STG1": "x" } }\n'
    assert lay_out("steps_registry.json", "registry", text) == wanted


def test_labels_and_phases_of_an_orchestrator_file_stay_in_their_order() -> None:
    given = (
        '{"labelMapping": {"ready": "b", "first": "a"}, "phases": {"b": {"agent": "x", "type": "actionable"}, "a": {}}}'
    )
    wanted = (
        '{"phases": {"b": {"type": "actionable", "agent": "x"}, "a": {}}, "labelMapping": {"ready": "b", "first": "a"}}'
    )
    formatted = lay_out(".agent/workflow.json", "workflow", given)
    assert "".join(formatted.split()) == "".join(wanted.split())

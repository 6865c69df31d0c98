"""Names between brackets, in every syntax that people write."""

from __future__ import annotations

import pytest

from stagec.core.brackets import find_bracketed


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "{a} {{ b }} {{{c}}} ${d} #{e} %{f} @{g} [[h]]",
            ["{a}", "{{ b }}", "{{{c}}}", "${d}", "#{e}", "%{f}", "@{g}", "[[h]]"],
        ),
        ("<%= a.b %> <% c %> {% d %} {%- if e -%}", ["<%= a.b %>", "<% c %>", "{% d %}", "{%- if e -%}"]),
        ("{a.b[0].c-d}", ["{a.b[0].c-d}"]),
        ("{a}}", ["{a}"]),
        ("\\{a} {{a} {a-} {1} {} {a b} {a, b} [a] (a) <a> {a|b}", ["{a-}"]),
        ("{%\na %} <% %> {% %}", []),
    ],
)
def test_brackets_that_fit_are_found(text: str, wanted: list[str]) -> None:
    assert [text[each.start : each.end] for each in find_bracketed(text)] == wanted


def test_a_statement_has_all_its_names() -> None:
    assert [each.names for each in find_bracketed("{% for a in ctx.files %}{x.y}")] == [
        ("for", "a", "in", "ctx.files"),
        ("x.y",),
    ]


def test_code_is_known_as_such() -> None:
    text = "{a} `{b}` ``{c}``\n```\n{d} `{e}`\n~~~\n{f}\n```\n{g}\n~~~~ sh\n{h}\n~~~\n{i}"
    found = {each.names[0]: (each.is_code, each.is_fenced) for each in find_bracketed(text)}
    assert found == {
        **dict.fromkeys("ag", (False, False)),
        **dict.fromkeys("bc", (True, False)),
        **dict.fromkeys("defhi", (True, True)),
    }


@pytest.mark.parametrize(
    "text", ["{" * 50_000, "{{a" * 20_000, "`" * 50_000, "<%" * 30_000, "{a." * 20_000, "```\n" * 20_000]
)
def test_hostile_texts_take_linear_time(text: str) -> None:
    assert [each for each in find_bracketed(text) if len(each.names) > 1] == []

"""Placeholders are found where they are, and nothing else is taken for one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stagec.core.place import Place, spell_path
from stagec.languages.stages.document import Placeholder, PlaceholderForm
from stagec.languages.stages.placeholder_errors import escape, markdown_body, object_body, path_of

FILE = Place("plan.md")


def _markdown(text: str) -> tuple[Placeholder, ...]:
    return markdown_body(text, (0, len(text)), FILE).placeholders


def _forms(text: str) -> list[tuple[str, PlaceholderForm]]:
    return [(each.text, each.form) for each in _markdown(text)]


def test_a_placeholder_is_known_by_its_text_its_path_and_its_characters() -> None:
    found = Placeholder("{{ ctx.a }}", Place("plan.md", range=(3, 14)), PlaceholderForm.PATH, ("ctx", "a"))
    assert _markdown("ä: {{ ctx.a }}") == (found,)


def test_only_the_body_is_looked_at() -> None:
    body = markdown_body("{{ctx.a}} {{ctx.b}} {{ctx.c}}", (10, 19), FILE)
    assert (body.text, [each.text for each in body.placeholders]) == ("{{ctx.b}}", ["{{ctx.b}}"])


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("{{ctx.upstream[0].parsed.steps[12].größe-2}}", PlaceholderForm.PATH),
        ("{{\n  ctx.task\n}}", PlaceholderForm.PATH),
        ("{{task}}", PlaceholderForm.PATH),
        ("{{ctx}}", PlaceholderForm.MALFORMED),
        ("{{stage}}", PlaceholderForm.MALFORMED),
        ("{{ctx[0].a}}", PlaceholderForm.MALFORMED),
        ("{{ctx.}}", PlaceholderForm.MALFORMED),
        ("{{ctx..a}}", PlaceholderForm.MALFORMED),
        ("{{ctx.a[}}", PlaceholderForm.MALFORMED),
        ("{{ctx.a[-1]}}", PlaceholderForm.MALFORMED),
        ("{{ctx.a[1234567890]}}", PlaceholderForm.MALFORMED),
        ("{{task.}}", PlaceholderForm.MALFORMED),
        ("{{{ctx.a}}}", PlaceholderForm.MALFORMED),
        ("{{}}", PlaceholderForm.EMPTY),
        ("{{ \t }}", PlaceholderForm.EMPTY),
        ("{{#if a}}", PlaceholderForm.EXPRESSION),
        ("{{ELSE}}", PlaceholderForm.EXPRESSION),
        ("{{ctx.a|b}}", PlaceholderForm.EXPRESSION),
        ("{{12}}", PlaceholderForm.EXPRESSION),
        ('{{ctx["a"]}}', PlaceholderForm.EXPRESSION),
        ("{{ctx.a", PlaceholderForm.UNCLOSED),
        ("{{ctx.a}", PlaceholderForm.UNCLOSED),
    ],
)
def test_what_stands_between_braces_has_a_form(text: str, form: PlaceholderForm) -> None:
    assert _forms(text) == [(text, form)]


@pytest.mark.parametrize("text", ["{ctx.a}", "}}", "{ {ctx.a} }", "$ctx.a", "", "{", "}}}}"])
def test_other_braces_are_text(text: str) -> None:
    assert _forms(text) == []


def test_braces_of_json_around_a_placeholder_are_text() -> None:
    assert _forms('{"a": {"b": {{ctx.c}}}}') == [("{{ctx.c}}", PlaceholderForm.PATH)]


def test_what_is_not_closed_ends_with_its_line_or_where_another_begins() -> None:
    text = "{{ctx.a \r\n{{ctx.b {{ctx.c}}\r{{ctx.d"
    unclosed = PlaceholderForm.UNCLOSED
    assert _forms(text) == [
        ("{{ctx.a", unclosed),
        ("{{ctx.b", unclosed),
        ("{{ctx.c}}", PlaceholderForm.PATH),
        ("{{ctx.d", unclosed),
    ]


def test_an_expression_over_several_lines_is_not_closed_on_its_own() -> None:
    assert _forms("{{#each a\nof b}}") == [("{{#each a", PlaceholderForm.UNCLOSED)]


def test_what_is_opened_again_and_again_on_one_line_is_told_once() -> None:
    assert _forms("{{ {{ {{ x\n{{") == [("{{", PlaceholderForm.UNCLOSED), ("{{", PlaceholderForm.UNCLOSED)]


@pytest.mark.parametrize(
    "text",
    [
        "{{" * 50000,
        '{{"' * 50000,
        "{{" + " " * 100000 + "'{{",
        "{{ " * 50000,
        "}}" * 50000,
        "${" * 50000,
        "${ctx.a" * 20000,
        "{{ctx" + "." * 100000 + "!}}",
        "{{" + "a." * 50000 + "!}}",
        "{{ctx" + " " * 100000 + "}}",
        "{{" + "x" * 100000,
        "${" + " " * 100000,
    ],
    ids=lambda text: text[:8],
)
def test_a_hostile_prompt_has_few_placeholders_and_takes_no_time(text: str) -> None:
    assert len(_markdown(text)) <= 1


@pytest.mark.parametrize("text", ['{{"{{"}}', "{{'{{'}}", '{{ "{{" }}', "{{\t'{{' }}"])
def test_an_escape_is_braces_in_quotes_between_braces(text: str) -> None:
    assert _forms(text) == [(text, PlaceholderForm.ESCAPE)]


@pytest.mark.parametrize(
    "text", ["{{\"{{'}}", '{{"{"}}', '{{"{{{"}}', '{{"}}"}}', '{{{"{{"}}}', '{{ "{{"\n}}', '{{"{{" }', '{{" {{ "}}']
)
def test_what_is_nearly_an_escape_is_a_mistake(text: str) -> None:
    assert not {PlaceholderForm.ESCAPE, PlaceholderForm.PATH} & {form for _, form in _forms(text)}


def test_escapes_and_placeholders_follow_each_other() -> None:
    assert _forms('${{"{{"}} github.ref }} {{ctx.a}}{{"{{"}}{ctx.b}}} {{ x {{"{{"}}') == [
        ('{{"{{"}}', PlaceholderForm.ESCAPE),
        ("{{ctx.a}}", PlaceholderForm.PATH),
        ('{{"{{"}}', PlaceholderForm.ESCAPE),
        ("{{ x", PlaceholderForm.UNCLOSED),
        ('{{"{{"}}', PlaceholderForm.ESCAPE),
    ]


def test_a_stage_object_has_no_escapes() -> None:
    body = object_body('{{"{{"}} ${ctx.a}', Place("pipeline.json", ("stages", 0, "body")))
    assert [each.form for each in (*body.placeholders, *body.literals)] == [PlaceholderForm.PATH]


@given(st.text(alphabet="{}\"' x\n\\", max_size=60))
def test_an_escaped_text_has_no_placeholders_but_escapes(text: str) -> None:
    found = _forms(escape(text))
    assert {form for _, form in found} <= {PlaceholderForm.ESCAPE}
    assert len(found) == text.count("{{")


@given(st.text(alphabet="{}ctx.a [0]\n\r$\"'", max_size=60))
def test_every_placeholder_is_the_text_at_its_place_and_they_follow_each_other(text: str) -> None:
    found = _markdown(text)
    spans = [each.at.range for each in found if each.at.range is not None]
    assert [text[start:end] for start, end in spans] == [each.text for each in found]
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


def test_dollar_signs_in_markdown_are_literals_when_they_read_ctx_or_stage() -> None:
    text = "${ctx.a} ${HOME} ${stage} ${ stage.id } ${ctx.b[0].c} ${context.a} ${ctx.} ${stage[}"
    body = markdown_body(text, (0, len(text)), FILE)
    assert [each.text for each in body.literals] == ["${ctx.a}", "${ stage.id }", "${ctx.b[0].c}"]


def test_a_stage_object_has_one_kind_of_placeholder_and_the_rest_is_literal() -> None:
    at = Place("pipeline.json", ("stages", 0, "body"))
    body = object_body("${ctx.a_1} ${ctx.a.b} ${ ctx.c } {{ctx.d}} {{x}} {{ctx}} ${stage.id} ${y} ${ctx.}", at)
    assert body.placeholders == (Placeholder("${ctx.a_1}", at, PlaceholderForm.PATH, ("ctx", "a_1")),)
    assert [each.text for each in body.literals] == ["{{ctx.d}}", "${ctx.a.b}", "${ ctx.c }", "${stage.id}"]


def test_a_path_is_read_as_it_is_written() -> None:
    path = ("ctx", "upstream", 0, "parsed", "a-b", 12)
    assert path_of("ctx.upstream[0].parsed.a-b[12]") == path
    assert spell_path(path) == "ctx.upstream[0].parsed.a-b[12]"

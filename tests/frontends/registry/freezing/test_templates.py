"""Prompts, retry prompts and command lines become templates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stagec.ir.plan.act import Choice, Each, Hole, Piece, Template, Text
from stagec.languages.registry.freezing import RegistryTexts, find_names, join_parts, prompt, retry_prompt, word


def variable(name: str) -> Hole:
    return Hole(("variable", name))


def test_a_variable_is_a_hole(texts: RegistryTexts, shown: Any) -> None:
    found = prompt("See {uv-issue}, {uv-a_1}{uv-issue}", texts)
    holes = (variable("issue"), variable("a_1"), variable("issue"))
    assert shown(found, texts.texts) == ("See ", holes[0], ", ", *holes[1:])


def test_other_braces_stand_as_they_are_written(texts: RegistryTexts, shown: Any) -> None:
    text = "{issue} {{x}} {uv-} {uv-a-b} {UV-x} {uv x} {} { {input_text}"
    assert shown(prompt(text, texts), texts.texts) == (text,)


def test_a_brace_before_a_variable_stays(texts: RegistryTexts, shown: Any) -> None:
    assert shown(prompt("{{uv-x}}", texts), texts.texts) == ("{", variable("x"), "}")


def test_the_standard_input_is_a_hole_where_it_is_used(texts: RegistryTexts, shown: Any) -> None:
    assert shown(prompt("a{input_text}b", texts, stdin=True), texts.texts) == ("a", Hole(("stdin",)), "b")


def test_an_empty_prompt_has_no_pieces(texts: RegistryTexts) -> None:
    assert prompt("", texts) == ()


def test_the_name_of_the_agent_is_text_in_its_prompts(texts: RegistryTexts, shown: Any) -> None:
    found = prompt("You are {uv-agent_name}, {input_text}: {uv-verdict_criteria}", texts, "demo")
    assert shown(found, texts.texts) == ("You are demo, {input_text}: ", variable("verdict_criteria"))


def test_without_a_name_it_is_a_variable(texts: RegistryTexts, shown: Any) -> None:
    assert shown(prompt("{uv-agent_name}", texts), texts.texts) == (variable("agent_name"),)


def test_a_word_reads_the_inputs_of_the_run(texts: RegistryTexts, shown: Any) -> None:
    found = word("--pr=${context.number}:${ context.x }${context. name }", texts)
    assert shown(found, texts.texts) == (
        "--pr=",
        Hole(("input", "number")),
        ":${ context.x }",
        Hole(("input", "name")),
    )


def test_texts_that_follow_each_other_are_one(texts: RegistryTexts, shown: Any) -> None:
    found = join_parts(("a", "", "b", Hole(("x",)), "", Hole(("y",)), "c"), texts)
    assert shown(found, texts.texts) == ("ab", Hole(("x",)), Hole(("y",)), "c")


def test_names_are_those_of_one_part_of_the_scope(texts: RegistryTexts) -> None:
    found = prompt("{uv-b}{input_text}{uv-a}{uv-b}", texts, stdin=True)
    assert [*find_names(found, "variable")] == ["b", "a", "b"]
    assert [*find_names(found, "stdin")] == []


Read = Callable[[str], tuple[Any, ...]]


@pytest.fixture
def read(texts: RegistryTexts) -> Read:
    """Return what reads a template and shows its texts, those inside of blocks too."""

    def shown(template: Template) -> tuple[Any, ...]:
        return tuple(map(one, template))

    def one(piece: Piece) -> Any:
        match piece:
            case Text():
                return texts.texts[piece.content]
            case Each():
                return Each(piece.path, shown(piece.body))
            case Choice():
                return Choice(piece.path, shown(piece.then), shown(piece.otherwise))
            case Hole():
                return piece

    return lambda text: shown(retry_prompt(text, texts))


def failure(*path: str) -> Hole:
    return Hole(("failure", *path))


def test_a_name_is_a_hole(read: Read) -> None:
    assert read("In {{file}}: {{error.text.0}}!") == (
        "In ",
        failure("file"),
        ": ",
        failure("error", "text", "0"),
        "!",
    )


def test_each_repeats_what_is_inside_of_it_for_this(read: Read) -> None:
    assert read("{{#each errors}}- {{this.file}}: {{count}} {{this}}\n{{/each}}{{this}}") == (
        Each(
            ("failure", "errors"),
            ("- ", Hole(("this", "file")), ": ", failure("count"), " ", Hole(("this",)), "\n"),
        ),
        failure("this"),
    )


def test_the_inner_each_has_a_this_of_its_own(read: Read) -> None:
    assert read("{{#each files}}{{#each  this.lines}}{{this}}{{/each}}{{/each}}") == (
        Each(("failure", "files"), (Each(("this", "lines"), (Hole(("this",)),)),)),
    )


def test_if_chooses(read: Read) -> None:
    assert read("{{#if files}}some{{else}}none{{/if}}{{#if a.b}}{{a.b}}{{/if}}") == (
        Choice(("failure", "files"), ("some",), ("none",)),
        Choice(("failure", "a", "b"), (failure("a", "b"),)),
    )


def test_blocks_stand_inside_each_other(read: Read) -> None:
    assert read("{{#each a}}{{#if this.b}}{{this.b}}{{else}}{{#if c}}c{{/if}}{{/if}}{{/each}}") == (
        Each(
            ("failure", "a"),
            (Choice(("this", "b"), (Hole(("this", "b")),), (Choice(("failure", "c"), ("c",)),)),),
        ),
    )


@pytest.mark.parametrize(
    "text",
    [
        "{{}}",
        "{{ x }}",
        "{{a..b}}",
        "{{a-b}}",
        "{{#each}}",
        "{{#eachx}}",
        "{{#unless x}}",
        "{{/each}}",
        "{{/if}}",
        "{{else}}",
        "{{",
        "}}",
        "{x}",
        "{{#each a}}",
        "{{#if a}} b {{else}} c",
        "{{#each a}}{{#if b}}",
        "{{#each a}}{{else}}",
        "{uv-issue}",
    ],
)
def test_what_is_malformed_stands_as_it_is_written(read: Read, text: str) -> None:
    assert read(f"<{text}>") == (f"<{text}>",)


def test_a_block_that_is_not_closed_keeps_what_is_inside(read: Read) -> None:
    assert read("a{{#each b}}c{{d}}e{{#if f}}g{{else}}h{{/if}}i") == (
        "a{{#each b}}c",
        failure("d"),
        "e",
        Choice(("failure", "f"), ("g",), ("h",)),
        "i",
    )


def test_what_closes_another_block_closes_none(read: Read) -> None:
    assert read("{{#if a}}b{{/each}}c{{/if}}") == (Choice(("failure", "a"), ("b{{/each}}c",)),)


def test_a_second_else_is_text(read: Read) -> None:
    assert read("{{#if a}}b{{else}}c{{else}}d{{/if}}") == (Choice(("failure", "a"), ("b",), ("c{{else}}d",)),)


def depth(shown: tuple[Any, ...]) -> int:
    """Return how many blocks stand inside each other."""
    inner = [
        piece.body if isinstance(piece, Each) else piece.then for piece in shown if not isinstance(piece, str | Hole)
    ]
    return max((1 + depth(each) for each in inner), default=0)


@pytest.mark.parametrize(("written", "read_as"), [(31, 31), (32, 32), (33, 32), (50, 32)])
def test_blocks_that_are_too_deep_are_text(read: Read, written: int, read_as: int) -> None:
    found = read("{{#each a}}" * written + "x" + "{{/each}}" * written)
    assert depth(found) == read_as
    while not isinstance(found[0], str):
        (block,) = found
        found = block.body
    assert found == ("{{#each a}}" * (written - read_as) + "x" + "{{/each}}" * (written - read_as),)


@pytest.mark.parametrize(
    "text",
    [
        "{{#each a}}" * 50_000,
        "{{#if a}}" * 50_000 + "{{/if}}" * 50_000,
        "{{#each a}}{{/if}}" * 50_000,
        "{{/each}}" * 50_000,
        "{" * 500_000,
        "{{" + "a" * 500_000,
        "{{a." * 100_000,
        "{{#each" + " " * 500_000,
        "{{#if a}}{{else}}" * 50_000,
    ],
    ids=lambda text: f"{text[:20]}…",
)
def test_no_text_is_too_much(texts: RegistryTexts, text: str) -> None:
    retry_prompt(text, texts)


TAGS = ("{{#each a}}", "{{/each}}", "{{#if b}}", "{{else}}", "{{/if}}", "{{c}}", "{{this.d}}", "text", "{{")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(TAGS)).map("".join))
def test_nothing_that_is_written_is_lost(read: Read, text: str) -> None:
    assert bare("".join(map(written, read(text)))) == bare(text)


def bare(text: str) -> str:
    """Return a text without what is said otherwise by nothing."""
    return text.replace("{{else}}{{/if}}", "{{/if}}")


def written(piece: Any) -> str:
    """Return how a piece was written."""
    match piece:
        case Each():
            return f"{{{{#each {'.'.join(piece.path[1:])}}}}}{''.join(map(written, piece.body))}{{{{/each}}}}"
        case Choice():
            otherwise = f"{{{{else}}}}{''.join(map(written, piece.otherwise))}" if piece.otherwise else ""
            return f"{{{{#if {piece.path[-1]}}}}}{''.join(map(written, piece.then))}{otherwise}{{{{/if}}}}"
        case Hole(path=("this", *rest)):
            return f"{{{{{'.'.join(['this', *rest])}}}}}"
        case Hole():
            return f"{{{{{'.'.join(piece.path[1:])}}}}}"
        case _:
            return str(piece)

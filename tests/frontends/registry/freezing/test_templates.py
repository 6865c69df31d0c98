"""Which placeholders of prompts and command lines are holes."""

from __future__ import annotations

from typing import Any

from stagec.frontends.registry.freezing.templates import joined, named, prompt, system_prompt, word
from stagec.frontends.registry.freezing.texts import RegistryTexts
from stagec.plan.template import Hole


def variable(name: str) -> Hole:
    return Hole(("variable", name))


def test_a_variable_is_a_hole(texts: RegistryTexts, shown: Any) -> None:
    found = prompt("See {uv-issue}, {uv-a_1}{uv-issue}", texts, stdin=False)
    holes = (variable("issue"), variable("a_1"), variable("issue"))
    assert shown(found, texts.texts) == ("See ", holes[0], ", ", *holes[1:])


def test_other_braces_stand_as_they_are_written(texts: RegistryTexts, shown: Any) -> None:
    text = "{issue} {{x}} {uv-} {uv-a-b} {UV-x} {uv x} {} { {input_text}"
    assert shown(prompt(text, texts, stdin=False), texts.texts) == (text,)


def test_a_brace_before_a_variable_stays(texts: RegistryTexts, shown: Any) -> None:
    assert shown(prompt("{{uv-x}}", texts, stdin=False), texts.texts) == ("{", variable("x"), "}")


def test_the_standard_input_is_a_hole_where_it_is_used(texts: RegistryTexts, shown: Any) -> None:
    assert shown(prompt("a{input_text}b", texts, stdin=True), texts.texts) == ("a", Hole(("stdin",)), "b")


def test_an_empty_prompt_has_no_pieces(texts: RegistryTexts) -> None:
    assert prompt("", texts, stdin=False) == ()


def test_the_name_of_the_agent_is_text_in_its_system_prompt(texts: RegistryTexts, shown: Any) -> None:
    found = system_prompt("You are {uv-agent_name}, {input_text}: {uv-verdict_criteria}", texts, "demo")
    assert shown(found, texts.texts) == ("You are demo, {input_text}: ", variable("verdict_criteria"))


def test_without_a_name_it_is_a_variable(texts: RegistryTexts, shown: Any) -> None:
    assert shown(system_prompt("{uv-agent_name}", texts, None), texts.texts) == (variable("agent_name"),)


def test_a_word_reads_the_inputs_of_the_run(texts: RegistryTexts, shown: Any) -> None:
    found = word("--pr=${context.number}:${ context.x }${context. name }", texts)
    assert shown(found, texts.texts) == (
        "--pr=",
        Hole(("input", "number")),
        ":${ context.x }",
        Hole(("input", "name")),
    )


def test_texts_that_follow_each_other_are_one(texts: RegistryTexts, shown: Any) -> None:
    found = joined(("a", "", "b", Hole(("x",)), "", Hole(("y",)), "c"), texts)
    assert shown(found, texts.texts) == ("ab", Hole(("x",)), Hole(("y",)), "c")


def test_names_are_those_of_one_part_of_the_scope(texts: RegistryTexts) -> None:
    found = prompt("{uv-b}{input_text}{uv-a}{uv-b}", texts, stdin=True)
    assert [*named(found, "variable")] == ["b", "a", "b"]
    assert [*named(found, "stdin")] == []

"""A budget that is used up: somebody at the terminal gives more, or the run stops and is resumed with more."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from terminal import type_at_terminal
from world.models.wire import Said, Wire, serve

from stagec.cli.running.worlds import Answers, BudgetQuestion, PeopleSetup, choose_extend, read_amount
from stagec.runtime.world.budget import Excess
from stagec.runtime.world.models.port import TokenUse

USED = {"write": TokenUse(10, 5, 1, "0.001"), "check": TokenUse(1000, 5, 2)}
TOKENS = Excess("--max-tokens", "the run has used 15 tokens", "tokens", Decimal(15), Decimal(15), USED)
DOLLARS = Excess("--max-cost", "the run has cost 1 US dollars", "US dollars", Decimal(1), Decimal(1))


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("10", 10),
        ("10,000", 10_000),
        ("1e3", 1000),
        ("0", None),
        ("-1", None),
        ("1.5", None),
        ("nan", None),
        ("infinity", None),
        ("1e999999999", None),
        ("more", None),
        ("", None),
        ("y", None),
    ],
)
def test_tokens_are_whole_and_more_than_none(word: str, wanted: int | None) -> None:
    assert read_amount(word, TOKENS) == wanted


@pytest.mark.parametrize(("word", "wanted"), [("0.05", "0.05"), ("$2", "2"), ("$", None), ("1e-3", "0.001")])
def test_dollars_have_parts(word: str, wanted: str | None) -> None:
    assert read_amount(word, DOLLARS) == (None if wanted is None else Decimal(wanted))


def _ask(*lines: str | None) -> Decimal | None:
    typed: Iterator[str | None] = iter(lines)
    return BudgetQuestion(None, lambda _seconds: next(typed)).ask(TOKENS)


def test_the_question_says_what_is_used_of_what_and_what_follows(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ask("50\n") == 50
    shown = capsys.readouterr().err
    lines = shown.splitlines()
    assert lines[1] == "the run has used 15 tokens"
    assert lines[2].strip() == "check: 2 requests, 1,000 tokens in, 5 out, price unknown"
    assert lines[3].strip() == "write: 1 request, 10 tokens in, 5 out, $0.001"
    assert "no: the run stops, and can be resumed" in shown
    assert shown.endswith("How many more tokens, or [n]o: ")


def test_what_is_no_answer_is_asked_again() -> None:
    assert _ask("yes\n", "-5\n", "5\n") == 5


@pytest.mark.parametrize("line", ["n\n", " No \n", None])
def test_a_no_and_no_answer_are_nothing(line: str | None) -> None:
    assert _ask(line) is None


@pytest.mark.parametrize(("answers", "is_asked"), [(Answers.ASK, True), (Answers.ALLOW, False), (Answers.DENY, False)])
def test_a_policy_spends_nothing(answers: Answers, *, is_asked: bool) -> None:
    assert (choose_extend(PeopleSetup(answers)) is not None) == is_asked


PLAN = Path(__file__).parents[1] / "plan_vectors" / "docs-repair" / "plan.json"
RUN = ("run", str(PLAN), "--run", "one", "--input", "topic=x", "--model", "openai:gpt-4o", "--max-tokens", "15")
WRITTEN = Said("I write.", [("c", "submit_page", '{"page": "docs/a.md"}')])
CHECKED = Said("", [("c", "submit_verdict", '{"page": "docs/a.md", "broken": false, "faults": []}')])
PROMPT = "How many more tokens, or [n]o: "


def _type(folder: Path, wire: Wire, words: tuple[str, ...], *typed: str) -> tuple[int, str]:
    servers = {"OPENAI_BASE_URL": f"{wire.url}/v1", "OPENAI_API_KEY": "none"}
    return type_at_terminal(folder, words, [(PROMPT, each) for each in typed], servers)


def test_at_the_terminal_a_run_pauses_until_it_gets_more(tmp_path: Path) -> None:
    with serve(WRITTEN, CHECKED) as wire:
        status, shown = _type(tmp_path, wire, RUN, "lots\n", "15\n")
        assert status == 0, shown
        assert len(wire.asked) == 2
    assert "write: 1 request, 10 tokens in, 5 out" in shown


def test_or_stops_and_is_resumed_with_the_command_that_it_shows(tmp_path: Path) -> None:
    with serve(WRITTEN, CHECKED) as wire:
        status, shown = _type(tmp_path, wire, RUN, "n\n")
        assert (status, len(wire.asked)) == (2, 1), shown
        command = "stagec resume one --max-tokens 30"
        assert command in shown
        status, shown = _type(tmp_path, wire, tuple(command.split()[1:]))
        assert (status, len(wire.asked)) == (0, 2), shown

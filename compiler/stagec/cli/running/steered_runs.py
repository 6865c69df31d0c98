"""Steer runs from a terminal at which they are not executed: their questions, answers, pause and cancel."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from stagec.cli.running.options import words_for
from stagec.cli.running.report import format_json
from stagec.cli.running.runs import Runs, explain_journal_error, name_of
from stagec.cli.streams import find_canvas, put, say
from stagec.core.failure import Exit, Failure
from stagec.core.json import Object, object_of
from stagec.core.words import escape_ci_commands, format_count, quote, visible
from stagec.drivers.local import JournalError
from stagec.drivers.local.mailbox import MessageKind
from stagec.drivers.local.steering import OtherAnswerError, WaitingQuestion, list_waiting, send_answer, send_request
from stagec.world.questions import question_to_json

_BY = "terminal"
_WORDS = {"y": True, "yes": True, "n": False, "no": False}


def list_questions(run: str | None, folder: Path, output_format: str) -> None:
    """Print the questions of a run, or of all runs."""
    runs = Runs(folder)
    paths = [runs.find(run)] if run is not None else list(runs)
    found = [(path, each) for path in paths for each in _list_waiting(path, is_named=run is not None)]
    if output_format == "json":
        put(format_json({"questions": [_make_object(path, each) for path, each in found]}, 2) + "\n")
        return
    paper = find_canvas(sys.stdout, os.environ)
    for path, each in found:
        put("".join(f"{escape_ci_commands(visible(line, paper.encoding))}\n" for line in _format(path, each)))
    put("" if found else "no question waits\n")


def _list_waiting(path: Path, *, is_named: bool) -> list[WaitingQuestion]:
    """Return the questions of a run; of many runs, those are left out that cannot be read."""
    try:
        return list_waiting(path)
    except JournalError as error:
        failure = explain_journal_error(name_of(path), error)
    except Failure as error:
        failure = error
    if is_named:
        raise failure
    say(f"stagec: warning: {failure}")
    return []


def _make_object(path: Path, each: WaitingQuestion) -> Object:
    sent: Object | None = None if each.sent is None else {"answer": each.sent.answer, "by": each.sent.by}
    return {"run": name_of(path), **question_to_json(each.question), "executed": each.is_executed, "sent": sent}


def _format(path: Path, each: WaitingQuestion) -> Iterator[str]:
    asked = each.question
    yield f"{name_of(path)}  {asked.key}"
    yield f"  {asked.sentence}?"
    yield from (f"  {line}" for line in asked.details)
    yield from (f"  {word}: {follows}" for word, follows in asked.consequences.items())
    if each.sent is not None:
        yield f"  answered, by {each.sent.by}"
    if not each.is_executed:
        yield f"  nobody executes the run: 'stagec resume {' '.join(words_for(path))}' does"


def give_answer(run: str, folder: Path, words: tuple[str, ...]) -> Exit:
    """Answer a question of a run."""
    path = Runs(folder).find(run)
    *keys, word = words
    if word not in _WORDS or len(keys) > 1:
        raise click.UsageError(f"{quote(' '.join(words))} is no answer: [KEY] yes|no")
    try:
        key = keys[0] if keys else _find_key(path)
        send_answer(path, key, yes=_WORDS[word], by=_BY)
    except JournalError as error:
        raise explain_journal_error(name_of(path), error) from error
    except OtherAnswerError as error:
        other = "yes" if True in object_of(error.answer).values() else "no"
        say(f"stagec: the answer {quote(other)} counts, by {error.by or 'the run itself'}: it came first")
        return Exit.FINDINGS
    return Exit.CLEAN


def _find_key(path: Path) -> str:
    """Return the key of the only question of a run."""
    found = [each for each in list_waiting(path) if each.sent is None] or list_waiting(path)
    if len(found) == 1:
        return found[0].question.key
    if not found:
        raise Failure(f"run {quote(name_of(path))} asks nothing")
    count = format_count(len(found), "question")
    raise Failure(f"run {quote(name_of(path))} asks {count}: name the KEY of one, 'stagec questions' lists them")


def ask_to_end(path: Path, kind: MessageKind) -> bool:
    """Ask who executes a run to pause or cancel it; return whether anybody does."""
    try:
        is_asked = send_request(path, kind, _BY)
    except JournalError as error:
        raise explain_journal_error(name_of(path), error) from error
    if is_asked:
        say(f"stagec: who executes run {quote(name_of(path))} is asked to {kind} it")
    return is_asked

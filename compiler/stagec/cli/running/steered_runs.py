"""Steer runs that another process executes: their questions, answers, pause and cancel."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click

from stagec.cli.running.options import words_for
from stagec.cli.running.report import format_json
from stagec.cli.running.runs import Runs, explain_journal_error, name_of
from stagec.cli.streams import find_canvas, put, say
from stagec.core.failure import Exit, Failure
from stagec.core.json import Object, object_of
from stagec.core.value import value
from stagec.core.words import escape_ci_commands, format_count, quote, visible
from stagec.runtime.drivers.local import JournalError
from stagec.runtime.drivers.local.mailbox import WaitingQuestion, list_waiting, send_answer, send_request
from stagec.runtime.drivers.messages import MessageKind, OtherAnswerError, RunMessage
from stagec.runtime.world.questions import OpenQuestion, question_to_json


@value
class Asked:
    """A question of the run of a name, and the answer that was sent and has not arrived, if any.

    `is_executed` tells whether somebody executes the run; otherwise an answer counts when the run is resumed. `words`
    name the run to other commands.
    """

    run: str
    question: OpenQuestion
    is_executed: bool
    sent: RunMessage | None = None
    words: tuple[str, ...] = ()


BY = "terminal"
Send = Callable[[str, str], object]
"""Sends one of the words to the question of a key."""
WORDS = {"y": True, "yes": True, "n": False, "no": False}


def list_questions(asked: Iterable[Asked], output_format: str) -> None:
    """Print the questions of a run, or of all runs."""
    found = list(asked)
    if output_format == "json":
        put(format_json({"questions": [_make_object(each) for each in found]}, 2) + "\n")
        return
    paper = find_canvas(sys.stdout, os.environ)
    for each in found:
        put("".join(f"{escape_ci_commands(visible(line, paper.encoding))}\n" for line in _format(each)))
    put("" if found else "no question waits\n")


def list_asked(run: str | None, folder: Path) -> Iterator[Asked]:
    """Yield the questions of a run, or of all runs, that wait for an answer."""
    runs = Runs(folder)
    for path in [runs.find(run)] if run is not None else list(runs):
        for each in _list_waiting(path, is_named=run is not None):
            yield Asked(name_of(path), each.question, each.is_executed, each.sent, words_for(path))


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


def _make_object(each: Asked) -> Object:
    sent: Object | None = None if each.sent is None else {"answer": each.sent.answer, "by": each.sent.by}
    return {"run": each.run, **question_to_json(each.question), "executed": each.is_executed, "sent": sent}


def _format(each: Asked) -> Iterator[str]:
    asked = each.question
    yield f"{each.run}  {asked.key}"
    yield f"  {asked.sentence}?"
    yield from (f"  {line}" for line in asked.rows)
    if each.sent is not None:
        yield f"  answered, by {each.sent.by}"
    if not each.is_executed:
        yield f"  no process executes the run: 'stagec resume {' '.join(each.words or (each.run,))}' resumes it"


def give_answer(run: str, asked: Callable[[], Iterable[Asked]], send: Send, words: tuple[str, ...]) -> Exit:
    """Answer a question of a run, the only one if no key names it."""
    *keys, word = words
    if word not in WORDS or len(keys) > 1:
        raise click.UsageError(f"{quote(' '.join(words))} is not an answer: type [KEY] yes|no")
    try:
        send(keys[0] if keys else _find_key(run, list(asked())), word)
    except OtherAnswerError as error:
        other = "yes" if True in object_of(error.answer).values() else "no"
        say(f"stagec: the answer {quote(other)} counts, by {error.by or 'the run itself'}: it came first")
        return Exit.FINDINGS
    return Exit.CLEAN


def send_locally(run: str, folder: Path) -> Send:
    """Return a function that sends an answer to a run in a folder."""
    path = Runs(folder).find(run)

    def send(key: str, word: str) -> None:
        try:
            send_answer(path, key, yes=WORDS[word], by=BY)
        except JournalError as error:
            raise explain_journal_error(name_of(path), error) from error

    return send


def _find_key(run: str, asked: list[Asked]) -> str:
    """Return the key of the only question of a run."""
    found = [each for each in asked if each.sent is None] or asked
    if len(found) == 1:
        return found[0].question.key
    if not found:
        raise Failure(f"run {quote(run)} asks nothing")
    count = format_count(len(found), "question")
    raise Failure(f"run {quote(run)} asks {count}: name the KEY of one, 'stagec runs questions' lists them")


def ask_to_end(path: Path, kind: MessageKind) -> bool:
    """Ask who executes a run to pause or cancel it; return whether anybody does."""
    try:
        is_asked = send_request(path, kind, BY)
    except JournalError as error:
        raise explain_journal_error(name_of(path), error) from error
    if is_asked:
        say(f"stagec: the process that executes run {quote(name_of(path))} is asked to {kind} it")
    return is_asked

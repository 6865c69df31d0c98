"""Settings of Claude Code: the values that sessions refuse, and the cost of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stagec.core.value import value
from stagec.languages.agent_files.known import CLAUDE_CODE, read_data
from stagec_dev.owners.claude_session import run_session
from stagec_dev.owners.placing import Placing
from stagec_dev.owners.programs import ask_all, validate
from stagec_dev.owners.setting_rows import UNREAD, Refusals, Row, SettingsRecord, is_harmless, list_words, make_rows

_TRIED = tuple(map(json.dumps, ("x", 1, 1.5, 0, -1, True, [], ["a"], [1], [{}], {}, {"a": 1}, {"a": "b"})))
_FILES: Mapping[str, str] = {"settings.json": "WebSearch", "settings.local.json": "WebFetch"}
"""Files that one session reads, and the tool that each denies: a session that has the tool has dropped the file."""
_COST = "STG3150"
_EVENTS = re.compile(r"Valid events: (?P<names>.*)")
_INDEX = re.compile(r"\[(\d+)\]")
_FOUND = re.compile(r", but received .*|; received [^.]*|\. Valid events.*")
"""The value found in a complaint."""
Trial = Mapping[str, str]
"""Keys, each with a value as JSON, which one file has."""


def read_rows() -> Sequence[Row]:
    """Return the rows about settings that come with stagec."""
    return tuple(read_data()[CLAUDE_CODE]["values"]["settings"])


def measure(program: Path, rows: Sequence[Row], version: str, workers: int) -> SettingsRecord:
    """Return the results of sessions about the keys of rows, and about those that show up below them."""
    found = SettingsRecord(version)
    while True:
        types = {path: type_ for path, type_, *_ in make_rows(found, rows, "text") if type_ != UNREAD}
        new = sorted(types.keys() - found.refused.keys())
        if not new:
            return found
        found = _Sessions(program, types, workers).measure(found, new)


@value
class _Answer:
    """The complaints of a session about one file, by path, and whether it has dropped the file."""

    complaints: Sequence[tuple[str, str]]
    is_dropped: bool


class _Sessions:
    """Runs the sessions about some keys, which have the types of their rows."""

    def __init__(self, program: Path, types: Mapping[str, str], workers: int) -> None:
        self._program, self._types, self._workers = program, types, workers
        self._placing = Placing(types)
        self._paths = {key: self._placing.spell(key) for key in types}

    def measure(self, before: SettingsRecord, keys: Sequence[str]) -> SettingsRecord:
        refused: dict[str, dict[str, list[str]]] = {key: {} for key in keys}
        events = before.events
        for trial, answer in self._run(list_trials({key: self._types[key] for key in keys})):
            for where, told in answer.complaints:
                named = _EVENTS.search(told)
                events = tuple(named["names"].split(", ")) if named is not None else events
                said = _FOUND.sub("", told.replace("[REDACTED]", "Expected"))
                for key, below in self._find_keys(trial, _INDEX.sub(r".\1", where)):
                    refused[key].setdefault(f"{below}: {said}", []).append(trial[key])
        taken = {key: tuple(_list_taken(self._types[key], refused[key])) for key in keys}
        alone = [{key: each} for key in keys if (each := _find_refused(refused[key])) is not None]
        costly = {key for trial, answer in self._run(alone) if answer.is_dropped for key in trial}
        return SettingsRecord(
            before.version,
            events,
            {**before.refused, **refused},
            {**before.taken, **{key: each for key, each in taken.items() if each}},
            before.costly | costly,
        )

    def _run(self, trials: Sequence[Trial]) -> Iterator[tuple[Trial, _Answer]]:
        """Yield each trial with its answer; one session has as many trials as it reads files."""
        sessions = [trials[at : at + len(_FILES)] for at in range(0, len(trials), len(_FILES))]
        for several, answers in ask_all(sessions, self._ask, self._workers):
            yield from zip(several, answers, strict=True)

    def _ask(self, trials: Sequence[Trial]) -> list[_Answer]:
        with TemporaryDirectory() as folder:
            root = Path(folder, "project")
            for name, trial in zip(_FILES, trials, strict=False):
                write_trial(root, trial, self._placing, name)
            session = run_session(self._program, root, Path(folder, "home"))
        told = {name: [(path, each) for file, path, each in session.complaints if file == name] for name in _FILES}
        return [_Answer(told[name], _FILES[name] in session.tools) for name, _ in zip(_FILES, trials, strict=False)]

    def _find_keys(self, trial: Trial, where: str) -> Iterator[tuple[str, str]]:
        """Yield the keys of a trial that a path is at or below, each with the path from there."""
        for key in trial:
            path = self._paths[key]
            if f"{where}.".startswith(f"{path}."):
                yield key, where[len(path) :]


def list_trials(types: Mapping[str, str]) -> list[Trial]:
    """Return files in which each key has each value that is tried, and each word of its row; none has a key twice."""
    found: list[Trial] = []
    for depth in sorted({key.count(".") for key in types}):
        words = {key: list_words(type_) for key, type_ in types.items() if key.count(".") == depth}
        found += [dict.fromkeys(words, each) for each in _TRIED]
        for index in range(max(map(len, words.values()))):
            found.append({key: json.dumps(each[index]) for key, each in words.items() if len(each) > index})
    return found


def write_trial(root: Path, trial: Trial, placing: Placing, name: str) -> None:
    """Write a project whose settings have some keys, and deny a tool."""
    given: Any = {"permissions": {"deny": [_FILES[name]]}}
    for key, each in trial.items():
        given = placing.put(given, key, json.loads(each))
    for folder in (root / ".git", root / ".claude"):
        folder.mkdir(parents=True, exist_ok=True)
    (root / ".claude" / name).write_text(json.dumps(given), encoding="utf-8")


def _list_taken(type_: str, refusals: Refusals) -> Iterator[str]:
    refused = {each for values in refusals.values() for each in values}
    yield from (word for word in list_words(type_) if json.dumps(word) not in refused)


def _find_refused(refusals: Refusals) -> str | None:
    return next((values[0] for told, values in refusals.items() if not is_harmless(told)), None)


def compare(record: SettingsRecord) -> tuple[int, list[str]]:
    """Return how many values were tried, and a line for each of which stagec says another cost."""
    types = {path: type_ for path, type_, *_ in read_rows() if type_ != UNREAD and path in record.refused}
    placing, trials, differing = Placing(types), list_trials(types), []
    for trial in trials:
        with TemporaryDirectory() as folder:
            write_trial(Path(folder), trial, placing, next(iter(_FILES)))
            told = ["/".join(map(str, each.at.pointer)) for each in validate(Path(folder)) if each.code == _COST]
        for key, each in trial.items():
            path = placing.spell(key).replace(".", "/")
            is_told = any(f"{at}/".startswith(f"{path}/") for at in told)
            complaints = record.refused[key].items() if key in record.costly else ()
            is_costly = any(each in values and not is_harmless(said) for said, values in complaints)
            if is_told is not is_costly:
                differing.append(f"{key} = {each}: stagec {is_told}, claude {is_costly}")
    return sum(map(len, trials)), differing

"""Results of sessions of Claude Code about settings, and the rows of data made from them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stagec.core.value import NOTHING, value
from stagec.languages.agent_files.known import CLAUDE_CODE, read_data
from stagec_dev.checkout import ROOT

FACTS = ROOT / "compiler" / "stagec" / "languages" / "agent_files" / "facts"
_WIDTH = 120


def spell_facts(given: Mapping[str, Any]) -> str:
    """Return data as JSON: a row a line, and short values with their members in one line."""
    return f"{_spell(given, '', is_open=True)}\n"


def _spell(given: Any, indent: str, *, is_open: bool = False) -> str:
    flat = json.dumps(given, ensure_ascii=False)
    inside = given.values() if isinstance(given, dict) else given if isinstance(given, list) else ()
    has_rows = any(isinstance(each, dict | list) for each in inside)
    is_short = isinstance(given, dict) and len(indent) + len(flat) <= _WIDTH
    if not is_open and (not has_rows or is_short):
        return flat
    further = f"{indent}  "
    if isinstance(given, list):
        lines, marks = [json.dumps(each, ensure_ascii=False) for each in given], "[]"
    else:
        lines, marks = [f"{json.dumps(key)}: {_spell(each, further)}" for key, each in given.items()], "{}"
    return f"{marks[0]}\n{further}" + f",\n{further}".join(lines) + f"\n{indent}{marks[1]}"


RECORD = ROOT / "tests" / "stagec_dev" / "claude-settings.json"
UNREAD = "none"
"""The type of a row that no program checks: stagec alone says that the key is not read."""
_FILE, _NOTHING = "file", "nothing"
_MEASURED, _DOCUMENTED = "m", "n"
_HARMLESS = re.compile(r"\b(?:was|is) (?:ignored|skipped|removed)\b")
_WORDS = re.compile(r"one of:? (?P<words>\"[^\"]*\"(?:, \"[^\"]*\")*)|Expected (?P<others>'[^']*'(?: \| '[^']*')*)")
_QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_INTEGER, _FRACTION = "Expected int", "<=1"
_NUMBERS: Mapping[tuple[str, bool, bool], str] = {
    ("", False, True): "span",
    (_INTEGER, False, False): "whole",
    (_INTEGER, False, True): "size",
    (_INTEGER, True, True): "count",
    (_FRACTION, False, True): "share",
    (_FRACTION, True, True): "part",
}
"""The rule for a number, by the complaint about 1.5 and by whether zero and a negative one are refused."""
_EXPECTED = {
    "string": "text",
    "boolean": "boolean",
    "number": "number",
    "array": "list",
    "object": "map",
    "record": "map",
}
Refusals = Mapping[str, Sequence[str]]
"""Complaints, each with the values that it is about, as JSON. It begins with the path from the key to what is wrong."""
Row = Sequence[str]


@value
class SettingsRecord:
    """The results of sessions: the version of Claude Code, the events of hooks, and the refused values of each key.

    `taken` has the words that a key takes; the keys in `costly` cost their file.
    """

    version: str
    events: tuple[str, ...] = ()
    refused: Mapping[str, Refusals] = NOTHING
    taken: Mapping[str, Sequence[str]] = NOTHING
    costly: frozenset[str] = frozenset()


def read_record(file: Path = RECORD) -> SettingsRecord:
    """Return the last measurement."""
    given = json.loads(file.read_text(encoding="utf-8"))
    return SettingsRecord(
        given["version"], tuple(given["events"]), given["refused"], given["taken"], frozenset(given["costly"])
    )


def write(record: SettingsRecord) -> None:
    """Write what was measured, and the rows that follow from it."""
    given = {
        "version": record.version,
        "events": record.events,
        "refused": dict(sorted(record.refused.items())),
        "taken": dict(sorted(record.taken.items())),
        "costly": sorted(record.costly),
    }
    RECORD.write_text(spell_facts(given), encoding="utf-8")
    file = FACTS / "claude-code.json"
    file.write_text(put_rows(file.read_text(encoding="utf-8"), record), encoding="utf-8")
    read_data.cache_clear()


def put_rows(text: str, record: SettingsRecord) -> str:
    """Return the data about Claude Code with the rows, the events and the version that were measured."""
    data = json.loads(text)
    program = f"{CLAUDE_CODE} {record.version.rpartition('@')[2]}"
    data["learnt"][_MEASURED] = f"measured, {program}"
    data["learnt"][_DOCUMENTED] = f"documented; that no value of another type costs the file was measured, {program}"
    data["events"] = [*record.events] or data["events"]
    rows = data["values"]["settings"]
    unread = [each for each in rows if each[1] == UNREAD]
    data["values"]["settings"] = sorted([*make_rows(record, [each for each in rows if each not in unread]), *unread])
    return spell_facts(data)


def make_rows(record: SettingsRecord, rows: Iterable[Row], unknown: str = "") -> list[Row]:
    """Return the rows of all keys: of each that was measured a new one, and one of each that showed up below it.

    What showed up and nothing tells the type of has a row with the type that is `unknown`, if there is such a type.
    """
    found = {each[0]: each for each in rows}
    for key in sorted(record.refused, key=lambda each: each.count(".")):
        found.update({each[0]: each for each in _make_rows(key, record, found, unknown)})
    for key, row in [*found.items()]:  # a list of texts has one row
        element = found.get(f"{key}.*", row)
        if "list" in row[1].split(" | ") and element[1:3] == ["text", row[2]]:
            found[key] = [key, row[1].replace("list", "texts"), *row[2:]]
            del found[element[0]]
    return [*found.values()]


def _make_rows(key: str, record: SettingsRecord, found: Mapping[str, Row], unknown: str) -> Iterator[Row]:
    before, refusals = found[key], record.refused[key]
    direct = {told: values for told, values in refusals.items() if told.startswith(": ")}
    is_costly = key in record.costly and not is_harmless(next(iter(direct), ""))  # the first is about a wrong type
    cost = _FILE if is_costly else _NOTHING
    inside = {told: told[1:].partition(":")[0].split(".")[0] for told in refusals if told not in direct}
    needed = [name for told, name in inside.items() if "{}" in refusals[told]]
    words = [*dict.fromkeys((*_list_words_of(direct), *(record.taken.get(key, ()) if _has_words(direct) else ())))]
    type_ = _describe(words, direct, needed) if direct or needed else ""
    is_known = {*type_.split(" | ")} == {*_expand(before[1])}  # the words of a list, in another order
    yield [key, before[1] if is_known or not type_ else type_, cost, before[3], _MEASURED if type_ else _DOCUMENTED]
    for told, name in inside.items():
        below = f"{key}.{'*' if name in {'0', 'a'} else name}"
        guessed = _guess(told) or unknown
        if guessed and not is_harmless(told) and below not in found:
            yield [below, guessed, cost, before[3], _MEASURED]


def _describe(words: Sequence[str], direct: Refusals, needed: Sequence[str]) -> str:
    """Return the type that takes what is not refused."""
    refused = {each for values in direct.values() for each in values}
    parts = [f"'{word}'" for word in words] or (["text"] if '"x"' not in refused else [])
    if "1" not in refused:
        form = next((each for each in (_INTEGER, _FRACTION) if any(each in told for told in direct)), "")
        parts.append(_NUMBERS.get((form, "0" in refused, "-1" in refused), "number"))
    parts += ["boolean"] if "true" not in refused else []
    parts += ["list"] if "[]" not in refused else []
    if "{}" not in refused:
        parts.append("map" + (f"!{','.join(dict.fromkeys(needed))}" if needed else ""))
    return " | ".join(parts)


def _guess(told: str) -> str:
    """Return the type of what one complaint is about, or of the map that it is in."""
    if "." in told[1:].partition(":")[0]:
        return "map"
    words = [f"'{each}'" for each in _list_words_of([told])]
    return " | ".join(words) or _EXPECTED.get(told.rpartition(": Expected ")[2], "")


def _expand(type_: str) -> Iterator[str]:
    """Yield the alternatives of a type, with each word of its lists."""
    for each in type_.split(" | "):
        yield from (f"'{word}'" for word in list_words(each)) if each[0] == "@" else (each,)


def _has_words(complaints: Iterable[str]) -> bool:
    return any(_WORDS.search(each) for each in complaints)


def _list_words_of(complaints: Iterable[str]) -> Iterator[str]:
    for each in complaints:
        found = _WORDS.search(each)
        for quoted in _QUOTED.findall((found["words"] or found["others"]) if found is not None else ""):
            yield quoted[0] or quoted[1]


def is_harmless(told: str) -> bool:
    """Tell whether a complaint says that the value alone does not count."""
    return _HARMLESS.search(told) is not None


def list_words(type_: str) -> Sequence[str]:
    """Return the words that a type names, and those of its lists."""
    data = read_data()[CLAUDE_CODE]
    found: list[str] = []
    for each in type_.split(" | "):
        found += [each.strip("'")] if each[0] == "'" else data[each[1:]] if each[0] == "@" else []
    return found

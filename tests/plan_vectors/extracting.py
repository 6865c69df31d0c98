"""What is read from the output of a command that failed: § 6 of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

_PATH = re.compile(r"(?:file://)?([\w./@+-]+)(?:[:(](\d{1,9})(?:[:,]\d{1,9})?\)?)?")
_SUFFIX = re.compile(r"[A-Za-z]\w{0,11}")
_RULE = re.compile(r"[(\[]([a-z][\w/-]{2,80})[)\]]")
_TEST = re.compile(r"^\s*(?:FAILED|FAIL|not ok|✗|✘):?\s+(?:\|\s*)?([^\s|].{0,500})$|^(\S.{0,500}?) \.\.\. FAILED\b")
_DIFF = re.compile(r"^(?:diff |--- |@@ |[+-]\S)", re.MULTILINE)
_MISSING = re.compile(r"no such file|not found|missing|does not exist", re.IGNORECASE)
_LONGEST = 2_000
_STATUS = {
    "parseChangedFiles": lambda letters: letters != "??",
    "parseUntrackedFiles": lambda letters: letters == "??",
    "parseStagedFiles": lambda letters: letters[0] not in " ?",
    "parseUnstagedFiles": lambda letters: letters[1] not in " ?",
}


def extract(name: str, ended: Mapping[str, Any]) -> Any:
    """Return what an extractor finds, or nothing."""
    output, error = ended["stdout"], ended["stderr"]
    if name in _STATUS:
        found = (line for line in _lines(output) if len(line) > len("?? ") and _STATUS[name](line[:2]))
        return [line[3:].rpartition(" -> ")[2] for line in found]
    whole = {"stdout": output, "stderr": error, "exitCode": ended["exit"]}
    whole["errorOutput"] = error if error.strip() else output
    return whole[name] if name in whole else _read(name, output, _lines(f"{output}\n{error}"))


def _read(name: str, output: str, lines: list[str]) -> Any:
    if name in {"extractFiles", "files", "parseFormatOutput", "formatFiles"}:
        return _once(file for line in lines for file, _ in _paths(line))
    if name in {"parseTypeErrors", "errors", "parseLintErrors", "lintErrors"}:
        return list(_errors(lines))
    if name == "lintFiles":
        return _once(each["file"] for each in _errors(lines) if each["file"])
    if name in {"parseTestOutput", "failedTests"}:
        return [_test(found[1] or found[2]) for found in map(_TEST.search, lines) if found is not None]
    if name in {"generateDiff", "diff"}:
        found = _DIFF.search(output)
        return "" if found is None else output[found.start() :]
    missing = _once(file for line in lines if _MISSING.search(line) for file, _ in _paths(line))
    return {"missingPaths": missing, "expectedPath": [*missing, ""][0]}.get(name)


def _lines(text: str) -> list[str]:
    return [line[:_LONGEST] for line in re.split(r"\r?\n", text)]


def _once(names: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _paths(line: str) -> Iterator[tuple[str, int]]:
    """Yield the paths in a line, each with the number of the line that is named with it."""
    for found in _PATH.finditer(line):
        file = found[1].rstrip(".")
        stem, _, suffix = file.rpartition(".")
        if stem.strip("./") and _SUFFIX.fullmatch(suffix):
            yield file, int(found[2] or 0)


def _errors(lines: list[str]) -> Iterator[dict[str, Any]]:
    for line, behind in zip(lines, [*lines[1:], ""], strict=True):
        if "error" in line.lower():
            nearby = behind.lstrip()
            place = f"{line} {nearby}" if nearby.startswith(("at ", "--> ")) else line
            file, number = next(_paths(place), ("", 0))
            rule = _RULE.search(line)
            yield {"message": line.strip(), "file": file, "line": number, "rule": rule[1] if rule else ""}


def _test(told: str) -> dict[str, str]:
    name, _, error = told.strip().partition(" - ")
    return {"name": name, "error": error}

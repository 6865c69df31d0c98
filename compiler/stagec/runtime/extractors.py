"""Read the output of programs, and what validators extract from it (§ 6 of the format)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from stagec.core.json import Json, object_of, text_in
from stagec.core.value import value


@value
class Output:
    """The exit status of a program, None when it has none, and what it wrote."""

    status: int | None
    stdout: str
    stderr: str


def read_output(answer: Json) -> Output:
    """Return what the world says of a program; what it does not say is empty."""
    given = answer if isinstance(answer, dict) else {}
    texts = (given.get("stdout"), given.get("stderr"))
    stdout, stderr = (each if isinstance(each, str) else "" for each in texts)
    return Output(read_whole(given.get("exit")), stdout, stderr)


def read_whole(given: Json) -> int | None:
    """Return a whole number; 1.0 is one, as numbers are doubles."""
    if isinstance(given, float) and given.is_integer() and abs(given) <= _EXACT:
        return int(given)
    return given if type(given) is int else None


_EXACT = 2**53
"""Up to here every whole number is a double."""


_WORD = re.compile(r"(?:file://)?(?P<file>[\w./@+-]+)(?:[:(](?P<line>\d{1,9})(?:[:,]\d{1,9})?\)?)?")
_SUFFIX = re.compile(r"[A-Za-z]\w{0,11}")
_RULE = re.compile(r"[(\[](?P<rule>[a-z][\w/-]{2,80})[)\]]")
_FAILED_TEST = re.compile(
    r"^\s*(?:FAILED|FAIL|not ok|\N{BALLOT X}|\N{HEAVY BALLOT X}):?\s+(?:\|\s*)?(?P<name>[^\s|].{0,500})$"
    r"|^(?P<other>\S.{0,500}?) \.\.\. FAILED\b"
)
_STATUS = 3
"""Characters before the path in a line of `git status --porcelain`."""
_LONGEST = 2_000
"""Characters of a line that are looked at."""
_END = re.compile(r"\r?\n")


def extract(name: str, output: Output) -> Json:
    """Return the value that an extractor finds; null for an extractor that nobody knows."""
    find = _EXTRACTORS.get(name)
    return find(output) if find is not None else None


def _lines(output: Output) -> list[str]:
    return _split(f"{output.stdout}\n{output.stderr}")


def _split(text: str) -> list[str]:
    return [line[:_LONGEST] for line in _END.split(text)]


def _extract_changes(wanted: Callable[[str], bool]) -> Callable[[Output], Json]:
    """Return an extractor of the files of `git status --porcelain` whose two letters are wanted."""

    def find(output: Output) -> Json:
        lines = _split(output.stdout)
        return [line[_STATUS:].rpartition(" -> ")[2] for line in lines if len(line) > _STATUS and wanted(line[:2])]

    return find


@value
class _Place:
    """A file that is named in a line, and the number of its line, 0 where none is."""

    file: str
    line: int


def _places(line: str) -> Iterator[_Place]:
    """Yield the words of a line that look like paths with a suffix."""
    for word in _WORD.finditer(line):
        file = word["file"].rstrip(".")
        stem, _, suffix = file.rpartition(".")
        if stem.strip("./") and _SUFFIX.fullmatch(suffix):
            yield _Place(file, int(word["line"] or 0))


def _files(output: Output) -> Json:
    return list(dict.fromkeys(place.file for line in _lines(output) for place in _places(line)))


def _find_failed_tests(output: Output) -> Json:
    find = (_FAILED_TEST.search(line) for line in _lines(output))
    found: list[Json] = []
    for each in find:
        if each is not None:
            name, _, error = (each["name"] or each["other"]).strip().partition(" - ")
            found.append({"name": name, "error": error})
    return found


def _errors(output: Output) -> Json:
    """Return the messages that tell of errors, each with the place on its line or on the one behind it."""
    return list(_find_errors(_lines(output)))


def _find_errors(lines: list[str]) -> Iterator[Json]:
    for index, line in enumerate(lines):
        if "error" in line.lower():
            behind = lines[index + 1].lstrip() if index + 1 < len(lines) else ""
            nearby = behind if behind.startswith(("at ", "--> ")) else ""
            place, rule = next(_places(f"{line} {nearby}"), _NOWHERE), _RULE.search(line)
            yield {
                "message": line.strip(),
                "file": place.file,
                "line": place.line,
                "rule": rule["rule"] if rule is not None else "",
            }


_NOWHERE = _Place("", 0)


def _error_files(output: Output) -> Json:
    find = (text_in(object_of(each), "file") for each in _find_errors(_lines(output)))
    return list(dict.fromkeys(each for each in find if each))


def _diff(output: Output) -> Json:
    start = re.search(r"^(?:diff |--- |@@ |[+-]\S)", output.stdout, re.MULTILINE)
    return output.stdout[start.start() :] if start is not None else ""


def _missing(output: Output) -> Json:
    told = (line for line in _lines(output) if re.search(r"(?i)no such file|not found|missing|does not exist", line))
    return list(dict.fromkeys(place.file for line in told for place in _places(line)))


def _first_missing(output: Output) -> Json:
    find = _missing(output)
    return find[0] if isinstance(find, list) and find else ""


def _error_output(output: Output) -> Json:
    return output.stderr if output.stderr.strip() else output.stdout


_EXTRACTORS: Mapping[str, Callable[[Output], Json]] = {
    "stdout": lambda output: output.stdout,
    "stderr": lambda output: output.stderr,
    "exitCode": lambda output: output.status,
    "errorOutput": _error_output,
    "parseChangedFiles": _extract_changes(lambda letters: letters != "??"),
    "parseUntrackedFiles": _extract_changes(lambda letters: letters == "??"),
    "parseStagedFiles": _extract_changes(lambda letters: letters[0] not in " ?"),
    "parseUnstagedFiles": _extract_changes(lambda letters: letters[1] not in " ?"),
    "extractFiles": _files,
    "files": _files,
    "parseTestOutput": _find_failed_tests,
    "failedTests": _find_failed_tests,
    "parseTypeErrors": _errors,
    "errors": _errors,
    "parseLintErrors": _errors,
    "lintErrors": _errors,
    "lintFiles": _error_files,
    "parseFormatOutput": _files,
    "formatFiles": _files,
    "generateDiff": _diff,
    "diff": _diff,
    "missingPaths": _missing,
    "expectedPath": _first_missing,
}
"""The extractors that the documents name, by name."""

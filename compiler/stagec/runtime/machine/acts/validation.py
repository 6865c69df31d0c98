"""Run validators before `closing` counts (§ 3.11 of the format)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from stagec.core.canonical import as_text
from stagec.core.json import Json, object_of, text_in
from stagec.core.value import replace, value
from stagec.core.words import quote
from stagec.ir.plan.document import Validator
from stagec.ir.plan.gate import Condition, Validation
from stagec.runtime.machine.exchange import Shell
from stagec.runtime.machine.execution import Execution, NodeResult, PendingPreflight, PendingValidation
from stagec.runtime.machine.failures import FailureKind
from stagec.runtime.machine.step_builder import StepBuilder


@value
class Output:
    """The exit status of a program, None when it has none, and what it wrote."""

    status: int | None
    stdout: str
    stderr: str


def read_output(answer: Json) -> Output:
    """Return the world's answer about a program; absent members are empty."""
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


_EXTRACTORS: Mapping[str, Callable[[Output], Json]] = {
    "stdout": lambda output: output.stdout,
    "stderr": lambda output: output.stderr,
    "exitCode": lambda output: output.status,
    "errorOutput": lambda output: output.stderr if output.stderr.strip() else output.stdout,
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


_ENDING = frozenset({"closing", "verdict"})
"""The outcomes with which a run may be completed."""
_UNGUARDED = frozenset({"repeat", "abort"})
"""The outcomes that count whatever guards a node."""
_NOTHING: tuple[NodeResult, ...] = ()
_UNRUNNABLE = frozenset({126, 127})
"""The exit statuses of a shell for a command that may not run, and for a command that does not exist."""
_FORBIDDEN = ("EACCES", "Permission denied")
"""Messages of commands that lack a permission."""
_PARAMETER = re.compile(r"\$\{([^{}]*)\}")


def begin_preflight(builder: StepBuilder, execution: Execution) -> bool:
    """Begin the checks before the model is asked, and tell whether there are any."""
    validation = builder.nodes[execution.node].validation
    if validation is None or not validation.preflight:
        return False
    _check(builder, replace(execution, progress=PendingPreflight(0)), validation.preflight[0])
    return True


def resume_preflight(builder: StepBuilder, execution: Execution, effect: Shell, answer: Json) -> Execution | None:
    """Continue with the next condition, or end the run; return the execution when all conditions hold."""
    validation, pending = builder.nodes[execution.node].validation, execution.progress
    if validation is None or not isinstance(pending, PendingPreflight):
        return None
    output, following = read_output(answer), pending.index + 1
    validator = builder.program.plan.validators[validation.preflight[pending.index].validator]
    if not _succeeds(builder, validator, output):
        failures = builder.history_of(execution.node).failures
        builder.emit("ValidationFailed", execution, pattern=validator.pattern, failures=failures)
        builder.fail(FailureKind.PREFLIGHT, _describe(validator, effect.command, output), execution)
    elif following < len(validation.preflight):
        _check(builder, replace(execution, progress=PendingPreflight(following)), validation.preflight[following])
    else:
        return replace(execution, progress=None)
    return None


def validate(builder: StepBuilder, over: NodeResult) -> tuple[NodeResult, ...]:
    """Return an execution that is over if nothing needs to be checked; else begin to check."""
    validation = builder.nodes[over.execution.node].validation
    if validation is None or not validation.conditions:
        return (over,)
    if over.outcome not in _ENDING and (over.outcome in _UNGUARDED or not validation.every_outcome):
        return (over,)
    _check(builder, replace(over.execution, progress=PendingValidation(over, 0)), validation.conditions[0])
    return _NOTHING


def resume(builder: StepBuilder, execution: Execution, effect: Shell, answer: Json) -> tuple[NodeResult, ...]:
    """Continue with the next condition, or with the consequence of a failed one."""
    validation = builder.nodes[execution.node].validation
    pending = execution.progress
    if validation is None or not isinstance(pending, PendingValidation):
        return _NOTHING
    over, index = pending.result, pending.index
    condition, output = validation.conditions[index], read_output(answer)
    validator = builder.program.plan.validators[condition.validator]
    if not _succeeds(builder, validator, output):
        return _fail(builder, over, validator, effect.command, output)
    if index + 1 < len(validation.conditions):
        _check(
            builder, replace(execution, progress=PendingValidation(over, index + 1)), validation.conditions[index + 1]
        )
        return _NOTHING
    builder.remember(execution.node, failures=0)
    return (over,)


def _check(builder: StepBuilder, execution: Execution, condition: Condition) -> None:
    command = builder.program.plan.validators[condition.validator].command

    def fill(found: re.Match[str]) -> str:
        return as_text(condition.params[found[1]]) if found[1] in condition.params else found[0]

    builder.request(execution, Shell, command=_PARAMETER.sub(fill, command))


def _fail(
    builder: StepBuilder, over: NodeResult, validator: Validator, command: str, output: Output
) -> tuple[NodeResult, ...]:
    node = over.execution.node
    validation, failures = builder.nodes[node].validation, builder.history_of(node).failures + 1
    builder.remember(node, failures=failures)
    builder.emit("ValidationFailed", over.execution, pattern=validator.pattern, failures=failures)
    # what a failure leads to; work that is done again helps no validator that cannot run
    if validation is None or output.status in _UNRUNNABLE or any(each in output.stderr for each in _FORBIDDEN):
        action = "abort"
    else:
        action = "abort" if validation.action == "retry" and failures >= validation.attempts else validation.action
    over = replace(over, refused=validator.pattern)
    if action == "skip":
        return (over,)
    if validation is None or action != "retry":
        times = f", failure {failures} in a row" if failures > 1 else ""
        builder.fail(FailureKind.VALIDATION, f"{_describe(validator, command, output)}{times}", over.execution)
        return _NOTHING
    back = node if over.outcome not in _ENDING else builder.history_of(node).origin or node
    return (replace(over, back=back, prompt=_prompt(builder, validation, validator, command, output)),)


def _describe(validator: Validator, command: str, output: Output) -> str:
    """Return the refusal of a validator, with the end of its command."""
    status = "no exit status" if output.status is None else f"exit {output.status}"
    return f"{validator.pattern} by {quote(command)}, {status}"


def _prompt(builder: StepBuilder, validation: Validation, validator: Validator, command: str, output: Output) -> str:
    template = validation.prompts.get(validator.pattern)
    if template is None:
        return f"The work was checked and is not done: {command}\n\n{output.stdout}{output.stderr}"
    found = {name: extract(extractor, output) for name, extractor in validator.extract.items()}
    return builder.program.renderer.render(template, {"failure": found})


def _succeeds(builder: StepBuilder, validator: Validator, output: Output) -> bool:
    argument, kind = validator.success.argument, validator.success.kind
    if kind != "exit" and output.status != 0:  # a program that failed, or never ran, says nothing of the work
        return False
    match kind:
        case "empty":
            return not output.stdout.strip()
        case "exit":
            return output.status is not None and str(output.status) == argument
        case "contains":
            return argument in output.stdout
        case _:
            return builder.program.answer_schemas.matches(argument, output.stdout)

"""Whether the end of the work is valid, and what the next prompt is told when not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from plan_vectors.execution import Execution
from plan_vectors.extracting import extract
from plan_vectors.knowledge import Knowledge
from plan_vectors.tasks import Steps
from plan_vectors.texts import render, text

_NAME = re.compile(r"\$\{([^{}]*)\}")

Failure = tuple[Mapping[str, Any], str, Mapping[str, Any]]
"""The validator that failed, its command, and how that ended."""


def failure(knows: Knowledge, execution: Execution, listed: str = "conditions") -> Steps:
    """Return the first validator that fails, or nothing."""
    for condition in execution.node.get("validation", {}).get(listed, ()):
        validator = knows.plan["validators"][condition["validator"]]
        command = _filled(validator["command"], condition.get("params", {}))
        ended = yield execution.ask("shell", command=command)
        if not _succeeded(validator["success"], ended):
            return validator, command, ended
    return None


def _filled(command: str, params: Mapping[str, Any]) -> str:
    return _NAME.sub(lambda found: text(params[found[1]]) if found[1] in params else found[0], command)


def _succeeded(success: Mapping[str, Any], ended: Mapping[str, Any]) -> bool:
    if ended["exit"] is None or (success["kind"] != "exit" and ended["exit"] != 0):
        return False
    output, argument = ended["stdout"], success.get("argument", "")
    if success["kind"] == "empty":
        return not output.strip()
    if success["kind"] == "exit":
        return str(ended["exit"]) == argument
    return argument in output if success["kind"] == "contains" else re.search(argument, output) is not None


def cannot_do_its_work(failed: Failure) -> bool:
    """Whether the command of a validator that failed could not be run, or may not do what it must."""
    _, _, ended = failed
    return ended["exit"] in {126, 127} or "EACCES" in ended["stderr"] or "Permission denied" in ended["stderr"]


def next_prompt(knows: Knowledge, validation: Mapping[str, Any], failed: Failure) -> str:
    """Return the prompt with which the work is done again."""
    validator, command, ended = failed
    template = validation.get("prompts", {}).get(validator["pattern"])
    if template is None:
        return f"The work was checked and is not done: {command}\n\n{ended['stdout']}{ended['stderr']}"
    found = {name: extract(extractor, ended) for name, extractor in validator.get("extract", {}).items()}
    return render(template, {"failure": found}, knows.contents)

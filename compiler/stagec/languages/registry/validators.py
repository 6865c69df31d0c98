"""What validators say: when they succeed, what they read from outputs, and what failure patterns want of that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stagec.core.json import Object, objects_in, text_in
from stagec.core.place import Place
from stagec.core.value import value
from stagec.ir.plan.document import Success
from stagec.languages.registry.document import Registry
from stagec.languages.registry.guards import ValidationStep

_STATUSES = frozenset(map(str, range(256)))
"""The exit statuses that programs have."""
_STATUS = re.compile(r"exitCode:\s*([+-]?)0*([0-9]+)")


def read_success(written: str) -> Success | None:
    """Return when a command has succeeded; nothing for words that have no meaning."""
    kind, colon, argument = written.partition(":")
    status = _STATUS.match(written)
    if status is not None:
        return Success("exit", status[2] if status[2] == "0" else f"{status[1].strip('+')}{status[2]}")
    return Success(kind, argument) if written == "empty" or (colon and kind in {"contains", "matches"}) else None


def is_attainable(success: Success) -> bool:
    """Tell whether a command can succeed as far as its exit status goes."""
    return success.kind != "exit" or success.argument in _STATUSES


@value
class Exchange:
    """A validator and the failure pattern it names, and the names of values that pass between them.

    `extracted` are the members of `extractParams`, `wanted` the pattern's `params`, each by name; `wanted` is None
    where the pattern lists none. `read` are the names that the retry prompts of the pattern read, None without prompts.
    """

    validator: str
    pattern: str
    extracted: Mapping[str, Place]
    wanted: Mapping[str, Place] | None
    read: frozenset[str] | None


def list_validators(registry: Registry) -> Iterator[tuple[str, Object]]:
    """Yield the validators of a registry by name."""
    return objects_in(registry.body, "validators")


def find_exchanges(registry: Registry) -> Iterator[Exchange]:
    """Yield every validator with its failure pattern, where both can be read."""
    patterns = dict(objects_in(registry.body, "failurePatterns"))
    # the names that the retry prompts of each failure pattern read
    read: dict[str, frozenset[str]] = {}
    for each in registry.prompts.of_retries:
        if each.prompt.file is not None:
            names = frozenset(reading.name for reading in registry.prompts.readings.get(each.prompt.file, ()))
            read[each.pattern] = read.get(each.pattern, frozenset()) | names
    for name, body in list_validators(registry):
        pattern = text_in(body, "failurePattern")
        extracted = body.get("extractParams", {})
        if pattern not in patterns or not isinstance(extracted, dict):
            continue
        at = registry.at / "validators" / name / "extractParams"
        place = registry.at / "failurePatterns" / pattern / "params"
        given = patterns[pattern].get("params")
        if not isinstance(given, list):
            wanted = None
        else:
            wanted = {each: place / index for index, each in enumerate(given) if isinstance(each, str)}
        yield Exchange(name, pattern, {each: at / each for each in extracted}, wanted, read.get(pattern))


def find_unused(registry: Registry) -> Mapping[str, tuple[str, ...]]:
    """Return the validators and the failure patterns that nothing names, by their section.

    One that was most likely meant where a name leads to nothing is not among them.
    """
    sections = (
        ("validators", registry.validators, registry.validator_mentions),
        ("failurePatterns", registry.patterns, registry.pattern_mentions),
    )
    found: dict[str, tuple[str, ...]] = {}
    for section, names, mentions in sections:
        meant = {each.name if each.name in names else names.nearest(each.name) for each in mentions}
        found[section] = tuple(name for name in names if name not in meant)
    return {section: names for section, names in found.items() if names}


def find_conditionless(registry: Registry) -> Iterator[ValidationStep]:
    """Yield the validation steps that name no validator."""
    for guard in registry.validation_steps.values():
        lists = (guard.preflight_at, guard.post_llm_at)
        if all(guard.body.get(str(each.pointer[-1]), []) == [] for each in lists):
            yield guard

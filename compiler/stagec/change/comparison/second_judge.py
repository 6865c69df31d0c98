"""Judge the schemas of a plan with a second implementation of JSON Schema: the only module that imports `jsonschema`.

Runners of others use other libraries than stagec. Where two libraries judge a value differently, a run depends on who
runs the plan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from stagec.core.expansion import extent, patterns_in, weigh
from stagec.core.json import MISSING, Json, Object
from stagec.core.value import value
from stagec.core.words import quote
from stagec.ir.plan import Plan
from stagec.ir.plan.act import Converse, Prompt
from stagec.ir.plan.facts import schema_in
from stagec.runtime.machine.program import Program
from stagec.runtime.world.samples import make_value
from stagec.sources.contract.inclusion import list_samples

_STEPS = 10_000
"""Parts of schemas that judge the values of one schema at most; each takes jsonschema some 10 microseconds."""
_ALL_STEPS = 60_000
"""The same for a plan: the schemas after it are not tried."""
_MOST = 100
"""Schemas of a plan that are tried: making values takes about a millisecond for each."""
_VALUES = 200
"""Values inside a value that is tried: some keywords compare all elements of a list with each other."""
_TRIES = 100_000
"""Ways in which an engine may try to find a pattern in a text: that of Python has no bound of its own."""
_REPEATS = re.compile(r"[*+?{]")
_OLD = ("draft-04", "draft-06", "draft-07")
"""Dialects in which formats are judged."""
_FORMATS = ("date", "email", "idn-email", "ipv4", "ipv6", "regex")
"""Formats that jsonschema judges without other libraries; what is installed must not decide what is told."""
_FORMAT = re.compile(r'"format": "([^"]*)"')


@value
class JudgeDifference:
    """A value that stagec and jsonschema judge differently by a schema, whose it is, and both answers."""

    subject: str
    given: Json
    first: str
    second: str

    def describe(self) -> str:
        """Return `the schema of the answers of 'a': 1.0: stagec accepts it, jsonschema refuses it: …`."""
        shown = json.dumps(self.given, ensure_ascii=False)
        text = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        return f"the schema of {self.subject}: {text}: stagec {self.first}; jsonschema {self.second}"


_SHOWN = 200


def find_differences(program: Program) -> Iterator[JudgeDifference]:
    """Yield the first difference of each schema of a plan, as far as the budget reaches."""
    left = _ALL_STEPS
    for content, subject in islice(_name_schemas(program.plan).items(), _MOST):
        schema, reason = schema_in(program.plan.contents[content])
        if reason or left <= 0:
            continue
        judge, room = SecondJudge(schema), min(left, _STEPS)
        for given in (make_value(program, content), *list_samples(schema, {})):
            cost = judge.weigh(given, room)
            if cost is None:
                continue
            left, room = left - cost, room - cost
            complaint, second = program.answer_schemas.complaint(content, given), judge.answer(given)
            if second != _ACCEPTS if complaint is None else second == _ACCEPTS and not judge.may_miss:
                yield JudgeDifference(subject, given, f"refuses it: {complaint}" if complaint else _ACCEPTS, second)
                break


def _name_schemas(plan: Plan) -> dict[str, str]:
    """Return whose schemas the contents of a plan are; of several the first."""
    found: dict[str, str] = {}
    for name, node in plan.nodes.items():
        if isinstance(node.act, Prompt | Converse) and node.act.schema is not None:
            found.setdefault(node.act.schema, f"the answers of {quote(name)}")
        if isinstance(node.act, Converse) and node.act.accepts is not None:
            found.setdefault(node.act.accepts, f"what {quote(name)} is given")
    for name, declared in plan.inputs.items():
        if declared.schema is not None:
            found.setdefault(declared.schema, f"the input {quote(name)}")
    return found


_ACCEPTS = "accepts it"


class SecondJudge:
    """Judges values by one schema, which refers to nothing outside of itself.

    `may_miss` tells that it accepts texts without looking at their format, for want of other libraries.
    """

    def __init__(self, schema: Object) -> None:
        from jsonschema import Draft202012Validator, FormatChecker
        from jsonschema.validators import validator_for
        from jsonschema_specifications import REGISTRY

        dialect = validator_for(schema, default=Draft202012Validator)
        is_old = any(each in str(schema.get("$schema")) for each in _OLD)
        formats = FormatChecker(_FORMATS) if is_old else None
        self._validator: Any = dialect(schema, registry=REGISTRY, format_checker=formats)
        self.may_miss = is_old and not set(_FORMAT.findall(json.dumps(schema))) <= {*_FORMATS}
        self._weight = weigh(schema).weight(schema)
        self._repeats = max((len(_REPEATS.findall(each)) for each in patterns_in(schema)), default=0)

    def weigh(self, given: Json, most: int) -> int | None:
        """Return how many steps judging a value takes at most; None for one that is absent or costs too much."""
        if given is MISSING or extent(given, _VALUES).values > _VALUES:
            return None
        cost = self._weight * extent(given, _VALUES).values
        tries = (self._repeats + 1) ** min(_longest(given), _TRIES.bit_length())
        return cost if cost <= most and tries <= _TRIES else None

    def answer(self, given: Json) -> str:
        """Return the answer about a value; what the library cannot judge at all is an answer as well."""
        from jsonschema.exceptions import UnknownType
        from referencing.exceptions import Unresolvable

        try:
            error = next(self._validator.iter_errors(given), None)
        except (re.error, OverflowError, RecursionError, UnknownType, Unresolvable) as trouble:
            return f"cannot judge it: {str(trouble) or type(trouble).__name__}"
        return _ACCEPTS if error is None else f"refuses it: {error.message[:_SHOWN]}"


def _longest(given: Json) -> int:
    """Return the length of the longest text or name in a value."""
    longest, todo = 0, [given]
    for each in todo:  # grows while it is walked
        if isinstance(each, str):
            longest = max(longest, len(each))
        elif isinstance(each, dict):
            todo += [*each, *each.values()]
        elif isinstance(each, list):
            todo += each
    return longest

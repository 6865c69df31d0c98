"""Validate answers and results against their schemas; the only door to the JSON Schema library at run time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stagec.core.budgets import AnswerBudgets, Budgets
from stagec.core.expansion import (
    Expansion,
    PatternTally,
    extent,
    find_charge,
    pattern_size,
    pattern_steps,
    patterns_in,
    steps,
    texts_of,
)
from stagec.core.expansion.weight import explain_size, overweight, weigh
from stagec.core.json import Json, Object
from stagec.core.json_reader import write_pointer
from stagec.plan.costs import list_schemas, schema_in
from stagec.plan.document import Plan
from stagec.runtime.exchange import MACHINE, WITH_PLACES
from stagec.runtime.plain_schemas import is_plain, is_simple, satisfies


class AnswerSchemas:
    """The schemas of one plan, each prepared when it is first needed."""

    def __init__(self, contents: Mapping[str, str]) -> None:
        self._contents = contents
        self._known: dict[str, PreparedSchema | None] = {}
        self._patterns: dict[str, Any] = {}

    def complaint(self, content: str | None, given: Json, machine: int = MACHINE) -> str | None:
        """Return what is wrong with a value, nothing when it satisfies the schema or there is none.

        `machine` is the version of the machine in whose words it is said.
        """
        if content is None:
            return None
        found = self._prepare(content)
        return "its schema cannot be used" if found is None else found.complaint(given, machine)

    def matches(self, pattern: str, text: str) -> bool:
        """Tell whether a regular expression is found in a text, at a cost that has a bound; a bad one never is."""
        if pattern not in self._patterns:
            self._patterns[pattern] = _compile(pattern, Budgets().pattern_size)
        found = self._patterns[pattern]
        is_affordable = found is not None and pattern_steps(pattern, texts_of((text,))) <= _ANSWER.steps
        return is_affordable and bool(found.is_valid(text))

    def _prepare(self, content: str) -> PreparedSchema | None:
        if content not in self._known:
            try:
                self._known[content] = prepare(self._contents[content])
            except ValueError:
                self._known[content] = None
        return self._known[content]


_MOST = 5
"""Complaints that a model is shown at once."""
_EVERY = 20_000
"""Steps up to which all complaints are looked for: the library makes all of them before it shows the first."""
_FEW = 100
"""Values in an answer that is judged by a plain schema without the library, which takes long to load."""
_TRIES = 50_000
"""Steps after which an engine gives a pattern up that it can only try; then nothing matches it."""
_ANSWER = AnswerBudgets()


class PreparedSchema:
    """A schema that is ready to judge: what judges, and what judging costs.

    What judges by a plain schema is made when it is first needed.
    """

    def __init__(self, schema: Object, expansion: Expansion) -> None:
        self._schema, self._expansion = schema, expansion
        self._root = expansion.position(schema)
        self._charge = find_charge(expansion, self._root)
        self._is_plain = is_plain(schema)
        self._validator = None if self._is_plain else _make_validator(schema)

    @property
    def validator(self) -> Any:
        """What the library judges by."""
        if self._validator is None:
            self._validator = _make_validator(self._schema)
        return self._validator

    def complaint(self, given: Json, machine: int = MACHINE) -> str | None:
        """Return what is wrong with a value, or nothing; a value that is too large to be judged is wrong."""
        size = extent(given, _ANSWER.values)
        for name, found, most in (
            ("values", size.values, _ANSWER.values),
            ("levels", size.depth, _ANSWER.depth),
            ("characters", size.characters, _ANSWER.characters),
        ):
            if found > most:
                return f"it has more than {most:,} {name}"
        cost = _EVERY if self._charge is None else self._charge.most(size)
        if cost >= _EVERY:  # it has to be counted
            cost = steps(self._expansion, self._root, given, _ANSWER.steps)
        if cost > _ANSWER.steps:
            return f"judging it by its schema takes more than {_ANSWER.steps:,} steps"
        if self._is_plain and size.values <= _FEW and is_simple(given) and satisfies(given, self._schema):
            return None
        if self.validator.is_valid(given):
            return None
        return self._first(given, machine) if cost > _EVERY else self._every(given, machine)

    def _every(self, given: Json, machine: int) -> str:
        return "; ".join(_tell(error, machine) for error in list(self.validator.iter_errors(given))[:_MOST])

    def _first(self, given: Json, machine: int) -> str:
        import jsonschema_rs

        try:
            self.validator.validate(given)
        except jsonschema_rs.ValidationError as error:
            return _tell(error, machine)
        return "it does not satisfy its schema"


_TYPED = " is not of type "
_ARTICLES = {"integer": "an integer", "object": "an object", "array": "an array", "null": "null"}


def _tell(error: Any, machine: int) -> str:
    """Return what is wrong at which place, as in `/items/2/ok: "yes" is not a boolean`."""
    message = str(error.message)
    if machine < WITH_PLACES:
        return message
    found, typed, _ = message.rpartition(_TYPED)
    if typed and error.kind.name == "type":
        message = f"{found} is not {' or '.join(_ARTICLES.get(each, f'a {each}') for each in error.kind.types)}"
    place = write_pointer(tuple(error.instance_path))
    return f"{place}: {message}" if place else message


def find_unusable(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield every content of a plan that is used as a schema and cannot be, with the reason; stagec makes none."""
    for content in dict.fromkeys(list_schemas(plan)):
        try:
            prepare(plan.contents[content])
        except ValueError as error:
            yield content, str(error)


def prepare(text: str) -> PreparedSchema:
    """Return what judges values by a schema.

    Raise `ValueError` for one that is none, leads out of itself, or costs more than a budget allows.
    """
    schema, reason = schema_in(text)
    expansion = weigh(schema)
    reason = reason or overweight(expansion, schema) or explain_size(patterns_in(schema), PatternTally(Budgets()))
    if reason:
        raise ValueError(f"it {reason}")
    return PreparedSchema(schema, expansion)


def _make_validator(schema: Object) -> Any:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(dict(schema), **_options())
    except (RecursionError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        raise ValueError(str(error)) from error


def _options() -> dict[str, Any]:
    import jsonschema_rs

    return {
        "retriever": _refuse,
        "pattern_options": jsonschema_rs.FancyRegexOptions(backtrack_limit=_TRIES),
        # a text of an answer is no regular expression if it costs too much
        "formats": {"regex": lambda text: _compile(text, _SMALL) is not None},
    }


_SMALL = 2_000
"""What a regular expression may become that an answer has."""


def _compile(pattern: str, most: int) -> Any:
    import jsonschema_rs

    if pattern_size(pattern) > most:
        return None
    options = jsonschema_rs.FancyRegexOptions(backtrack_limit=_TRIES)
    try:
        return jsonschema_rs.validator_for({"pattern": pattern}, pattern_options=options)
    except (ValueError, jsonschema_rs.ValidationError):
        return None


def _refuse(address: str) -> Any:
    raise ValueError(f"{address} lies outside the plan")

"""Validate answers and results against their schemas; the only door to the JSON Schema library at run time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from stagec.core.budgets import AnswerBudgets, Budgets
from stagec.core.expansion import (
    Expansion,
    PatternTally,
    explain_size,
    extent,
    find_charge,
    overweight,
    pattern_size,
    pattern_steps,
    patterns_in,
    steps,
    texts_of,
    weigh,
)
from stagec.core.json import Json, Object
from stagec.core.json_reader import UnreadableError, find_unreadable, mend_text, write_pointer
from stagec.ir.plan.document import Plan
from stagec.ir.plan.facts import list_schemas, schema_in
from stagec.runtime.machine.exchange import MACHINE, WITH_PLACES, Ask, Call, Dispatch, Effect, Run, Shell, Turn

_TYPES = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": int,
    "object": dict,
    "array": list,
    "null": type(None),
}
_TEXTS = frozenset({"title", "description", "const"})
_LARGE = 2**53
_LEVELS = 30
"""Levels of schemas that are looked at."""


def is_plain(schema: Json, levels: int = _LEVELS) -> bool:
    """Tell whether a schema is a correct one and has only keywords that are judged here."""
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict) or not levels:
        return False
    return all(_is_plain_keyword(name, each, levels - 1) for name, each in schema.items())


def _is_plain_keyword(name: str, given: Json, levels: int) -> bool:
    match name:
        case "type":
            return isinstance(given, str) and given in _TYPES
        case "enum" | "required":
            if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
                return False
            return 0 < len(given) == len({*map(str, given)})
        case "properties":
            return isinstance(given, dict) and all(is_plain(each, levels) for each in given.values())
        case "items" | "additionalProperties":
            return is_plain(given, levels)
        case "minLength" | "minItems":
            return type(given) is int and given >= 0
        case _:
            return name in _TEXTS and isinstance(given, str)


def is_simple(given: Json) -> bool:
    """Tell whether a value has no fractions, large numbers and foreign letters, which others may take differently."""
    if isinstance(given, dict):
        return (
            type(given) is dict
            and all(isinstance(name, str) and name.isascii() for name in given)
            and all(map(is_simple, given.values()))
        )
    if isinstance(given, list):
        return type(given) is list and all(map(is_simple, given))
    if isinstance(given, str):
        return type(given) is str and given.isascii()
    return given is None or type(given) is bool or (type(given) is int and abs(given) < _LARGE)


def satisfies(given: Json, schema: Json) -> bool:
    """Tell whether a simple value satisfies a plain schema for certain."""
    if not isinstance(schema, dict):
        return schema is True
    return all(_satisfies_keyword(given, name, each, schema) for name, each in schema.items())


def _satisfies_keyword(given: Json, name: str, said: Json, schema: dict[str, Json]) -> bool:
    match name:
        case "type":
            return type(given) is _TYPES[str(said)]
        case "enum":
            return isinstance(said, list) and isinstance(given, str) and given in said
        case "const":
            return given == said and isinstance(given, str)
        case "required":
            return not isinstance(given, dict) or (isinstance(said, list) and all(each in given for each in said))
        case "properties" | "items" | "additionalProperties":
            return all(satisfies(each, inner) for each, inner in _pair(given, name, said, schema))
        case "minLength" | "minItems":
            kind = str if name == "minLength" else list
            return not isinstance(given, kind) or len(given) >= int(str(said))
        case _:
            return True


def _pair(given: Json, name: str, said: Json, schema: dict[str, Json]) -> list[tuple[Json, Json]]:
    """Return the parts of a value that a keyword is about, each with its schema."""
    if name == "items":
        return [(each, said) for each in given] if isinstance(given, list) else []
    if not isinstance(given, dict):
        return []
    known = schema.get("properties")
    declared = known if isinstance(known, dict) else {}
    if name == "properties":
        return [(given[each], inner) for each, inner in declared.items() if each in given]
    return [(inner, said) for each, inner in given.items() if each not in declared]


UNREADABLE = "unreadable"
"""The member of an answer, or of a call in it, that says why there is no answer, or why there are no arguments."""
FINISH = "finish"
"""The member of an answer of a model that says why its response is not whole."""
_FINISHES = {
    "length": "the response ended at its maximum length (length)",
    "content_filter": "the provider withheld the response (content_filter)",
}
_CALLS, _ARGUMENTS = 2, 3
"""How many lists and objects of an answer a call lies in, and its arguments."""


def read_finish(answer: Mapping[str, Json]) -> str | None:
    """Return why the response of a model is not whole, a word of few; None for a whole one."""
    told = answer.get(FINISH)
    return told if isinstance(told, str) and told in _FINISHES else None


def explain_finish(answer: Mapping[str, Json]) -> str | None:
    """Return why the response of a model is not whole, in a sentence without a full stop; None for a whole one."""
    told = read_finish(answer)
    return None if told is None else _FINISHES[told]


def name_finish(explained: str | None) -> str | None:
    """Return the word for why a response is not whole, from the sentence of `explain_finish`."""
    return next((word for word, sentence in _FINISHES.items() if sentence == explained), None)


def explain_absence(answer: Mapping[str, Json]) -> str | None:
    """Return the reason that a model's response has no answer; None if it gives no reason."""
    why = answer.get(UNREADABLE)
    parts = (f"the answer cannot be read: {why}" if isinstance(why, str) else None, explain_finish(answer))
    return "; ".join(filter(None, parts)) or None


def read_answer(effect: Effect, answer: Any) -> Json:
    """Return an answer unchanged if it is JSON; else an answer that names the unreadable part."""
    found = find_unreadable(answer)
    if found is None:
        readable: Json = answer
        return readable
    if isinstance(answer, dict) and isinstance(effect, Ask | Turn):
        mended = dict(_mend_members(effect, answer))
        if find_unreadable(mended) is None:
            return mended
    return refuse_answer(effect, str(found))


def refuse_answer(effect: Effect, why: str) -> Json:
    """Return the answer to a request that nobody has answered in a readable form, and why."""
    match effect:
        case Ask():
            return {UNREADABLE: why}
        case Turn():
            return {"text": "", "calls": [{UNREADABLE: why}]}
        case Call():
            message = f"the result cannot be read: {why}"
            return {"error": {"class": "Tool", "code": "Unreadable", "message": message}}
        case Run() | Shell():
            return {"exit": None, "stdout": "", "stderr": f"the answer cannot be read: {why}"}
        case Dispatch():
            return {"failed": f"the answer cannot be read: {why}"}
        case _:
            return {"error": f"the answer cannot be read: {why}"}


def _mend_members(effect: Ask | Turn, answer: Mapping[Any, Any]) -> Any:
    """Yield the members of an answer of a model that can be kept; what is no JSON in its texts becomes `?`."""
    for name, each in answer.items():
        if not isinstance(name, str) or find_unreadable(name) is not None:
            continue
        if isinstance(each, str):
            yield name, mend_text(each)
        elif isinstance(effect, Turn) and name == "calls" and isinstance(each, list | tuple):
            yield name, [_mend_call(call) for call in each]
        elif (why := find_unreadable(each, 1)) is None:
            yield name, each
        elif isinstance(effect, Ask) and name == "answer":
            yield UNREADABLE, str(why)


def _mend_call(given: Any) -> Json:
    """Return a call whose id and tool can be kept; of arguments that are no JSON only the reason is left."""
    if not isinstance(given, dict):
        found = find_unreadable(given, _CALLS)
        return {} if found is None else {UNREADABLE: str(found)}
    told: dict[str, Json] = {
        name: mend_text(given[name]) for name in ("id", "tool", UNREADABLE) if isinstance(given.get(name), str)
    }
    arguments = given.get("arguments")
    why: UnreadableError | None = find_unreadable(arguments, _ARGUMENTS)
    if isinstance(arguments, str):
        return {**told, "arguments": mend_text(arguments)}
    return {**told, "arguments": arguments} if why is None else {**told, UNREADABLE: str(why)}


class AnswerSchemas:
    """The schemas of one plan, each prepared when it is first needed."""

    def __init__(self, contents: Mapping[str, str]) -> None:
        self._contents = contents
        self._known: dict[str, PreparedSchema | None] = {}
        self._patterns: dict[str, Any] = {}

    def complaint(self, content: str | None, given: Json, machine: int = MACHINE) -> str | None:
        """Return the mistake in a value, None if it satisfies the schema or there is none.

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
    """A prepared schema: its validator, and the cost of a validation.

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
        """The validator of the library."""
        if self._validator is None:
            self._validator = _make_validator(self._schema)
        return self._validator

    def complaint(self, given: Json, machine: int = MACHINE) -> str | None:
        """Return the mistake in a value, or None; a value that is too large to be judged is wrong."""
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
    """Return the mistake with its place, as in `/items/2/ok: "yes" is not a boolean`."""
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


@lru_cache(maxsize=1_000)
def prepare(text: str) -> PreparedSchema:
    """Return the prepared schema of a text, which is made once.

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
"""The most that a regular expression of an answer may cost."""


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

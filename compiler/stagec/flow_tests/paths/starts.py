"""How runs of a program can begin: its entries, and inputs that lead to different ways."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product

from stagec.core.json import Json, Object, list_of, object_of
from stagec.plan.gate import Among, Exists, Reads, Term, VerdictGate
from stagec.runtime import Program, Started
from stagec.runtime.advance import find_trouble
from stagec.runtime.json_values import MISSING
from stagec.world.required_values import read_text
from stagec.world.samples import make_value

_RUN = "test"


def list_starts(program: Program, entry: str | None = None) -> tuple[tuple[Started, ...], tuple[Started, ...]]:
    """Return a beginning for each entry, or for one, with the inputs that it needs; then those with other inputs."""
    first: list[Started] = []
    others: list[Started] = []
    inputs = _Inputs(program)
    for name in [*program.plan.entries] if entry is None else [entry]:
        selected = None if name == program.plan.entry else name
        begun = [Started(_RUN, selected, given) for given in inputs.list_all()]
        fit = [each for each in begun if find_trouble(program, each) is None]
        first += fit[:1]
        others += fit[1:]
    return tuple(first), tuple(others)


def list_open_inputs(program: Program) -> Iterator[str]:
    """Yield why runs may begin with inputs that conditions tell apart and that were not tried."""
    yield from (f"other values of {name!r}" for name in _Inputs(program).list_open())


_COMBINATIONS = 200
"""Combinations of inputs that are tried."""


class _Inputs:
    """Inputs of the runs of a program, made up by their schemas."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def list_all(self) -> Iterator[Object]:
        """Yield inputs: those that are needed, all, and those with values that conditions tell apart."""
        known = self._program.plan.inputs
        made = {name: each for name in known if (each := self._make(name)) is not MISSING}
        needed = {name: each for name, each in made.items() if known[name].required and known[name].default is None}
        yield needed
        if made != needed:
            yield made
        values = {name: self._list_values(name, terms, made) for name, terms in self.group_terms().items()}
        for chosen in islice(product(*values.values()), _COMBINATIONS):
            yield needed | {name: each for name, each in zip(values, chosen, strict=True) if each is not MISSING}

    def list_open(self) -> Iterator[str]:
        """Yield the inputs of which conditions may tell more values apart than are tried."""
        known, count = self._program.plan.inputs, 1
        for name, terms in self.group_terms().items():
            values = self._list_values(name, terms, {})
            count *= len(values)
            told = [each for term in terms for each in _list_told(term)]
            listed = self._list_finite(name)
            others = [each for each in values if each is not MISSING and each not in told]
            if listed is None and not others and known[name].schema is not None:
                yield name
        if count > _COMBINATIONS:
            yield from self.group_terms()

    def group_terms(self) -> Mapping[str, list[Term]]:
        """Return the conditions that look at an input, by its name."""
        found: dict[str, list[Term]] = {}
        for term in self._list_terms():
            name = str(term.path[1])
            if name in self._program.plan.inputs and len(term.path) == len(("ctx", name)):
                found.setdefault(name, []).append(term)
        return found

    def _list_values(self, name: str, terms: Iterable[Term], made: Object) -> list[Json]:
        """Return values of an input that conditions tell apart: all that its schema lists, else some."""
        told = self._program.plan.inputs[name]
        listed = self._list_finite(name)
        if listed is None:
            listed = [each for term in terms for each in _list_told(term)]
            listed += [made[name]] if name in made else [self._make(name)]
        fit = [
            each
            for each in listed
            if each is not MISSING and self._program.answer_schemas.complaint(told.schema, each) is None
        ]
        unique = [each for at, each in enumerate(fit) if repr(each) not in map(repr, fit[:at])]
        return unique if told.required and told.default is None else [MISSING, *unique]

    def _list_finite(self, name: str) -> list[Json] | None:
        """Return the values that the schema of an input lists one by one."""
        content = self._program.plan.inputs[name].schema
        schema = object_of(json.loads(self._program.plan.contents[content])) if content is not None else {}
        if isinstance(schema.get("enum"), list):
            return list_of(schema["enum"])
        return [True, False] if schema.get("type") == "boolean" else None

    def _make(self, name: str) -> Json:
        schema, told = self._program.plan.inputs[name].schema, f"some {name}"
        if self._program.answer_schemas.complaint(schema, told) is None:
            return told
        return make_value(self._program, schema)

    def _list_terms(self) -> Iterator[Term]:
        """Yield the conditions that look at the context of a stage, in which the inputs are."""
        for node in self._program.plan.nodes.values():
            terms = () if node.admission is None else (*node.admission.defer, *node.admission.block)
            checks = node.gate.checks if isinstance(node.gate, VerdictGate) else ()
            looked = (*terms, *(term for check in checks for term in check.when))
            yield from (term for term in looked if term.path[0] == "ctx" and len(term.path) > 1)


def _list_told(term: Term) -> tuple[Json, ...]:
    """Return values for which a condition holds."""
    match term:
        case Among():
            return term.values
        case Reads():
            return (*map(read_text, term.texts), *term.texts)
        case Exists():
            return ("text", True)

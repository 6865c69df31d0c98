"""How runs of a program can begin: its entries, and inputs that lead to different ways."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.json import Json, Object
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
        for term in self._list_terms():
            _, name, *inner = term.path
            if name in known and not inner:
                yield from ({**needed, str(name): each} for each in self._list_values(term))

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

    def _list_values(self, term: Term) -> tuple[Json, ...]:
        match term:
            case Among():
                return (*term.values, True, False)
            case Reads():
                return (*map(read_text, term.texts), *term.texts)
            case Exists():
                return ("text", True)

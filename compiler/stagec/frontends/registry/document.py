"""A step registry as it was written: steps, gates, moves, and the names by which they mention each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from stagec.contract.choices import Choices
from stagec.contract.schemas import Miss, Reference, Schema
from stagec.core.json import Object
from stagec.core.nearest import Names
from stagec.core.place import Place, Pointer
from stagec.core.value import value


class Kind(StrEnum):
    """What a step may do."""

    WORK = "work"
    VERIFICATION = "verification"
    CLOSURE = "closure"


class Intent(StrEnum):
    """What a step can answer about where to go; the set is fixed."""

    NEXT = "next"
    REPEAT = "repeat"
    JUMP = "jump"
    HANDOFF = "handoff"
    CLOSING = "closing"
    ESCALATE = "escalate"
    ABORT = "abort"


ALLOWED: Mapping[Kind, frozenset[str]] = {
    Kind.WORK: frozenset({"next", "repeat", "jump", "handoff", "abort"}),
    Kind.VERIFICATION: frozenset({"next", "repeat", "jump", "escalate", "abort"}),
    Kind.CLOSURE: frozenset({"closing", "repeat", "abort"}),
}
"""The intents each kind of step may answer."""


@value
class Mention:
    """A name by which one thing refers to another; the name may be wrong, and that is a fact."""

    name: str
    at: Place


@value
class Move:
    """One way a transition may lead on: under which intent, where it is written, and to which step.

    `slot` is the pointer from the step's `transitions`; `target` None ends the run.
    """

    intent: str
    slot: Pointer
    target: str | None

    @property
    def is_fallback(self) -> bool:
        """Tell whether this is the step taken when the target cannot start."""
        return self.slot[-1] == "fallback" and len(self.slot) == len(("intent", "fallback"))


@value
class Gate:
    """How a step's answer becomes an intent. `allowed` are the entries of `allowedIntents` that are text, by index."""

    allowed: Mapping[str, int]
    fallback: str | None
    field: str | None
    pointer: str | None
    target_field: str | None


@value
class Output:
    """The schema of a step's answer as the step names it, and what was found under that name."""

    file: str
    name: str
    found: Schema | Miss
    choices: Choices | Miss
    """The values at the gate's `intentSchemaRef`."""
    pointed: Schema | Miss
    """The part of the schema that `intentSchemaRef` points at."""


@value
class Step:
    """One step under the key it has in `steps`; `kind` None when it has none or a wrong one."""

    key: str
    at: Place
    id: str | None
    kind: Kind | None
    phase: str | None
    gate: Gate | None
    moves: tuple[Move, ...]
    intents: frozenset[str] | None
    """The keys of `transitions`, None when the step has no transitions."""
    output: Output | None
    body: Object

    def place(self, move: Move) -> Place:
        """Return where a move names its target."""
        return Place(self.at.file, (*self.at.pointer, "transitions", *move.slot))

    @property
    def allowed_at(self) -> Place:
        """Where the gate lists its intents."""
        return self.at / "structuredGate" / "allowedIntents"


@value
class Registry:
    """One step registry with the agent definition beside it."""

    id: str
    at: Place
    steps: Mapping[str, Step]
    aliases: Mapping[str, str]
    """Step ids that differ from their key, and that key: a mention of either means the same step."""
    step_names: Names
    entries: Mapping[str, Mention]
    """Where runs begin, by verdict type; `entryStep` stands under the empty text."""
    validators: Names
    validator_mentions: tuple[Mention, ...]
    patterns: Names
    pattern_mentions: tuple[Mention, ...]
    references: tuple[Reference, ...]
    """Every `$ref` of the schema files beside the registry."""
    schemas: str
    """The folder of the schemas."""
    schema_files: Names
    """Their names, relative to the folder."""
    schema_members: Mapping[str, Names]
    """The names under which each of these files holds schemas."""

    @property
    def target_mentions(self) -> Iterator[Mention]:
        """Every step that a transition leads to and that does not exist."""
        return self._lost(is_fallback=False)

    @property
    def fallback_mentions(self) -> Iterator[Mention]:
        """Every step that a transition falls back to and that does not exist."""
        return self._lost(is_fallback=True)

    def _lost(self, *, is_fallback: bool) -> Iterator[Mention]:
        for step in self.steps.values():
            for move in step.moves:
                if move.target is not None and move.is_fallback is is_fallback and not self.has_step(move.target):
                    yield Mention(move.target, step.place(move))

    def has_step(self, name: str) -> bool:
        """Tell whether a step has this key or this id."""
        return name in self.steps or name in self.aliases

    def schema_names(self, file: str) -> Names:
        """Return the names a schema file holds schemas under."""
        return self.schema_members.get(file, Names(()))

    @property
    def mentions(self) -> tuple[str, ...]:
        """Every step name that a move or an entry mentions."""
        moves = [move.target for step in self.steps.values() for move in step.moves if move.target is not None]
        return (*moves, *(entry.name for entry in self.entries.values()))

"""A step registry as it was written: steps, gates, moves, and the names by which they mention each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from stagec.core.json import Json, Object
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention, Place, Pointer
from stagec.core.value import NOTHING, value
from stagec.languages.registry.files import Address, Agent, CoordinateList, Folder, SchemaFolder
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.guards import DeclaredValidator, RetryPlan, ValidationStep
from stagec.languages.registry.prompts import Prompts
from stagec.sources.contract.choices import Choices
from stagec.sources.contract.conflict import Conflict
from stagec.sources.contract.promise import Blank, Excluded, Presence, Promise
from stagec.sources.contract.schemas import Miss, Schema


class StepKind(StrEnum):
    """The kind of a step, which limits its intents."""

    WORK = "work"
    VERIFICATION = "verification"
    CLOSURE = "closure"


KIND_OF_PHASE: Mapping[str, StepKind] = {
    "initial": StepKind.WORK,
    "continuation": StepKind.WORK,
    "verification": StepKind.VERIFICATION,
    "closure": StepKind.CLOSURE,
}
"""The kind of a step that states none, by its `c2`."""


class Intent(StrEnum):
    """The possible answers of a step about its successor; the set is fixed."""

    NEXT = "next"
    REPEAT = "repeat"
    JUMP = "jump"
    HANDOFF = "handoff"
    CLOSING = "closing"
    ESCALATE = "escalate"
    ABORT = "abort"


INTENTS = frozenset(intent.value for intent in Intent)
INTENTS_SINCE_1_14 = INTENTS - {Intent.ABORT.value}

ALLOWED: Mapping[StepKind, frozenset[str]] = {
    StepKind.WORK: frozenset({"next", "repeat", "jump", "handoff", "abort"}),
    StepKind.VERIFICATION: frozenset({"next", "repeat", "jump", "escalate", "abort"}),
    StepKind.CLOSURE: frozenset({"closing", "repeat", "abort"}),
}
"""The intents each kind of step may answer."""

PHASES = ("initial", "continuation", "verification", "closure", "section")
"""The values of `c2` that have a meaning, and the words with which the names of steps begin."""

FLOW_MEMBERS = ("structuredGate", "transitions", "outputSchemaRef", "stepKind")
"""Members that only steps have; in 1.14 sections have a kind too, which means nothing."""

VERDICTS = (
    *("poll:state", "count:iteration", "count:check", "detect:keyword", "detect:structured", "detect:graph"),
    *("meta:composite", "meta:custom"),
)
"""The ways in which an agent can judge that its work is done."""


@value
class Transition:
    """One possible target of a transition: its intent, its place, and the step.

    `slot` is the pointer from the step's `transitions`; `target` None ends the run. `case` is the value that chooses
    this target of a conditional transition.
    """

    intent: str
    slot: Pointer
    target: str | None
    case: str | None = None

    @property
    def is_fallback(self) -> bool:
        """Tell whether this is the step taken when the target cannot start."""
        return self.case is None and self.slot[-1] == "fallback"


@value
class Gate:
    """The rule by which a step's answer becomes an intent.

    `allowed` are the entries of `allowedIntents` that are text, by index; `pointer` is `intentSchemaRef`, `field`
    `intentField`. `handoff` are the paths of `handoffFields`, by index.
    """

    allowed: Mapping[str, int]
    is_whole: bool  # `allowedIntents` is a list of nothing but text
    fallback: str | None
    field: str | None
    pointer: str | None
    target_field: str | None
    target_mode: str | None
    handoff: tuple[str, ...] | None
    fail_fast: bool
    points_at_field: bool  # `intentSchemaRef` and `intentField` name the same member


@value
class OutputSchema:
    """The schema of a step's answer as the step names it, and what was found under that name.

    `pointed` is the part of the schema that the gate's `intentSchemaRef` points at, `choices` are the values named
    there; both are `Miss.UNKNOWABLE` where there is no usable pointer. `paths` are the promises about every path that
    the gate names: intent, target and hand-off. `void` is why no answer satisfies it; then nothing else is known.
    """

    file: str
    name: str
    found: Schema | Miss
    pointed: Schema | Miss
    choices: Choices | Miss
    excluded: tuple[Excluded, ...] = ()
    """The values of `choices` that can never be answered."""
    targets: tuple[Json, ...] | None = None
    """The values that can stand at the gate's `targetField`, None when they are not named one by one."""
    paths: Mapping[str, Promise] = NOTHING
    values: Mapping[str, tuple[Json, ...] | Miss] = NOTHING
    """The values that can stand at each of these paths; `Miss.NO_MEMBER` when they are not named one by one."""
    presences: frozenset[Presence] = frozenset()
    """Every presence that one of these paths has."""
    members: Mapping[str, Promise] = NOTHING
    """The promises about members of the whole answer, where a gate hands nothing over and other steps want them."""
    void: Conflict | None = None
    narrow: Callable[[str, str], tuple[Promise, tuple[Json, ...] | Miss]] | None = None
    """The schema's promise for a path, and the possible values there, if the answer has an intent."""
    find_blank: Callable[[Promise], Blank | None] | None = None
    """Returns null or the empty text if it can stand where the schema promises something."""


@value
class Step:
    """One step under the key it has in `steps`; `kind` None when it has none or a wrong one.

    `acts_as` is the kind as far as it can be trusted: None also when the gate allows what the kind forbids, so that one
    of the two is wrong. A section is a part of prompts, which no run ever enters.
    """

    key: str
    at: Place
    id: str | None
    kind: StepKind | None
    acts_as: StepKind | None
    phase: str | None
    is_section: bool
    gate: Gate | None
    moves: tuple[Transition, ...]
    intents: frozenset[str] | None
    """The keys of `transitions`, None when the step has no transitions."""
    output: OutputSchema | None
    body: Object
    declared: Mapping[str, int]  # variables, with the index at which each stands first
    has_cases: bool
    """Whether one of the transitions chooses among `targets`."""
    agrees: bool
    """Whether the gate allows the very intents that the schema offers and the transitions take, as far as is known."""
    address: Address
    known: Memo
    """Answers that follow from the step alone."""
    kind_member: str
    """The member that states the kind: `stepKind` in 1.13, `kind` in 1.14."""
    adaptation_chain: tuple[Mention, ...] | None = None
    """The adaptations that the repeats of the step use one after the other, each as often as it is written; None where
    the step says nothing, which is the chain of `default` alone. Only 1.14 has chains: in 1.13 this is always None."""
    repeats: tuple[str, ...] | None = None
    """The adaptations of as many repeats in a row as 1.14 allows; None in 1.13, and without `repeat` in the gate."""
    retry: RetryPlan | None = None
    legacy: tuple[str, ...] = ()
    """The members of 1.13 in a step of 1.14."""

    def mention(self, move: Transition) -> Mention:
        """Return how a move mentions the step it leads to."""
        return Mention(move.target or "", self.place(move))

    def place(self, move: Transition) -> Place:
        """Return the place where a move names its target."""
        return Place(self.at.file, (*self.at.pointer, "transitions", *move.slot))

    @property
    def gate_at(self) -> Place:
        """The place of the step's gate."""
        return self.at / "structuredGate"

    @property
    def allowed_at(self) -> Place:
        """The place of the gate's list of intents."""
        return self.at / "structuredGate" / "allowedIntents"

    @property
    def kind_at(self) -> Place:
        """The place of the step's kind, or of the phase from which it follows."""
        return self.at / self.kind_member if self.states_kind else self.address.at / "c2"

    @property
    def states_kind(self) -> bool:
        """Tell whether the step says which kind it has, be it a right one or a wrong one."""
        return self.kind_member in self.body

    @property
    def lacks_kind(self) -> bool:
        """Tell whether the step has a gate, but neither a kind nor a phase from which one follows."""
        if self.gate is None or self.states_kind or self.kind_member != "stepKind":
            return False
        return bool(self.phase) and self.phase not in PHASES

    @property
    def program(self) -> Object | None:
        """The program that the step runs, as it is written; only closure steps run one."""
        runner = self.body.get("runner")
        return runner if self.kind is StepKind.CLOSURE and isinstance(runner, dict) else None

    @property
    def surplus(self) -> tuple[str, ...]:
        """Members that mean nothing because the step is a section."""
        return tuple(member for member in FLOW_MEMBERS if member in self.body) if self.is_section else ()


@value
class Registry:
    """One step registry with the agent definition beside it."""

    id: str
    at: Place
    body: Object
    agent: Agent | None
    steps: Mapping[str, Step]
    broken_steps: frozenset[str]
    """Keys of `steps` under which no step can be read."""
    is_whole: bool
    """Whether nothing is misshapen that decides where runs begin and go."""
    has_strays: bool
    """Whether an unreadable value stands where entries or transitions belong."""
    aliases: Mapping[str, str]
    """Step ids that differ from their key, and that key: a mention of either means the same step."""
    step_names: NameIndex
    lost_targets: tuple[Mention, ...]
    """Every step that a transition leads to and that does not exist."""
    lost_fallbacks: tuple[Mention, ...]
    """Every step that a transition falls back to and that does not exist."""
    entries: Mapping[str, Mention]
    """The entries of runs, by verdict type; `entryStep` is under the empty text."""
    validators: NameIndex
    validator_mentions: tuple[Mention, ...]
    patterns: NameIndex
    pattern_mentions: tuple[Mention, ...]
    schemas: SchemaFolder
    memo: Memo
    prompts: Prompts = Prompts()
    folders: tuple[Folder, ...] = ()
    coordinates: tuple[CoordinateList, ...] = ()
    guarded: Mapping[str, OutputSchema] = NOTHING
    keeps_steps: bool = False
    """Whether the next check has the steps that have not changed, with what follows from them alone."""
    generation: Generation = Generation.V1_13
    continuations: Mapping[str, Mention] = NOTHING
    """The second step of each pair of entries, by verdict type; none in 1.13. `entries` has the first ones."""
    validation_steps: Mapping[str, ValidationStep] = NOTHING
    declared_validators: Mapping[str, DeclaredValidator] = NOTHING

    @property
    def intents(self) -> frozenset[str]:
        """The intents that there are; 1.14 has no `abort`."""
        return INTENTS if self.generation is Generation.V1_13 else INTENTS_SINCE_1_14

    @property
    def gateless(self) -> tuple[Step, ...]:
        """The steps that have transitions but no gate, where other steps have one."""
        if all(step.gate is None for step in self.steps.values()):
            return ()
        return tuple(step for step in self.steps.values() if step.intents and "structuredGate" not in step.body)

    def has_step(self, name: str) -> bool:
        """Tell whether a step has this key or this id."""
        return name in self.steps or name in self.aliases or name in self.broken_steps

    def step(self, name: str) -> Step | None:
        """Return the step that a mention means, if it can be read."""
        return self.steps.get(self.aliases.get(name, name))

    @property
    def mentions(self) -> tuple[str, ...]:
        """Every step name that a move or an entry mentions."""
        moves = [move.target for step in self.steps.values() for move in step.moves if move.target is not None]
        return (*moves, *(entry.name for entry in self.begun))

    @property
    def begun(self) -> tuple[Mention, ...]:
        """Every mention of a step as an entry, the first steps of pairs before the second ones."""
        return (*self.entries.values(), *self.continuations.values())

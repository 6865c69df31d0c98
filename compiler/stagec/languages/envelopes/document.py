"""A stage plan as its author wrote it: envelopes, their dependencies, and the sources of their inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

from stagec.core.json import Object, list_of
from stagec.core.memo import Memo
from stagec.core.nearest import NameIndex
from stagec.core.place import Mention, Place
from stagec.core.value import value
from stagec.sources.tree import Fault

REQUIRED = ("stageId", "goal", "inputs", "outputs", "maxDurationSec")
"""The required members of an envelope in the JSON Schema of the protocol."""

MEMBERS = (*REQUIRED, "dependencies", "retryable", "checkpointAfter")
"""The members of an envelope in the protocol."""

PARALLEL = 4
"""How many stages run at the same time where the plan does not say."""

DURATION = 240
"""Seconds for a stage that does not say how long it may last."""


class DependencyKind(StrEnum):
    """The special kinds of mentions of a dependency."""

    SHORT = "the number of one stage"
    AMBIGUOUS = "the number of several stages"
    REPEATED = "a stage that was mentioned before"
    OWN = "the stage itself"
    UNKNOWN = "no stage"


@value
class Dependency:
    """A dependency that is not simply the id of another stage: as written, where, and the ids it may mean."""

    name: str
    at: Place
    kind: DependencyKind
    meant: tuple[str, ...] = ()


class InputKind(StrEnum):
    """The source of an input; the last three cannot be resolved."""

    OUTPUT = "an output of another stage"
    FILE = "a file of the project"
    URL = "a URL"
    AMBIGUOUS = "an output of several stages"
    OWN = "an output of the stage itself"
    UNKNOWN_STAGE = "an output of a stage that is not there"
    UNKNOWN_OUTPUT = "an output that its stage does not declare"


@value
class StageInput:
    """One input: as written, and what it is resolved to.

    `producer` is the id of the stage that makes it, for an unknown stage as written; `path` lies below the folder of
    that stage, of a file below the root of the project. `candidates` are the stages with an output of this name: those
    of an ambiguous input among which nothing decides, and for a file those on which the stage does not depend. A `bare`
    one names no stage. `inferred` tells that nothing else says that the stage depends on its producer.
    """

    name: str
    text: str
    kind: InputKind
    path: str
    producer: str | None = None
    bare: bool = False
    inferred: bool = False
    candidates: tuple[str, ...] = ()


class EnvelopeInputs(Mapping[str, StageInput]):
    """The inputs of a stage by name: the unusual ones, and the others, which are made on request.

    An input is not odd if it is an output of another stage on which the stage says that it depends.
    """

    __slots__ = ("_texts", "odd")

    def __init__(self, texts: Mapping[str, str], odd: Mapping[str, StageInput]) -> None:
        self._texts = texts
        self.odd = odd

    def __getitem__(self, name: str) -> StageInput:
        if name in self.odd:
            return self.odd[name]
        text = self._texts[name]
        producer, _, path = text.partition("/")
        return StageInput(name, text, InputKind.OUTPUT, path, producer)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def with_odd(self, changed: Mapping[str, StageInput]) -> EnvelopeInputs:
        """Return the same inputs, of which some are known better."""
        return EnvelopeInputs(self._texts, {**self.odd, **changed})


@value
class Envelope:
    """One stage. What is missing or misshapen has its default, and `says` tells whether a member was written.

    `dependencies` are the names as written. `needs` are the ids of the other stages that these mean, each once;
    `implied` are those that only an input implies. `oddities` are the dependencies about which something is remarkable.
    """

    at: Place
    members: Object
    id: str | None
    goal: str | None
    inputs: EnvelopeInputs
    outputs: Mapping[str, str]
    max_duration: float
    dependencies: tuple[str, ...]
    retryable: bool
    checkpoint_after: bool
    run: tuple[str, ...]
    needs: tuple[str, ...] = ()
    implied: tuple[str, ...] = ()
    oddities: tuple[Dependency, ...] = ()

    @property
    def name(self) -> str:
        """The id, or where the envelope stands when it has none."""
        return self.id if self.id is not None else "/".join(map(str, (self.at.file, *self.at.pointer)))

    @property
    def id_at(self) -> Place:
        """The place of the envelope's id."""
        return self.at / "stageId"

    def says(self, member: str) -> bool:
        """Tell whether a member was written, be it well formed or not."""
        return member in self.members

    def place_input(self, name: str) -> Place:
        """Return the place of an input."""
        return self.at / "inputs" / name

    def place_output(self, name: str) -> Place:
        """Return the place of an output."""
        return self.at / "outputs" / name

    def list_mentions(self) -> Iterator[Mention]:
        """Yield every dependency as written, with its place."""
        at = self.at / "dependencies"
        for index, name in enumerate(list_of(self.members.get("dependencies"))):
            if isinstance(name, str):
                yield Mention(name, at / index)

    def place_mentions(self) -> Mapping[str, Place]:
        """Return the first mention of each stage as a dependency, by its id or by its number."""
        odd = reversed(self.oddities)
        shorts = {name: each.at for each in odd if each.kind is DependencyKind.SHORT for name in each.meant}
        return {**shorts, **{each.name: each.at for each in reversed(tuple(self.list_mentions()))}}


@value
class StagePlan:
    """A stage plan: one document, or the envelopes of a folder that stand alone in their files.

    `at` is the list of stages; `members` is the object around it, empty where there is none. `alone` is one envelope
    that stands for itself: nothing can be said about other stages. `is_whole` tells that every envelope could be read
    and has an id of its own. `faults` are what is wrong with the shape of plan and envelopes. `missing` are the paths
    of inputs and scripts that mean files of the project and that are not there.
    """

    file: str
    at: Place
    members: Object
    title: str | None
    run_id: str | None
    max_parallel: int
    alone: bool
    envelopes: tuple[Envelope, ...]
    by_id: Mapping[str, Envelope]
    names: NameIndex
    is_whole: bool
    faults: tuple[Fault, ...]
    memo: Memo
    missing: frozenset[str] = frozenset()

    @property
    def root(self) -> Place:
        """The document as a whole."""
        return Place(self.file)

    @property
    def by_number(self) -> Mapping[str, tuple[str, ...]]:
        """The ids of the stages by their number as ids begin with it, such as `S01`."""
        return self.memo.once("number", lambda: group_by_number(self.by_id))

    @property
    def is_in_order(self) -> bool:
        """Whether every stage is written after all that it needs: then nothing waits for itself."""
        return self.memo.once("order", lambda: _stand_in_order(self.envelopes))

    def list_faults(self, topic: str) -> Iterator[Fault]:
        """Yield the faults of shape of which one rule speaks."""
        return (fault for fault in self.faults if fault.topic == topic)

    def find_envelope(self, at: Place) -> Envelope | None:
        """Return the envelope in which a place lies."""
        known = self.memo.once("places", lambda: {(each.at.file, each.at.pointer): each for each in self.envelopes})
        ways = ((at.file, at.pointer[:length]) for length in range(len(at.pointer), -1, -1))
        return next((known[way] for way in ways if way in known), None)


def _stand_in_order(envelopes: Iterable[Envelope]) -> bool:
    seen: set[str | None] = set()
    for each in envelopes:
        if not seen.issuperset(each.needs) or not seen.issuperset(each.implied):
            return False
        seen.add(each.id)
    return True


def group_by_number(ids: Mapping[str, object]) -> Mapping[str, tuple[str, ...]]:
    """Return ids by what stands before their first underscore."""
    found: dict[str, list[str]] = {}
    for name in ids:
        number, mark, _ = name.partition("_")
        if mark:
            found.setdefault(number, []).append(name)
    return {number: tuple(names) for number, names in found.items()}

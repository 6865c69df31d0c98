"""The values that steps get from the runner and from each other, and the fate of each named input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property

from stagec.core.json import Json, object_of, text_in
from stagec.core.nearest import NameIndex
from stagec.core.place import Place
from stagec.core.value import replace, value
from stagec.ir.flow import Read, Source
from stagec.languages.registry.answers import has_member
from stagec.languages.registry.document import Registry, Step
from stagec.languages.registry.files import Agent
from stagec.sources.contract.promise import Blank, Presence, Promise
from stagec.sources.contract.schemas import Miss, Schema

PROVIDED = frozenset(
    {
        "iteration",
        "completed_iterations",
        "completion_keyword",
        "max_iterations",
        "remaining",
        "previous_summary",
        "check_count",
        "max_checks",
        "agent_name",
        "verdict_criteria",
    }
)
"""The variables that a runner supplies itself, those of system prompts included."""
_OF_AGENT = {"agent_name", "verdict_criteria"}
EARLY = ("completed_iterations", "previous_summary")
"""The variables of the runner that have no value where a run begins."""
_SETTINGS: Mapping[str, tuple[str, str]] = {
    "completion_keyword": ("detect:keyword", "verdictKeyword"),
    "max_checks": ("count:check", "maxChecks"),
}
"""The variables that are settings of a verdict, with the verdict that cannot do without."""


def list_provided(agent: Agent | None) -> frozenset[str]:
    """Return the variables that a runner supplies to the steps of an agent.

    A setting is among them that the agent's verdict demands: that it is missing is the fault of the verdict.
    """
    if agent is None:
        return PROVIDED - _SETTINGS.keys() - _OF_AGENT
    settings = agent.settings
    lacking = {name for name, (kind, key) in _SETTINGS.items() if agent.verdict != kind and not settings.get(key)}
    return PROVIDED - lacking


@value
class StepInput:
    """A value that a step is handed by an earlier one: `source` as it is written, which names a step and a key."""

    name: str
    at: Place
    source: str
    is_required: bool
    default: Json

    @property
    def step(self) -> str:
        """The step that hands the value over."""
        return self.source.rpartition(".")[0]

    @property
    def key(self) -> str:
        """The key under which it does."""
        return self.source.rpartition(".")[2]

    @property
    def variable(self) -> str:
        """The variable that is named after the source; there is another with the name of the input."""
        return self.source.replace(".", "_")


def list_inputs(step: Step) -> tuple[StepInput, ...]:
    """Return the inputs of a step that say where they come from."""
    found = []
    for name, body in object_of(step.body.get("inputs")).items():
        given = object_of(body)
        source = text_in(given, "from")
        if source is not None:
            at, is_required = step.at / "inputs" / name, given.get("required") is not False
            found.append(StepInput(name, at, source, is_required, given.get("default")))
    return tuple(found)


class InputFate(StrEnum):
    """The fate of an input."""

    MALFORMED = "malformed"
    """It names no step and key."""
    LOST = "lost"
    """There is no such step, which nothing else says, or it is a section."""
    UNHANDED = "unhanded"
    """The step never hands over such a key."""
    WHOLE = "whole"
    """The step names no values to hand over, and the key is taken of its whole answer."""
    HANDED = "handed"
    UNKNOWABLE = "unknowable"


@value
class JudgedInput:
    """An input of a step and its fate; `is_vital` tells that the step cannot start without a value.

    `needs_text` tells that it cannot start with null or an empty text either: it declares a variable for the value.
    `at` is where it was most likely written wrongly, `near` the name that was most likely meant there. `source` is the
    step that hands the value over, `promised` what its schema promises about the value.
    """

    step: Step
    given: StepInput
    fate: InputFate
    at: Place
    is_vital: bool
    near: str | None = None
    source: Step | None = None
    promised: Promise | None = None
    needs_text: bool = False

    @property
    def blank(self) -> Blank | None:
        """A value that the step can be handed and with which it cannot start."""
        output = self.source.output if self.source is not None else None
        if not self.needs_text or output is None or output.find_blank is None or self.promised is None:
            return None
        return output.find_blank(self.promised)


@value
class HiddenInput:
    """An input: variable `name` gets the value of `other`, or of the agent or runner if `other` is None."""

    step: Step
    given: StepInput
    name: str
    other: StepInput | None


def find_hidden_inputs(registry: Registry) -> Iterator[HiddenInput]:
    """Yield the inputs of all steps that are handed over and of which no variable has the value."""
    judging = InputJudge(registry)
    for step in registry.steps.values():
        if "inputs" in step.body and not step.is_section:
            yield from judging.find_hidden(step)


def judge_inputs(registry: Registry) -> Iterator[JudgedInput]:
    """Yield every input of every step with its fate."""
    judging = InputJudge(registry)
    for step in registry.steps.values():
        if "inputs" in step.body and not step.is_section:
            yield from judging.judge(step)


class InputJudge:
    """The values that the steps of one registry hand over, looked up once for each."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        agent = registry.agent
        self._given = (frozenset(agent.parameters) if agent is not None else frozenset()) | list_provided(agent)
        self._handed: dict[str, _Handoff] = {}
        told = (*registry.lost_targets, *registry.lost_fallbacks, *registry.begun)
        self._missed = frozenset(each.name for each in told)

    def judge(self, step: Step) -> Iterator[JudgedInput]:
        """Yield the inputs of a step with their fates."""
        declared, named = step.declared, self._list_named(step)
        for each in list_inputs(step):
            own = {each.name, each.variable} & named
            is_needed = not (own - self._given).isdisjoint(declared)
            lacks = (each.default is None and each.is_required) or (is_needed and each.default in (None, ""))
            is_vital = lacks and (not own or not own <= self._given)
            found = JudgedInput(step, each, InputFate.HANDED, each.at / "from", is_vital, needs_text=is_needed)
            yield self._judge(found)

    def find_hidden(self, step: Step) -> Iterator[HiddenInput]:
        """Yield the inputs of a step that are handed over and of which no variable has the value."""
        handed = [each.given for each in self.judge(step) if each.fate is InputFate.HANDED]
        named = self._list_named(step)
        giving = {each.name: each for each in handed} | {each.variable: each for each in handed}
        for each in handed:
            own = [name for name in (each.variable, each.name) if name in named]
            lost = [name for name in own if name in self._given or giving[name].source != each.source]
            if lost and len(lost) == len(own):
                yield HiddenInput(step, each, lost[0], None if lost[0] in self._given else giving[lost[0]])

    def _list_named(self, step: Step) -> frozenset[str]:
        """Return the variables that a step declares or its prompt reads."""
        text = self._registry.prompts.text_of(step.key)
        return frozenset(step.declared).union(text.reads if text is not None else ())

    def _judge(self, found: JudgedInput) -> JudgedInput:
        given, registry = found.given, self._registry
        if not given.step or not given.key:
            return replace(found, fate=InputFate.MALFORMED)
        source = registry.step(given.step)
        if source is None and (registry.has_step(given.step) or given.step in self._missed):
            return replace(found, fate=InputFate.UNKNOWABLE)
        if source is None or source.is_section:
            return replace(found, fate=InputFate.LOST, near=registry.step_names.nearest(given.step), source=source)
        if source.key not in self._handed:
            self._handed[source.key] = _Handoff(source)
        return self._handed[source.key].judge(replace(found, source=source))


class _Handoff:
    """The values that one step hands over: for each key the index of its path, and every name that its schema knows."""

    def __init__(self, source: Step) -> None:
        paths = source.gate.handoff if source.gate is not None else None
        self._source = source
        self._keys = {path.rpartition(".")[2]: index for index, path in enumerate(paths or ()) if path}
        self._names = NameIndex(self._keys)
        is_gateless = source.gate is None and ("structuredGate" in source.body or source.intents is not None)
        is_listed = paths is not None or not has_member(source, "handoffFields")
        self._is_readable = source.program is None and is_listed and not is_gateless
        self._schema = source.output.found if source.output is not None else None

    def judge(self, found: JudgedInput) -> JudgedInput:
        """Return the fate of an input that comes from the step."""
        key = found.given.key
        if not self._is_readable or isinstance(self._schema, Miss):
            return replace(found, fate=InputFate.UNKNOWABLE)
        if not self._keys:
            return self._take_whole(found)
        if key in self._keys:
            return replace(found, promised=self._find_promise(key))
        near = self._names.nearest(key)
        broken = self._find_promise(near) if near is not None else None
        if broken is not None and broken.presence is Presence.IMPOSSIBLE:
            return replace(found, fate=InputFate.UNKNOWABLE)  # there is no such path to hand over, which is told
        if key not in self._offered:
            return replace(found, fate=InputFate.UNHANDED, near=near)
        at = self._source.gate_at / "handoffFields"
        is_declared = broken is None or broken.presence in _DECLARED
        return replace(found, fate=InputFate.UNHANDED, at=at if near is None or is_declared else at / self._keys[near])

    def _take_whole(self, found: JudgedInput) -> JudgedInput:
        """Return the fate of an input where the step hands nothing over: its whole answer stands for that."""
        output, key = self._source.output, found.given.key
        promised = output.members.get(key) if output is not None else None
        if output is None or (promised is not None and promised.presence in _DECLARED):
            return replace(found, fate=InputFate.WHOLE, promised=promised)
        if promised is None or promised.presence is Presence.UNKNOWABLE:
            return replace(found, fate=InputFate.UNKNOWABLE)
        if key in self._offered and self._source.gate is not None:
            gate = self._source.gate_at
            at = gate / "handoffFields" if has_member(self._source, "handoffFields") else gate.key
            return replace(found, fate=InputFate.UNHANDED, at=at)
        return replace(found, fate=InputFate.UNHANDED, near=promised.near.nearest(key))

    def _find_promise(self, key: str) -> Promise | None:
        gate, output = self._source.gate, self._source.output
        paths = gate.handoff or () if gate is not None else ()
        return output.paths.get(paths[self._keys[key]]) if output is not None else None

    @cached_property
    def _offered(self) -> frozenset[str]:
        """Every name that the schema of the step's answers declares at any depth, as far as it is one text."""
        found: set[str] = set()
        todo: list[Json] = [self._schema.value] if isinstance(self._schema, Schema) else []
        for each in todo:  # grows while it is walked
            if isinstance(each, dict):
                found.update(object_of(each.get("properties")))
                todo.extend(each.values())
            elif isinstance(each, list):
                todo.extend(each)
        return frozenset(found)


_DECLARED = (Presence.SURE, Presence.POSSIBLE)
_UNCERTAIN = (Presence.POSSIBLE, Presence.UNKNOWABLE)


def find_unhanded(registry: Registry) -> Iterator[tuple[str, str]]:
    """Yield each step that should hand over a key, with that key, if the report belongs to this step."""
    for each in judge_inputs(registry):
        is_told = each.fate is InputFate.UNHANDED and each.is_vital and each.at != each.given.at / "from"
        if is_told and each.source is not None:
            yield each.source.key, each.given.key


def list_reads(registry: Registry) -> Iterator[Read]:
    """Yield the reads of steps in the last results of others; if one is not promised, other rules report its source."""
    for each in judge_inputs(registry):
        if each.source is None or not each.is_vital or each.fate is InputFate.UNHANDED:
            continue
        promised = each.promised if each.promised is not None and each.promised.presence in _UNCERTAIN else None
        read = Source(each.source.key, promised, each.source.at)
        if not each.source.is_section:
            yield Read(each.step.key, (each.given.key,), each.given.at / "from", (read,), kept=True)

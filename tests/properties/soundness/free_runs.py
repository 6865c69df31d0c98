"""Runs of projects that were made freely: what validates may not fail by itself, nor refuse an answer that is right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from random import Random
from typing import Any

from properties.soundness.free_registries import Made
from properties.soundness.runs import Tried, UnsoundError
from properties.soundness.worlds import ANYTHING, Known, World

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.place import pointer_text
from stagec.ir.plan.act import Carried, Prompt
from stagec.ir.plan.document import Plan
from stagec.runtime.drivers.replay import advance_through, digest_step
from stagec.runtime.machine import Answered, Program, State, StepResult
from stagec.runtime.machine.acts.conversation_state import conversation_of
from stagec.runtime.machine.exchange import Ask, Effect, Event, Turn, execution_of, read_key

Json = Any
Answers = Mapping[str, list[Json]]
"""What satisfies the schema of a node, as others have found than stagec."""


class FairWorld(World):
    """A world in which models answer what satisfies the schema of their node, as it is written in the project."""

    def __init__(self, random: Random, plan: Plan, known: Known, own: Answers) -> None:
        super().__init__(random, plan, known, rude=False)
        self._own = own
        self._node = ""
        self.said: Json = None
        """The answer that was last given and satisfies its schema, None if it does not have to."""

    def answer(self, effect: Effect) -> Json:
        """Return the answer to a request."""
        self._node, self.said = read_key(effect.key).node, None
        return super().answer(effect)

    def _one_of(self, content: str | None) -> Json:
        found = self._own.get(self._node)
        if found is None:
            self.said = super()._one_of(content)
            return self.said
        self.is_mute = self.is_mute or not found
        self.said = self._random.choice(found) if found else None
        return {} if self.said is None else self.said


class FairRun(Tried):
    """A run in a fair world: what the plan causes is told, and what the world causes is let pass."""

    def __init__(self, program: Program, random: Random, kinds: Counter[str], own: Answers, told: Explained) -> None:
        super().__init__(program, random, kinds, {None: [*ANYTHING]})
        self._fair = FairWorld(random, program.plan, {None: [*ANYTHING]}, own)
        self._world = self._fair
        self._told = told
        self.events: list[Event] = []
        self.digests: list[str] = []
        self.causes: list[str] = []
        """What the plan has caused, and nothing has told of before."""

    def _advance(self, event: Any) -> StepResult:
        before = self.state
        step = super()._advance(event)
        self.digests.append(digest_step(len(self.events), step))
        self.events.append(event)
        self.causes += self._caused(before, event, step)
        return step

    def _caused(self, before: State, event: Event, step: StepResult) -> Iterator[str]:
        for each in step.trace:
            if each.name == "StageInitFailed":
                name = str(each.facts.get("stageId"))
                why = str(each.facts.get("reason"))
                is_provided = "setup" in self._program.plan.nodes[name].hooks or self._is_blank(step.state, name, why)
                if not is_provided and not self._told.of(name, why):
                    yield f"{name} cannot start: {why}"
        if isinstance(event, Answered) and self._fair.said is not None and self._is_refused(before, event, step):
            name = read_key(event.key).node
            if not self._told.of(name):
                yield f"{name} refuses an answer that satisfies its schema: {str(self._fair.said)[:200]}"

    def _is_blank(self, state: State, name: str, why: str) -> bool:
        """Tell whether a variable is carried over as null or as an empty text, which count as no value."""
        act = self._program.plan.nodes[name].act
        carried = act.variables.items() if isinstance(act, Prompt) else ()
        return any(
            variable in why and (state.past[each.node].record or {}).get(each.key, each) in _BLANK
            for variable, each in carried
            if isinstance(each, Carried) and each.node in state.past
        )

    def _is_refused(self, before: State, event: Answered, step: StepResult) -> bool:
        asked = before.pending[event.key]
        if isinstance(asked, Ask):
            complaint = any(isinstance(each, Ask) and each.complaint is not None for each in step.effects)
            return complaint or "no usable answer" in step.state.reason or "no intent" in step.state.reason
        if isinstance(asked, Turn) and isinstance(event.answer, dict):
            calls = event.answer.get("calls", [])
            execution = step.state.active.get(execution_of(event.key))
            alone = len(calls) == 1 and calls[0].get("arguments") == self._fair.said
            return alone and execution is not None and conversation_of(execution).error is not None
        return False

    def replay(self, program: Program) -> None:
        """Advance through the same events again, and raise `UnsoundError` if anything else follows."""
        for at, (_, step) in enumerate(advance_through(program, self.events)):
            if digest_step(at, step) != self.digests[at]:
                raise UnsoundError(f"a replay differs at event {at}")


class Explained:
    """What a project was told that is no error: a node may fail if that speaks of it, of its prompt or its schema."""

    def __init__(self, diagnostics: Iterable[Diagnostic], made: Made) -> None:
        told = [each for each in diagnostics if each.severity is not Severity.ERROR]
        self._texts = [f"{pointer_text(each.at.pointer)} {each.message}" for each in told]
        self._files = {each.at.file for each in told}
        self._parts = {(each.at.file, each.at.pointer[0] if each.at.pointer else "") for each in told}
        self._made = made
        self.is_uncertain = any(each.code == "STG277" for each in told)
        """Whether a choice was said to be too involved to decide: it may lead nowhere."""

    def of(self, name: str, why: str = "") -> bool:
        """Tell whether a node was spoken of, and of what it lacks."""
        lacking = {word for word in _WORD.findall(why) if word not in _PLAIN}
        spoken = [each for each in self._texts if not lacking or any(word in each for word in lacking)]
        if "prompt" in why and any(_NO_PROMPTS in each for each in self._texts):
            return True
        if any(f"'{name}'" in each or f"/{name}" in each for each in spoken):
            return True
        placed = self._made.placed.get(name)
        if placed is not None and not lacking:
            file = f"schemas/{placed.file}"
            if any((file, part) in self._parts for part in (placed.name, "$defs", "definitions")):
                return True
        return bool(spoken) and any(self._is_of(name, self._made.files.get(each, "")) for each in self._files)

    @staticmethod
    def _is_of(name: str, text: str) -> bool:
        return text.startswith((f"Do {name}.", f'---\nid: "{name}"\n'))


_NO_PROMPTS = "there is no folder"
"""What is said once of all steps, where all prompts are missing."""
_BLANK = ("", None)
_WORD = re.compile(r"[\w-]+")
_PLAIN = frozenset(
    [
        "ctx",
        "upstream",
        "parsed",
        "has",
        "no",
        "value",
        "its",
        "variable",
        "is",
        "a",
        "required",
        "property",
        "not",
        "of",
        "type",
        "it",
        "prompt",
        "0",
        "1",
        "2",
    ]
)
"""Words of a reason that name nothing of a project."""

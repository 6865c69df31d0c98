"""The guards of steps: validation steps with their conditions, and the validators that these name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stagec.core.json import Object, list_of, object_of, text_in
from stagec.core.place import Mention, Place
from stagec.core.value import value
from stagec.languages.registry.files import Address, read_address
from stagec.languages.registry.generation import CONDITION_LISTS, LEGACY_CONDITIONS, Generation

PREFLIGHT, POST_LLM = "preflight", "postllm"
LIST_OF_PHASE: Mapping[str, str] = {PREFLIGHT: CONDITION_LISTS[0], POST_LLM: CONDITION_LISTS[1]}
"""The phases of validators, before the model is asked and after it has answered, and the lists that name them."""


@value
class GuardCondition:
    """A validator that must succeed, and what it is given."""

    validator: Mention
    params: Object


@value
class ValidationStep:
    """The conditions before a step may end; in 1.13 all of them are judged after the model has answered.

    `preflight_at` and `post_llm_at` are where the conditions are listed; those that name no validator are left out.
    """

    key: str
    at: Place
    body: Object
    address: Address
    preflight: tuple[GuardCondition, ...]
    preflight_at: Place
    post_llm: tuple[GuardCondition, ...]
    post_llm_at: Place

    @property
    def conditions(self) -> tuple[GuardCondition, ...]:
        """All conditions, in the order in which they are checked."""
        return (*self.preflight, *self.post_llm)

    @property
    def on_failure(self) -> Object:
        """The action after a failed condition, as it is written."""
        return object_of(self.body.get("onFailure"))


@value
class RetryPlan:
    """The member `retry` of a step of 1.14: how often, which validators it names, and by which failure pattern."""

    at: Place
    body: Object
    preflight: tuple[Mention, ...]
    post_llm: tuple[Mention, ...]
    pattern: Mention | None


@value
class Slot:
    """A place at which a list of 1.14 names a validator, and the phase that belongs to the list."""

    at: Place
    phase: str


@value
class DeclaredValidator:
    """A validator as it is declared; `phase` is None in 1.13, and where it is absent or no text."""

    name: str
    at: Place
    body: Object
    phase: str | None


def read_validation_steps(root: Object, at: Place, written: Generation) -> Mapping[str, ValidationStep]:
    """Return the validation steps of a registry by their keys."""
    return {
        key: _validation_step(key, body, place, written) for key, body, place in _entries(root, at, "validationSteps")
    }


def read_validators(root: Object, at: Place, written: Generation) -> Mapping[str, DeclaredValidator]:
    """Return the validators of a registry by name."""
    has_phases = written is not Generation.V1_13
    return {
        name: DeclaredValidator(name, place, body, text_in(body, "phase") if has_phases else None)
        for name, body, place in _entries(root, at, "validators")
    }


def _validation_step(key: str, body: Object, at: Place, written: Generation) -> ValidationStep:
    is_old = written is Generation.V1_13 or (LEGACY_CONDITIONS in body and "postLLMConditions" not in body)
    before, after = at / "preflightConditions", at / (LEGACY_CONDITIONS if is_old else "postLLMConditions")
    return ValidationStep(
        key=key,
        at=at,
        body=body,
        address=read_address(body, at, written),
        preflight=tuple(_conditions(body, before)) if written is not Generation.V1_13 else (),
        preflight_at=before,
        post_llm=tuple(_conditions(body, after)),
        post_llm_at=after,
    )


def _conditions(body: Object, at: Place) -> Iterator[GuardCondition]:
    for index, each in enumerate(list_of(body.get(str(at.pointer[-1])))):
        name = text_in(object_of(each), "validator")
        if name is not None:
            yield GuardCondition(Mention(name, at / index / "validator"), object_of(object_of(each).get("params")))


def _entries(root: Object, at: Place, section: str) -> Iterator[tuple[str, Object, Place]]:
    for key, body in object_of(root.get(section)).items():
        if isinstance(body, dict):
            yield key, body, at / section / key


def read_chain(body: Object, at: Place) -> tuple[Mention, ...] | None:
    """Return the adaptations of a step's repeats; what is no text counts as one that nobody can name."""
    listed = body.get("adaptationChain")
    if not isinstance(listed, list):
        return None
    place = at / "adaptationChain"
    return tuple(Mention(each if isinstance(each, str) else "", place / index) for index, each in enumerate(listed))


def read_retry(body: Object, at: Place) -> RetryPlan | None:
    """Return how a step says that it is tried again; None if it does not."""
    given = body.get("retry")
    if not isinstance(given, dict):
        return None
    place, pattern = at / "retry", text_in(object_of(given.get("onFailure")), "patternRef")
    named = [tuple(_texts(given, member, place)) for member in CONDITION_LISTS]
    found = Mention(pattern, place / "onFailure" / "patternRef") if pattern is not None else None
    return RetryPlan(place, given, named[0], named[1], found)


def _texts(owner: Object, member: str, at: Place) -> Iterator[Mention]:
    """Yield the texts in a list."""
    for index, each in enumerate(list_of(owner.get(member))):
        if isinstance(each, str):
            yield Mention(each, at / member / index)


def find_slots(guards: Iterable[ValidationStep]) -> Mapping[str, list[Slot]]:
    """Return the places in which the lists of 1.14 name validators, by the names of these."""
    found: dict[str, list[Slot]] = {}
    for guard in guards:
        slots = [(each, PREFLIGHT) for each in guard.preflight]
        slots += [(each, POST_LLM) for each in guard.post_llm if guard.post_llm_at.pointer[-1] in CONDITION_LISTS]
        for condition, phase in slots:
            found.setdefault(condition.validator.name, []).append(Slot(condition.validator.at, phase))
    return found

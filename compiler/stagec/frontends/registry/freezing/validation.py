"""What must hold before a closure step may close, and the prompts of the attempts that follow when it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stagec.core.canonical import to_count
from stagec.core.json import object_of, text_in
from stagec.frontends.registry import guards
from stagec.frontends.registry.document import Registry, Step, StepKind
from stagec.frontends.registry.freezing.templates import RegistryTexts, retry_prompt
from stagec.frontends.registry.generation import Generation
from stagec.frontends.registry.prompts import Prompts
from stagec.frontends.registry.validators import read_success
from stagec.plan.gate import Condition, Validation
from stagec.plan.surroundings import Success, Validator
from stagec.plan.template import Template

_ATTEMPTS = 3
_RETRY = "retry"
_NEVER = Success("matches", r"[^\s\S]")
"""What holds of no output, in any dialect of regular expressions."""


class Validations:
    """Makes the validations of a registry's steps; `validators` are those that they name."""

    def __init__(self, registry: Registry, prompts: Prompts, texts: RegistryTexts) -> None:
        self.validators: dict[str, Validator] = {}
        self._registry = registry
        self._texts = texts
        # what guards steps, by the key of the step
        found: dict[str, guards.ValidationStep] = {}
        for name, guard in registry.validation_steps.items():
            step = registry.step(name)
            if step is not None:
                found[step.key] = guard
        self._guards = found
        self._prompts: dict[str, dict[str, str]] = {}
        for each in prompts.of_retries:
            if each.prompt.file is not None:
                self._prompts.setdefault(each.step, {})[each.pattern] = each.prompt.file

    def of_step(self, step: Step) -> Validation | None:
        """Return what guards a step; nothing where nothing does."""
        guard = self._guards.get(step.key)
        conditions = tuple(self._conditions(guard.post_llm)) if guard is not None else ()
        preflight = tuple(self._conditions(guard.preflight)) if guard is not None else ()
        if guard is None or not (conditions or preflight):
            return None
        on_failure = guard.on_failure
        action = text_in(on_failure, "action") or _RETRY
        return Validation(
            conditions=conditions,
            action=action,
            attempts=to_count(on_failure.get("maxAttempts")) or _ATTEMPTS,
            prompts=dict(self._templates(guard.key, conditions)) if action == _RETRY else {},
            every_outcome=self._registry.generation is not Generation.V1_13 and step.kind is not StepKind.CLOSURE,
            preflight=preflight,
        )

    def _conditions(self, written: Iterable[guards.GuardCondition]) -> Iterator[Condition]:
        declared = object_of(self._registry.body.get("validators"))
        for each in written:
            name = each.validator.name
            if name in declared:
                said = object_of(declared[name])
                extract = object_of(said.get("extractParams"))
                self.validators[name] = Validator(
                    command=text_in(said, "command") or "",
                    success=read_success(text_in(said, "successWhen") or "") or _NEVER,
                    pattern=text_in(said, "failurePattern") or "",
                    extract={key: text for key, text in extract.items() if isinstance(text, str)},
                )
                yield Condition(name, each.params)

    def _templates(self, key: str, conditions: tuple[Condition, ...]) -> Iterator[tuple[str, Template]]:
        """Yield the prompt of each failure pattern of some validators, as far as it has one."""
        files = self._prompts.get(key, {})
        for pattern in dict.fromkeys(self.validators[each.validator].pattern for each in conditions):
            text = self._texts.prompt(files[pattern]) if pattern in files else None
            if text is not None:
                yield pattern, retry_prompt(text, self._texts)

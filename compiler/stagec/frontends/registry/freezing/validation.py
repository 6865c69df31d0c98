"""What must hold before a closure step may close, and the prompts of the attempts that follow when it does not."""

from __future__ import annotations

from collections.abc import Iterator

from stagec.core.canonical import to_count
from stagec.core.json import Object, list_of, object_of, text_in
from stagec.frontends.registry.document import Registry, Step
from stagec.frontends.registry.freezing.templates import RegistryTexts, retry_prompt
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
        # what guards steps, by the key of the step, with the name under which it is written
        bodies: dict[str, tuple[str, Object]] = {}
        for name, body in object_of(registry.body.get("validationSteps")).items():
            step = registry.step(name)
            if step is not None:
                bodies[step.key] = (name, object_of(body))
        self._bodies = bodies
        self._prompts: dict[str, dict[str, str]] = {}
        for each in prompts.of_retries:
            if each.prompt.file is not None:
                self._prompts.setdefault(each.step, {})[each.pattern] = each.prompt.file

    def of_step(self, step: Step) -> Validation | None:
        """Return what guards a step; nothing where nothing does."""
        key, body = self._bodies.get(step.key, ("", {}))
        conditions = tuple(self._conditions(body))
        if not conditions:
            return None
        on_failure = object_of(body.get("onFailure"))
        action = text_in(on_failure, "action") or _RETRY
        return Validation(
            conditions=conditions,
            action=action,
            attempts=to_count(on_failure.get("maxAttempts")) or _ATTEMPTS,
            prompts=dict(self._templates(key, conditions)) if action == _RETRY else {},
        )

    def _conditions(self, body: Object) -> Iterator[Condition]:
        declared = object_of(self._registry.body.get("validators"))
        for each in map(object_of, list_of(body.get("validationConditions"))):
            name = text_in(each, "validator")
            if name is not None and name in declared:
                said = object_of(declared[name])
                extract = object_of(said.get("extractParams"))
                self.validators[name] = Validator(
                    command=text_in(said, "command") or "",
                    success=read_success(text_in(said, "successWhen") or "") or _NEVER,
                    pattern=text_in(said, "failurePattern") or "",
                    extract={key: text for key, text in extract.items() if isinstance(text, str)},
                )
                yield Condition(name, object_of(each.get("params")))

    def _templates(self, key: str, conditions: tuple[Condition, ...]) -> Iterator[tuple[str, Template]]:
        """Yield the prompt of each failure pattern of some validators, as far as it has one."""
        files = self._prompts.get(key, {})
        for pattern in dict.fromkeys(self.validators[each.validator].pattern for each in conditions):
            text = self._texts.prompt(files[pattern]) if pattern in files else None
            if text is not None:
                yield pattern, retry_prompt(text, self._texts)

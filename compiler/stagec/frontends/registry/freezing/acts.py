"""What steps do: ask with a prompt, or run a program."""

from __future__ import annotations

from stagec.core.json import Object, list_of, text_in
from stagec.frontends.registry.document import Step
from stagec.frontends.registry.freezing.conduct import Conduct
from stagec.frontends.registry.freezing.templates import named, prompt, word
from stagec.frontends.registry.freezing.texts import RegistryTexts
from stagec.frontends.registry.freezing.variables import Variables, declared
from stagec.frontends.registry.programs import program
from stagec.frontends.registry.prompts import Prompts
from stagec.plan.act import Act, Command, Prompt
from stagec.plan.numbers import counted
from stagec.plan.template import Template

_LIMIT = 30_000
"""Milliseconds that a program has when nobody says."""
_CONDUCT = ("model", "permissionMode", "fallbackKey")


class Acts:
    """Makes the acts of a registry's steps: large registries repeat a few thousands of times.

    `inputs` are the inputs of the run that programs are given.
    """

    def __init__(self, prompts: Prompts, texts: RegistryTexts, variables: Variables, conduct: Conduct) -> None:
        self.inputs: dict[str, None] = {}
        self._prompts = prompts
        self._texts = texts
        self._variables = variables
        self._conduct = conduct
        self._templates: dict[tuple[str, bool], Template | None] = {}
        self._known: dict[tuple[object, ...], Prompt] = {}

    def act(self, step: Step) -> Act:
        """Return what a step does."""
        runs = program(step)
        return self._prompt(step) if runs is None else self._command(runs)

    def _command(self, runs: Object) -> Command:
        written = (text_in(runs, "command") or "", *list_of(runs.get("args")))
        words = tuple(word(each, self._texts) for each in written if isinstance(each, str))
        self.inputs.update((name, None) for template in words for name in named(template, "input"))
        return Command(words, counted(runs.get("timeout")) or _LIMIT)

    def _prompt(self, step: Step) -> Prompt:
        if "inputs" in step.body:
            return self._made(step)
        what = (self._file(step), step.body.get("usesStdin") is True, declared(step), id(step.output))
        how = (step.kind, *(text_in(step.body, name) for name in _CONDUCT))
        if (what, how) not in self._known:
            self._known[what, how] = self._made(step)
        return self._known[what, how]

    def _made(self, step: Step) -> Prompt:
        template, needed = self._template(step), declared(step)
        return Prompt(
            prompt=template,
            builtin=text_in(step.body, "fallbackKey") if template is None else None,
            variables=self._variables.of_step(step, dict.fromkeys((*needed, *named(template or (), "variable")))),
            needed=needed,
            schema=self._texts.output(step.output),
            tools=self._conduct.tools(step),
            model=self._conduct.model(step),
            permission=self._conduct.permission(step),
        )

    def _file(self, step: Step) -> str | None:
        found = self._prompts.of_steps.get(step.key)
        return found.file if found is not None else None

    def _template(self, step: Step) -> Template | None:
        """Return the prompt of a step; nothing where there is no such file."""
        file, stdin = self._file(step), step.body.get("usesStdin") is True
        if file is None:
            return None
        if (file, stdin) not in self._templates:
            text = self._texts.prompt(file)
            self._templates[file, stdin] = prompt(text, self._texts, stdin=stdin) if text is not None else None
        return self._templates[file, stdin]

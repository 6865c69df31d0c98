"""Freezes steps: acts with tools, model and permissions, and the edges after their outcomes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from stagec.core.canonical import to_count
from stagec.core.json import Object, list_of, object_of, text_in
from stagec.core.value import NOTHING, value
from stagec.ir import flow
from stagec.ir.plan.act import Act, Command, Prompt, Repeat, Supply, Template
from stagec.ir.plan.codec import Path
from stagec.ir.plan.gate import Among, Condition, ExitGate, Gate, IntentGate, JudgeGate, Reads, Term, Validation
from stagec.ir.plan.node import Edge, Go, Named, Outcome, Pick, Stop, Target, list_targets
from stagec.ir.plan.surroundings import Success, Validator, is_boundary_tool
from stagec.languages.registry import guards
from stagec.languages.registry.agent import Agent
from stagec.languages.registry.conduct import AgentConduct
from stagec.languages.registry.document import Intent, Registry, Step, StepKind
from stagec.languages.registry.freezing.templates import (
    RegistryTexts,
    Variables,
    find_names,
    list_needed,
    prompt,
    retry_prompt,
    word,
)
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.prompts import Prompts, read_fallback
from stagec.languages.registry.validators import read_success

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


_USUAL: Mapping[StepKind, str] = {
    StepKind.WORK: "acceptEdits",
    StepKind.VERIFICATION: "plan",
    StepKind.CLOSURE: "acceptEdits",
}
"""The permission modes of steps that state none."""


_MODEL = "opus"
"""The model of steps where neither they nor their flow name one."""


class AgentDefaults:
    """What the definition of an agent, an empty one where there is none, says of every step."""

    def __init__(self, definition: Object, agent: Agent | None) -> None:
        runner, conduct = object_of(definition.get("runner")), agent.conduct if agent is not None else AgentConduct()
        is_old = agent is None or agent.generation is Generation.V1_13
        named = conduct.tools if is_old else conduct.tools or ()  # in 1.14 what nobody lists is not allowed
        self.name = text_in(definition, "name")
        self._model = text_in(object_of(runner.get("flow")), "defaultModel")
        self._permission = conduct.permission_mode
        self._all = named
        kept = tuple(name for name in named if not is_boundary_tool(name)) if named is not None else None
        self._inner = kept if is_old else named

    def tools(self, step: Step) -> tuple[str, ...] | None:
        """Return the tools that a step may call; nothing where nobody says."""
        return self._inner if step.kind in {StepKind.WORK, StepKind.VERIFICATION} else self._all

    def model(self, step: Step) -> str:
        """Return the model that is asked: that of the step, or of the flow, or the usual one."""
        return text_in(step.body, "model") or self._model or _MODEL

    def permission(self, step: Step) -> str | None:
        """Return the permission mode of a step: its own, its kind's, or where it has none the agent's."""
        own = text_in(step.body, "permissionMode")
        return own or (self._permission if step.kind is None else _USUAL[step.kind])


@value
class StepPrompts:
    """The prompts of a registry, and by step the files of those of its repeats, None where there is no such file."""

    found: Prompts
    of_repeats: Mapping[str, tuple[str | None, ...]] = NOTHING


_LIMIT = 30_000
"""Milliseconds that a program has when nobody says."""
_CONDUCT = ("model", "permissionMode", "fallbackKey")


class Acts:
    """Makes the acts of a registry's steps: large registries repeat a few thousands of times.

    `inputs` are the inputs of the run that programs are given.
    """

    def __init__(
        self, prompts: StepPrompts, texts: RegistryTexts, variables: Variables, conduct: AgentDefaults
    ) -> None:
        self.inputs: dict[str, None] = {}
        self._prompts = prompts
        self._texts = texts
        self._variables = variables
        self._conduct = conduct
        self._agent = conduct.name
        self._templates: dict[tuple[str, bool], Template | None] = {}
        self._fallbacks: dict[str, Template | None] = {}
        self._known: dict[tuple[object, ...], Prompt] = {}

    def act(self, step: Step) -> Act:
        """Return what a step does."""
        runs = step.program
        return self._prompt(step) if runs is None else self._command(runs)

    def _command(self, runs: Object) -> Command:
        written = (text_in(runs, "command") or "", *list_of(runs.get("args")))
        words = tuple(word(each, self._texts) for each in written if isinstance(each, str))
        self.inputs.update((name, None) for template in words for name in find_names(template, "input"))
        return Command(words, to_count(runs.get("timeout")) or _LIMIT)

    def _prompt(self, step: Step) -> Prompt:
        if "inputs" in step.body:
            return self._build(step)
        repeats = self._prompts.of_repeats.get(step.key)
        what = (
            self._file(step),
            repeats,
            step.body.get("usesStdin") is True,
            list_needed(step, self._agent),
            id(step.output),
        )
        how = (step.kind, *(text_in(step.body, name) for name in _CONDUCT))
        if (what, how) not in self._known:
            self._known[what, how] = self._build(step)
        return self._known[what, how]

    def _build(self, step: Step) -> Prompt:
        template, needed = self._template(step), list_needed(step, self._agent)
        return Prompt(
            prompt=template,
            builtin=text_in(step.body, "fallbackKey") if template is None else None,
            variables=self._supply(step, template),
            needed=needed,
            schema=self._texts.output(step.output),
            tools=self._conduct.tools(step),
            model=self._conduct.model(step),
            permission=self._conduct.permission(step),
            repeats=self._repeats(step, template),
        )

    def _supply(self, step: Step, template: Template | None) -> Mapping[str, Supply]:
        needed = list_needed(step, self._agent)
        return self._variables.of_step(step, dict.fromkeys((*needed, *find_names(template or (), "variable"))))

    def _repeats(self, step: Step, usual: Template | None) -> tuple[Repeat, ...] | None:
        """Return what each repeat of a step asks: what has no prompt of its own asks what the step does."""
        files = self._prompts.of_repeats.get(step.key)
        if files is None:
            return None
        templates = (usual if file is None else self._read(step, file) for file in files)
        return tuple(Repeat(each or (), self._supply(step, each)) for each in templates)

    def _file(self, step: Step) -> str | None:
        found = self._prompts.found.of_steps.get(step.key)
        return found.file if found is not None else None

    def _fallback(self, key: str) -> Template | None:
        """Return the built-in prompt with a name, or None where there is none."""
        if key not in self._fallbacks:
            text = read_fallback(key)
            self._fallbacks[key] = None if text is None else prompt(text, self._texts, self._agent)
        return self._fallbacks[key]

    def _template(self, step: Step) -> Template | None:
        """Return the prompt of a step, the built-in one where there is no such file; nothing where there is neither."""
        file = self._file(step)
        return self._fallback(text_in(step.body, "fallbackKey") or "") if file is None else self._read(step, file)

    def _read(self, step: Step, file: str) -> Template | None:
        """Return the prompt in a file as a step asks it."""
        stdin = step.body.get("usesStdin") is True
        if (file, stdin) not in self._templates:
            text, texts = self._texts.prompt(file), self._texts
            self._templates[file, stdin] = None if text is None else prompt(text, texts, self._agent, stdin=stdin)
        return self._templates[file, stdin]


_EXIT, _JUDGE = ExitGate(), JudgeGate()


class PlanGates:
    """The gates of a registry: large ones repeat a few thousands of times."""

    def __init__(self) -> None:
        self._known: dict[int, IntentGate] = {}

    def gate(self, step: Step) -> Gate:
        """Return the gate of a step: its own, the exit status of its program, or the agent's judge."""
        if step.program is not None:
            return _EXIT
        given = step.gate
        if given is None:
            return _JUDGE
        if id(given) not in self._known:  # the gates of a registry live as long as it
            self._known[id(given)] = IntentGate(
                field=_path(given.field or ""),
                intents=tuple(given.allowed),
                fail_fast=given.fail_fast,
                fallback=None if given.fail_fast else given.fallback,
                target=_path(given.target_field) if given.target_field else None,
                handoff=tuple(_path(each) for each in given.handoff or () if each),
            )
        return self._known[id(given)]


def _path(dotted: str) -> Path:
    """Return the path that a gate means; digits may also name the member of an object, so they stay text."""
    return tuple(dotted.split(".")) if dotted else ()


_FAILED = Stop(Outcome.FAILED)
_OF_PROGRAMS = frozenset({Intent.CLOSING.value, Intent.REPEAT.value})
"""What the exit status of a program can mean."""
_NULL = "null"


class Moves:
    """Makes the edges of a registry's steps; every outcome that can be has an edge.

    `choices` are the steps that answers may name, where several edges have them in common or any step may be named.
    """

    def __init__(self, meant: flow.Flow) -> None:
        self._flow = meant
        shared = [target for target, edges in meant.choices if edges > 1]
        self._shared = {id(target): str(at) for at, target in enumerate(shared, 1)}
        names_any = any(node.names_any for node in meant.nodes.values())
        self.choices: Mapping[str, Mapping[str, str]] = {
            **({_ANY: meant.called} if names_any else {}),
            **{self._shared[id(target)]: target.nodes for target in shared},
        }

    def edges(self, name: str, gate: Gate, allowed: Collection[str]) -> tuple[Edge, ...]:
        """Return the edges of a step with this gate, for the outcomes that it allows and those it has by itself."""
        node = self._flow.nodes[name]
        # the edges of each outcome, without those that lead to what was only likely meant, or to a named node
        written: dict[str, list[flow.WrittenEdge]] = {}
        for edge in node.edges:
            if not edge.repair and not isinstance(edge.target, Named):
                written.setdefault(edge.on, []).append(edge)
        if isinstance(gate, JudgeGate):
            return tuple(_judge(written))
        kept = {*allowed, Intent.ABORT.value, *(_OF_PROGRAMS if isinstance(gate, ExitGate) else ())}
        routed = tuple(edge for on, edges in written.items() if on in kept for edge in _moves(on, edges))
        is_lost = Intent.ABORT in allowed and Intent.ABORT not in written
        return (*self._jumps(node), *routed, *((Edge(Intent.ABORT.value, _FAILED),) if is_lost else ()))

    def _jumps(self, node: flow.Node) -> Iterator[Edge]:
        """Yield the move to a step that the answer names: to those that it may name, to any where all are possible."""
        if node.names_any:
            yield Edge(Intent.JUMP.value, Pick(_ANY))
        for edge in node.edges:
            if isinstance(edge.target, Named):
                yield Edge(edge.on, self._pick(edge.target))

    def _pick(self, target: Named) -> Target:
        shared = self._shared.get(id(target))
        return target if shared is None else Pick(shared)


_ANY = "any"
"""What choices are called that have every step."""


def _judge(written: Mapping[str, list[flow.WrittenEdge]]) -> Iterator[Edge]:
    """Yield the moves of a step without a gate; where nothing follows it, work that is not done has failed."""
    if Intent.NEXT not in written:
        yield Edge(Intent.NEXT.value, _FAILED)
    for outcome, edges in written.items():
        yield from _moves(outcome, edges)


def _moves(outcome: str, edges: Iterable[flow.WrittenEdge]) -> Iterator[Edge]:
    """Yield the moves of one outcome; what ends the run does so always, and a fallback serves each of the targets."""
    ends = [edge.target for edge in edges if isinstance(edge.target, Stop)]
    if ends:
        yield Edge(outcome, ends[0])
        return
    fallback = next((node for edge in edges if edge.fallback for node in list_targets(edge.target)), None)
    for edge in sorted(edges, key=lambda each: not each.when):
        for node in () if edge.fallback else list_targets(edge.target):
            yield Edge(outcome, Go(node, fallback if fallback != node else None), tuple(_freeze_terms(edge)))


def _freeze_terms(edge: flow.WrittenEdge) -> Iterator[Term]:
    """Yield what holds of the values for which a case is written: null is as JSON writes it, not as holes do."""
    for term in edge.when:
        path, cases = ("handoff", *term.path), term.texts if isinstance(term, Reads) else ()
        is_null = cases == (_NULL,)
        yield Among(path, (_NULL, None) if is_null else cases) if is_null or cases == ("",) else Reads(path, cases)

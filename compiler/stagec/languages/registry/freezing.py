"""Freezing of step registries: templates, nodes and the draft of a plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping

from stagec.core.canonical import canonical, to_count
from stagec.core.json import Object, list_of, object_of, text_in
from stagec.core.nearest import NameIndex
from stagec.core.value import NOTHING, replace, value
from stagec.ir import flow
from stagec.ir.catalogue import well_known_effects
from stagec.ir.flow import Flow
from stagec.ir.freeze import PlanTexts
from stagec.ir.plan.act import (
    Act,
    Carried,
    Choice,
    Command,
    Each,
    Given,
    Hole,
    Piece,
    Prompt,
    Provided,
    Repeat,
    Supply,
    Template,
    Text,
)
from stagec.ir.plan.codec import Path
from stagec.ir.plan.document import (
    Draft,
    Input,
    JudgeDefinition,
    Limits,
    Names,
    Plan,
    Success,
    System,
    Tool,
    Validator,
    is_boundary_tool,
)
from stagec.ir.plan.gate import Among, Condition, ExitGate, Gate, IntentGate, JudgeGate, Reads, Term, Validation
from stagec.ir.plan.node import Edge, Go, Named, Node, Outcome, Pick, Stop, Target, list_targets
from stagec.ir.plan.soundness import find_reached
from stagec.languages.registry import guards
from stagec.languages.registry.conduct import AgentConduct, PromptTag, TagRole, find_tags
from stagec.languages.registry.document import Intent, OutputSchema, Registry, Step, StepKind
from stagec.languages.registry.files import Agent, is_prompt
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.inputs import PROVIDED, StepInput, list_inputs, list_provided
from stagec.languages.registry.prompts import VARIABLE, Prompts, Store, WantedPrompt, find_prompts, read_fallback
from stagec.languages.registry.read import read_success
from stagec.languages.registry.supply import is_given
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources


class RegistryTexts(PlanTexts):
    """The texts collected so far; `files` are those of prompts as well."""

    def __init__(self, sources: Sources) -> None:
        super().__init__(Schemas(sources))
        self._sources = sources
        self._outputs: dict[int, str | None] = {}

    def prompt(self, file: str) -> str | None:
        """Return the text of a prompt below its frontmatter; None without such a file."""
        tree = self._sources.tree(file, "prompt")
        if tree is None or not tree.readable:
            return None
        self.files.add(file)
        text = tree.data.decode(errors="replace")
        return text if tree.body is None else text[slice(*tree.body)]

    def output(self, output: OutputSchema | None) -> str | None:
        """Keep the schema of an output and return its name, or nothing without a schema."""
        if id(output) not in self._outputs:  # the outputs of a registry live as long as it
            found = output.found if output is not None else None
            self._outputs[id(output)] = self.schema(found) if isinstance(found, Schema) else None
        return self._outputs[id(output)]


Part = str | Piece
"""A part of a template before its texts are kept."""


AGENT_NAME = "agent_name"
_READ = re.compile(r"\{(uv-[A-Za-z0-9_]+|input_text)\}")
_CONTEXT = re.compile(r"\$\{context\.([^}]*)\}")


def prompt(text: str, texts: PlanTexts, agent: str | None = None, *, stdin: bool = False) -> Template:
    """Return the template of a prompt, in which the name of its agent is no variable where it is known.

    `stdin` tells whether `{input_text}` stands for the standard input.
    """

    def means(found: re.Match[str]) -> Part:
        if not found[1].startswith(VARIABLE):
            return Hole(("stdin",)) if stdin else found[0]
        name = found[1].removeprefix(VARIABLE)
        return agent if name == AGENT_NAME and agent is not None else Hole(("variable", name))

    return join_parts(_parts(text, _READ, means), texts)


def word(text: str, texts: PlanTexts) -> Template:
    """Return the template of one word of a command line."""
    return join_parts(_parts(text, _CONTEXT, lambda found: Hole(("input", found[1].strip()))), texts)


def find_names(template: Template, scope: str) -> Iterator[str]:
    """Yield the names that the holes of a template read of a part of its scope."""
    for piece in template:
        if isinstance(piece, Hole) and piece.path[0] == scope and len(piece.path) > 1:
            yield str(piece.path[1])


def join_parts(parts: Iterable[Part], texts: PlanTexts) -> Template:
    """Return a template of texts and pieces; texts that follow each other are one, and empty ones none."""
    pieces: list[Piece] = []
    gathered: list[str] = []
    for part in parts:
        if isinstance(part, str):
            gathered.append(part)
        else:
            pieces += _text(gathered, texts)
            pieces.append(part)
            gathered.clear()
    return (*pieces, *_text(gathered, texts))


def _text(gathered: list[str], texts: PlanTexts) -> list[Piece]:
    text = "".join(gathered)
    return [Text(texts.text(text))] if text else []


def _parts(text: str, pattern: re.Pattern[str], means: Callable[[re.Match[str]], Part]) -> Iterator[Part]:
    end = 0
    for found in pattern.finditer(text):
        yield text[end : found.start()]
        yield means(found)
        end = found.end()
    yield text[end:]


_EACH, _THIS = "each", "this"


def retry_prompt(text: str, texts: PlanTexts) -> Template:
    """Return the template of a text in which `{{x}}`, `{{#each x}}` and `{{#if x}}` stand for what a failure says.

    A tag that means nothing stands as it is written. Linear.
    """
    reading = _Reading(texts)
    end = 0
    for tag in find_tags(text):
        if tag.role is not TagRole.NONE:
            reading.keep(text[end : tag.start])
            reading.read(tag)
            end = tag.end
    reading.keep(text[end:])
    return reading.whole()


class _Block:
    """An open block: its kind, its argument, and its parts before and after `{{else}}`."""

    def __init__(self, kind: str, path: Path) -> None:
        self.kind = kind
        self.path = path
        self.parts: list[Part] = []
        self.before: list[Part] = []


class _Reading:
    """The blocks that are open, the outermost first."""

    def __init__(self, texts: PlanTexts) -> None:
        self._texts = texts
        self._open = [_Block("", ())]

    def keep(self, part: Part) -> None:
        """Add a part to the innermost block."""
        self._open[-1].parts.append(part)

    def read(self, tag: PromptTag) -> None:
        """Read one tag; those of blocks are balanced."""
        block = self._open[-1]
        match tag.role:
            case TagRole.OPEN:
                self._open.append(_Block(tag.kind, self._path(tag.name)))
            case TagRole.TURN:
                block.before, block.parts = block.parts, []
                block.kind = "else"
            case TagRole.CLOSE:
                self._open.pop()
                self.keep(self._close(block))
            case _:
                self.keep(Hole(self._path(tag.name)))

    def whole(self) -> Template:
        """Return the template of all that was read."""
        return join_parts(self._open[0].parts, self._texts)

    def _close(self, block: _Block) -> Each | Choice:
        inside, before = join_parts(block.parts, self._texts), join_parts(block.before, self._texts)
        if block.kind == _EACH:
            return Each(block.path, inside)
        return Choice(block.path, before, inside) if block.kind == "else" else Choice(block.path, inside, ())

    def _path(self, name: str) -> Path:
        path = name.split(".")
        is_element = path[0] == _THIS and any(each.kind == _EACH for each in self._open)
        return tuple(path) if is_element else ("failure", *path)


class Variables:
    """Supplies the variables of a registry's prompts; what `given` names is not declared and has to be given."""

    def __init__(self, registry: Registry) -> None:
        self.given: dict[str, None] = {}
        self._registry = registry
        self._parameters = registry.agent.parameters if registry.agent is not None else NameIndex(())
        self._provided = list_provided(registry.agent)

    def of_system(self, names: Iterable[str]) -> Mapping[str, Supply]:
        """Return the sources of the variables of a system prompt; absent ones are left empty."""
        return {name: Provided(name) if name in PROVIDED else self._supply(name, {}) for name in names}

    def of_step(self, step: Step, names: Iterable[str]) -> Mapping[str, Supply]:
        """Return the sources of the variables of a step: of those named, and of every other input.

        An input is the variable that its source is named for, and the one that has its own name.
        """
        # what a step is handed by steps that there are
        carry: list[tuple[StepInput, Carried]] = []
        for one in list_inputs(step):
            listed = self._registry.step(one.step)
            if listed is not None and not listed.is_section:
                carry.append((one, Carried(listed.key, one.key, one.is_required, one.default)))
        inputs = tuple(carry)
        known = {each.name: carried for each, carried in inputs}
        known |= {each.variable: carried for each, carried in inputs}
        found = {name: self._supply(name, known) for name in names}
        for each, _ in inputs:
            if not found.keys() & {each.variable, each.name}:
                found[each.variable] = self._supply(each.variable, known)
        return found

    def _supply(self, name: str, carried: Mapping[str, Carried]) -> Supply:
        """Return the source of a variable; the first one wins."""
        if name in self._parameters:
            return Given(name)
        if name in self._provided:
            return Provided(name)
        if name in carried:
            return carried[name]
        self.given[name] = None
        return Given(name)


_MAY_BE_EMPTY = "previous_summary"
"""A model may end a step without a text."""


def list_needed(step: Step, agent: str | None) -> tuple[str, ...]:
    """Return the variables without which a step of an agent cannot start, in the order in which it declares them.

    The name of the agent is none, where it is known.
    """
    known = {_MAY_BE_EMPTY} if agent is None else {_MAY_BE_EMPTY, AGENT_NAME}
    return tuple(name for name in step.declared if name not in known)


_ATTEMPTS = 3
_RETRY = "retry"
_NEVER = Success("matches", r"[^\s\S]")
"""A condition that no output satisfies, in any dialect of regular expressions."""


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
        """Return the validation of a step; None without any."""
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


_NODES_USUAL: Mapping[StepKind, str] = {
    StepKind.WORK: "acceptEdits",
    StepKind.VERIFICATION: "plan",
    StepKind.CLOSURE: "acceptEdits",
}
"""The permission modes of steps that state none."""


_MODEL = "opus"
"""The model of steps where neither they nor their flow name one."""


class AgentDefaults:
    """The settings of an agent definition for every step; without a definition it is empty."""

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
        """Return the tools that a step may call; None if nobody says."""
        return self._inner if step.kind in {StepKind.WORK, StepKind.VERIFICATION} else self._all

    def model(self, step: Step) -> str:
        """Return the model that is asked: that of the step, or of the flow, or the usual one."""
        return text_in(step.body, "model") or self._model or _MODEL

    def permission(self, step: Step) -> str | None:
        """Return the permission mode of a step: its own, its kind's, or where it has none the agent's."""
        own = text_in(step.body, "permissionMode")
        return own or (self._permission if step.kind is None else _NODES_USUAL[step.kind])


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
        """Return the act of a step."""
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
        """Return the prompt of each repeat of a step: its own one, else that of the step."""
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
        """Return the prompt of a step, the built-in one where there is no such file; None if there is neither."""
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
"""The intents that the exit status of a program can mean."""
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

    def _jumps(self, node: flow.FlowNode) -> Iterator[Edge]:
        """Yield the moves to a step that the answer names: to the possible ones, or to any if all are possible."""
        if node.names_any:
            yield Edge(Intent.JUMP.value, Pick(_ANY))
        for edge in node.edges:
            if isinstance(edge.target, Named):
                yield Edge(edge.on, self._pick(edge.target))

    def _pick(self, target: Named) -> Target:
        shared = self._shared.get(id(target))
        return target if shared is None else Pick(shared)


_ANY = "any"
"""The name of choices with every step."""


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
    """Yield the conditions of the values of a case: null is as JSON writes it, not as holes do."""
    for term in edge.when:
        path, cases = ("handoff", *term.path), term.texts if isinstance(term, Reads) else ()
        is_null = cases == (_NULL,)
        yield Among(path, (_NULL, None) if is_null else cases) if is_null or cases == ("",) else Reads(path, cases)


_DRAFT_USUAL, _WITHOUT_AGENT = 10, 20
"""How often nodes are executed at most when nobody says."""
_COUNTING = "count:iteration"


def definition(registry: Registry, sources: Sources) -> Object:
    """Return an agent definition as it is written; an empty one where there is none."""
    tree = sources.find_tree(registry.agent.at.file) if registry.agent is not None else None
    return object_of(tree.value) if tree is not None else {}


def entry(registry: Registry, flow: Flow) -> str | None:
    """Return the key of the entry: the verdict type of the agent; without an agent, that of the only entry."""
    agent, entries = registry.agent, flow.entries
    if agent is None:
        own = [name for name in entries if name in registry.entries]
        is_told = "" in own and registry.generation is not Generation.V1_13  # which has pairs for other verdict types
        return "" if is_told else own[0] if len(own) == 1 else None
    return next((name for name in (agent.verdict, "") if name is not None and name in entries), None)


def judge(registry: Registry) -> JudgeDefinition | None:
    """Return the judge of the work."""
    agent = registry.agent
    if agent is None or agent.verdict is None:
        return None
    return JudgeDefinition(agent.verdict, agent.settings)


def limits(registry: Registry) -> Limits:
    """Return the bounds of a run; where iterations are what is judged, running out of them completes it."""
    agent = registry.agent
    if agent is None:
        return Limits(_WITHOUT_AGENT)
    reached = Outcome.DONE if agent.verdict == _COUNTING else Outcome.FAILED
    return Limits(to_count(agent.settings.get("maxIterations")) or _DRAFT_USUAL, reached)


def inputs(definition: Object, texts: RegistryTexts, needed: Container[str]) -> dict[str, Input]:
    """Return the parameters of an agent; those that are `needed` have to be there, and no empty texts."""
    parameters = object_of(definition.get("parameters"))
    return {name: _input(object_of(body), texts, is_needed=name in needed) for name, body in parameters.items()}


def _input(body: Object, texts: RegistryTexts, *, is_needed: bool) -> Input:
    kind, default = text_in(body, "type"), body.get("default")
    wanted: Object = {"type": kind, "minLength": 1} if is_needed and kind == "string" else {"type": kind}
    schema = texts.text(canonical(wanted).decode()) if kind is not None else None
    is_lost = is_needed and not is_given(body)
    return Input(is_lost or body.get("required") is True, None if is_lost else default, schema)


def freeze_system(registry: Registry, texts: RegistryTexts, variables: Variables) -> System | None:
    """Return the system prompt of an agent."""
    agent = registry.agent
    file = agent.system_prompt.path if agent is not None and agent.system_prompt is not None else None
    text = texts.prompt(file) if file is not None else None
    if agent is None or text is None:
        return None
    template = prompt(text, texts, agent.name)
    return System(template, variables.of_system(find_names(template, "variable")))


_STDIN = "stdin"


def freeze(registry: Registry, flow: Flow, sources: Sources) -> Draft:
    """Return the draft of the plan of a registry without errors."""
    making = _Making(registry, flow, sources)
    return Draft(making.plan(flow), making.files(), usual_models=making.list_usual_models())


class _Making:
    """Everything that the parts of one plan are made with."""

    def __init__(self, registry: Registry, flow: Flow, sources: Sources) -> None:
        self._registry = registry
        self._definition = definition(registry, sources)
        self._texts, self._variables = RegistryTexts(sources), Variables(registry)
        found = prompts(registry, sources)
        self._conduct = AgentDefaults(self._definition, registry.agent)
        self._acts = Acts(StepPrompts(found, repeats(registry, sources)), self._texts, self._variables, self._conduct)
        self._gates, self._moves = PlanGates(), Moves(flow)
        self._validations = Validations(registry, found, self._texts)

    def plan(self, flow: Flow) -> Plan:
        """Return the plan, without what follows from it."""
        registry, texts = self._registry, self._texts
        steps = [step for step in registry.steps.values() if not step.is_section]
        nodes = {step.key: self._node(step) for step in steps}
        system = freeze_system(registry, texts, self._variables)  # may read of what is then an input
        plan = Plan(
            id=registry.id,
            names=Names("step", "intent"),
            entries={name: entry.node for name, entry in flow.entries.items()},
            nodes=nodes,
            limits=limits(registry),
            entry=entry(registry, flow),
            title=text_in(self._definition, "displayName"),
            version=text_in(registry.body, "version"),
            choices=self._moves.choices,
            system=system,
            judge=judge(registry),
            validators=self._validations.validators,
            tools=self._tools(nodes),
            contents=texts.texts,
        )
        return replace(plan, inputs=self._inputs(plan, steps))

    def files(self) -> frozenset[str]:
        """Return the files that the plan was made of."""
        owner = self._registry.agent
        own = {self._registry.at.file} if owner is None else {self._registry.at.file, owner.at.file}
        return frozenset(own | self._texts.files)

    def list_usual_models(self) -> frozenset[str]:
        """Return the steps that name no model themselves."""
        return frozenset(key for key, step in self._registry.steps.items() if not text_in(step.body, "model"))

    def _node(self, step: Step) -> Node:
        gate = self._gates.gate(step)
        return Node(
            act=self._acts.act(step),
            gate=gate,
            edges=self._moves.edges(step.key, gate, () if step.gate is None else step.gate.allowed),
            kind=step.kind.value if step.kind is not None else None,
            title=text_in(step.body, "name"),
            validation=self._validations.of_step(step),
        )

    def _inputs(self, plan: Plan, steps: list[Step]) -> dict[str, Input]:
        """Return the agent's parameters, and what else is read and nobody else provides."""
        # the inputs without which a run may come to a node that cannot start, wherever it begins
        entries = plan.entries if plan.entry is None else {plan.entry: plan.entries[plan.entry]}
        begun = (replace(plan, entries={name: node}) for name, node in entries.items())
        ways = [_list_needed_by(plan.nodes[each] for each in find_reached(way)) for way in begun]
        needed, named = (frozenset.intersection(*ways) if ways else frozenset()), self._variables.given
        read = {**dict.fromkeys(self._acts.inputs, Input()), **{name: Input(name in needed) for name in named}}
        if any(step.body.get("usesStdin") is True for step in steps):
            read[_STDIN] = Input()
        return {**read, **inputs(self._definition, self._texts, needed)}

    def _tools(self, nodes: Mapping[str, Node]) -> Mapping[str, Tool]:
        lists = dict.fromkeys(node.act.tools for node in nodes.values() if isinstance(node.act, Prompt))
        names = dict.fromkeys(name for tools in lists for name in tools or ())
        return {name: Tool("unknown", well_known_effects(name).value) for name in names}


def repeats(registry: Registry, sources: Sources) -> Mapping[str, tuple[str | None, ...]]:
    """Return the prompt files of the repeats of each step that 1.14 bounds, None where there is no such file."""
    found = prompts(registry, sources).of_repeats
    chains = {step.key: step.repeats for step in registry.steps.values() if step.repeats is not None}
    files = {key: tuple(each.file if each is not None else None for each in of_step) for key, of_step in found.items()}
    return {key: files.get(key, (None,) * len(chain)) for key, chain in chains.items()}


def _open_store(registry: Registry, sources: Sources) -> Store:
    folder = next(each.path for each in registry.folders if each.member == "userPromptsBase")
    return Store(folder, sources.below(folder, ".md"), lambda path: is_prompt(sources, path))


def _list_needed_by(nodes: Iterable[Node]) -> frozenset[str]:
    acts = (node.act for node in nodes)
    asked = ((act, name) for act in acts if isinstance(act, Prompt) for name in act.needed)
    supplies = (act.variables[name] for act, name in asked)
    return frozenset(each.name for each in supplies if isinstance(each, Given))


def prompts(registry: Registry, sources: Sources) -> Prompts:
    """Return the prompts of every step and every retry.

    Of what may be misspelt, such as a member nobody knows, nothing is judged; what is run is what is written.
    """
    tree = sources.find_tree(registry.at.file)
    if tree is None or not tree.faults:
        return registry.prompts
    wanted = (WantedPrompt(key, step.address, step.repeats or ()) for key, step in registry.steps.items())
    return find_prompts(_open_store(registry, sources), registry.body, wanted, registry.validation_steps, ())

"""The values of an agent definition for its registry: verdicts with their entries, and variables of prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.nearest import NameIndex, is_slip
from stagec.core.place import Mention, Place
from stagec.core.value import value
from stagec.languages.registry.document import VERDICTS, Registry, Step
from stagec.languages.registry.generation import Generation
from stagec.languages.registry.inputs import (
    EARLY,
    PROVIDED,
    InputFate,
    InputJudge,
    StepInput,
    list_inputs,
    list_provided,
)
from stagec.languages.registry.prompts import LiteralName, PromptText

POLLED = "repository"
"""The variable that the caller of an agent gives whose verdict polls a state."""


@value
class AgentVerdict:
    """The test of an agent, or of one condition of a composite verdict, that the work is done; `at` is its place."""

    kind: str
    settings: Object
    at: Place
    is_condition: bool = False


def verdicts(registry: Registry) -> Iterator[AgentVerdict]:
    """Yield the verdict of the agent and each of its conditions; nothing where they are misshapen."""
    agent = registry.agent
    if agent is None or not agent.is_whole or agent.verdict is None:
        return
    at = agent.verdict_at
    whole = Place(at.file, at.pointer[:-1])
    yield AgentVerdict(agent.verdict, agent.settings, whole)
    conditions = list_of(agent.settings.get("conditions")) if agent.verdict == "meta:composite" else ()
    for index, each in enumerate(conditions):
        kind = text_in(object_of(each), "type")
        if kind is not None:
            settings = object_of(object_of(each).get("config"))
            yield AgentVerdict(kind, settings, whole / "config" / "conditions" / index, is_condition=True)


def list_asked(registry: Registry) -> frozenset[str]:
    """Return the variables, besides the parameters of the agent, that its caller gives."""
    return frozenset({POLLED} if any(each.kind == "poll:state" for each in verdicts(registry)) else ())


def find_unsupplied(registry: Registry) -> Mapping[str, list[tuple[Step, Place]]]:
    """Return the variables that nothing supplies, with every place that needs them.

    They come from the parameters of the agent, from the runner, or from a step's own inputs. What sections need is
    supplied by those who insert them, and cannot be known. Nor is one told that a faulty input was meant to supply.
    """
    return registry.memo.once("unsupplied", lambda: _find_unsupplied(registry))


def _find_unsupplied(registry: Registry) -> Mapping[str, list[tuple[Step, Place]]]:
    found: dict[str, list[tuple[Step, Place]]] = {}
    parameters = registry.agent.parameters if registry.agent is not None else NameIndex(())
    known = (list_provided(registry.agent) | list_asked(registry)).union(parameters)
    judging = InputJudge(registry)
    for step in registry.steps.values():
        if step.is_section or step.declared.keys() <= known:
            continue
        declared = step.declared
        lost = [name for name in declared if name not in known]
        received = frozenset(list_received(step)) if lost else frozenset[str]()
        left = [name for name in lost if name not in received]
        judged = judging.judge(step) if left and "inputs" in step.body else ()
        faulty = [each for each in judged if each.fate in _FAULTY]
        for name in left:
            if not any(_could_be(name, each.given) for each in faulty):
                found.setdefault(name, []).append((step, step.at / "uvVariables" / declared[name]))
    return found


_FAULTY = (InputFate.MALFORMED, InputFate.LOST, InputFate.UNHANDED)


def _could_be(name: str, given: StepInput) -> bool:
    """Tell whether a variable would be that of an input with another step or another key."""
    ends = (f"_{given.key}", f"_{given.name}")
    return name.endswith(ends) or bool(given.step and name.startswith(f"{given.step.replace('.', '_')}_"))


def list_received(step: Step) -> Iterator[str]:
    """Yield the variables that the inputs of a step may be meant to supply."""
    yield from object_of(step.body.get("inputs"))
    yield from (each.variable for each in list_inputs(step))


@value
class Usage:
    """The variables of a step that differ from those of its prompt: `undeclared` and `unused` ones.

    `meant` maps an undeclared variable to the known one that it was most likely meant to be.
    """

    step: Step
    undeclared: Mapping[str, Place]
    unused: Mapping[str, Place]
    meant: Mapping[str, str]


def find_usages(registry: Registry) -> tuple[Usage, ...]:
    """Return the steps whose prompt reads other variables than they declare, without those told as unsupplied.

    A declared variable that nothing supplies and no prompt reads is a misspelling. It is reported, and the similar name
    in the prompt is not reported again. A step that declares nothing may read whatever is supplied.
    """
    return registry.memo.once("usages", lambda: tuple(_find_usages(registry)))


def _find_usages(registry: Registry) -> Iterator[Usage]:
    unsupplied, parameters = find_unsupplied(registry), registry.agent.parameters if registry.agent is not None else ()
    every = (name for step in registry.steps.values() for name in step.declared)
    names = NameIndex((*every, *parameters, *sorted(PROVIDED)))
    for step in registry.steps.values():
        text, declared = registry.prompts.text_of(step.key) if not step.is_section else None, step.declared
        if text is None or text.reads.keys() == declared.keys() or not _is_whole(step):
            continue
        unused = {name: step.at / "uvVariables" / at for name, at in declared.items() if name not in text.reads}
        undeclared = {name: at for name, at in text.reads.items() if name not in declared and name not in PROVIDED}
        if undeclared and "uvVariables" not in step.body:
            undeclared = {name: at for name, at in undeclared.items() if not _is_supplied(registry, step, name)}
        if undeclared and len(undeclared) <= sum(name in unsupplied for name in unused):
            undeclared = {}
        near = ((name, names.nearest(name)) for name in undeclared)
        meant = {name: each for name, each in near if each is not None}
        told = {*unsupplied, *meant.values()}
        yield Usage(step, undeclared, {name: at for name, at in unused.items() if name not in told}, meant)


def _is_whole(step: Step) -> bool:
    given = step.body.get("uvVariables", [])
    return isinstance(given, list) and all(isinstance(each, str) for each in given)


def _is_supplied(registry: Registry, step: Step, name: str) -> bool:
    """Tell whether something supplies a variable to a step, or nobody can know because there is no agent."""
    agent = registry.agent
    if agent is None or not agent.is_whole or name in agent.parameters or name in list_asked(registry):
        return True
    return name in frozenset(list_received(step))


def find_unregistered(registry: Registry) -> tuple[tuple[Step, Mention, str | None], ...]:
    """Return the variables that the frontmatter of a prompt lists and its step does not declare, each once a prompt.

    With each comes the declared variable that was most likely meant. What the runner supplies need not be declared;
    variables that the prompt reads too, and likely corrections of variables that nothing supplies, are reported there.
    """
    return registry.memo.once("unregistered", lambda: tuple(_find_unregistered(registry)))


def _find_unregistered(registry: Registry) -> Iterator[tuple[Step, Mention, str | None]]:
    told, unsupplied = set[Place](), find_unsupplied(registry)
    for step, text, declared in _list_frontmatters(registry):
        strange = text.names_listed.difference(declared, PROVIDED, text.reads)
        if not strange:
            continue
        missing = [name for name in declared if name not in text.names_listed]
        for each in () if unsupplied.keys() & missing else text.listed or ():
            if each.name in strange and each.at not in told:
                told.add(each.at)
                yield step, each, next((name for name in missing if is_slip(each.name, name)), None)


def find_unlisted(registry: Registry) -> Iterator[tuple[Step, Place, tuple[str, ...]]]:
    """Yield the steps that declare variables which the list in the frontmatter of their prompts does not have.

    One that was misspelt there is not among them, nor one that nothing supplies.
    """
    told = {(step.key, near) for step, _, near in find_unregistered(registry)}
    unsupplied = find_unsupplied(registry)
    for step, text, declared in _list_frontmatters(registry):
        if declared.keys() <= text.names_listed:
            continue
        lacking = [name for name in declared if name not in text.names_listed and name not in unsupplied]
        names = tuple(name for name in lacking if (step.key, name) not in told)
        prompt = registry.prompts.of_steps[step.key].file
        if names and prompt is not None:
            yield step, Place(prompt, ("uvVariables",)), names


def _list_frontmatters(registry: Registry) -> tuple[tuple[Step, PromptText, Mapping[str, int]], ...]:
    """Return the steps whose prompts list variables, with those prompts and what the steps declare."""
    return registry.memo.once("frontmatters", lambda: tuple(_find_frontmatters(registry)))


def _find_frontmatters(registry: Registry) -> Iterator[tuple[Step, PromptText, Mapping[str, int]]]:
    for step in registry.steps.values():
        text = registry.prompts.text_of(step.key)
        if text is not None and text.listed is not None and "uvVariables" in step.body and _is_whole(step):
            yield step, text, step.declared


@value
class Early:
    """A first step that reads a variable without a value."""

    step: Step
    name: str
    at: Place


def find_early(registry: Registry) -> Iterator[Early]:
    """Yield the variables without a value that the `initial` steps read at which runs begin, declared or not."""
    begun = (registry.step(mention.name) for mention in registry.entries.values())
    parameters = registry.agent.parameters if registry.agent is not None else NameIndex(())
    for step in dict.fromkeys(each.key for each in begun if each is not None and each.key.startswith("initial.")):
        owner = registry.steps[step]
        text, declared = registry.prompts.text_of(step), owner.declared
        for name in EARLY:
            if name in parameters:
                continue
            if name in declared:
                yield Early(owner, name, owner.at / "uvVariables" / declared[name])
            elif text is not None and name in text.reads:
                yield Early(owner, name, text.reads[name])


_CONTEXT = re.compile(r"\$\{context\.([^}]*)\}")
"""The syntax that climpt replaces in an argument by a parameter."""


def list_arguments(step: Step) -> Iterator[Mention]:
    """Yield the parameters that the arguments of a step's runner read."""
    given = list_of(object_of(step.body.get("runner")).get("args"))
    for index, argument in enumerate(given):
        for name in _CONTEXT.findall(argument) if isinstance(argument, str) else ():
            yield Mention(name, step.at / "runner" / "args" / index)


@value
class Optional:
    """A parameter that need not be given and has no text to put in its place, and the steps that cannot do without.

    `steps` has their names, each with the place that needs it.
    `is_stated` tells that the agent says so itself, `is_empty` that there is a default, and no text in it.
    """

    name: str
    at: Place
    steps: tuple[Mention, ...]
    is_stated: bool
    is_empty: bool


def find_optional(registry: Registry) -> tuple[Optional, ...]:
    """Return the parameters that a run may be started without although a step needs them."""
    return registry.memo.once("optional", lambda: tuple(_find_optional(registry)))


def _find_optional(registry: Registry) -> Iterator[Optional]:
    agent = registry.agent
    if agent is None or not agent.is_whole:
        return
    doubtful = {name: object_of(body) for name, body in agent.declared.items() if not is_given(object_of(body))}
    needed: dict[str, list[Mention]] = {}
    for step in registry.steps.values() if doubtful else ():
        read = {each.name: each.at for each in list_arguments(step)} if "runner" in step.body else {}
        declared = () if step.is_section else step.declared
        read |= {name: step.at / "uvVariables" for name in declared if name in doubtful}
        for name, at in read.items():
            if name in doubtful:
                needed.setdefault(name, []).append(Mention(step.key, at))
    for name, steps in needed.items():
        is_empty = doubtful[name].get("default") is not None
        at = agent.at / "parameters" / name
        yield Optional(name, at, tuple(steps), "required" in doubtful[name], is_empty)


def is_given(parameter: Object) -> bool:
    """Tell whether every run has a text for a parameter: it is required, or has a default that is not empty."""
    return parameter.get("required") is True or parameter.get("default") not in (None, "")


_KNOWN = NameIndex(VERDICTS)


def entry_mapping(registry: Registry) -> Json:
    """Return the value of `entryStepMapping`, whatever it is; an empty mapping without any."""
    return registry.body.get("entryStepMapping", {})


def find_unserved_verdict(registry: Registry) -> str | None:
    """Return the agent's verdict type when it is a known one and has no entry, although others have."""
    verdict, mapping = registry.agent.verdict if registry.agent is not None else None, entry_mapping(registry)
    if verdict not in VERDICTS or "entryStep" in registry.body or not isinstance(mapping, dict):
        return None
    return verdict if mapping and verdict not in mapping else None


def find_misspelt_verdict(registry: Registry) -> str | None:
    """Return the key of `entryStepMapping` that was most likely meant to be the unserved verdict type."""
    unserved, mapping = find_unserved_verdict(registry), entry_mapping(registry)
    if unserved is None or not isinstance(mapping, dict):
        return None
    return next((key for key in mapping if key not in VERDICTS and _KNOWN.nearest(key) == unserved), None)


def lacks_settings(registry: Registry) -> bool:
    """Tell whether the agent needs a settings file that there is none of: in 1.14 every one that asks a model does."""
    agent = registry.agent
    if (
        agent is None
        or agent.generation is Generation.V1_13
        or not agent.is_whole
        or agent.conduct.settings is not None
    ):
        return False
    return any(step.program is None and not step.is_section for step in registry.steps.values())


_PREFIX = re.compile(r"uv[-_](?P<name>[A-Za-z0-9_]+)", re.IGNORECASE)
_SIGNED = ("#{", "@{", "%{")
"""Brackets behind a sign that may belong to the text: `#{uv-issue}` is the number of an issue."""
_OTHERS = ("{{", "{{{", "[[", "<%", "{%")
"""Brackets that mean nothing in prose."""
_PLACE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+")
"""A name of several words, as variables have them."""
_STDIN = "input_text"
_OF_TEMPLATES = frozenset({"else", "end", "endfor", "endif", "this"})
"""Words of template languages, which name nothing."""


@value
class _Known:
    """The variables of the steps that share a prompt: all known names, and the declared ones."""

    names: NameIndex
    declared: frozenset[str]


def find_meant(registry: Registry) -> Iterator[tuple[LiteralName, str]]:
    """Yield the names that were meant to be variables, and how these are written."""
    for text, known in _find_texts(registry):
        for literal in text.literals:
            name = _guess_meant(literal, text, known)
            if name is not None:
                opener = literal.bracketed.opener
                sign = opener[0] if opener in _SIGNED else ""
                yield literal, f"{sign}{{{name}}}" if name == _STDIN else f"{sign}{{uv-{name}}}"


def find_unfilled(registry: Registry) -> Iterator[list[LiteralName]]:
    """Yield other texts that look like holes for a value, prompt by prompt."""
    for text, known in _find_texts(registry):
        found = [
            each
            for each in text.literals
            if not each.bracketed.is_code and _is_place(each) and _guess_meant(each, text, known) is None
        ]
        if found:
            yield found


def _find_texts(registry: Registry) -> Iterator[tuple[PromptText, _Known]]:
    """Yield the prompts with unreplaced names, and the variables that all of their steps know."""
    users: dict[str, list[Step]] = {}
    for key, prompt in registry.prompts.of_steps.items():
        text = registry.prompts.text_of(key)
        if prompt.file is not None and text is not None and text.literals:
            users.setdefault(prompt.file, []).append(registry.steps[key])
    parameters = tuple(registry.agent.parameters) if registry.agent is not None and users else ()
    common = dict.fromkeys((*parameters, *sorted(PROVIDED), _STDIN))
    for file, steps in users.items():
        if not any(step.is_section for step in steps):
            declared = {name: None for step in steps for name in step.declared}
            received = {name: None for step in steps for name in list_received(step) if name.isidentifier()}
            know = _Known(NameIndex({**declared, **received, **common}), frozenset(declared))
            yield registry.prompts.texts[file], know


def _guess_meant(literal: LiteralName, text: PromptText, known: _Known) -> str | None:
    """Return the variable that was meant; in code only one that the prompt has to read and reads nowhere."""
    bracketed = literal.bracketed
    is_alone = len(bracketed.names) == 1
    for name in bracketed.names:
        if (match := _PREFIX.fullmatch(name)) is not None and bracketed.opener not in _SIGNED:
            return match["name"]
        if bracketed.is_code and not (is_alone and name in known.declared and name not in text.reads):
            continue
        if name in known.names:
            return name
        near = known.names.nearest(name) if bracketed.opener in _OTHERS and is_alone else None
        if near is not None and is_slip(name, near):
            return near
    return None


def _is_place(literal: LiteralName) -> bool:
    """Tell whether this looks like a place for a value: one name in two braces, or one of several words in one."""
    (name, *others), opener = literal.bracketed.names, literal.bracketed.opener
    if others or opener not in {"{", "{{", "{{{"} or name in _OF_TEMPLATES or literal.text.startswith(("{{#", "{{/")):
        return False
    return _PLACE.fullmatch(name) is not None or (opener != "{" and name.isidentifier() and name.islower())

"""The texts of a registry's plan, and the templates that prompts, retry prompts and command lines become."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from stagec.core.nearest import NameIndex
from stagec.ir.freeze import PlanTexts
from stagec.ir.plan.act import Carried, Choice, Each, Given, Hole, Piece, Provided, Supply, Template, Text
from stagec.ir.plan.codec import Path
from stagec.languages.registry.conduct import PromptTag, TagRole, find_tags
from stagec.languages.registry.document import OutputSchema, Registry, Step
from stagec.languages.registry.inputs import PROVIDED, StepInput, list_inputs, list_provided
from stagec.languages.registry.prompts import VARIABLE
from stagec.sources.contract.schemas import Schema, Schemas
from stagec.sources.read import Sources


class RegistryTexts(PlanTexts):
    """The texts collected so far; `files` are those of prompts as well."""

    def __init__(self, sources: Sources) -> None:
        super().__init__(Schemas(sources))
        self._sources = sources
        self._outputs: dict[int, str | None] = {}

    def prompt(self, file: str) -> str | None:
        """Return what a prompt says below its frontmatter; nothing where there is no such file."""
        tree = self._sources.tree(file, "prompt")
        if tree is None or not tree.readable:
            return None
        self.files.add(file)
        text = tree.data.decode(errors="replace")
        return text if tree.body is None else text[slice(*tree.body)]

    def output(self, output: OutputSchema | None) -> str | None:
        """Keep the schema of an output and return its name; nothing where there is none."""
        if id(output) not in self._outputs:  # the outputs of a registry live as long as it
            found = output.found if output is not None else None
            self._outputs[id(output)] = self.schema(found) if isinstance(found, Schema) else None
        return self._outputs[id(output)]


Part = str | Piece
"""What a template is made of before its texts are kept."""


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
    """A block that is open: its kind, what it is a block of, and what stands in it, before and behind `{{else}}`."""

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
        """Return where the variables of a system prompt come from; what is not there is left empty."""
        return {name: Provided(name) if name in PROVIDED else self._supply(name, {}) for name in names}

    def of_step(self, step: Step, names: Iterable[str]) -> Mapping[str, Supply]:
        """Return where the variables of a step come from: those named, and every input that is none of them.

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
        """Return where a variable comes from; what comes first wins."""
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

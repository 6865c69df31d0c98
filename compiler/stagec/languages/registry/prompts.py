"""The paths where the prompts of steps and of retries are searched, and the file found for each."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from stagec.core.brackets import Bracketed, find_bracketed
from stagec.core.json import Json, Object, list_of, object_of, text_in
from stagec.core.nearest import NO_NAMES, NameIndex
from stagec.core.place import Mention, Place, Pointer
from stagec.core.value import NOTHING, replace, value
from stagec.languages.registry.conduct import BrokenBlock, PromptReading
from stagec.languages.registry.files import Address
from stagec.languages.registry.guards import ValidationStep
from stagec.sources.read import join
from stagec.sources.tree import Fault, Tree

FALLBACK_KEYS = frozenset(
    {
        *(
            f"{phase}_{mode}"
            for phase in ("initial", "continuation")
            for mode in ("assess", "issue", "issue_label_only")
        ),
        *(f"{phase}_{mode}" for phase in ("initial", "continuation") for mode in ("iterate", "project", "keyword")),
        *(f"{phase}_{mode}" for phase in ("initial", "continuation") for mode in ("manual", "structured_signal")),
        *(f"continuation_project_{phase}" for phase in ("preparation", "processing", "review")),
        *(f"{flow}_closure_default" for flow in ("issue", "project", "polling", "review", "iteration", "facilitation")),
        "project_continuation_closure_default",
        "statuscheck_continuation_default",
        "issue_initial_default",
        "system",
    }
)
"""The names of the built-in prompts that the documents list or show."""


def read_fallback(key: str) -> str | None:
    """Return the built-in prompt with a name, or None where there is none."""
    from importlib.resources import files  # a run that needs no built-in prompt pays nothing for it

    if key not in FALLBACK_KEYS:
        return None
    text = files(__package__).joinpath("fallback_prompts.md").read_text("utf-8")
    return text.partition(f"\n## {key}\n\n")[2].partition("\n## ")[0]


_PATH, _ADAPTED = "{c1}/{c2}/{c3}/f_{edition}.md", "{c1}/{c2}/{c3}/f_{edition}_{adaptation}.md"
_GENERAL = "f_failed.md"
"""The retry prompt of every failure pattern that has none of its own."""
_BRACED = re.compile(r"\{(\w+)\}")


@value
class PromptFile:
    """The prompt that some coordinates name: the paths tried, in this order, and the one that is there.

    A path that leaves the project is among them as it is written, and then nothing counts as found.
    """

    tried: tuple[str, ...]
    file: str | None = None
    is_outside: bool = False


@value
class RetryPrompt:
    """The prompt that follows when a condition of a validation step fails by a failure pattern."""

    step: str
    pattern: str
    prompt: PromptFile


@value
class LiteralName:
    """Names in brackets that stay as they are: where they stand and how they are written."""

    at: Place
    text: str
    bracketed: Bracketed


@value
class PromptText:
    """The variables of a prompt: the first place at which it reads each, and those that its frontmatter lists.

    `listed` is None where the frontmatter lists none.
    """

    reads: Mapping[str, Place] = NOTHING
    listed: tuple[Mention, ...] | None = None
    literals: tuple[LiteralName, ...] = ()
    """The names in other brackets than those of variables."""

    @property
    def names_listed(self) -> frozenset[str]:
        """The names of the variables that the frontmatter lists."""
        return frozenset([each.name for each in self.listed or ()])


@value
class Prompts:
    """The prompts of one registry: nothing is judged where the folder is not there, or what names them is broken."""

    of_steps: Mapping[str, PromptFile] = NOTHING
    of_repeats: Mapping[str, tuple[PromptFile | None, ...]] = NOTHING
    """The prompts of the repeats in a row of each step that 1.14 allows, in their order."""
    of_retries: tuple[RetryPrompt, ...] = ()
    folder: str = ""
    template: str = _PATH
    files: NameIndex = NO_NAMES
    broken_blocks: tuple[BrokenBlock, ...] = ()
    readings: Mapping[str, tuple[PromptReading, ...]] = NOTHING
    """The reads of each retry prompt, by its file."""
    blank: tuple[Place, ...] = ()
    """The prompts that say nothing."""
    texts: Mapping[str, PromptText] = NOTHING
    """The variables of the prompts of steps, by file; those of unreadable ones are absent."""

    def text_of(self, step: str) -> PromptText | None:
        """Return the variables of a step's prompt, if it is there and readable."""
        found = self.of_steps.get(step)
        return self.texts.get(found.file) if found is not None and found.file is not None else None

    @property
    def is_empty(self) -> bool:
        """Tell whether none of the prompts is there, so that they are all lost for one reason."""
        return not any(each.file for each in self.of_steps.values()) and not any(
            each.prompt.file for each in self.of_retries
        )

    def list_unused(self) -> NameIndex:
        """Return the files that no step and no retry has."""
        used = {each.file for each in self.of_steps.values()} | {each.prompt.file for each in self.of_retries}
        used |= {each.file for repeats in self.of_repeats.values() for each in repeats if each is not None}
        return NameIndex(file for file in self.files if file not in used)

    def differing(self, prompt: PromptFile, file: str) -> str | None:
        """Return the one coordinate that is another in the path of an existing file."""
        start = len(self.folder) + 1 if self.folder else 0
        parts = (self.template.split("/"), prompt.tried[-1][start:].split("/"), file[start:].split("/"))
        if len({len(each) for each in parts}) > 1:
            return None
        differing = [part for part, tried, there in zip(*parts, strict=True) if tried != there]
        named = _BRACED.findall("/".join(differing))
        return named[0] if len(differing) == len(named) == 1 else None


@value
class Store:
    """The folder in which prompts are looked for, the files found there, and a last look for those that were not."""

    folder: str
    files: tuple[str, ...]
    exists: Callable[[str], bool]


@value
class WantedPrompt:
    """A step whose prompt is looked for: where it should be, and the adaptations of its repeats in a row."""

    step: str
    address: Address
    repeats: tuple[str, ...] = ()


def find_prompts(
    store: Store,
    root: Object,
    wanted: Iterable[WantedPrompt],
    guards: Mapping[str, ValidationStep],
    faults: Collection[Fault],
) -> Prompts:
    """Return the prompts of the wanted steps and of every retry; nothing where a fault may be the cause."""
    # the owners of a member that is wrong and has, or was likely meant to have, a part in a prompt's path
    wrong = (fault.at.pointer for fault in faults if fault.at.pointer)
    doubtful = frozenset(_owner_of(pointer) for pointer in wrong if _NAMING.nearest(str(pointer[-1])) is not None)
    finder = _Finder(store, root)
    if () in doubtful or not finder.can_look:
        return Prompts(files=NameIndex(store.files))
    trusted = [each for each in wanted if not doubtful or ("steps", each.step) not in doubtful]
    steps = ((each.step, finder.prompt(each.address.coordinates)) for each in trusted)
    return Prompts(
        of_steps={key: prompt for key, prompt in steps if prompt is not None},
        of_repeats={each.step: tuple(finder.repeats(each)) for each in trusted if each.repeats},
        of_retries=tuple(finder.retries(root, guards, doubtful)),
        folder=store.folder,
        template=finder.path,
        files=NameIndex(store.files),
    )


_NAMING = NameIndex(("c1", "c2", "c3", "edition", "adaptation", "pathTemplate", "pathTemplateNoAdaptation"))


def _owner_of(pointer: Pointer) -> Pointer:
    """Return the owner of a member, also of one of its address."""
    return pointer[:-2] if pointer[-2:-1] == ("address",) else pointer[:-1]


Coordinates = tuple[str | None, str | None, str | None, str | None]


class _Finder:
    """Looks every set of coordinates up once."""

    def __init__(self, store: Store, root: Object) -> None:
        self._store = store
        self._there = frozenset(store.files)
        self._c1 = text_in(root, "c1")
        self.path = text_in({"pathTemplateNoAdaptation": _PATH, **root}, "pathTemplateNoAdaptation") or ""
        self._adapted = text_in({"pathTemplate": _ADAPTED, **root}, "pathTemplate") or ""
        self.can_look = bool(self._c1 and self.path and self._adapted)
        self._known: dict[Coordinates, PromptFile] = {}

    def prompt(self, coordinates: Coordinates) -> PromptFile | None:
        """Return the prompt that coordinates name; None if they are not all texts."""
        if coordinates not in self._known:
            c2, c3, edition, adaptation = coordinates
            if c2 is None or c3 is None or edition is None or adaptation is None:
                return None
            self._known[coordinates] = self._look({"c2": c2, "c3": c3, "edition": edition, "adaptation": adaptation})
        return self._known[coordinates]

    def retry_prompt(self, coordinates: Coordinates) -> PromptFile | None:
        """Return the prompt of a failure pattern: its own, or the one of all patterns that have none."""
        prompt = self.prompt(coordinates)
        if prompt is None or prompt.file is not None or prompt.is_outside:
            return prompt
        general = posixpath.join(posixpath.dirname(prompt.tried[-1]), _GENERAL)
        return replace(prompt, file=general) if self._has(general) else prompt

    def _has(self, path: str) -> bool:
        return path in self._there or self._store.exists(path)

    def _look(self, coordinates: dict[str, str]) -> PromptFile:
        coordinates["c1"] = self._c1 or ""
        templates = (self._adapted, self.path) if coordinates["adaptation"] else (self.path,)
        written = [_BRACED.sub(lambda found: coordinates.get(found[1], found[0]), each) for each in templates]
        paths = [join(self._store.folder, each) for each in written]
        if None in paths:
            return PromptFile(tuple(written), is_outside=True)
        tried = tuple(str(path) for path in paths)
        return PromptFile(tried, next(filter(self._has, tried), None))

    def repeats(self, wanted: WantedPrompt) -> Iterator[PromptFile | None]:
        """Yield the prompts of the repeats of a step."""
        c2, c3, edition, _ = wanted.address.coordinates
        return (self.prompt((c2, c3, edition, each)) for each in wanted.repeats)

    def retries(
        self, root: Object, guards: Mapping[str, ValidationStep], doubtful: frozenset[Pointer]
    ) -> Iterator[RetryPrompt]:
        """Yield the prompt of every condition of every validation step whose failures are tried again.

        A condition that is judged before the model is asked has none: where it fails, nothing is tried again.
        """
        # the failure pattern that each validator names
        validators = object_of(root.get("validators")).items()
        called = ((key, text_in(object_of(body), "failurePattern")) for key, body in validators)
        patterns = {key: name for key, name in called if name is not None}
        for key, guard in guards.items():
            tries_again = "onFailure" not in guard.body or text_in(guard.on_failure, "action") == "retry"
            if ("validationSteps", key) in doubtful or not tries_again:
                continue
            conditions = [each.validator.name for each in guard.post_llm]
            for name in dict.fromkeys(patterns[each] for each in conditions if each in patterns):
                pattern = object_of(object_of(root.get("failurePatterns")).get(name))
                named = text_in(pattern, "edition"), text_in({"adaptation": "", **pattern}, "adaptation")
                prompt = self.retry_prompt((guard.address.c2, guard.address.c3, *named))
                if prompt is not None and ("failurePatterns", name) not in doubtful:
                    yield RetryPrompt(key, name, prompt)


VARIABLE = "uv-"
"""The optional prefix of the names of variables, which prompts require."""
_READ = re.compile(r"\{uv-([A-Za-z0-9_]+)\}")
_STDIN = "{input_text}"
_BRACKETS = (b"{", b"<%", b"[[")
"""Without one of these there is nothing to fill in, and nothing that could be meant so."""


def read_text(tree: Tree) -> PromptText:
    """Return the variables of a prompt."""
    listed = None
    if isinstance(tree.value, dict) and "uvVariables" in tree.value:
        listed = tuple(_list_names(tree.value["uvVariables"], tree.at / "uvVariables"))
    if not any(each in tree.data for each in _BRACKETS):
        return PromptText(NOTHING, listed)
    whole = tree.data.decode(errors="replace")
    start, end = tree.body or (0, len(whole))
    reads: dict[str, Place] = {}
    for found in _READ.finditer(whole, start, end):
        reads.setdefault(found[1], replace(tree.at, range=found.span()))
    literals: list[LiteralName] = []
    for each in find_bracketed(whole[start:end]):
        span = (start + each.start, start + each.end)
        text = whole[slice(*span)]
        if _READ.fullmatch(text) is None and text != _STDIN:
            literals.append(LiteralName(replace(tree.at, range=span), text, each))
    return PromptText(reads, listed, tuple(literals))


def _list_names(given: Json, at: Place) -> Iterator[Mention]:
    """Yield the names in a list, or in a text in which commas stand between them."""
    if isinstance(given, str):
        names = (each.strip().removeprefix(VARIABLE) for each in given.strip("[] ").split(","))
        yield from (Mention(name, at) for name in names if name)
    for index, each in enumerate(list_of(given)):
        if isinstance(each, str) and each:
            yield Mention(each.removeprefix(VARIABLE), at / index)

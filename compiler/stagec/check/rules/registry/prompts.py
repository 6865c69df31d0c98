"""Prompt files: the paths where they are searched, and their fallbacks."""

from collections.abc import Collection, Iterator

from stagec.check.rules.registry import describe_lost_path, of_steps, promptless, rule
from stagec.core.diagnostic import Severity
from stagec.core.nearest import Guess, NameIndex, guess, hint
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import format_count, listing, quote
from stagec.languages.registry.document import Registry, Step
from stagec.languages.registry.prompts import FALLBACK_KEYS, RetryPrompt

_SHOWN = 3
_OWN = {"c2", "c3", "edition"}


@rule(
    since="0.1",
    origin=("steps-registry:path.prompt-file", "steps-registry:prompt.c3l-not-found", "rulings:R16"),
)
def stg256_missing_prompt(registry: Registry) -> Iterator[Finding]:
    """A step's prompt is not there.

    ## Why this matters
    A step is its prompt. A run that comes to a step without one cannot go on.

    ## How to fix
    Write the prompt, or correct the coordinates: it lies in `userPromptsBase`, or in `prompts` beside the registry, at
    `{c1}/{c2}/{c3}/f_{edition}_{adaptation}.md` when the step has an adaptation and that file exists, and else at
    `{c1}/{c2}/{c3}/f_{edition}.md`. `pathTemplate` and `pathTemplateNoAdaptation` state other paths.
    """
    lost, prompts = promptless(registry, replaced=False), registry.prompts
    unused = prompts.list_unused() if lost else NameIndex(())
    for prompt, (step, *others) in lost.items():
        what, member = describe_lost_path(prompts, prompt, unused)
        if prompts.is_empty and len(lost) > 1:
            stated = next((each for each in ("pathTemplateNoAdaptation", "c1") if each in registry.body), "steps")
            yield Finding(
                registry.at / (member if member == "c1" else stated),
                f"none of the {len(lost)} prompts is there: {what}",
            )
            return
        have = f" and {len(others)} more have" if others else " has"
        related = tuple(Related(other.at.key, "needs it too") for other in others[:_SHOWN])
        yield Finding(_find_wrong_coordinate(step, member), f"step {quote(step.key)}{have} no prompt: {what}", related)


def _find_wrong_coordinate(step: Step, member: str | None) -> Place:
    """Return the one coordinate that is likely wrong, else the step."""
    return step.address.at / member if member in _OWN and member in step.address.body else step.at.key


@rule(
    since="0.1",
    origin=("steps-registry:prompt.file-missing", "steps-registry:uv.template-missing", "rulings:R16"),
    severity=Severity.WARNING,
)
def stg257_missing_prompt_with_fallback(registry: Registry) -> Iterator[Finding]:
    """A step's own prompt is not there, and the built-in one that its `fallbackKey` names takes its place.

    ## Why this matters
    The run goes on, with a general prompt that knows nothing of this project.

    ## How to fix
    Write the prompt, or correct the coordinates as for [STG256](STG256.md). If the built-in prompt is intended, nothing
    is wrong.
    """
    lost = promptless(registry, replaced=True)
    unused = registry.prompts.list_unused() if lost else NameIndex(())
    for prompt, steps in lost.items():
        what, _ = describe_lost_path(registry.prompts, prompt, unused)
        for step in steps:
            related = (Related(step.at / "fallbackKey", "names the built-in prompt"),)
            yield Finding(step.at.key, f"step {quote(step.key)} has only a built-in prompt: {what}", related)


@rule(
    since="0.1",
    origin=("steps-registry:beyond.retry-prompt-file", "steps-registry:doc.adaptation-path", "rulings:R16"),
    severity=Severity.WARNING,
)
def stg258_missing_retry_prompt(registry: Registry) -> Iterator[Finding]:
    """The prompt with which a run is to try again after a failed validation is not there.

    ## Why this matters
    When a validator fails, the step before the closure runs again and is told what failed. The failure pattern chooses
    that prompt. Without it the model reads a general text: that the work was checked and is not done, the command, and
    what it printed.

    ## How to fix
    Write the prompt. It lies at the `c2` and `c3` of the validation step, with the `edition` and the `adaptation` of
    the failure pattern: `steps/retry/issue/f_failed_git-dirty.md`, or `f_failed.md` there for all patterns of that
    edition. Or set `onFailure.action` to the intended action.
    """
    lost: dict[tuple[str, str], list[RetryPrompt]] = {}
    for each in registry.prompts.of_retries:
        if each.prompt.file not in each.prompt.tried and not each.prompt.is_outside:
            lost.setdefault((each.step, each.prompt.tried[-1]), []).append(each)
    if not lost or (registry.prompts.is_empty and len(promptless(registry, replaced=False)) > 1):
        return  # all prompts are lost for one reason, and that is told
    unused = registry.prompts.list_unused()
    for first, *others in lost.values():
        what, member = describe_lost_path(registry.prompts, first.prompt, unused)
        patterns = listing(dict.fromkeys(each.pattern for each in (first, *others)), "or")
        also = f"; {quote(first.prompt.file)} is used instead" if first.prompt.file is not None else ""
        message = f"validation step {quote(first.step)} has no retry prompt for {patterns}: {what}{also}"
        names = [registry.at / "failurePatterns" / each.pattern for each in (first, *others)]
        related = tuple(Related(at.key, "chooses the prompt") for at in names[:3])
        yield Finding(_find_wrong_retry_coordinate(registry, first, member), message, related)


def _find_wrong_retry_coordinate(registry: Registry, retry: RetryPrompt, member: str | None) -> Place:
    """Return the one coordinate that is likely wrong, else the validation step."""
    guard = registry.validation_steps[retry.step]
    if member == "edition":
        return registry.at / "failurePatterns" / retry.pattern / "edition"
    return guard.address.at / member if member in {"c2", "c3"} else guard.at.key


@rule(since="0.1", origin=("steps-registry:beyond.path-escape", "rulings:everywhere"), groups=("mandatory",))
def stg259_folder_outside_project(registry: Registry) -> Iterator[Finding]:
    """A registry's folder of prompts or schemas lies outside the project.

    ## Why this matters
    stagec opens no file outside the project, and the owner of another place can change a prompt there. It is not looked
    into; where the name leads out, the default folder beside the registry is.

    ## How to fix
    Move the folder into the project, or begin the project further up with `--root`. The path is relative to the
    project's root.
    """
    for folder in registry.folders:
        if folder.is_outside:
            name = quote(folder.named or folder.path)
            yield Finding(registry.at / folder.member, f"folder {name} lies outside the project")


@rule(since="0.1", origin=("steps-registry:path.prompt-file", "rulings:R16"), severity=Severity.WARNING)
def stg260_missing_prompts_folder(registry: Registry) -> Iterator[Finding]:
    """A registry's folder of prompts is not there.

    ## Why this matters
    Every step needs a prompt, and none of them can be found. stagec says so once, and cannot judge the prompts of
    single steps.

    ## How to fix
    Put the prompts into `prompts` beside the registry, or name their folder in `userPromptsBase`, relative to the root
    of the project. When stagec was run on a part of a project, `--root` names the whole.
    """
    steps = [step for step in registry.steps.values() if "runner" not in step.body]
    for folder in registry.folders if steps else ():
        if folder.member == "userPromptsBase" and not folder.is_there and not folder.is_outside:
            whose = f"the prompts of {format_count(len(steps), 'step')} should be"
            yield Finding(registry.at / folder.member, f"there is no folder {quote(folder.path)}, where {whose}")


@rule(since="0.1", origin=("steps-registry:beyond.path-escape", "rulings:everywhere"), groups=("mandatory",))
def stg261_prompt_outside_project(registry: Registry) -> Iterator[Finding]:
    """The coordinates of a prompt lead out of the project.

    ## Why this matters
    stagec opens nothing outside the project, and a prompt that lies there can be changed by whoever owns that place.

    ## How to fix
    Write coordinates and path templates without `..`, and keep the prompts in the project.
    """
    told: set[str] = set()
    uses = [(registry.steps[key].at, each) for key, each in registry.prompts.of_steps.items() if each.is_outside]
    retries = (each for each in registry.prompts.of_retries if each.prompt.is_outside)
    uses += [(registry.at / "validationSteps" / each.step, each.prompt) for each in retries]
    for at, prompt in uses:
        if prompt.tried[-1] not in told:
            told.add(prompt.tried[-1])
            yield Finding(
                at.key, f"prompt {quote(prompt.tried[-1])} of {quote(at.pointer[-1])} lies outside the project"
            )


@rule(since="0.1", origin=("steps-registry:path.system-prompt", "steps-registry:prompt.system", "PR-SYSTEM-002"))
def stg262_missing_system_prompt(registry: Registry) -> Iterator[Finding]:
    """An agent's system prompt is not there.

    ## Why this matters
    `runner.flow.systemPromptPath` names the first prompt of the model. Without the file the agent cannot start.

    ## How to fix
    Correct the path: it is relative to the folder of the agent definition and must stay inside the project.
    """
    prompt = registry.agent.system_prompt if registry.agent is not None else None
    if prompt is None or prompt.is_there:
        return
    if prompt.path is None:
        yield Finding(prompt.at, f"system prompt {quote(prompt.named)} lies outside the project")
        return
    near = registry.prompts.files.nearest(prompt.path)
    nearest = f"; the nearest prompt is {quote(near)}" if near is not None else ""
    yield Finding(prompt.at, f"there is no system prompt {quote(prompt.path)}{nearest}")


@rule(since="0.1", origin=("steps-registry:path.fallback-dir",))
def stg263_missing_fallback_folder(registry: Registry) -> Iterator[Finding]:
    """An agent's folder of fallback prompts is not there.

    ## Why this matters
    `runner.flow.prompts.fallbackDir` names where a runner of an older format looks for prompts that a step lacks. It
    finds nothing.

    ## How to fix
    Delete `fallbackDir`: a step that needs a built-in prompt names it in its `fallbackKey`.
    """
    folder = registry.agent.fallback_folder if registry.agent is not None else None
    if folder is not None and not folder.is_there:
        where = "lies outside the project" if folder.path is None else "does not exist"
        yield Finding(folder.at, f"folder {quote(folder.named)} for fallback prompts {where}")


@rule(since="0.1", origin=("steps-registry:path.legacy-fallback-dir",), severity=Severity.WARNING)
def stg264_legacy_fallback_folder(registry: Registry) -> Iterator[Finding]:
    """An agent names a folder of fallback prompts, which no step uses any more.

    ## Why this matters
    `runner.flow.prompts.fallbackDir` comes from an older format. A step whose prompt is missing does not find one
    there.

    ## How to fix
    Delete `fallbackDir`: a step that needs a built-in prompt names it in its `fallbackKey`.
    """
    folder = registry.agent.fallback_folder if registry.agent is not None else None
    if folder is not None and folder.is_there:
        yield Finding(folder.at, f"folder {quote(folder.named)} for fallback prompts is no longer used")


_KNOWN = NameIndex(sorted(FALLBACK_KEYS))


@rule(since="0.1", origin=("rulings:R19",))
@of_steps
def stg265_dotted_fallback_key(steps: Collection[Step]) -> Iterator[Finding]:
    """A fallback key is written with dots.

    ## Why this matters
    Built-in prompts are named with underscores. A key with dots, mostly the id of the step, names none of them, and
    the step has no prompt when its own is missing.

    ## How to fix
    Join the words with underscores: `initial_issue` instead of `initial.issue`.
    """
    for step in steps:
        key = step.body.get("fallbackKey")
        if isinstance(key, str) and "." in key:
            near, meant = hint(key.replace(".", "_"), _KNOWN), _KNOWN.guess(key.replace(".", "_"))
            fix = Guess(key, meant) if meant is not None else None
            what = f"the fallback key {quote(key)} of step {quote(step.key)} has dots"
            message = f"{what}, but names of built-in prompts have none{near}"
            yield Finding(step.at / "fallbackKey", message, fix=fix)


@rule(since="0.1", origin=("rulings:R19",), severity=Severity.NOTE)
@of_steps
def stg266_unknown_fallback_key(steps: Collection[Step]) -> Iterator[Finding]:
    """A fallback key names no built-in prompt that is documented.

    ## Why this matters
    A runner may know it all the same, so nothing is surely wrong. When it does not, the step has no prompt once its
    own is missing.

    ## How to fix
    Write a documented key such as `initial_issue` or `issue_closure_default`, or delete it when the step has a prompt
    of its own.
    """
    found: dict[str, list[Step]] = {}
    for step in steps:
        key = step.body.get("fallbackKey")
        if isinstance(key, str) and "." not in key and key not in FALLBACK_KEYS:
            found.setdefault(key, []).append(step)
    if not found:
        return
    known = NameIndex(sorted(FALLBACK_KEYS))
    (first, (step, *_)), *others = found.items()
    verb = "is" if not others else "are"
    message = f"{listing(found)} {verb} no documented built-in prompt{'s' if others else ''}"
    near = hint(first, known) if not others else ""
    related = tuple(
        Related(also.at / "fallbackKey", f"{quote(key)} too{hint(key, known)}") for key, (also, *_) in others[:_SHOWN]
    )
    yield Finding(step.at / "fallbackKey", f"{message}{near}", related, guess(first, known) if near else None)


@rule(since="0.1", origin=("rulings:R16",), severity=Severity.WARNING)
def stg295_blank_prompt(registry: Registry) -> Iterator[Finding]:
    """A prompt says nothing.

    ## Why this matters
    The model is asked for an answer and not told what to do; it makes something up that fits the schema.

    ## How to fix
    Write the prompt below the frontmatter, or let the step use another one.
    """
    for at in registry.prompts.blank:
        yield Finding(at, "this prompt says nothing: there is no text below its frontmatter")


@rule(since="0.1", origin=("climpt-1.14:step.chain-prompt", "PR-C3L-004"), severity=Severity.WARNING)
def stg2029_missing_variant(registry: Registry) -> Iterator[Finding]:
    """The prompt of an adaptation that repeats use is missing.

    ## Why this matters
    The first repeat in a row of a step uses the first adaptation of its chain, the second one the next. Where there is
    no prompt `f_EDITION_ADAPTATION.md`, the prompt without adaptation takes its place, as the documents of climpt say.
    climpt 1.14.0 does not look for it: the repeat fails. The element `default` stands for the prompt without
    adaptation.

    ## How to fix
    Write the prompt, or correct the name in the chain.
    """
    for step in registry.steps.values():
        for element, prompt in zip(
            step.adaptation_chain or (), registry.prompts.of_repeats.get(step.key, ()), strict=False
        ):
            if prompt is None or element.name == "default" or prompt.file != prompt.tried[-1]:
                continue
            message = f"there is no {quote(prompt.tried[0])} for a repeat of step {quote(step.key)}"
            yield Finding(element.at, f"{message}; {quote(prompt.tried[-1])} is used instead")


@rule(since="0.1", origin=("climpt-1.14:step.chain-prompt", "PR-C3L-004"))
def stg2030_missing_repeat_prompt(registry: Registry) -> Iterator[Finding]:
    """A repeat of a step has no prompt.

    ## Why this matters
    The step has a prompt for its first execution, but neither one for the adaptation of a repeat nor one without
    adaptation that could take its place. The repeat fails.

    ## How to fix
    Write the prompt without adaptation, which serves all repeats that have none of their own, or the prompt of the
    adaptation.
    """
    for step in registry.steps.values():
        own, repeats = registry.prompts.of_steps.get(step.key), registry.prompts.of_repeats.get(step.key, ())
        lost = [index for index, each in enumerate(repeats) if each is not None and each.file is None]
        if own is None or own.file is None or not lost:
            continue  # a step without any prompt is told as that
        prompt, chain = repeats[lost[0]], step.adaptation_chain
        at = chain[lost[0]].at if chain else step.at / "adaptationChain"
        if prompt is not None and not prompt.is_outside:
            yield Finding(
                at, f"a repeat of step {quote(step.key)} has no prompt: there is neither {listing(prompt.tried, 'nor')}"
            )


@rule(since="0.1", origin=("rulings:R16",), severity=Severity.WARNING)
def stg2047_displaced_folder(registry: Registry) -> Iterator[Finding]:
    """A registry names a folder that is not there, and one of the same name beside the registry is used instead.

    ## Why this matters
    `userPromptsBase` and `schemasBase` are relative to the root of the project. climpt looks nowhere else, so its runs
    lack the prompts or schemas that stagec finds.

    ## How to fix
    Write the path of the folder from the root of the project, or delete the member: the folders beside the registry
    are the default.
    """
    for folder in registry.folders:
        if folder.is_displaced and folder.named is not None:
            used = f"{quote(folder.path)} beside the registry is used instead"
            message = f"there is no folder {quote(folder.named)}; {used}"
            yield Finding(registry.at / folder.member, message)

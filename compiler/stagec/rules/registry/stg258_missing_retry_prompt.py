"""The prompt with which a run is to try again after a failed validation is not there.

## Why this matters
When a validator fails, the step before the closure runs again and is told what failed. The failure pattern chooses
that prompt. Without it the model reads a general text: that the work was checked and is not done, the command, and what
it printed.

## How to fix
Write the prompt. It lies at the `c2` and `c3` of the validation step, with the `edition` and the `adaptation` of the
failure pattern: `steps/retry/issue/f_failed_git-dirty.md`, or `f_failed.md` there for all patterns of that edition.
Or set `onFailure.action` to what shall happen instead.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.place import Place
from stagec.core.rule import Finding, Related
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.prompts import RetryPrompt
from stagec.rules.registry import describe_lost_path, promptless, rule


@rule(
    since="0.1",
    origin=("steps-registry:beyond.retry-prompt-file", "steps-registry:doc.adaptation-path", "rulings:R16"),
    severity=Severity.WARNING,
)
def check(registry: Registry) -> Iterator[Finding]:
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
        also = f"; {quote(first.prompt.file)} takes its place" if first.prompt.file is not None else ""
        message = f"validation step {quote(first.step)} has no prompt to try again with after {patterns}: {what}{also}"
        names = [registry.at / "failurePatterns" / each.pattern for each in (first, *others)]
        related = tuple(Related(at.key, "chooses the prompt") for at in names[:3])
        yield Finding(_place(registry, first, member), message, related)


def _place(registry: Registry, retry: RetryPrompt, member: str | None) -> Place:
    """Return the one coordinate that is likely wrong, else the validation step."""
    guard = registry.validation_steps[retry.step]
    if member == "edition":
        return registry.at / "failurePatterns" / retry.pattern / "edition"
    return guard.address.at / member if member in {"c2", "c3"} else guard.at.key

"""An entry of a registry of climpt 1.14 is no pair of steps.

## Why this matters
Since climpt 1.14 each verdict type has two steps: runs begin at `initial`, and the prompt of `continuation` serves
later iterations. In 1.13 it had the name of one step. climpt 1.14 refuses an entry of that form, and one in which a
step is missing or is no text.

## How to fix
Write both steps, such as `{"initial": "initial.issue", "continuation": "continuation.issue"}`. Where there is no
second step, name the first one twice. `--fix` does so; it takes `continuation.X` for `initial.X`, as 1.13 does, if
that exists.
"""

from collections.abc import Iterator

from stagec.core.diagnostic import Change, Edit, Fix
from stagec.core.json import Object, object_of, text_in
from stagec.core.place import Place
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.generation import Generation
from stagec.rules.registry import rule


@rule(since="0.1", origin=("climpt-1.14:entry.pair-shape", "SR-ENTRY-003", "AC-VERDICT-013"))
def check(registry: Registry) -> Iterator[Finding]:
    if registry.generation is Generation.V1_13:
        return
    for verdict, given in object_of(registry.body.get("entryStepMapping")).items():
        at, what = registry.at / "entryStepMapping" / verdict, f"the entry of {quote(verdict)}"
        if isinstance(given, str):
            message = f"{what} is one step, {quote(given)}: 1.14 wants a pair of 'initial' and 'continuation'"
            yield Finding(at, message, fix=_pair(registry, at, given))
        elif not isinstance(given, dict):
            yield Finding(at, f"{what} must be a pair of 'initial' and 'continuation'")
        else:
            yield from _judge_pair(at, what, given)


def _judge_pair(at: Place, what: str, pair: Object) -> Iterator[Finding]:
    missing = [name for name in _STEPS if name not in pair]
    if missing:
        yield Finding(at / missing[0], f"{what} lacks {listing(missing)}")
    for name in _STEPS:
        if name in pair and not text_in(pair, name):
            yield Finding(at / name, f"{quote(name)} in {what} must name a step")


_STEPS = ("initial", "continuation")


def _pair(registry: Registry, at: Place, name: str) -> Fix | None:
    """Return the fix that writes the first step, and its continuation where there is one, as 1.13 means it."""
    following = f"continuation.{name.removeprefix('initial.')}" if name.startswith("initial.") else name
    second = following if following in registry.steps else name
    edit = Edit(Change.REPLACE, at, {"initial": name, "continuation": second})
    return Fix(f"write the pair of {quote(name)} and {quote(second)}", (edit,)) if name in registry.steps else None

"""A loop hook is of a kind that its slot does not take.

## Why this matters
The message loop has two slots for each of its stages, and each takes certain kinds of hook. Hosts refuse the others
when they load the pipeline, as `HookInvalidAttachment`.

| stage | before | after |
|---|---|---|
| RECEIVE_INPUT | transform, guard, observer | transform, observer |
| COMPOSE_REQUEST | transform, guard, observer | transform, observer |
| SEND_REQUEST | transform, guard, observer | observer |
| STREAM_RESPONSE | transform, guard, observer | observer |
| TOOL_CALL | transform, guard, observer | transform, observer |
| RENDER | transform, observer | observer |

## How to fix
Attach the hook to a slot that takes its kind, or write it as one of a kind that the slot takes.
"""

from collections.abc import Iterator

from stagec.core.json import object_of
from stagec.core.rule import Finding
from stagec.core.words import listing, quote
from stagec.frontends.stages.document import Pipeline
from stagec.rules.stages import rule

_REFUSED = {
    "guard": {*((name, "post") for name in ("RECEIVE_INPUT", "COMPOSE_REQUEST", "TOOL_CALL")), ("RENDER", "pre")},
    "transform": set[tuple[str, str]](),
}
_OBSERVED = {(name, "post") for name in ("SEND_REQUEST", "STREAM_RESPONSE", "RENDER")}
_WORDS = {"pre": "before", "post": "after"}


@rule(since="0.1", origin=("rulings:pipelines", "Validation/HookInvalidAttachment"))
def check(pipeline: Pipeline) -> Iterator[Finding]:
    hooks = pipeline.body.get("loopHooks")
    for index, each in enumerate(hooks if isinstance(hooks, list) else ()):
        hook = object_of(each)
        stage, when, kind = (str(hook.get(name)) for name in ("stage", "when", "kind"))
        slot = (stage, when)
        if kind in _REFUSED and (slot in _OBSERVED or slot in _REFUSED[kind]):
            taken = ["observer"] if slot in _OBSERVED else ["transform", "observer"]
            message = f"no {quote(kind)} can be attached {_WORDS[slot[1]]} {quote(stage)}, only {listing(taken, 'or')}"
            yield Finding(pipeline.at / "loopHooks" / index / "kind", message)

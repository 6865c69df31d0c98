"""A block in a retry prompt is not closed, closes nothing, or cannot be read.

## Why this matters
When a validator has failed, its retry prompt is filled in with what was read from the output. A block that is not
written correctly means nothing: the model would be shown the tag itself, and what stands in the block once instead of
once for each element.

## How to fix
A block is `{{#each NAME}}…{{/each}}`, or `{{#if NAME}}…{{/if}}` in which `{{else}}` may stand once. Names are letters,
digits, `_` and dots, with no blanks behind them. Close each block before the one around it, at most 32 inside each
other.
"""

from collections.abc import Iterator, Mapping

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.blocks import Defect
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule

_WHY: Mapping[Defect, str] = {
    Defect.UNREADABLE: "cannot be read: a block is '{{#each NAME}}…{{/each}}' or '{{#if NAME}}…{{/if}}'",
    Defect.UNCLOSED: "is never closed",
    Defect.UNOPENED: "closes no block",
    Defect.STRAY_ELSE: "stands in no '{{#if NAME}}'",
    Defect.SECOND_ELSE: "is the second one of its block",
    Defect.TOO_DEEP: "opens a block inside more than 31 others",
}


@rule(since="0.1", origin=("rulings:R6",))
def check(registry: Registry) -> Iterator[Finding]:
    for each in registry.prompts.broken_blocks:
        yield Finding(each.at, f"{quote(each.text)} in a retry prompt {_WHY[each.defect]}")

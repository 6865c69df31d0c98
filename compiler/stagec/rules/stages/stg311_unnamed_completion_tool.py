"""The prompt of a stage never names its completion tool.

## Why this matters
A stage ends when the model calls the completion tool. A model that is not told so in the prompt talks on until it is
reminded, and every reminder is a turn.

## How to fix
End the prompt with what to hand in: "When you are done, call `submit_plan` with …".
"""

import re
from collections.abc import Iterator

from stagec.core.diagnostic import Severity
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.stages.document import Pipeline, Stage
from stagec.rules.stages import rule


@rule(since="0.1", origin=("stage-definitions:body-omits-completion-tool",), severity=Severity.NOTE)
def check(pipeline: Pipeline) -> Iterator[Finding]:
    for stage in pipeline.stages:
        if stage.completion is not None and stage.body.text.strip() and not _names(stage, stage.completion.name):
            message = f"the prompt never names {quote(stage.completion.name)}, by which the stage hands in its result"
            yield Finding(stage.completion.at, message)


def _names(stage: Stage, tool: str) -> bool:
    """Tell whether a prompt has the name of a tool in it as a word, or asks for it with a placeholder."""
    asked = any(each.path[:2] == ("stage", "completionTool") for each in stage.body.placeholders)
    return asked or _has_word(stage.body.text, tool)


def _has_word(text: str, word: str) -> bool:
    """Tell whether a text has a word in it; a pattern for each word would have to be compiled first."""
    at = text.find(word)
    while at >= 0:
        before, after = text[at - 1 : at] if at else "", text[at + len(word) : at + len(word) + 1]
        if not _PART.match(before) and not _PART.match(after):
            return True
        at = text.find(word, at + 1)
    return False


_PART = re.compile(r"[\w-]")

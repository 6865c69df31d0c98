"""An agent's system prompt is not there.

## Why this matters
`runner.flow.systemPromptPath` is what the model is told before anything else. Without the file the agent cannot
start.

## How to fix
Correct the path: it is relative to the folder of the agent definition and must stay inside the project.
"""

from collections.abc import Iterator

from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.rules.registry import rule


@rule(since="0.1", origin=("steps-registry:path.system-prompt", "steps-registry:prompt.system", "PR-SYSTEM-002"))
def check(registry: Registry) -> Iterator[Finding]:
    prompt = registry.agent.system_prompt if registry.agent is not None else None
    if prompt is None or prompt.is_there:
        return
    if prompt.path is None:
        yield Finding(prompt.at, f"system prompt {quote(prompt.named)} lies outside the project")
        return
    near = registry.prompts.files.nearest(prompt.path)
    nearest = f"; the nearest prompt is {quote(near)}" if near is not None else ""
    yield Finding(prompt.at, f"there is no system prompt {quote(prompt.path)}{nearest}")

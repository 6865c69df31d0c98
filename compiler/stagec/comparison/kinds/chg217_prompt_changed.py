"""A prompt has another text.

## Runs in flight
A request that was made keeps its prompt. Those that follow have the new one.
"""

from stagec.comparison.kind import declare

KIND = declare(
    __name__,
    "a prompt has another text",
    prompt="added removed changed",
    builtin="added removed changed",
    system_prompt="added removed changed",
    retry_prompt="added removed changed",
)

"""After which outcomes an agent closes issues, in the words of either release."""

from __future__ import annotations

from stagec.core.json import Object, object_of, text_in

_DIRECT = "direct"
"""The only channel that closes an issue when the outcome is known."""


def read_closing(body: Object) -> tuple[bool, str | None]:
    """Return whether an agent closes issues, and the only outcome after which it does, in either release's words."""
    binding = object_of(body.get("closeBinding"))
    if binding:
        kind = text_in(object_of(binding.get("primary")), "kind")
        return kind == _DIRECT, text_in(binding, "condition")
    return body.get("closeOnComplete") is True, text_in(body, "closeCondition")

"""Which tools, which model and which permission mode a step has."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stagec.core.json import Object, list_of, object_of, text_in
from stagec.frontends.registry.document import Kind, Step

_BOUNDARY = re.compile(r"github[A-Z]\w*(?:Close|Comment|Create|Merge|Publish|Update)")
"""Tools that change what others see at GitHub; only closure steps may call them."""
_USUAL: Mapping[Kind, str] = {Kind.WORK: "acceptEdits", Kind.VERIFICATION: "plan", Kind.CLOSURE: "acceptEdits"}
"""The permission modes of steps that state none."""


_MODEL = "opus"
"""The model of steps where neither they nor their flow name one."""


class Conduct:
    """What the definition of an agent, an empty one where there is none, says of every step."""

    def __init__(self, definition: Object) -> None:
        runner = object_of(definition.get("runner"))
        boundaries = object_of(runner.get("boundaries"))
        listed = boundaries.get("allowedTools")
        self._model = text_in(object_of(runner.get("flow")), "defaultModel")
        self._permission = text_in(boundaries, "permissionMode")
        named = tuple(dict.fromkeys(each for each in list_of(listed) if isinstance(each, str)))
        kept = tuple(name for name in named if not _BOUNDARY.fullmatch(name))
        self._all = named if isinstance(listed, list) else None
        self._inner = kept if isinstance(listed, list) else None

    def tools(self, step: Step) -> tuple[str, ...] | None:
        """Return the tools that a step may call; nothing where nobody says."""
        return self._inner if step.kind in {Kind.WORK, Kind.VERIFICATION} else self._all

    def model(self, step: Step) -> str:
        """Return the model that is asked: that of the step, or of the flow, or the usual one."""
        return text_in(step.body, "model") or self._model or _MODEL

    def permission(self, step: Step) -> str | None:
        """Return the permission mode of a step: its own, its kind's, or where it has none the agent's."""
        own = text_in(step.body, "permissionMode")
        return own or (self._permission if step.kind is None else _USUAL[step.kind])

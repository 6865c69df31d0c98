"""Which of a project's flows a user means."""

from __future__ import annotations

from collections.abc import Iterable

from stagec.core.failure import Failure
from stagec.core.nearest import Names, hint
from stagec.core.words import listing, quote
from stagec.frontends import Flow


def flows_for(wanted: str | None, flows: Iterable[Flow]) -> tuple[Flow, ...]:
    """Return the flows with an id, or all; raise `Failure` when none has it."""
    known = tuple(flows)
    chosen = tuple(flow for flow in known if wanted is None or flow.id == wanted)
    if not chosen:
        names = sorted({flow.id for flow in known})
        near = hint(wanted or "", Names(names)) or f"; there are {listing(names)}"
        raise Failure(f"no flow is called {quote(wanted)}{near}")
    return chosen

"""Why a plan is refused."""

from __future__ import annotations


class PlanError(Exception):
    """A plan that cannot be trusted or understood: altered, of another format, or not what its format says.

    `str()` is the reason, a sentence without a full stop.
    """

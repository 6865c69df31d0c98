"""From a step registry without errors to the draft of its plan."""

from stagec.frontends.registry.freezing.draft import freeze

__all__ = ["freeze"]

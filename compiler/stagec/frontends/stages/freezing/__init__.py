"""From a pipeline without errors to the draft of its plan."""

from stagec.frontends.stages.freezing.draft import freeze

__all__ = ["freeze"]

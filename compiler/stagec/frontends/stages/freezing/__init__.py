"""From a pipeline without errors to the draft of its plan."""

"""From a step registry without errors to the draft of its plan."""

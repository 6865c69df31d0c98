"""The shelf of kinds of changes: each module is one, with its code, its sentence and its page."""

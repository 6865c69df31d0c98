"""The scope and the strictness of a run: configuration, and the selection of rules."""

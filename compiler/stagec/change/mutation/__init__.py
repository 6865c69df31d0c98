"""Mutants of plans: one thing is changed, and the tests of the flow should notice it."""

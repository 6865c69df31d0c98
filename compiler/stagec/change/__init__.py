"""What a change of a flow means: comparisons, tests of flows, mutants, new projects, and migrations."""

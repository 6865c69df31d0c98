"""Changes of flows: comparisons, tests of flows, mutants, new projects, and migrations."""

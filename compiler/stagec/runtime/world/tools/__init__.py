"""Tools that models call: the sources of tools, and one place that executes calls."""

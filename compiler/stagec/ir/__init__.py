"""The meaning of all systems: flows, the questions about their graphs, plans, and the rules of the stage protocol."""

"""What all systems mean: flows, the questions about their graphs, plans, and the rules of the stage protocol."""

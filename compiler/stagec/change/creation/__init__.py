"""New projects: minimal ones of each system, and those made of agent files that other programs read."""

"""Runs of plans: the machine, what stores their history, the world that answers them, their page and telemetry."""

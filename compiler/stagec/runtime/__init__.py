"""Runs of plans: the machine, the stores of their history, the world that answers, the page and telemetry."""

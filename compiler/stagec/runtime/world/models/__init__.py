"""Models that answer requests: a narrow port, adapters of providers, and their shared parts."""

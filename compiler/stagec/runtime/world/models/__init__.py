"""Models that answer requests: a narrow port, adapters to providers, and what is the same for all of them."""

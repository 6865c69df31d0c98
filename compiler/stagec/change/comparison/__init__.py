"""The changes between two plans, and their effect on runs that began with the old plan."""

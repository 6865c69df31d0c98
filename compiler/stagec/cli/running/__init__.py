"""Shared parts of the commands that start, resume and show runs."""

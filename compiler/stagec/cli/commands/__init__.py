"""Shelf: one child per command, each defining one `click.Command`; only the command that is asked for is imported."""

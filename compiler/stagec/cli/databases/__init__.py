"""Commands on runs in a database."""

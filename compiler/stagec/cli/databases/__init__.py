"""What the commands do with runs that are kept in a database."""

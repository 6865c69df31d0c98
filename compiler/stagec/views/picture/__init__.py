"""What a drawing of a flow shows, before any format is chosen."""

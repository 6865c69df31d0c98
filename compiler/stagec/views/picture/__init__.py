"""The content of a drawing of a flow, before any format is chosen."""

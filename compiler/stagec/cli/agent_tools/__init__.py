"""The tools of `stagec mcp`: they read one project and change nothing."""

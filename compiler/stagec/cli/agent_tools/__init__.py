"""What `stagec mcp` tells agents: tools that read one project and change nothing."""

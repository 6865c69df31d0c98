"""What has changed between two plans, and what that means for runs that were begun by the old one."""

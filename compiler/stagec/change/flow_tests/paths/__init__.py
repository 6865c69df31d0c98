"""Scenarios for the ways through a flow: what can be answered, where it leads, and few runs that cover everything."""

"""Scenarios for the paths through a flow: possible answers, their targets, and few runs that cover everything."""

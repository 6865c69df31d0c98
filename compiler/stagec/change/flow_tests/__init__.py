"""Tests of flows: a scenario and what must come of it, run against the plan of the flow."""

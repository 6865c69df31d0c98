"""YAML 1.2 by the core schema: text to values and faults, and places back to text; for every format that holds YAML."""

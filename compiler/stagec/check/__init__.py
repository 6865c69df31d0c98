"""From projects to findings: the phases in order, rules, suppressions, fixes, layout, and the formats of reports."""

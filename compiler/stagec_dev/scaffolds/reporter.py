"""A reporter: one way of printing diagnostics."""

from __future__ import annotations

from stagec_dev.scaffold import named_after_one_word

REPORTER = named_after_one_word(
    "the name of a report format",
    {
        "compiler/stagec/reporters/{name}.py": "reporter.py.jinja",
        "tests/reporters/test_{name}.py": "test_reporter.py.jinja",
    },
)

"""A reporter: one way of printing diagnostics."""

from __future__ import annotations

from stagec_dev.scaffold import make_one_word_scaffold

REPORTER = make_one_word_scaffold(
    "the name of a report format",
    {
        "compiler/stagec/reporters/{name}.py": "reporter.py.jinja",
        "tests/reporters/test_{name}.py": "test_reporter.py.jinja",
    },
)

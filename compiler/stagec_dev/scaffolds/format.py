"""A format: how files of one input syntax are read, searched and changed."""

from __future__ import annotations

from stagec_dev.scaffold import make_one_word_scaffold

FORMAT = make_one_word_scaffold(
    "the name of a syntax",
    {
        "compiler/stagec/sources/formats/{name}.py": "format.py.jinja",
        "tests/sources/formats/test_{name}.py": "test_format.py.jinja",
    },
)

"""A format: how files of one input syntax are read, searched and changed."""

from __future__ import annotations

from stagec_dev.scaffold import named_after_one_word

FORMAT = named_after_one_word(
    "the name of a syntax",
    {
        "compiler/stagec/sources/formats/{name}.py": "format.py.jinja",
        "tests/sources/formats/test_{name}.py": "test_format.py.jinja",
    },
)

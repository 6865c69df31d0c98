"""A front end: how the files of one system are recognised, read into documents, and lowered to flows."""

from __future__ import annotations

from stagec_dev.scaffold import named_after_one_word

FRONT_END = named_after_one_word(
    "the name of a system",
    {
        "compiler/stagec/frontends/{name}/__init__.py": "frontend.py.jinja",
        "tests/frontends/{name}/test_{name}.py": "test_frontend.py.jinja",
    },
)

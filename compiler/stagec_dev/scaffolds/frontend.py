"""A front end: how the files of one system are recognised, read into documents, and lowered to flows."""

from __future__ import annotations

from stagec_dev.scaffold import make_one_word_scaffold

FRONT_END = make_one_word_scaffold(
    "the name of a system",
    {
        "compiler/stagec/frontends/{name}/__init__.py": "frontend.py.jinja",
        "tests/frontends/{name}/test_{name}.py": "test_frontend.py.jinja",
    },
)

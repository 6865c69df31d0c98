"""An emitter: one format a drawing can be written in."""

from __future__ import annotations

from stagec_dev.scaffold import make_one_word_scaffold

EMITTER = make_one_word_scaffold(
    "the name of a drawing format",
    {
        "compiler/stagec/emitters/{name}.py": "emitter.py.jinja",
        "tests/emitters/test_{name}.py": "test_emitter.py.jinja",
    },
)

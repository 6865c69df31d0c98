"""What compiles without errors cannot fail to route: random projects, compiled and run with random valid answers.

Whoever wants more than these calls `campaign(transitions, seed)`.
"""

from __future__ import annotations

import pytest
from properties.soundness.campaign import MAKERS, campaign


@pytest.mark.parametrize("system", MAKERS)
def test_no_flow_without_errors_fails_to_route(system: str) -> None:
    seen = campaign(4_000, 1, (system,))
    assert seen.found == []
    assert 0.2 <= seen.compiled[system] / seen.projects[system] <= 0.8
    assert seen.transitions >= 4_000
    assert seen.runs > 500

"""The generator: it refuses what leads nowhere, and its absence is an error that names the extra."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from stagec.core.failure import Failure
from stagec_dev.tools import site as generator
from stagec_dev.tools.site import SiteSources, build

HOME = "# Home\n\n## One\n\n- [a](a.md)\n- [b](b.md)\n"


def pages(text: str) -> SiteSources:
    other = "# B\n\n## Größe\n"
    return SiteSources({"index.md": HOME, "a.md": f"# A\n\n{text}\n", "b.md": other, "rules/index.md": "# R\n"}, {})


@pytest.mark.skipif(find_spec("zensical") is None, reason="the extra 'site' is not installed")
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path: Path) -> None:
    site = build(pages("[b](b.md) [there](b.md#größe)"), tmp_path / "right", None)
    assert (site / "a" / "index.html").is_file()
    for number, link in enumerate(("[c](c.md)", "[b](b.md#gone)", "[here](#gone)")):
        with pytest.raises(Failure, match="the generator refused the pages:") as raised:
            build(pages(link), tmp_path / str(number), None)
        assert "a.md:3:" in str(raised.value)
        assert "\x1b" not in str(raised.value)


def test_without_the_generator_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generator, "find_spec", lambda _name: None)
    with pytest.raises(Failure, match=r"pip install .*\[site\]'$"):
        build(pages(""), tmp_path, None)

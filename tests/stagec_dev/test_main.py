from __future__ import annotations

import pytest

from stagec.core.shelf import names
from stagec_dev import tools
from stagec_dev.__main__ import main


def test_help_lists_every_tool_with_its_first_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    listed = [
        line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("  ") and line.endswith(".")
    ]
    assert listed == list(names(tools))


def test_an_unknown_tool_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["dance"])
    assert ended.value.code == 2
    assert "dance" in capsys.readouterr().err

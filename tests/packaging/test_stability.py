"""The page about stability says what the code and the metadata say."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from stagec.check.reporters import json as diagnostics
from stagec.cli.commands import conformance
from stagec.ir.catalogue import lock
from stagec.ir.plan import FORMAT
from stagec.ir.protocol.checkpoint import NATIVE
from stagec.runtime.drivers import messages
from stagec.runtime.drivers.local import journal_file
from stagec.runtime.world.program_world import PROTOCOL
from stagec.sources.project import baseline
from stagec.views.emitters import json as graph

TOP = Path(__file__).parents[2]
PAGE = (TOP / "docs" / "stability.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def rows(section: str) -> dict[str, str]:
    """Return the second cell of each row of a table by the first."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| ([^|]+) \| ([^|]*) \|.*$", text, re.MULTILINE)
    return {name: given.strip("` ") for name, given in cells if name != "format"}


def test_the_formats_are_those_of_the_code() -> None:
    assert rows("Formats of stagec") == {
        "plan": FORMAT,
        "journal": str(journal_file.VERSION),
        "message to a run": messages.FORMAT,
        "world": PROTOCOL,
        "conformance of runners": conformance.PROTOCOL,
        "checkpoint": NATIVE,
        "graph, as JSON": graph.FORMAT,
        "diagnostics, as JSON": str(diagnostics._VERSION),
        "lock of tools": str(lock.VERSION),
        "fingerprints of findings": baseline.VERSION,
        "baseline": str(baseline._FORMAT),
    }


def test_the_pythons_are_those_of_the_metadata() -> None:
    told = re.findall(r"3\.\d+", rows("Platforms and Pythons")["Python"])
    declared = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if " :: Python :: 3." in each]
    assert told == declared
    assert PROJECT["requires-python"] == f">={told[0]}"
    assert set(re.findall(r"3\.\d+", (TOP / ".ci" / "run").read_text(encoding="utf-8"))) == set(told[1:])


def test_refused_registries_are_refused_by_the_rule_that_the_page_names() -> None:
    from stagec.check.rules.document import FAMILY

    (code,) = re.findall(r"`(STG\d+)`", PAGE)
    assert [rule.name for rule in FAMILY.rules() if rule.code == code] == ["future-format"]

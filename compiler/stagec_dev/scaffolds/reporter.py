"""A reporter: one way of printing diagnostics."""

from __future__ import annotations

from collections.abc import Mapping

from stagec_dev.scaffold import Scaffold, filled, identifier

_TAKES = "the name of a report format"

_REPORTER = '''"""Diagnostics as @name@: @@."""

from __future__ import annotations

from stagec.reporters import Report, Reporter


def _render(report: Report) -> str:
    return "".join(f"@@ {each.code}\\n" for each in report.diagnostics)


REPORTER = Reporter("@name@", _render)
'''

_TEST = """from __future__ import annotations

from stagec.core.diagnostic import Diagnostic, Severity
from stagec.core.place import START, Place
from stagec.reporters import Report
from stagec.reporters.@name@ import REPORTER

FOUND = Diagnostic("STG999", "some-name", Severity.ERROR, (), Place("a.json"), START, "it is wrong", (), 0, None, "")


def test_a_diagnostic_is_printed() -> None:
    assert REPORTER.render(Report((FOUND,))) == "@@: a.json:1:1 it is wrong"


def test_nothing_wrong_is_nothing_printed() -> None:
    assert REPORTER.render(Report(())) == ""
"""


def _files(words: tuple[str, ...]) -> Mapping[str, str]:
    name = identifier(words, _TAKES)
    return {
        f"compiler/stagec/reporters/{name}.py": filled(_REPORTER, name=name),
        f"tests/reporters/test_{name}.py": filled(_TEST, name=name),
    }


REPORTER = Scaffold(_TAKES, _files)

"""A report of GitLab's code quality: shown in merge requests, and compared with that of the target branch."""

from __future__ import annotations

from typing import Any

from stagec.check.reporters import Diagnostic, Report, Reporter, Severity
from stagec.core.words import visible
from stagec.sources.project.baseline import fingerprint

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.NOTE: "info"}


def _render(report: Report) -> str:
    from json import dumps  # not needed by other reporters

    found = fingerprint(report.diagnostics, report.name_in_repository)
    issues = [_describe_issue(each, digest, report) for each, digest in found]
    return dumps(issues, indent=1).replace("##", "#\\u0023") + "\n"


def _describe_issue(each: Diagnostic, digest: str, report: Report) -> dict[str, Any]:
    start, end = each.span.start, each.span.end
    return {
        "type": "issue",
        "check_name": f"{each.code} {each.name}",
        "description": visible(each.message),
        "content": {"body": "\n".join(f"`{page}`" for page in each.pages())},
        "categories": ["Bug Risk"],
        "severity": _SEVERITIES[each.severity],
        "fingerprint": digest,
        "location": {
            "path": report.name_in_repository(each.at.file),
            "lines": {"begin": start.line, "end": max(start.line, end.line)},
        },
    }


REPORTER = Reporter("gitlab", _render)

"""A hook after an edit: tells the agent which errors of stagec concern the file that it has just written.

It ends with 2 and the errors on standard error, which the host shows to the agent. Errors that do not concern the
file are left out. It needs nothing but Python and stagec.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

_NAMES = (".json", ".yaml", ".yml", ".md", ".toml")
"""Endings of the names of files that may belong to a flow."""
_MOST = 10
"""Errors that are told."""
_PATIENCE = 25
"""Seconds that a check may take."""


def main() -> int:
    """Read the event of the host, check the project, and return the exit status."""
    event = json.load(sys.stdin)
    written = event.get("tool_input", {}).get("file_path", "")
    if not written.endswith(_NAMES):
        return 0
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or event.get("cwd") or os.curdir
    stagec = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stagec")
    command = ["sh", stagec, "validate", "--format", "json", "--fail-on", "never", "--allow-empty"]
    try:
        ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"stagec has not checked the project within {_PATIENCE} seconds\n")
        return 1
    if ended.returncode != 0:
        sys.stderr.write(f"stagec cannot check the project: {ended.stderr.strip() or f'status {ended.returncode}'}\n")
        return 1
    if not ended.stdout.strip():  # there is nothing that stagec reads
        return 0
    found = list_concerning(json.loads(ended.stdout)["diagnostics"], os.path.join(folder, written), folder)
    for each in found[:_MOST]:
        start = each["span"]["start"]
        where = f"{each['path']}:{start['line']}:{start['column']}"
        sys.stderr.write(f"{where}: {each['code']} {each['name']}: {each['message']}\n")
    if len(found) > _MOST:
        sys.stderr.write(f"and {len(found) - _MOST} more\n")
    if found:
        sys.stderr.write("The tools of stagec help: 'explain' says why, and 'validate' with 'details' has fixes.\n")
    return 2 if found else 0


def list_concerning(diagnostics: list[dict[str, Any]], written: str, folder: str) -> list[dict[str, Any]]:
    """Return the errors that are in a file, or of which one place is."""
    own = os.path.realpath(written)

    def is_own(place: dict[str, Any]) -> bool:
        return os.path.realpath(os.path.join(folder, place["path"])) == own

    errors = [each for each in diagnostics if each["severity"] == "error"]
    return [each for each in errors if is_own(each) or any(map(is_own, each["related"]))]


if __name__ == "__main__":
    sys.exit(main())

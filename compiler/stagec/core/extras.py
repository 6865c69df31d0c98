"""The messages about missing extras, with the command that installs each."""

from __future__ import annotations

import json
import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of, text_in

_NAME = "stagec"
_ORIGIN = "direct_url.json"
"""The file that installers write beside the metadata of a package from no index."""
_FILE = "file://"


def explain_missing_extra(need: str, extra: str) -> Failure:
    """Return the failure of what needs the libraries of an extra; `need` is who needs them, with the verb."""
    command = install_command(*_find_requirements(extra))
    return Failure(f"{need} libraries of the extra '{extra}', which are not installed: {command}")


def install_command(*words: str) -> str:
    """Return the command line that installs something beside this stagec: its Python may be no other's on the path."""
    pip = (sys.executable, "-m", "pip") if find_spec("pip") else ("pip", "--python", sys.executable)
    return shlex.join((*pip, "install", *words))


def _find_requirements(extra: str) -> tuple[str, ...]:
    """Return the requirements for pip: stagec with the extra, from where it was installed."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        installed = distribution(_NAME)
    except PackageNotFoundError:  # the modules of a checkout are on the path, and that is all
        return (f"{Path(__file__).parents[3]}[{extra}]",)
    origin = object_of(_decode(installed.read_text(_ORIGIN)))
    url = text_in(origin, "url")
    if url is None:
        return (f"{_NAME}[{extra}]",)
    if not url.startswith(_FILE) or "vcs_info" in origin:
        return (f"{_NAME}[{extra}] @ {_write_address(url, origin)}",)
    path = _read_path(url)
    if os.path.isfile(path) or os.path.isfile(os.path.join(path, "pyproject.toml")):
        is_editable = object_of(origin.get("dir_info")).get("editable") is True
        return (*(("-e",) if is_editable else ()), f"{path}[{extra}]")
    # what stagec was made of is gone, but its metadata names the libraries
    return tuple(
        need.strip()
        for need, _, marker in (each.partition(";") for each in installed.requires or ())
        if marker.replace('"', "'").strip() == f"extra == '{extra}'"
    )


def _decode(text: str | None) -> Json:
    try:
        found: Json = json.loads(text or "{}")
    except ValueError:
        return None
    return found


def _write_address(url: str, origin: Object) -> str:
    """Return the address that a user gave: with its version control system and revision, and the folder in it."""
    control = object_of(origin.get("vcs_info"))
    system, revision = text_in(control, "vcs"), text_in(control, "requested_revision")
    folder = text_in(origin, "subdirectory")
    return "".join(
        (
            f"{system}+" if system else "",
            url,
            f"@{revision}" if revision else "",
            f"#subdirectory={folder}" if folder else "",
        )
    )


def _read_path(url: str) -> str:
    from urllib.parse import unquote

    return unquote(url.removeprefix(_FILE).removeprefix("localhost"))

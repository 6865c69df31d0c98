"""The message about a missing extra has a command that works where stagec was installed from."""

from __future__ import annotations

import json
import shlex
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from stagec.core.extras import explain_missing_extra

TOP = Path(__file__).parents[2]
METADATA = """Metadata-Version: 2.4
Name: stagec
Version: 9
Provides-Extra: serve
Provides-Extra: otel
Requires-Dist: click>=8
Requires-Dist: starlette<2,>=1.0; extra == 'serve'
Requires-Dist: uvicorn[standard]>=0.40; extra == "serve"
Requires-Dist: opentelemetry-sdk; extra == 'otel'
"""


def _tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: object = None, metadata: str = METADATA
) -> list[str]:
    """Return the words that pip is given, where stagec was installed from an origin."""
    folder = tmp_path / "stagec-9.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(metadata)
    if origin is not None:
        (folder / "direct_url.json").write_text(origin if isinstance(origin, str) else json.dumps(origin))
    monkeypatch.syspath_prepend(tmp_path)
    return _read(str(explain_missing_extra("serving a page needs", "serve")))


def _read(told: str) -> list[str]:
    before, _, command = told.partition(": ")
    assert before == "serving a page needs libraries of the extra 'serve', which are not installed"
    words = shlex.split(command)
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    return words[4:]


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        (None, "stagec[serve]"),
        ("no JSON", "stagec[serve]"),
        (
            {"url": "https://code.example/s.git", "vcs_info": {"vcs": "git", "commit_id": "0a"}},
            "stagec[serve] @ git+https://code.example/s.git",
        ),
        (
            {"url": "ssh://git@x/s", "vcs_info": {"vcs": "git", "requested_revision": "v1"}, "subdirectory": "a b"},
            "stagec[serve] @ git+ssh://git@x/s@v1#subdirectory=a b",
        ),
        ({"url": "file:///srv/s.git", "vcs_info": {"vcs": "git"}}, "stagec[serve] @ git+file:///srv/s.git"),
        ({"url": "https://x/s.whl", "archive_info": {}}, "stagec[serve] @ https://x/s.whl"),
    ],
)
def test_it_comes_from_where_stagec_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: object, told: str
) -> None:
    assert _tell(tmp_path, monkeypatch, origin) == [told]
    assert Requirement(told.partition("#")[0]).extras == {"serve"}


@pytest.mark.parametrize("option", [["-e"], []])
def test_a_folder_is_named_as_it_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: list[str]
) -> None:
    folder = tmp_path / "it's a [folder] für 100 %"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    origin = {"url": folder.as_uri(), "dir_info": {"editable": bool(option)}}
    assert _tell(tmp_path, monkeypatch, origin) == [*option, f"{folder}[serve]"]


def test_a_wheel_is_named_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "stagec-9-py3-none-any.whl"
    wheel.touch()
    assert _tell(tmp_path, monkeypatch, {"url": wheel.as_uri(), "archive_info": {}}) == [f"{wheel}[serve]"]


def test_of_a_folder_that_is_gone_the_real_libraries_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    origin = {"url": (tmp_path / "gone").as_uri(), "dir_info": {}}
    told = _tell(tmp_path, monkeypatch, origin, distribution("stagec").read_text("METADATA") or "")
    assert {*map(Requirement, told)} == {*map(Requirement, project["optional-dependencies"]["serve"])}

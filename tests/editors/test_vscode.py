"""The client for VS Code: its own tests pass in Node, it becomes a package, and its drawing works in a browser.

`STAGEC_VSCODE_MODULES` names the folder `node_modules` that `npm ci` makes in `compiler/editors/vscode`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest

from stagec.cli.app import run
from stagec.core.version import __version__

TOP = Path(__file__).parents[2]
SOURCE = TOP / "compiler" / "editors" / "vscode"
MODULES = "STAGEC_VSCODE_MODULES"
_HOST = "({ postMessage: (told) => (window.told ??= []).push(told) })"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the client with the packages that it is built with."""
    modules = os.environ.get(MODULES)
    if modules is None:
        pytest.skip(f"no packages of npm: set {MODULES}")
    folder = tmp_path_factory.mktemp("client") / "vscode"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("node_modules", "dist", "*.vsix"))
    (folder / "node_modules").symlink_to(modules)
    return folder


def node(client: Path, *words: str, **variables: str) -> str:
    ended = subprocess.run(
        ["node", *words], cwd=client, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_manifest_names_the_version_of_stagec() -> None:
    assert json.loads((SOURCE / "package.json").read_text())["version"] == __version__
    assert json.loads((SOURCE / "package-lock.json").read_text())["version"] == __version__


@pytest.mark.needs("node")
def test_the_client_is_built_tested_and_packed(
    client: Path, chromium: Any, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(TOP / "registries" / "broken-on-purpose")
    run(["validate", "--format", "concise"])
    (client / "concise.txt").write_bytes(capsysbinary.readouterr().out)
    monkeypatch.chdir(TOP / "registries" / "guest-book")
    run(["graph", "--format", "html"])
    page = client / "page.html"
    page.write_bytes(capsysbinary.readouterr().out)
    node(client, "node_modules/typescript/bin/tsc", "--noEmit")
    node(client, "build.mjs")
    tests = [str(each) for each in sorted((client / "dist" / "test").glob("*.js"))]
    told = node(client, "--test", *tests, STAGEC_PAGE=str(page), STAGEC_CONCISE=str(client / "concise.txt"))
    assert "skipped 0" in told
    pack = ("package", "--no-dependencies", "--skip-license", "--allow-missing-repository", "--out", "stagec.vsix")
    node(client, "node_modules/@vscode/vsce/vsce", *pack)
    with zipfile.ZipFile(client / "stagec.vsix") as packed:
        names = {name for name in packed.namelist() if name.startswith("extension/")}
    own = {"package.json", "readme.md", "dist/extension.js", "dist/LICENSES.txt"}
    assert names == {f"extension/{name}" for name in own}

    connected = Path(f"{page}.connected.html")
    shown = connected.read_text(encoding="utf-8")
    connected.write_text(shown.replace("(acquireVsCodeApi())", f"({_HOST})"), encoding="utf-8")
    chromium.open(connected)
    assert chromium.value("window.told") == [{"ready": True}]
    # a message of the editor marks a node, and a click on another one is told to the editor
    chromium.value("window.postMessage({node: 'thank'}, '*')")
    assert "thank" in chromium.wait_for("document.querySelector('.on')?.textContent")
    chromium.value(
        "[...document.querySelectorAll('[data-box]')].find((each) => each.textContent.includes('title'))"
        ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    )
    assert chromium.value("window.told[1]") == {"node": "title"}

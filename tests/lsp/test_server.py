"""The real process speaks the protocol: a client sends messages over standard input and output."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp.client import Client
from lsp.conftest import EXAMPLES

from stagec.lsp.positions import Point, TextLines
from stagec.sources.project.baseline import Baseline, write_baseline


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    shutil.copytree(EXAMPLES / "code-review", tmp_path / "it")
    with (tmp_path / "errors").open("w+b") as errors:
        started = Client(tmp_path / "it", errors)
        try:
            yield started
        finally:
            started.process.kill()
            started.process.communicate()


def test_a_session_of_an_editor(client: Client) -> None:
    offered = client.begin()["capabilities"]
    assert {"hoverProvider", "renameProvider", "completionProvider", "codeLensProvider"} <= set(offered)
    pipeline = "pipeline.yaml"
    text = client.open(pipeline)
    line = text.splitlines().index("entry: plan")

    client.change(pipeline, line, 7, 11, "paln")
    (found,) = client.findings(pipeline, ["STG340"])
    assert found["source"] == "stagec"
    assert found["range"] == {"start": {"line": line, "character": 7}, "end": {"line": line, "character": 11}}
    document = {"textDocument": {"uri": client.uri(pipeline)}}
    context = {"range": found["range"], "context": {"diagnostics": [found]}}
    offers = client.ask("textDocument/codeAction", {**document, **context})
    fix = next(each for each in offers if each.get("edit") and "plan" in each["title"])
    (edit,) = fix["edit"]["changes"][client.uri(pipeline)]
    assert text.replace("entry: plan", f"entry: {_put('paln', edit, 7)}") == text
    everything = next(each for each in offers if each["kind"] == "source.fixAll.stagec.guesses")
    assert client.ask("codeAction/resolve", everything)["edit"]["changes"]
    client.change(pipeline, line, 7, 11, "plan")
    client.findings(pipeline, [])
    assert client.end() == 0
    assert client.read_errors() == ""


def test_findings_are_suppressed_and_accepted_by_actions(client: Client) -> None:
    (client.folder / "stagec.toml").write_text('baseline = "known.json"\n')
    (client.folder / "known.json").write_bytes(write_baseline(Baseline()))
    pipeline, stage = client.folder / "pipeline.yaml", "stages/plan.md"
    pipeline.write_text(pipeline.read_text() + "gate: {plan: {block: {branch: main}}}\n")
    client.begin()
    text = client.open(stage)
    (found,) = client.findings(stage, ["STG387"])
    offers = client.ask("textDocument/codeAction", _ask_about(client, stage, found))
    titles = [each["title"] for each in offers]
    assert ["Suppress STG387 here, with a reason" in titles, "Add to the baseline known.json" in titles] == [True, True]
    suppression, acceptance = (
        client.ask("codeAction/resolve", next(each for each in offers if word in each["title"]))["edit"]["changes"]
        for word in ("Suppress", "baseline")
    )
    (edit,) = suppression[client.uri(stage)]
    at = edit["range"]["start"]
    client.change(stage, at["line"], at["character"], edit["range"]["end"]["character"], edit["newText"])
    client.findings(stage, [])
    document = {"uri": client.uri(stage), "version": 9}
    client.send("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
    client.findings(stage, ["STG387"])
    known = client.folder / "known.json"
    known.write_text(_apply(known.read_text(), acceptance[client.uri("known.json")]))
    client.send("workspace/didChangeWatchedFiles", {"changes": [{"uri": client.uri("known.json"), "type": 2}]})
    client.findings(stage, [])
    assert client.end() == 0
    assert client.read_errors() == ""


def _ask_about(client: Client, file: str, finding: dict[str, Any]) -> dict[str, Any]:
    document = {"textDocument": {"uri": client.uri(file)}}
    return {**document, "range": finding["range"], "context": {"diagnostics": [finding]}}


def _apply(text: str, edits: list[dict[str, Any]]) -> str:
    """Return a text with one edit."""
    (edit,) = edits
    lines = TextLines(text)
    start, end = (lines.offset(Point(**edit["range"][each])) for each in ("start", "end"))
    return text[:start] + str(edit["newText"]) + text[end:]


def test_an_editor_that_fetches_no_edits_gets_all_fixes_of_a_file_at_once(client: Client) -> None:
    path = client.folder / "pipeline.yaml"
    right = path.read_text()
    path.write_text(right.replace("entry: plan", "entry: paln"))
    client.begin(fetches_edits=False)
    client.open("pipeline.yaml")
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    only = {"diagnostics": [], "only": ["source.fixAll.stagec.guesses"]}
    document = {"textDocument": {"uri": client.uri("pipeline.yaml")}}
    (offer,) = client.ask("textDocument/codeAction", {**document, "range": whole, "context": only})
    (edit,) = offer["edit"]["changes"][client.uri("pipeline.yaml")]
    line = right.splitlines().index("entry: plan")
    assert edit["range"]["start"]["line"] == line
    assert f"entry: {_put('paln', edit, 7)}" == "entry: plan"
    assert client.end() == 0


def test_the_file_of_a_stage_is_renamed_with_it_for_an_editor_that_can(client: Client) -> None:
    client.begin(moves_files=True)
    line = client.open("pipeline.yaml").splitlines().index("entry: plan")
    named = {**client.at("pipeline.yaml", line, 8), "newName": "outline"}
    *edits, moved = client.ask("textDocument/rename", named)["documentChanges"]
    old, new = client.uri("stages/plan.md"), client.uri("stages/outline.md")
    assert moved == {"kind": "rename", "oldUri": old, "newUri": new}
    assert {old, client.uri("pipeline.yaml")} <= {each["textDocument"]["uri"] for each in edits}


def test_every_request_has_an_answer(client: Client) -> None:
    client.begin()
    pipeline, document = "pipeline.yaml", {"textDocument": {"uri": client.uri("pipeline.yaml")}}
    line = client.open(pipeline).splitlines().index("entry: plan")
    assert "stage **plan**" in client.ask("textDocument/hover", client.at(pipeline, line, 8))["contents"]["value"]
    (place,) = client.ask("textDocument/definition", client.at(pipeline, line, 8))
    assert place["uri"] == client.uri("stages/plan.md")
    references = client.ask(
        "textDocument/references", {**client.at(pipeline, line, 8), "context": {"includeDeclaration": True}}
    )
    assert len(references) > 5
    assert client.ask("textDocument/documentHighlight", client.at(pipeline, line, 8))
    assert client.ask("textDocument/documentSymbol", document)
    assert client.ask("workspace/symbol", {"query": "exec"})
    assert client.ask("textDocument/foldingRange", document)
    items = client.ask("textDocument/completion", client.at(pipeline, line, 7))["items"]
    assert {"plan", "review"} <= {each["label"] for each in items}
    assert client.ask("textDocument/prepareRename", client.at(pipeline, line, 8))["placeholder"] == "plan"
    changes = client.ask("textDocument/rename", {**client.at(pipeline, line, 8), "newName": "outline"})["changes"]
    assert client.uri("stages/plan.md") in changes
    refused = client.ask("textDocument/rename", {**client.at(pipeline, line, 8), "newName": "lint"})
    assert refused["message"] == "there is already a stage 'lint'"
    assert client.ask("textDocument/formatting", {**document, "options": {"tabSize": 2, "insertSpaces": True}}) == []
    lenses = client.ask("textDocument/codeLens", document)
    assert [each["command"]["title"] for each in lenses] == ["Draw", "Bounds", "Simulate"]
    client.ask("workspace/executeCommand", lenses[1]["command"])
    shown = [each["params"]["message"] for each in client.told if each.get("method") == "window/showMessage"]
    assert shown[0] == "the file 'stages/plan.md' keeps its name: the editor does not rename files for a server"
    assert "at most 20 executions" in shown[-1]
    page = client.ask("workspace/executeCommand", {**lenses[0]["command"], "command": "stagec.page"})
    assert page["html"].startswith("<!DOCTYPE html>")
    spots = {(each["node"], each["uri"].rpartition("/")[2]) for each in page["nodes"]}
    assert ("plan", "plan.md") in spots
    gone = client.ask(
        "workspace/executeCommand", {"command": "stagec.page", "arguments": [document["textDocument"]["uri"], "x"]}
    )
    assert "message" in gone
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    assert client.ask("textDocument/inlayHint", {**document, "range": whole}) == []
    assert client.end() == 0
    assert client.read_errors() == ""


def _put(word: str, edit: dict[str, Any], shift: int) -> str:
    start, end = (edit["range"][each]["character"] - shift for each in ("start", "end"))
    return word[:start] + edit["newText"] + word[end:]


def test_a_change_on_the_disk_and_a_broken_configuration_are_told(client: Client) -> None:
    client.begin()
    path = client.folder / "pipeline.yaml"
    path.write_text(path.read_text().replace("entry: plan", "entry: paln"))
    client.send("workspace/didChangeWatchedFiles", {"changes": []})
    client.findings("pipeline.yaml", ["STG340"])
    (client.folder / "stagec.toml").write_text("fail-on = 1\n")
    client.send("workspace/didChangeWatchedFiles", {"changes": []})
    client.findings("pipeline.yaml", [])
    assert client.end() == 0

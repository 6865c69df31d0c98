"""What tools read and do: who says it first, and what the list of well-known tools has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stagec.core.budgets import Budgets
from stagec.core.place import Place
from stagec.ir.catalogue import Effects, Lock, LockedServer, LockedTool, read_catalogue, well_known_effects
from stagec.ir.catalogue.document import WELL_KNOWN, LabelBook, is_agent, list_scripts, list_words, read_data
from stagec.ir.catalogue.lock import read_lock, render_lock
from stagec.ir.rights import Label, Teller
from stagec.sources.read import Sources
from stagec_dev.checkout import diagnostics

AT = Place("tools.lock.json")


def book(root: Path, tools: str, lock: Lock | None = None) -> LabelBook:
    (root / "tools.yaml").write_text(tools, encoding="utf-8")
    if lock is not None:
        (root / "tools.lock.json").write_bytes(render_lock(lock))
    return LabelBook(read_catalogue(Sources(root, Budgets()), "tools.yaml"))


def named(found: frozenset[Label]) -> str:
    return " ".join(sorted(found))


@pytest.mark.parametrize(
    ("entry", "labels", "expected"),
    [
        ("Bash", "{}", "private send write"),
        ("{name: Bash, effects: read}", "{}", "private send"),
        ("{name: Bash, effects: []}", "{}", "private"),
        ("{name: Bash, effects: [write], reads: []}", "{}", "write"),
        ("{name: Bash, reads: untrusted}", "{}", "send untrusted write"),
        ("own", "{}", ""),
        ("{name: own, effects: mutating}", "{}", "write"),
        ("own", "{own: {reads: [private, untrusted], effects: send}}", "private send untrusted"),
        ("{name: own, reads: []}", "{own: {reads: private, effects: write}}", "write"),
        ("own", "{'o*': {reads: private}, own: {reads: untrusted}}", "private"),
        ("own", "{OWN: {reads: private}}", ""),
    ],
)
def test_what_a_tool_reads_and_does(entry: str, labels: str, expected: str, tmp_path: Path) -> None:
    found = book(tmp_path, f"bundled: [{entry}]\nlabels: {labels}\n").find(
        entry.partition(": ")[2].split(",")[0] or entry
    )
    assert named(found.labels) == expected
    assert (found.teller is Teller.NOBODY) == (not expected)


def test_a_server_is_known_by_what_it_runs_and_else_by_its_name(tmp_path: Path) -> None:
    hub = '{command: npx, args: ["@modelcontextprotocol/server-github"]}'
    found = book(tmp_path, f"mcp: {{hub: {hub}, slack: {{command: mine}}, own: {{command: x}}}}\n")
    assert named(found.find("mcp__hub__create_issue").labels) == "send write"
    assert named(found.find("hub/get_issue").labels) == "private untrusted"
    assert named(found.find("mcp__slack__post_message").labels) == "send write"
    assert named(found.find("mcp__slack").labels) == "private send untrusted write"
    assert found.find("mcp__own__look").teller is Teller.NOBODY
    bundled = book(tmp_path, "bundled: [mcp__slack__post_message]\n").find("mcp__slack__post_message")
    assert named(bundled.labels) == "send write"


def test_a_server_is_believed_last(tmp_path: Path) -> None:
    tools = {
        "look": LockedTool("look", AT, Effects.READ, "0" * 64, is_open=True),
        "post": LockedTool("post", AT, Effects.MUTATING, "0" * 64, is_open=True),
        "note": LockedTool("note", AT, Effects.MUTATING, "0" * 64, is_open=False),
        "blank": LockedTool("blank", AT, Effects.UNKNOWN, "0" * 64),
    }
    lock = Lock(AT, {"own": LockedServer("own", AT, "1" * 64, tools)})
    found = book(tmp_path, "mcp: {own: {command: x}}\nlabels: {note: {reads: private}}\n", lock)
    assert {name: named(found.find(name).labels) for name in tools} == {
        "look": "untrusted",
        "post": "send untrusted write",
        "note": "private write",
        "blank": "",
    }
    assert [found.find(name).teller for name in ("look", "note")] == [Teller.LOCK, Teller.CATALOGUE]


def test_a_lock_keeps_what_a_server_says_of_the_world_outside() -> None:
    tools = {
        name: LockedTool(name, AT, Effects.READ, "0" * 64, is_open)
        for name, is_open in {"a": True, "b": False, "c": None}.items()
    }
    written = render_lock(Lock(AT, {"own": LockedServer("own", AT, "1" * 64, tools)}))
    read = read_lock(AT, json.loads(written))
    assert {name: each.is_open for name, each in read.servers["own"].tools.items()} == {
        "a": True,
        "b": False,
        "c": None,
    }
    assert b'"c": {"effects": "read", "schema"' in written
    assert written.count(b'"world"') == 2


def test_a_file_with_labels_alone_is_a_catalogue_and_one_with_other_labels_is_none(tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text("labels: {Bash: {reads: nothing}}\n", encoding="utf-8")
    assert [(each.code, each.at.pointer) for each in diagnostics(tmp_path)] == [("STG122", ("labels", "Bash", "reads"))]
    (tmp_path / "tools.yaml").write_text("labels: {app: web, tier: one}\n", encoding="utf-8")
    assert diagnostics(tmp_path) == ()


@pytest.mark.parametrize(
    "given", ["effects: [read]", "effects: {}", "reads: write", "reads: [secret]", "effects: sends"]
)
def test_a_misspelt_label_is_told(given: str, tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text(f"bundled: [{{name: x, {given}}}]\n", encoding="utf-8")
    assert {each.code for each in diagnostics(tmp_path)} <= {"STG121", "STG122"}
    assert len(diagnostics(tmp_path)) == 1


def test_what_programs_do() -> None:
    found = LabelBook(None)
    assert named(found.find_program(("/usr/bin/curl", "-s", "x")).labels) == "send untrusted"
    assert named(found.find_program(("sh", "-c", "cd x && A=1 scp y z: | tee w")).labels) == "private send write"
    assert named(found.find_program(("sh", "-c", "echo curl")).labels) == ""
    assert found.find_program(("python3", "x.py")).teller is Teller.NOBODY
    assert found.find_program(()).teller is Teller.NOBODY
    assert [*list_scripts(("bash", "-lc", "x", "y"))] == [2]
    assert [*list_scripts(("deno", "eval", "x"))] == [2]
    assert [*list_scripts(("git", "-c", "x"))] == []
    assert is_agent(("bin/claude", "-p", "x"))
    assert not is_agent(("python3",))


def test_the_list_agrees_with_what_well_known_tools_change() -> None:
    found = LabelBook(None)
    for name in WELL_KNOWN:
        assert (Label.WRITE in found.find(name).labels) == (well_known_effects(name) is Effects.MUTATING), name


def test_the_list_has_known_labels_alone_and_a_word_for_what_needs_one() -> None:
    data = read_data()
    tables = [data["tools"], data["programs"], *(each["tools"] for each in data["servers"].values())]
    assert {label for table in tables for labels in table.values() for label in labels} == {*Label}
    risky = {Label.WRITE, Label.SEND, Label.UNTRUSTED}
    for names, labels in data["tools"].items():
        assert not risky.intersection(labels) or list_words(names.partition("|")[0].replace("*", "")), names

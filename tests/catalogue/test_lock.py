"""The lock as a file."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from stagec.core.place import Place
from stagec.ir.catalogue import Effects, Lock, LockedServer, LockedTool
from stagec.ir.catalogue.lock import digest, read_lock, render_lock

AT = Place("tools.lock.json")
DIGEST = "0" * 64
texts = st.text(st.characters(exclude_categories=("Cs",)))


def lock(servers: dict[str, dict[str, Effects]]) -> Lock:
    return Lock(AT, {name: server(name, tools) for name, tools in servers.items()})


def server(name: str, tools: dict[str, Effects]) -> LockedServer:
    at = AT / "servers" / name
    offered = {each: LockedTool(each, (at / "tools" / each).key, effects, DIGEST) for each, effects in tools.items()}
    return LockedServer(name, at, DIGEST, offered)


@given(st.dictionaries(texts, st.dictionaries(texts, st.sampled_from(list(Effects)))))
def test_what_is_written_is_read_again(servers: dict[str, dict[str, Effects]]) -> None:
    given_lock = lock(servers)
    assert read_lock(AT, json.loads(render_lock(given_lock))) == given_lock


def test_each_tool_has_a_line_and_all_is_sorted() -> None:
    text = render_lock(lock({"b": {"z": Effects.READ, "a": Effects.UNKNOWN}, "a": {}})).decode()
    assert (
        text
        == f"""\
{{
  "version": 1,
  "servers": {{
    "a": {{
      "launch": "{DIGEST}",
      "tools": {{}}
    }},
    "b": {{
      "launch": "{DIGEST}",
      "tools": {{
        "a": {{"effects": "unknown", "schema": "{DIGEST}"}},
        "z": {{"effects": "read", "schema": "{DIGEST}"}}
      }}
    }}
  }}
}}
"""
    )


def test_a_lock_of_nothing_is_small() -> None:
    assert render_lock(lock({})) == b'{\n  "version": 1,\n  "servers": {}\n}\n'


def test_the_digest_of_a_schema_does_not_depend_on_the_order_of_its_members() -> None:
    assert digest({"type": "object", "required": ["ä"]}) == digest({"required": ["ä"], "type": "object"})
    # printf '{"required":["ä"],"type":"object"}' | sha256sum
    assert digest({"required": ["ä"], "type": "object"}) == (
        "55157cfa11bfff1cd4a5965bbef199afb2085d9a3c1891e2d2b597c15779f4c3"
    )


def test_what_is_broken_in_a_lock_is_left_out() -> None:
    tools = {"a": {"effects": "read", "schema": DIGEST}, "b": {"effects": "none", "schema": DIGEST}, "c": 1}
    servers = {"x": {"launch": DIGEST, "tools": tools}, "y": {"tools": {}}, "z": None}
    assert read_lock(AT, {"servers": servers}) == lock({"x": {"a": Effects.READ}})
    assert read_lock(AT, []) == lock({})

"""Files that are too large, too deep, or grow while they are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from stagec.sources.yaml_text.compose import LONGEST_EXPLAINED

DEEP = 100_000
Registry = Callable[..., dict[str, Any]]

JSON_DEPTHS = {
    "arrays": "[" * DEEP + "]" * DEEP,
    "objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "open arrays": "[" * DEEP,
    "open objects": '{"a":' * DEEP,
    "mixed": '[{"a":' * (DEEP // 2) + "1" + "}]" * (DEEP // 2),
    "closers": "]" * DEEP,
    "inside a string that ends late": '{"a":"' + "[" * DEEP + '","b":' + "[" * DEEP,
    "inside steps": '{"agentId":"a","version":"1.0.0","c1":"steps","steps":{"a":' + "[" * DEEP + "]" * DEEP + "}}",
}
YAML_DEPTHS = {
    "flow sequences": "a: " + "[" * DEEP + "]" * DEEP,
    "flow mappings": "a: " + "{a: " * DEEP + "}" * DEEP,
    "open flow": "a: " + "[" * DEEP,
    "dashes": "a:\n " + "- " * DEEP + "x",
    "question marks": "? " * DEEP + "x",
    "stairs": "\n".join(" " * level + "a:" for level in range(1_000)),
    "quoted stairs": "\n".join(" " * level + '"a":' for level in range(1_000)),
    "dashes after a quote": 'b: "x"\na:\n ' + "- " * DEEP + "x",
    "flow after a quote": 'b: "x"\na: ' + "[" * DEEP,
    "flow in lines": 'b: "x"\na:\n' + " [\n" * DEEP,
    "mappings after a comment": "a: # x\n " + "{a: " * DEEP,
    "dashes in lines": "# x\n" + "\n".join(" " * (level % 400) + "- a:" for level in range(3_000)),
}
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + level)}: &{chr(98 + level)} [{','.join(['*' + chr(97 + level)] * 9)}]\n" for level in range(20)
)
ALIASES = {
    "bomb": BOMB,
    "recursion": "a: &a [*a]",
    "many anchors": "".join(f"k{number}: &a{number} x\n" for number in range(40_000)),
    "many aliases": "a: &a x\nb: [" + "*a, " * 200_000 + "]",
    "merge keys": "a: &a {b: c}\n" + "".join(f"k{number}: {{<<: *a}}\n" for number in range(30_000)),
}
MEGABYTE = 990_000
HEAD = 'version: "1.0"\nentry: a\nodd: &odd 1\n'
"""With an anchor, so that a parser has to read it all."""
FULL_OF = {
    "unknown keys": ("", "key@: 1\n", ""),
    "question marks": ("", "? key\n", ""),
    "tags": ("many:\n", "- !!str a\n", ""),
    "flow list": ("many: [", "a,", "]\n"),
    "flow maps": ("many:\n", "- {a: 1, b: [x, y]}\n", ""),
    "dashes": ("many:\n", f"  {'- ' * 50}a\n", ""),
    "block list": ("many:\n", "- a\n", ""),
    "lists as keys": ("", "[a]: b\n", ""),
    "repeated keys": ("", "key: 1\n", ""),
    "blank lines": ("", "\n", ""),
    "a mistake at the end": ("many:\n", "- a\n", "b: c: d\n"),
    "a quote that nothing closes": ('many: "', "a ", ""),
    "tabs": ("", "key:\ta\n", ""),
}
"""What comes once, what comes again and again with its number for the sign, and what comes last."""


@pytest.mark.parametrize("name", FULL_OF)
def test_a_megabyte_of_yaml_is_read_or_refused(write: Any, attack: Any, name: str) -> None:
    begin, line, end = FULL_OF[name]
    text = HEAD + begin
    lines = (line.replace("@", str(at)) for at in range((MEGABYTE - len(text)) // len(line.replace("@", "99999"))))
    write("pipeline.yaml", f"{text}{''.join(lines)}{end}")
    assert attack(seconds=3.0, megabytes=500.0).status == 1


@pytest.mark.parametrize("text", JSON_DEPTHS.values(), ids=JSON_DEPTHS)
def test_deep_json_as_registry(write: Any, attack: Any, text: str) -> None:
    write("steps_registry.json", text)
    assert attack().status == 1


@pytest.mark.parametrize("text", JSON_DEPTHS.values(), ids=JSON_DEPTHS)
def test_deep_json_as_schema(write: Any, attack: Any, registry: Registry, text: str) -> None:
    write("steps_registry.json", registry())
    write("schemas/s.schema.json", text)
    ended = attack()
    assert ended.status == 1
    assert ended.codes & {"STG106", "STG110"}


@pytest.mark.parametrize("text", YAML_DEPTHS.values(), ids=YAML_DEPTHS)
def test_deep_yaml_as_frontmatter(write: Any, attack: Any, registry: Registry, text: str) -> None:
    write("steps_registry.json", registry({}))
    write("prompts/p.md", f"---\n{text}\n---\nbody\n")
    ended = attack()
    assert ended.status == 1
    assert ended.codes & {"STG107", "STG108", "STG110"}


@pytest.mark.parametrize("text", YAML_DEPTHS.values(), ids=YAML_DEPTHS)
def test_deep_yaml_named_by_hand(write: Any, attack: Any, text: str) -> None:
    write("x.yaml", text)
    ended = attack("x.yaml")
    assert ended.codes & {"STG107", "STG110"}


@pytest.mark.parametrize("text", ALIASES.values(), ids=ALIASES)
def test_aliases(write: Any, attack: Any, registry: Registry, text: str) -> None:
    write("steps_registry.json", registry({}))
    write("prompts/p.md", f"---\n{text}\n---\nbody\n")
    assert attack().codes & {"STG107", "STG108", "STG111"}


@pytest.mark.parametrize("text", [ALIASES["bomb"], ALIASES["recursion"]], ids=["bomb", "recursion"])
def test_aliases_named_by_hand(write: Any, attack: Any, text: str) -> None:
    write("x.yaml", text)
    assert attack("x.yaml").codes == {"STG111"}


@pytest.mark.parametrize("file", ["steps_registry.json", "schemas/s.schema.json", "prompts/p.md", "agent.json"])
@pytest.mark.parametrize("content", ["blank", "text", "value"])
def test_fifty_megabytes(write: Any, attack: Any, registry: Registry, file: str, content: str) -> None:
    write("steps_registry.json", registry({}))
    size = 50_000_000
    data = {"blank": b" " * size, "text": b"x" * size, "value": b'{"steps":"' + b"x" * size + b'"}'}[content]
    write(file, data)
    assert "STG103" in attack().codes


@pytest.mark.parametrize("file", ["steps_registry.json", "schemas/s.schema.json", "prompts/p.md", "agent.json"])
def test_a_hole_of_a_terabyte(write: Any, attack: Any, registry: Registry, file: str) -> None:
    write("steps_registry.json", registry({}))
    with write(file, b"").open("wb") as hole:
        hole.truncate(1 << 40)
    assert "STG103" in attack().codes


FULL = {
    "one long string": json.dumps({"a": "x" * 990_000}),
    "one long key": json.dumps({"x" * 990_000: 1}),
    "one long number": '{"a":' + "9" * 990_000 + "}",
    "one long fraction": '{"a":0.' + "9" * 990_000 + "}",
    "one long exponent": '{"a":1e' + "9" * 990_000 + "}",
    "numbers too large": "[" + ",".join(["1e999"] * 160_000) + "]",
    "repeated keys": "{" + ",".join(['"a":1'] * 160_000) + "}",
    "different repeated keys": "{" + ",".join([f'"{n}":1' for n in range(45_000)] * 2) + "}",
    "lone surrogates": "[" + ",".join(['"\\ud800"'] * 100_000) + "]",
    "bad escapes": '["' + "\\x" * 450_000 + '"]',
    "open quotes": '"\n' * 490_000,
    "single quotes": "'" * 990_000,
    "single quotes in lines": "'\n" * 490_000,
    "slashes": "/" * 990_000,
    "comments": "/*" * 490_000,
    "comments in lines": "//\n" * 330_000,
    "commas": "[" + "," * 990_000,
    "colons": ":" * 990_000,
    "words": "x " * 490_000,
    "minus signs": "[" + "-" * 990_000,
    "hash signs": "#" * 990_000,
    "backslashes": "\\" * 990_000,
    "blanks and a brace": " " * 990_000 + "{",
    "keys without values": "{" + '"a",' * 240_000,
    "smart quotes": "“" * 330_000,
    "empty objects": "[" + "{}," * 330_000 + "{}]",
    "braces in pairs": "{}" * 490_000,
}


@pytest.mark.parametrize("text", FULL.values(), ids=FULL)
def test_a_megabyte_as_registry(write: Any, attack: Any, text: str) -> None:
    write("steps_registry.json", text)
    assert attack(seconds=2.0).status == 1


@pytest.mark.parametrize("text", FULL.values(), ids=FULL)
def test_a_megabyte_as_schema(write: Any, attack: Any, registry: Registry, text: str) -> None:
    write("steps_registry.json", registry())
    write("schemas/s.schema.json", text)
    assert attack(seconds=2.0).codes


FRONTMATTER = {
    "blanks": " " * 990_000,
    "lines": "\n" * 990_000,
    "keys": "".join(f"k{number}: v\n" for number in range(70_000)),
    "same keys": "a: b\n" * 190_000,
    "long value": "a: " + "x" * 990_000,
    "long line of words": "a: " + "x " * 490_000,
    "long lists": "a: [" + "x, " * 320_000 + "x]",
    "long lists of odd things": "a: [" + '"\\x41", ' * 110_000 + "x]",
    "items": "a:\n" + "- x\n" * 240_000,
    "quotes": "a: " + '"' * 990_000,
    "colons": "a" + ": " * 490_000,
    "dashes": "-" * 990_000,
    "fences": "a: b\n" + "--- x\n" * 160_000,
    "block": "a: |\n" + "  x\n" * 240_000,
    "folded": "a: >\n" + "  x\n\n" * 190_000,
    "tabs": "a:\t" * 300_000,
    "tabs in lines": "a:\tb\n" * 190_000,
    "comments": "# x\n" * 240_000,
    "tags": "a: " + "!!str " * 160_000,
    "anchors": "a: " + "&a " * 300_000,
    "brackets": "a: " + "[]" * 490_000,
    "plain over lines": "a: x\n" + "  y\n" * 240_000,
    "double quoted over lines": 'a: "x\n' + "  y\n" * 240_000 + '"',
    "next lines": "a: x\x85" * 150_000,
}


@pytest.mark.parametrize("text", FRONTMATTER.values(), ids=FRONTMATTER)
def test_a_megabyte_of_frontmatter_is_read_or_refused(write: Any, attack: Any, registry: Registry, text: str) -> None:
    write("steps_registry.json", registry({}))
    write("prompts/p.md", f"---\n{text}\n---\nbody\n")
    attack(seconds=3.0, megabytes=500.0)


@pytest.mark.parametrize("text", FRONTMATTER.values(), ids=FRONTMATTER)
def test_as_much_frontmatter_as_is_explained(write: Any, attack: Any, registry: Registry, text: str) -> None:
    write("steps_registry.json", registry({}))
    write("prompts/p.md", f"---\n{text[:LONGEST_EXPLAINED]}\n---\nbody\n")
    attack()

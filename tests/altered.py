"""Plans that are none: altered in every way that can be told, each with the reason for which it is refused."""

from __future__ import annotations

import json

from handmade import stages

from stagec.core.canonical import canonical, digest
from stagec.ir.plan import dump
from stagec.ir.plan.loader import read_frame, write_frame

PLAN = dump(stages())
PAYLOAD = json.loads(PLAN)["plan"]


def _with_schema(text: str) -> bytes:
    """Return the plan with a text as the schema of a node."""
    name, plan = digest(text.encode()), json.loads(PLAN)["plan"]
    plan["contents"][name] = text
    plan["nodes"]["plan"]["act"]["schema"] = name
    return write_frame(canonical(plan))


def _multiplied(levels: int) -> str:
    """Return a schema of which every level refers twice to the next."""
    parts = {f"k{n}": {"allOf": [{"$ref": f"#/$defs/k{n + 1}"}] * 2} for n in range(levels)}
    return json.dumps({"$ref": "#/$defs/k0", "$defs": {**parts, f"k{levels}": {}}})


ALTERED = {
    "empty": (b"", "it does not have the frame of a plan"),
    "some JSON": (b"{}\n", "it does not have the frame of a plan"),
    "cut off": (PLAN[:-1], "it is cut off, or something was put around it"),
    "no JSON inside": (write_frame(b"{"), "the payload of its frame is not readable JSON"),
    "another format": (
        write_frame(canonical({**PAYLOAD, "is": "stagec.plan/2"})),
        "its format is 'stagec.plan/2', and",
    ),
    "no format": (
        write_frame(b"[]"),
        (
            "its format is not named, and this is a reader of 'stagec.plan/1'; "
            "compile its sources again, or use the stagec that made it"
        ),
    ),
    "an unknown member": (write_frame(canonical({**PAYLOAD, "x": 1})), "at '/x': is not a member of this object"),
    "a member of another form": (write_frame(canonical({**PAYLOAD, "limits": 1})), "at '/limits': expected an object"),
    "a missing node": (
        write_frame(canonical({**PAYLOAD, "nodes": {}})),
        "at '/entries/': refers to 'plan', which the plan",
    ),
    "other facts": (
        write_frame(canonical({**PAYLOAD, "limits": {"executions": 7}})),
        "its facts do not follow from its",
    ),
    "not canonical": (
        write_frame(json.dumps(PAYLOAD).encode()),
        "it is not written as RFC 8785 says, or says what goes",
    ),
    "a default": (
        write_frame(canonical({**PAYLOAD, "validators": {}})),
        "it is not written as RFC 8785 says, or says what",
    ),
    "half a character": (
        write_frame(canonical(PAYLOAD).replace(b'"Review"', rb'"\ud800"')),
        "the payload of its frame is not",
    ),
    "too large a number": (
        write_frame(canonical(PAYLOAD).replace(b"[true]", b"[1e999]")),
        "the payload of its frame is not",
    ),
    "nested too deeply": (write_frame(b"[" * 100_000), "the payload of its frame is not readable JSON"),
    "a member twice": (
        write_frame(canonical(PAYLOAD).replace(b'"id":', b'"id":"x","id":')),
        "it is not written as RFC 8785",
    ),
    "names in another order": (
        write_frame(json.dumps(dict(reversed(PAYLOAD.items())), separators=(",", ":"), ensure_ascii=False).encode()),
        "it is not written as RFC 8785",
    ),
    "a text under another name": (write_frame(read_frame(PLAN)[1].replace(b"Lint.", b"Lint!")), "its content sha256:"),
    "a schema that is no JSON": (_with_schema("Lint it."), "at '/contents/sha256:"),
    "a schema whose references multiply": (_with_schema(_multiplied(20)), "at '/contents/sha256:"),
    "a schema that refers to itself in place": (_with_schema('{"allOf":[{"$ref":"#"}]}'), "at '/contents/sha256:"),
    "a schema with a pattern that is large": (_with_schema(r'{"pattern":"(\\p{L}{20}){10}"}'), "at '/contents/sha256:"),
    "a schema that is no JSON and deep": (_with_schema("[" * 100_000), "at '/contents/sha256:"),
    "a schema that is nested deeply": (_with_schema('{"not":' * 300 + "{}" + "}" * 300), "at '/contents/sha256:"),
    "a schema that is none": (_with_schema('{"type":"thing"}'), "its content sha256:"),
    "a schema that leads out": (_with_schema('{"$ref":"file:///etc/passwd"}'), "its content sha256:"),
    "a schema with a pattern that is none": (_with_schema('{"pattern":"("}'), "its content sha256:"),
}
"""What a file holds, and how the sentence begins with which it is refused."""

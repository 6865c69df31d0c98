"""What `load` and `verify` refuse, and with which sentence; hostile files are refused like any other."""

from __future__ import annotations

import copy
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from plan.examples import FILES, file_of, payload
from playable import steps

from stagec.core.canonical import canonical, digest
from stagec.core.json import Json
from stagec.ir.plan import Loaded, PlanError, dump, load, verify
from stagec.ir.plan.loader import read_frame, write_frame

STEPS, STAGES = FILES["by hand: steps"], FILES["by hand: stages"]
TEXT = read_frame(STAGES)[1]
NO_JSON = "the payload of its frame is not readable JSON: "
NO_FRAME = "it does not have the frame of a plan"
CUT = "it is cut off, or something was put around it"
ODD = "it is not written as RFC 8785 says, or says what goes without saying"
NO_FACTS = "its facts do not follow from its nodes and edges"
UNKNOWN = digest(b"a text that no plan has")


def refusal(data: bytes, reader: Callable[[bytes], Loaded] = load) -> str:
    """Return why a file is refused."""
    with pytest.raises(PlanError) as caught:
        reader(data)
    return str(caught.value)


def altered(path: str, put: Json, data: bytes = STAGES) -> bytes:
    """Return the file of a plan in which another value is at a path through its members."""
    plan = payload(data)
    *way, last = [int(each) if each.isdecimal() else each for each in path.split("/")]
    at = plan
    for each in way:
        at = at[each]
    at[last] = put
    return file_of(plan)


def without(path: str) -> bytes:
    """Return the file of a plan that lacks the member at a path."""
    plan = payload(STAGES)
    at = plan
    *way, last = path.split("/")
    for each in way:
        at = at[int(each) if each.isdecimal() else each]
    del at[last]
    return file_of(plan)


def swapped(old: bytes, new: bytes, data: bytes = STAGES) -> bytes:
    """Return the file of a plan in whose text other bytes stand in place of some."""
    text = read_frame(data)[1]
    assert old in text
    return write_frame(text.replace(old, new, 1))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("reader", [load, verify])
def test_a_sound_plan_is_read_and_named_by_its_digest(name: str, reader: Callable[[bytes], Loaded]) -> None:
    assert reader(FILES[name]).digest == digest(read_frame(FILES[name])[1])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", NO_FRAME),
        (b"\n", NO_FRAME),
        (b"{}\n", NO_FRAME),
        (b"\xef\xbb\xbf" + STAGES, NO_FRAME),
        (STAGES[1:], NO_FRAME),
        (STAGES[:90], NO_FRAME),
        (STAGES[:-1], CUT),
        (STAGES + b"\n", CUT),
        (STAGES.replace(b'","plan":', b'","flow":'), CUT),
    ],
)
def test_a_file_without_the_frame_is_refused(data: bytes, reason: str) -> None:
    assert refusal(data) == reason


def test_a_changed_payload_is_refused_with_the_digest_that_it_has() -> None:
    found = digest(TEXT.replace(b"Lint.", b"Lint!"))
    assert refusal(STAGES.replace(b"Lint.", b"Lint!")) == (
        f"it was changed: its bytes have the digest {found}, and it names another one"
    )


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"nope",
        TEXT[:-1],
        TEXT + b"x",
        TEXT.replace(b"12", b"0x12"),
        TEXT.replace(b"Lint.", b"Lint\x01"),
        TEXT.replace(b"Lint.", b"Lint\xff"),
        TEXT.replace(b"Lint.", b"Lint\xed\xa0\x80"),
        b"\xef\xbb\xbf" + TEXT,
        TEXT.decode().encode("utf-16"),
        TEXT.decode().encode("utf-16-le"),
        TEXT.decode().encode("utf-32-be"),
    ],
    ids=range(13),
)
def test_a_payload_that_is_no_json_in_utf_8_is_refused(text: bytes) -> None:
    assert refusal(write_frame(text)).startswith(NO_JSON)


@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (b"NaN", "'NaN' is not a JSON number"),
        (b"Infinity", "'Infinity' is not a JSON number"),
        (b"-Infinity", "'-Infinity' is not a JSON number"),
        (b"1e999", "'1e999' is not a JSON number"),
        (b"1" * 5000, f"'{'1' * 40}…{'1' * 20}' is not a JSON number"),
    ],
    ids=["NaN", "Infinity", "-Infinity", "1e999", "5,000 digits"],
)
def test_a_number_that_no_reader_reads_alike_is_refused(number: bytes, reason: str) -> None:
    assert refusal(swapped(b"[true]", b"[" + number + b"]")) == NO_JSON + reason


@pytest.mark.parametrize("half", [rb"\ud800", rb"\udfff", rb"\uDC00\uD800", rb"\ud83d \ude00"])
@pytest.mark.parametrize("old", [b"Review", b"review", b"ctx", b"npx", b"retry-later", b"stages/plan.md"])
def test_half_a_character_in_any_text_or_name_is_refused(old: bytes, half: bytes) -> None:
    first = json.loads(b'"' + half + b'"')[0]
    assert refusal(swapped(old, half)) == f"{NO_JSON}a text holds {first!a}, which is half a character"


@pytest.mark.parametrize(
    ("plan", "named"),
    [
        ([], "not named"),
        (None, "not named"),
        ({}, "not named"),
        ({"is": 1}, "not named"),
        ({"is": "stagec.plan/2"}, "'stagec.plan/2'"),
        ({"is": "stagec.plan/1 "}, "'stagec.plan/1 '"),
        ({"is": "\x1b[31m"}, r"'\x1b[31m'"),
    ],
)
def test_a_format_that_is_not_known_is_refused(plan: Json, named: str) -> None:
    way_out = "compile its sources again, or use the stagec that made it"
    assert refusal(file_of(plan)) == f"its format is {named}, and this is a reader of 'stagec.plan/1'; {way_out}"


@pytest.mark.parametrize(
    "path", ["colour", "nodes/plan/colour", "nodes/lint/edges/0/target/if", "limits/is", "facts/more", "session/id"]
)
@pytest.mark.parametrize("held", [None, 1, {}, "x"])
def test_a_member_that_the_format_does_not_have_is_refused_where_it_is(path: str, held: Json) -> None:
    assert refusal(altered(path, held)) == f"at '/{path}': is not a member of this object"


def test_a_pointer_has_its_escapes_and_no_others() -> None:
    assert refusal(altered("limits/a~b", 1)) == "at '/limits/a~0b': is not a member of this object"
    plan = payload(STAGES)
    plan["limits"]["a/b\x1b[2J\u202e"] = 1
    assert refusal(file_of(plan)) == r"at '/limits/a~1b\x1b[2J\u202e': is not a member of this object"


def test_a_long_pointer_does_not_drown_the_sentence() -> None:
    assert len(refusal(altered("limits/" + "a" * 10_000, 1))) < 150


POSITIVE = "expected a whole number greater than 0"
COUNT = "expected a whole number that is not negative"
TERMS = "expected an object whose 'is' is 'among' or 'reads' or 'exists'"
TARGETS = (
    "expected an object whose 'is' is 'go' or 'fork' or 'chain' or 'each' or 'named' or 'pick' or 'schedule' or 'stop'"
)
ACTS = "expected an object whose 'is' is 'prompt' or 'converse' or 'command' or 'process' or 'agent' or 'rest'"
GATES = "expected an object whose 'is' is 'intent' or 'verdict' or 'judge' or 'exit' or 'stage' or 'agent' or 'rest'"
PIECES = "expected an object whose 'is' is 'text' or 'hole' or 'each' or 'choice'"


@pytest.mark.parametrize(
    ("path", "held", "reason"),
    [
        ("id", 1, "expected a text"),
        ("id", None, "expected a text"),
        ("title", None, "expected a text"),
        ("limits", [], "expected an object"),
        ("inputs", [], "expected an object"),
        ("nodes/plan", "plan", "expected an object"),
        ("nodes/plan/edges", {}, "expected a list"),
        ("nodes/lint/act/tools", "lint", "expected a list"),
        ("nodes/lint/act/tools/1", 1, "expected a text"),
        ("nodes/lint/act/turns", 0, POSITIVE),
        ("nodes/lint/act/turns", -1, POSITIVE),
        ("nodes/lint/act/turns", True, POSITIVE),
        ("nodes/lint/act/turns", 1.5, POSITIVE),
        ("facts/turns", -1, COUNT),
        ("facts/executions", "1", COUNT),
        ("inputs/task/required", 1, "expected true or false"),
        ("inputs/task/schema", "x", "expected 'sha256:' and 64 hexadecimal digits"),
        ("inputs/task/schema", UNKNOWN.upper(), "expected 'sha256:' and 64 hexadecimal digits"),
        ("sources/pipeline.yaml", f"{UNKNOWN}\n", "expected 'sha256:' and 64 hexadecimal digits"),
        ("nodes/plan/hooks/setup", "no callable", "expected a callable, 'package.module:function'"),
        ("nodes/plan/act/prompt/1/path", "ctx", "expected a path of names and indexes"),
        ("nodes/plan/act/prompt/1/path", [-1], "expected a path of names and indexes"),
        ("nodes/plan/act/prompt/1/path", [True], "expected a path of names and indexes"),
        ("limits/reached", "over", "expected 'done' or 'failed'"),
        ("session/mode", ["ask"], "expected 'ask' or 'allowlist' or 'yolo'"),
        ("nodes/lint/act", {}, ACTS),
        ("nodes/lint/gate", [], GATES),
        ("nodes/lint/edges/1/target", {"is": ["go"]}, TARGETS),
        ("nodes/lint/edges/1/target", {"is": "Go", "node": "plan"}, TARGETS),
        ("nodes/review/edges/0/when/0", {"is": "all"}, TERMS),
        ("nodes/plan/act/prompt/0", {"is": None}, PIECES),
    ],
)
def test_a_member_of_another_form_is_refused_where_it_is(path: str, held: Json, reason: str) -> None:
    assert refusal(altered(path, held)) == f"at '/{path}': {reason}"


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("id", "it lacks 'id'"),
        ("names", "it lacks 'names'"),
        ("nodes/plan/gate", "at '/nodes/plan': lacks 'gate'"),
        ("nodes/lint/edges/0/on", "at '/nodes/lint/edges/0': lacks 'on'"),
        ("nodes/plan/admission/onDefer", "at '/nodes/plan/admission': lacks 'onDefer'"),
        ("facts/turns", "at '/facts': lacks 'turns'"),
    ],
)
def test_an_object_that_lacks_a_member_is_refused_where_it_is(path: str, reason: str) -> None:
    assert refusal(without(path)) == reason


@pytest.mark.parametrize(
    ("data", "path", "held", "table"),
    [
        (STAGES, "entries/", "x", "nodes"),
        (STAGES, "entry", "x", "entries"),
        (STAGES, "nodes/review/edges/1/target/node", "x", "nodes"),
        (STAGES, "nodes/review/edges/1/target/otherwise", "x", "nodes"),
        (STAGES, "nodes/plan/edges/0/target/nodes/1", "x", "nodes"),
        (STAGES, "nodes/plan/edges/0/target/join", "x", "nodes"),
        (STAGES, "nodes/review/edges/2/target/nodes/0", "x", "nodes"),
        (STEPS, "nodes/initial.issue/edges/2/target/nodes/check", "x", "nodes"),
        (STEPS, "nodes/initial.issue/act/variables/found/node", "x", "nodes"),
        (STEPS, "system/variables/agent", {"is": "carried", "node": "x", "key": "k"}, "nodes"),
        (STAGES, "nodes/plan/act/prompt/0/content", UNKNOWN, "contents"),
        (STAGES, "nodes/plan/act/schema", UNKNOWN, "contents"),
        (STAGES, "nodes/review/act/accepts", UNKNOWN, "contents"),
        (STAGES, "inputs/task/schema", UNKNOWN, "contents"),
        (STAGES, "tools/Read/schema", UNKNOWN, "contents"),
        (STEPS, "nodes/initial.issue/act/schema", UNKNOWN, "contents"),
        (STEPS, "nodes/closure.issue/act/words/0/0/content", UNKNOWN, "contents"),
        (STEPS, "nodes/closure.issue/validation/prompts/dirty/1/body/0/content", UNKNOWN, "contents"),
        (STEPS, "nodes/closure.issue/validation/prompts/dirty/2/then/0/content", UNKNOWN, "contents"),
        (STEPS, "nodes/closure.issue/validation/prompts/dirty/2/otherwise/0/content", UNKNOWN, "contents"),
        (STEPS, "system/prompt/0/content", UNKNOWN, "contents"),
        (STEPS, "nodes/closure.issue/validation/conditions/1/validator", "x", "validators"),
        (STAGES, "nodes/lint/act/tools/0", "x", "tools"),
        (STEPS, "nodes/initial.issue/act/tools/0", "x", "tools"),
        (STAGES, "tools/lint/server", "x", "servers"),
    ],
)
def test_a_reference_to_what_is_not_there_is_refused(data: bytes, path: str, held: Json, table: str) -> None:
    name, at = (held, path) if isinstance(held, str) else ("x", f"{path}/node")
    assert (
        refusal(altered(path, held, data))
        == f"at '/{at}': refers to '{name}', which the plan does not have in '{table}'"
    )


def test_a_name_that_is_not_there_is_quoted_and_shortened() -> None:
    assert refusal(altered("entry", "\x1b[31m")) == (
        r"at '/entry': refers to '\x1b[31m', which the plan does not have in 'entries'"
    )
    assert len(refusal(altered("entry", "a" * 10_000))) < 150


@pytest.mark.parametrize(
    "data",
    [
        write_frame(json.dumps(payload(STAGES)).encode()),
        write_frame(
            json.dumps(payload(STEPS), sort_keys=True, separators=(",", ":")).encode().replace(b"30000", b"30000 ")
        ),
        write_frame(json.dumps(dict(reversed(payload(STAGES).items())), separators=(",", ":")).encode()),
        write_frame(TEXT + b"\n"),
        swapped(b"Lint.", rb"\u004cint."),
        swapped(b'"id":"review"', b'"id":"other","id":"review"'),
        swapped(b'"is":"stagec.plan/1"', b'"is":"stagec.plan/0","is":"stagec.plan/1"'),
        swapped(b"[true]", b"[-0]"),
        swapped(b"[true]", b"[1.0]"),
        swapped(b"[true]", b"[1E2]"),
        swapped(b"[true]", b"[9007199254740993]"),
        swapped(b"[true]", b"[" * 90 + b"1.0" + b"]" * 90),
    ],
    ids=range(12),
)
def test_what_is_not_canonical_is_read_and_not_verified(data: bytes) -> None:
    assert isinstance(load(data), Loaded)
    assert refusal(data, verify) == ODD


@pytest.mark.parametrize(
    ("path", "default"),
    [
        ("validators", {}),
        ("inputs/task/default", None),
        ("limits/reached", "failed"),
        ("limits/parallel", 1),
        ("nodes/review/retry/backoff/kind", "none"),
        ("nodes/review/retry/backoff/milliseconds", 0),
        ("nodes/lint/hooks", {}),
        ("nodes/lint/edges/0/when", []),
        ("nodes/lint/gate/checks", []),
        ("servers/remote/args", []),
    ],
)
def test_a_default_that_is_written_is_not_verified(path: str, default: Json) -> None:
    data = altered(path, default)
    assert isinstance(load(data), Loaded)
    assert refusal(data, verify) == ODD


def test_a_content_under_another_name_is_not_verified() -> None:
    name = digest(b"Lint.\n")
    data = swapped(b'"Lint.\\n"', b'"Lint!\\n"')
    assert isinstance(load(data), Loaded)
    assert refusal(data, verify) == f"its content {name} is another text"


def test_a_content_without_a_digest_for_a_name_is_refused() -> None:
    assert refusal(altered("contents/x", "y")) == "at '/contents/x': expected 'sha256:' and 64 hexadecimal digits"


@pytest.mark.parametrize(
    ("path", "held"),
    [
        ("facts/done", ["lint", "test", "review"]),
        ("facts/done", []),
        ("facts/failed", ["lint"]),
        ("facts/cycles", []),
        ("facts/executions", 99),
        ("facts/turns", 0),
        ("limits", {"executions": 7}),
    ],
)
def test_facts_that_do_not_follow_are_not_verified(path: str, held: Json) -> None:
    data = altered(path, held)
    assert isinstance(load(data), Loaded)
    assert refusal(data, verify) == NO_FACTS


def test_a_plan_without_facts_is_read_and_not_verified() -> None:
    assert load(without("facts")).plan.facts is None
    assert refusal(without("facts"), verify) == NO_FACTS


# Hostile files.

DEEP = 100_000


@pytest.mark.parametrize(
    "text",
    [
        b"[" * 20_000_000,
        b'{"a":' * 4_000_000,
        b"[" * DEEP + b"]" * DEEP,
        TEXT.replace(b"[true]", b"[" * DEEP + b"]" * DEEP),
    ],
    ids=["brackets", "braces", "closed", "inside"],
)
def test_depth_without_end_is_refused(text: bytes) -> None:
    for reader in (load, verify):
        assert refusal(write_frame(text), reader).startswith(NO_JSON)


PROMPT = b'{"content":"' + digest(b"Test.\n").encode() + b'","is":"text"}'


def nested(depth: int) -> bytes:
    """Return the file of a plan with a prompt of choices inside choices."""
    return swapped(PROMPT, b'{"is":"choice","path":["ctx"],"then":[' * depth + PROMPT + b"]}" * depth)


@pytest.mark.parametrize("depth", [0, 1, 99, 100])
def test_prompts_as_deep_as_anybody_writes_are_verified(depth: int) -> None:
    assert dump(verify(nested(depth)).plan) == nested(depth)


@pytest.mark.parametrize("depth", [101, 150, 200, 300])
def test_a_prompt_that_is_nested_deeper_is_refused(depth: int) -> None:
    assert refusal(nested(depth)) == "at '/nodes/test/act/prompt': is nested more than 100 deep"


@pytest.mark.parametrize("depth", [101, 200, 400])
def test_json_that_is_nested_deeper_is_refused(depth: int) -> None:
    data = swapped(b"[true]", b"[" * (depth + 1) + b"]" * (depth + 1))
    assert refusal(data) == "at '/nodes/plan/admission/defer/0/values/0': is nested more than 100 deep"


@pytest.mark.parametrize("depth", [450, 500, 600, 900, 2_000, 50_000])
def test_a_prompt_without_a_floor_is_refused_one_way_or_the_other(depth: int) -> None:
    for reader in (load, verify):
        told = refusal(nested(depth), reader)
        assert told.endswith("is nested more than 100 deep") or told.startswith(NO_JSON)


# Plans in which something is somewhere else.

POOL: tuple[Any, ...] = (None, True, 0, 1, -1, 2**53 - 1, 0.5, 1e300, "", "plan", "\U0001f600", UNKNOWN, [], {}, [[]])


def containers(given: Any) -> Iterator[Any]:
    """Yield every object and list in some JSON that is not empty."""
    todo = [given]
    for each in todo:  # grows while it is walked
        if isinstance(each, dict | list) and each:
            yield each
            todo.extend(each.values() if isinstance(each, dict) else each)


def mutate(plan: Any, chance: random.Random) -> None:
    """Change one thing: leave it out, put another value or another part of the plan there, or double it."""
    found = list(containers(plan))
    at, other = chance.choice(found), chance.choice(found)
    key = chance.choice(list(at) if isinstance(at, dict) else range(len(at)))
    change = chance.randrange(5)
    if change == 0:
        del at[key]
    elif change == 1:
        at[key] = copy.deepcopy(chance.choice(POOL))
    elif change == 2:
        at[key] = copy.deepcopy(chance.choice(list(other.values()) if isinstance(other, dict) else other))
    elif isinstance(at, list):
        at.insert(key, copy.deepcopy(at[key]))
    else:
        at[chance.choice([*(each for each in other if isinstance(each, str)), "is", "é"])] = copy.deepcopy(at[key])


@pytest.mark.parametrize("seed", range(4))
def test_a_plan_with_a_random_change_is_refused_or_is_another_plan(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    outcomes = {"accepted": 0, "refused": 0}
    sources = [payload(each) for each in FILES.values()]
    for _ in range(500):
        plan = copy.deepcopy(chance.choice(sources))
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            mutate(plan, chance)
        data = write_frame(canonical(plan))
        try:
            loaded = verify(data)
        except PlanError:
            outcomes["refused"] += 1
        else:
            assert dump(loaded.plan) == data
            outcomes["accepted"] += 1
    assert all(outcomes.values()), outcomes


LOADED_AT_ONCE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from stagec.ir.plan import load
sys.setswitchinterval(1e-6)
data = Path(sys.argv[1]).read_bytes()
with ThreadPoolExecutor(8) as threads:
    print(len({each.digest for each in threads.map(load, [data] * 8)}))
"""


def test_threads_that_load_their_first_plan_at_once_read_the_same(tmp_path: Path) -> None:
    (tmp_path / "plan").write_bytes(dump(steps()))
    command = [sys.executable, "-c", LOADED_AT_ONCE, str(tmp_path / "plan")]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"1\n"

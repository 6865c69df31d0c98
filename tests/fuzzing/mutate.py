"""Damage: what is done to texts, bytes and values so that nothing about them can be relied on."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from random import Random
from typing import Any

HOSTILE: list[str] = [
    *(
        "",
        " ",
        "\0",
        "\ufeff",
        "\ud800",
        "\u2028",
        "\x85",
        "a" * 300,
        "{{#each x}}",
        "\r\n",
        "\t",
        "\x1b[31m",
        "'",
        "\\",
    ),
    *re.findall(
        r"\S+",
        r"""../../etc/passwd /dev/zero * **/* [ {{ }} {{ctx.task}} $ref #/ #/$defs/a __proto__ null ~ << &a *a !!str % "
        --- ... - ? : 1e999 0x1F (?=a) (a+)+$ \p{L} [\d-z] a{99999} (?<n>a)\k<n>""",
    ),
]
NUMBERS = (0, -1, 1, 2**31, 2**53 + 1, 2**63, -(2**64), 10**30, 1.5, -0.0, 1e308, 5e-324)
MOST_DEEP = 90


def text(random: Random, given: str) -> str:
    """Return a text with a few things done to it."""
    for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
        given = random.choice(_TEXTS)(random, given)
    return given


def data(random: Random, given: str) -> bytes:
    """Return damaged text as bytes; some of them are no text at all."""
    made = text(random, given).encode(errors="surrogatepass" if random.random() < 0.1 else "replace")
    chance = random.random()
    if chance < 0.03:
        return b"\xef\xbb\xbf" + made
    if chance < 0.05:
        return made.decode(errors="replace").encode("utf-16")
    if chance < 0.10 and made:
        at = random.randrange(len(made))
        return made[:at] + bytes([random.randrange(256)]) + made[at + 1 :]
    return made


def _part(random: Random, given: str) -> tuple[int, int]:
    start = random.randrange(len(given) + 1)
    return start, min(len(given), start + random.choice([1, 2, 5, 20, 100]))


def _cut(random: Random, given: str) -> str:
    start, end = _part(random, given)
    return given[:start] + given[end:]


def _end(random: Random, given: str) -> str:
    return given[: random.randrange(len(given) + 1)]


def _again(random: Random, given: str) -> str:
    start, end = _part(random, given)
    return given[:end] + given[start:end] * random.choice([1, 2, 40]) + given[end:]


def _moved(random: Random, given: str) -> str:
    start, end = _part(random, given)
    rest = given[:start] + given[end:]
    at = random.randrange(len(rest) + 1)
    return rest[:at] + given[start:end] + rest[at:]


def _planted(random: Random, given: str) -> str:
    start, end = _part(random, given)
    return given[:start] + random.choice(HOSTILE) + given[random.choice([start, end]) :]


def _lines(random: Random, given: str) -> str:
    lines = given.split("\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    lines[one], lines[other] = lines[other], random.choice(["", "  ", "\t"]) + lines[one]
    return "\n".join(lines)


def _breaks(random: Random, given: str) -> str:
    return given.replace("\n", random.choice(["\r\n", "\r", "\n\n", "\u2028"]))


def _deep(random: Random, given: str) -> str:
    at = random.randrange(len(given) + 1)
    return given[:at] + random.choice(["[", "{a: ", '{"a":', "- ", "? "]) * random.choice([3, 70, 3_000]) + given[at:]


_TEXTS = (_cut, _end, _again, _moved, _planted, _planted, _lines, _breaks, _deep)


def value(random: Random, given: Any) -> Any:
    """Return a value with a few of its members changed, exchanged, renamed, removed or added."""
    made = [deepcopy(given)]
    for _ in range(random.choice([1, 1, 2, 3, 8])):
        places = list(_places(made))
        holder, key = random.choice(places)
        random.choice(_VALUES)(random, holder, key, places)
    return made[0]


def tame(random: Random, given: Any) -> None:
    """Change one member of a value so that it may still be of the form that is wanted there."""
    places = [*_places(given)] if isinstance(given, dict | list) else []
    if not places:
        return
    holder, key = random.choice(places)
    found = holder[key]
    same = [
        other[at] for other, at in places if type(other[at]) is type(found) and (at == key or random.random() < 0.1)
    ]
    if isinstance(found, list) and found and random.random() < 0.7:
        at = random.randrange(len(found))
        random.choice([lambda: found.pop(at), lambda: found.append(deepcopy(found[at])), found.reverse])()
    elif isinstance(found, bool):
        holder[key] = not found
    elif isinstance(found, int | float):
        holder[key] = random.choice([0, 1, 2, 3, *NUMBERS])
    elif isinstance(holder, dict) and random.random() < 0.2:
        holder.pop(key)
    else:
        holder[key] = deepcopy(random.choice(same))


def _places(holder: Any) -> Any:
    """Yield each container inside a value with each of its keys."""
    waiting = [holder]
    while waiting:
        inside = waiting.pop()
        keys = list(inside) if isinstance(inside, dict) else range(len(inside))
        for key in keys:
            yield inside, key
            if isinstance(inside[key], dict | list):
                waiting.append(inside[key])


def leaf(random: Random) -> Any:
    """Return a value that nobody expects anywhere."""
    return random.choice(
        [None, True, False, [], {}, random.choice(NUMBERS), random.choice(HOSTILE), [random.choice(HOSTILE)],
         {random.choice(HOSTILE): random.choice(NUMBERS)}]
    )  # fmt: skip


def _changed(random: Random, holder: Any, key: Any, _places: Any) -> None:
    holder[key] = leaf(random)


def _exchanged(random: Random, holder: Any, key: Any, places: Any) -> None:
    other, there = random.choice(places)
    if there in other if isinstance(other, dict) else there < len(other):
        holder[key] = deepcopy(other[there])


def _renamed(random: Random, holder: Any, key: Any, places: Any) -> None:
    if isinstance(holder, dict) and key in holder:
        names = [each for _, each in places if isinstance(each, str)]
        holder[random.choice([*names, random.choice(HOSTILE), f"{key}x"])] = holder.pop(key)


def _removed(_random: Random, holder: Any, key: Any, _places: Any) -> None:
    if isinstance(holder, dict):
        holder.pop(key, None)


def _added(random: Random, holder: Any, key: Any, places: Any) -> None:
    other, there = random.choice(places)
    new = deepcopy(other[there]) if (there in other if isinstance(other, dict) else there < len(other)) else None
    if isinstance(holder, dict):
        holder[random.choice(HOSTILE)] = new
    else:
        holder.insert(key, new)


def _nested(random: Random, holder: Any, key: Any, _places: Any) -> None:
    made = leaf(random)
    for _ in range(random.choice([2, 60, MOST_DEEP])):
        made = [made] if random.random() < 0.5 else {"properties": made}
    holder[key] = made


_VALUES = (_changed, _changed, _exchanged, _renamed, _removed, _added, _nested)


def written(given: Any) -> str:
    """Return a value as JSON, which YAML contains."""
    return json.dumps(given, indent=1)

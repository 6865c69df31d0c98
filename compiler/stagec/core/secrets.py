"""Secrets, recognised by their names and their shape, and texts without any.

It finds what is written plainly. A secret that a program encodes, splits or shortens is not found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from urllib.parse import quote, unquote

REDACTED = "[redacted]"
SHORTEST = 8
"""Characters of a value that is looked for; a shorter one would be found in too much that is no secret."""
LONGEST = 65_536
"""Characters of the longest secret that is found by its shape where a text is cut off."""

_NAMES = (
    r"(?i)(?:token|secret|passw(?:or)?d|passphrase|credentials?|apikey|authorization|cookie)s?$"
    r"|(?:api|access|private|secret|signing|encryption|auth|account|service)[_-]?keys?(?:[_-]?id)?$"
    r"|(?:^|[_-])(?:pat|pass|auth|dsn)$|[_-]pwd$"
    r"|(?:token|secret|passw(?:or)?d|credential|private_key)[_-]"
)
_NO_SECRET = re.compile(r"[_-](?:count|limit|max|file|path|dir|url|type|name|expiry|sock)$", re.IGNORECASE)
_SHAPES = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?"
    r"|(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=[0-9;\[]m))(?:"  # behind no letter, but behind a break in JSON or a colour
    r"gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|glpat-[A-Za-z0-9_-]{20,255}"
    r"|sk-[A-Za-z0-9_-]{20,255}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}\b|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,2000}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,255}|(?:npm_|hf_|pypi-|dckr_pat_|shpat_)[A-Za-z0-9_-]{20,2000}"
    r"|eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{4,32768}\.[A-Za-z0-9_-]{0,8192})"
)
_SHOWN = r"(?i)(?P<before>\b(?:Bearer|Basic)[ \t]{1,8})[A-Za-z0-9._~+/=-]{16,8192}"
_ADDRESS = r"(?i)(?P<before>[a-z][a-z0-9+.-]{0,30}://[^\s/:@]{0,255}:)[^\s/@]{1,1024}(?=@)"


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    """Compile one of the large patterns when it is first needed: that takes longer than many commands have to do."""
    return re.compile(pattern)


def is_secret_name(name: str) -> bool:
    """Tell whether what goes under a name is kept secret: `GITHUB_TOKEN`, `db-password`, `apiKey`."""
    plain = name.strip("-")
    return _compile(_NAMES).search(plain) is not None and _NO_SECRET.search(plain) is None


def has_secret(text: str) -> bool:
    """Tell whether something in a text has the shape of a secret."""
    return any(_compile(shape).search(text) for shape in (_SHAPES, _SHOWN, _ADDRESS))


class Redactor:
    """Takes secrets out of texts: the values of variables with a secret's name, and what has a secret's shape.

    A value is found as it is given, as JSON and addresses write it, and in the parts of it that are secrets by
    themselves: the password of an address, the token behind `Bearer`.
    """

    def __init__(self, *environments: Mapping[str, str]) -> None:
        self._values = _list_values(tuple(item for each in environments for item in each.items()))

    def redact(self, text: str) -> str:
        """Return a text with `[redacted]` in place of every secret; the time it takes grows with its length."""
        for each in self._values:
            text = text.replace(each, REDACTED)
        text = _compile(_SHOWN).sub(rf"\g<before>{REDACTED}", _compile(_SHAPES).sub(REDACTED, text))
        if "://" in text:  # looking for this shape takes longest, and few texts can have it
            text = _compile(_ADDRESS).sub(rf"\g<before>{REDACTED}", text)
        return text

    def redact_output(self, text: str) -> str:
        """Return the output of a program, a tool or a server without secrets, also those under a secret's name.

        Models may write of secrets in this way that are none, as in `token: next_token`, so it is not for their texts.
        """
        plain = rf"\g<before>{REDACTED}"
        return _hide_named(_compile(_COOKIE).sub(plain, _compile(_HEADER).sub(plain, self.redact(text))))

    def redact_json(self, text: str, *, is_output: bool = False) -> str:
        """Return JSON with all its texts redacted, names of members as well; the JSON stays what it is otherwise."""
        redact = self.redact_output if is_output else self.redact
        if "\\" not in text and redact(text) == text:
            return text  # what has no escapes holds every text of it as it is
        named, end = "", -1  # the last name, and where its value begins

        def hide(found: re.Match[str]) -> str:
            nonlocal named, end
            plain: str = json.loads(found["text"]) if "\\" in found["text"] else found["text"][1:-1]
            is_hidden = is_output and end == found.start() and is_secret_name(named) and _is_named_secret(plain)
            named, end = (plain, found.end()) if found["colon"] else ("", -1)
            told = REDACTED if is_hidden else redact(plain) if len(plain) >= SHORTEST_NAMED else plain
            return found[0] if told == plain else json.dumps(told) + (found["colon"] or "")

        return _LITERAL.sub(hide, text)


SHORTEST_NAMED = 6
"""Characters of a value that is taken for a secret because of the name that it stands under."""
_LITERAL = re.compile(r'(?P<text>"(?:[^"\\]|\\.)*")(?P<colon>[ ]?:[ ]?)?')
_BEGIN = r"(?:(?<![A-Za-z0-9_\\-])|(?<=\\[nrt]))"
"""The beginning of a name: behind no letter, but behind a break in a text inside JSON."""
_SIGN = r"(?:\\?[\"'])?[ \t]{0,4}[:=][ \t]{0,4}"
_HEADER = (
    rf"(?i)(?P<before>{_BEGIN}(?:proxy-)?authorization{_SIGN}(?:\\?[\"'])?)"
    r"(?:[A-Za-z-]{1,20}[ \t]{1,4})?[^\s\"'\\,;]{6,8192}(?=[ \t]{0,4}(?:[\r\n\"'\\,;)}\]]|$))"
)
_COOKIE = rf"(?i)(?P<before>{_BEGIN}(?:set-)?cookie{_SIGN}(?:\\?[\"'])?)[^\s=;\"'\\]{{1,100}}=[^\r\n\"'\\]{{1,8192}}"
_NAMED = rf"(?:(?P<parameter>[?&])|{_BEGIN}(?P<option>--?)?)(?P<name>[A-Za-z][A-Za-z0-9_-]{{0,80}}){_SIGN}"
"""The syntax before a value: `NAME=`, `"name": `, `?name=`, `--name=`; the quotes may be those of a text in JSON."""
_QUOTED = re.compile(r"\\?[\"'](?P<text>[^\"'\\\r\n]{1,65536})(?=\\?[\"'])")
_BARE = re.compile(r"(?P<text>[^\s\"'\\]{1,4096})")
_WORD = re.compile(r"(?P<text>[^\s\"'\\,;&<>(){}\[\]$]{1,1024}+)(?!\()")
_DIGIT = re.compile(r"[^\s\"'\\,;&<>(){}\[\]$\d]{0,100}\d")
_COUNT = re.compile(r"\d+(?!\w)")


def _hide_named(text: str) -> str:
    """Return a text with what stands under the names of secrets hidden."""
    parts: list[str] = []
    end = 0
    for found in _compile(_NAMED).finditer(text):
        if found.start() < end or not is_secret_name(found["name"]):
            continue
        given = _find_value(text, found)
        if given is not None and _is_named_secret(given["text"]):
            parts += (text[end : given.start("text")], REDACTED)
            end = given.end("text")
    return "".join((*parts, text[end:])) if parts else text


def _find_value(text: str, named: re.Match[str]) -> re.Match[str] | None:
    """Return the value behind a name; without quotes, None if it may be something else.

    Variables of an environment, headers, parameters and options hold what their names say. In programs such names are
    followed by anything, so the value needs a digit there, and is no call.
    """
    name, at = named["name"], named.end()
    if "token" in name.lower() and _COUNT.match(text, at):
        return None  # models count in tokens
    quoted = _QUOTED.match(text, at)
    if quoted is not None or name.isupper():
        return quoted or _BARE.match(text, at)
    is_literal = "-" in name or named["parameter"] or named["option"] or _DIGIT.match(text, at)
    return _WORD.match(text, at) if is_literal else None


def _is_named_secret(given: str) -> bool:
    """Tell whether what stands under a secret's name is one, and no reference to a variable."""
    return len(given) >= SHORTEST_NAMED and given != REDACTED and _REFERENCE.fullmatch(given) is None


@lru_cache(maxsize=4)
def _list_values(variables: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """Return the secret values, longest first.

    Of a text of several lines, each line is kept secret as well: programs may indent it.
    """
    given = {part for name, text in variables for part in _secret_parts(name, text)}
    lines = {line.strip() for each in given for line in each.splitlines()}
    plain = {each for each in given | lines if len(each) >= SHORTEST and each not in REDACTED}
    written = {form for each in plain for form in (json.dumps(each), json.dumps(each, ensure_ascii=False), repr(each))}
    found = plain | {each[1:-1] for each in written} | {quote(each, safe="") for each in plain}
    return tuple(sorted(found, key=len, reverse=True))


def _secret_parts(name: str, text: str) -> Iterator[str]:
    """Yield the secret parts of the value of a variable: all of it, a part, or nothing."""
    if name.upper().endswith("_HEADERS"):  # such as `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,name=value`
        headers = [each.partition("=")[2].strip() for each in text.split(",")]
        yield from (part for each in headers for form in (each, unquote(each)) for part in _credentials(form))
    elif is_secret_name(name) or (_SECRET_VARIABLE.search(name) is not None and _KNOWN.search(name) is None):
        yield from _credentials(text)
    if "://" in text:
        yield from (found[0] for found in _PASSWORD.finditer(text))


def _credentials(text: str) -> Iterator[str]:
    """Yield a secret, and what is secret in it by itself: `Bearer TOKEN`."""
    yield text
    scheme, _, token = text.partition(" ")
    if scheme.lower() in {"bearer", "basic", "token"}:
        yield token.strip()


HEADER = "STAGEC_HEADER_"
"""The prefix of variables with headers of servers; their values are secrets unless publicly known."""
_SECRET_VARIABLE = re.compile(rf"^{HEADER}|_(?:KEY|PWD)$", re.IGNORECASE)
_KNOWN = re.compile(r"_(?:ACCEPT|ACCEPT_ENCODING|ACCEPT_LANGUAGE|CONTENT_TYPE|USER_AGENT)$")
_PASSWORD = re.compile(r"(?<=:)[^\s/:@]{1,1024}(?=@)")


_REFERENCE = re.compile(r"\$\{[^}]*\}|\$[A-Za-z_]\w*")
_PARAMETER = re.compile(r"[?&;](?P<name>[^=&#;]{1,100})=(?P<value>[^&#;]+)")


def is_literal_secret(name: str, given: str) -> bool:
    """Tell whether a secret itself is given under a name; a reference to a variable, such as `${TOKEN}`, is none."""
    return has_literal_secret(given) or (is_secret_name(name) and _is_literal(given))


def has_literal_secret(text: str) -> bool:
    """Tell whether a text holds a secret itself: by its shape, or as a password or parameter of an address."""
    literal = _REFERENCE.sub("", text)
    parameters = _PARAMETER.finditer(text) if "://" in text else ()
    return has_secret(literal) or any(
        is_secret_name(each["name"]) and _is_literal(each["value"]) for each in parameters
    )


def literal_arguments(arguments: Sequence[str]) -> Iterator[int]:
    """Yield the indices of arguments that hold a secret: `--token X`, `--token=X`, or a text of its shape."""
    option = ""
    for at, each in enumerate(arguments):
        name, equals, given = each.partition("=")
        named = (name, given) if equals and "://" not in name else (option, each)
        if has_literal_secret(each) or is_literal_secret(*named):
            yield at
        option = each if each.startswith("-") and not equals else ""


def holds_secret(command: str, environment: Mapping[str, str]) -> bool:
    """Tell whether a command line holds a secret: one of an environment, or one that is written out in it."""
    words = command.split()
    return Redactor(environment).redact_output(command) != command or next(literal_arguments(words), None) is not None


def _is_literal(given: str) -> bool:
    return bool(_REFERENCE.sub("", given).strip()) and not given.startswith("-") and _REFERENCE.search(given) is None

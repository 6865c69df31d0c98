"""What looks like a secret, by the name it goes under and by its shape, and texts without any.

It finds what is written plainly. A secret that a program encodes, splits or shortens is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

REDACTED = "[redacted]"
SHORTEST = 8
"""Characters of a value that is looked for; a shorter one would be found in too much that is no secret."""
LONGEST = 65_536
"""Characters of the longest secret that is found by its shape where a text is cut off."""

_NAMES = re.compile(
    r"(?:token|secret|passw(?:or)?d|passphrase|credentials?|apikey|authorization|cookie)s?$"
    r"|(?:api|access|private|secret|signing|encryption|auth|account|service)[_-]?keys?(?:[_-]?id)?$"
    r"|(?:^|[_-])(?:pat|pass|auth|dsn)$|[_-]pwd$"
    r"|(?:token|secret|passw(?:or)?d|credential|private_key)[_-]",
    re.IGNORECASE,
)
_NO_SECRET = re.compile(r"(?:_count|_limit|_max|_file|_path|_dir|_url|_type|_name|_expiry|_sock)$", re.IGNORECASE)
_SHAPES = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?"
    r"|(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=[0-9;\[]m))(?:"  # behind no letter, but behind a break in JSON or a colour
    r"gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|glpat-[A-Za-z0-9_-]{20,255}"
    r"|sk-[A-Za-z0-9_-]{20,255}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}\b|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,2000}"
    r"|xox[a-z]-[A-Za-z0-9-]{10,255}|(?:npm_|hf_|pypi-|dckr_pat_|shpat_)[A-Za-z0-9_-]{20,2000}"
    r"|eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{4,32768}\.[A-Za-z0-9_-]{0,8192})"
)
_SHOWN = re.compile(r"(?P<before>\b(?:Bearer|Basic)[ \t]{1,8})[A-Za-z0-9._~+/=-]{16,8192}", re.IGNORECASE)
_ADDRESS = re.compile(r"(?P<before>[a-z][a-z0-9+.-]{0,30}://[^\s/:@]{0,255}:)[^\s/@]{1,1024}(?=@)", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Tell whether what goes under a name is kept secret: `GITHUB_TOKEN`, `db-password`, `apiKey`."""
    plain = name.strip("-")
    return _NAMES.search(plain) is not None and _NO_SECRET.search(plain) is None


def has_secret(text: str) -> bool:
    """Tell whether something in a text has the shape of a secret."""
    return any(shape.search(text) for shape in (_SHAPES, _SHOWN, _ADDRESS))


class Redactor:
    """Takes secrets out of texts: the values of variables with a secret's name, and what has a secret's shape."""

    def __init__(self, *environments: Mapping[str, str]) -> None:
        self._values = sorted(_values(environments), key=len, reverse=True)

    def redact(self, text: str) -> str:
        """Return a text with `[redacted]` in place of every secret; the time it takes grows with its length."""
        for each in self._values:
            text = text.replace(each, REDACTED)
        text = _SHOWN.sub(rf"\g<before>{REDACTED}", _SHAPES.sub(REDACTED, text))
        if "://" in text:  # looking for this shape takes longest, and few texts can have it
            text = _ADDRESS.sub(rf"\g<before>{REDACTED}", text)
        return text


def _values(environments: Iterable[Mapping[str, str]]) -> set[str]:
    """Return what is kept secret, and of a text of several lines each line as well, as programs may indent it."""
    given = {value for each in environments for name, value in each.items() if is_secret_name(name)}
    lines = {line.strip() for value in given for line in value.splitlines()}
    return {each for each in given | lines if len(each) >= SHORTEST}


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
    """Yield which arguments of a command line hold a secret: `--token X`, `--token=X`, or what has the shape of one."""
    option = ""
    for at, each in enumerate(arguments):
        name, equals, given = each.partition("=")
        named = (name, given) if equals and "://" not in name else (option, each)
        if has_literal_secret(each) or is_literal_secret(*named):
            yield at
        option = each if each.startswith("-") and not equals else ""


def _is_literal(given: str) -> bool:
    return bool(_REFERENCE.sub("", given).strip()) and not given.startswith("-") and _REFERENCE.search(given) is None

"""A rule: its file in the family its code belongs to, and its specification."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stagec.core.failure import Failure
from stagec.core.rule import AnyFamily
from stagec.core.version import __version__
from stagec.core.words import listing, quote
from stagec.pipeline import families
from stagec_dev.scaffold import Scaffold, filled

_TAKES = "a code and a name, such as STG218 unknown-step"

_RULE = '''"""@@: one sentence that says what is wrong.

## Why this matters
@@

## How to fix
@@
"""

from collections.abc import Iterator

from @package@ import Finding, @Subject@, rule


@rule(since="@since@", origin=("@@",))
def check(@subject@: @Subject@) -> Iterator[Finding]:
    yield Finding(@subject@.at, "@@")
'''

_SPEC = """# @code@ @name@

## @@: what is wrong

@@: a sentence about what this shows.

```json steps_registry.json
{"agentId": "@@"}
```

```diagnostics
```

## @@: what looks alike and is right

@@: a sentence about why nothing is said.

```json steps_registry.json
{"agentId": "@@"}
```

```diagnostics
```
"""


def _files(words: tuple[str, ...]) -> Mapping[str, str]:
    code, name = _identity(words)
    family = _family(code)
    stem = f"{code.lower()}_{name.replace('-', '_')}"
    shown = {"code": code, "name": name, "package": family.package, "since": __version__.rpartition(".")[0]}
    subject = family.subject.__name__
    return {
        f"compiler/{family.package.replace('.', '/')}/{stem}.py": filled(
            _RULE, Subject=subject, subject=subject.lower(), **shown
        ),
        f"tests/rules/{family.name}/{stem}.md": filled(_SPEC, **shown),
    }


def _identity(words: tuple[str, ...]) -> tuple[str, str]:
    match = re.fullmatch(r"(STG\d{3}) ([a-z0-9]+(?:-[a-z0-9]+)*)", " ".join(words))
    if match is None:
        raise Failure(f"expected {_TAKES}, got {quote(' '.join(words))}")
    code, name = match.groups()
    for rule in (rule for family in families() for rule in family.rules()):
        if code == rule.code or name == rule.name:
            raise Failure(f"{rule.code} is {quote(rule.name)} already")
    return code, name


def _family(code: str) -> AnyFamily:
    for family in families():
        if family.hundred == int(code[3]) * 100:
            return family
    known = listing([f"STG{family.hundred // 100}xx" for family in families()])
    raise Failure(f"{code} belongs to no family; there are {known}")


RULE = Scaffold(_TAKES, _files)

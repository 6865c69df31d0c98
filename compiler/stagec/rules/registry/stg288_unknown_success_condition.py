"""A validator's `successWhen` has no meaning, or can never hold.

## Why this matters
Such a condition never holds. The validator then fails every time, whatever its command does: every attempt is refused,
and the run ends as failed.

## How to fix
Write `empty` when the command must print nothing, `exitCode:N` with the status from 0 to 255 that it must end with,
`contains:TEXT` when it must print a text, or `matches:PATTERN` when it must print what a regular expression matches.
Upper and lower case count.
"""

from collections.abc import Iterator

from stagec.core.nearest import NameIndex
from stagec.core.rule import Finding
from stagec.core.words import quote
from stagec.frontends.registry.document import Registry
from stagec.frontends.registry.validators import is_attainable, list_validators, read_success
from stagec.rules.registry import rule

_FORMS = NameIndex(("empty", "exitCode", "contains", "matches"))
_NEEDED = {"exitCode": "a colon and a number", "contains": "a colon and a text", "matches": "a colon and a pattern"}


@rule(since="0.1", origin=("steps-registry:beyond.success-when", "steps-registry:doc.success-when"))
def check(registry: Registry) -> Iterator[Finding]:
    for name, body in list_validators(registry):
        written = body.get("successWhen")
        success = read_success(written) if isinstance(written, str) else None
        at = registry.at / "validators" / name / "successWhen"
        if success is None and isinstance(written, str):
            what = f"validator {quote(name)} can never succeed: {quote(written)} is no condition"
            yield Finding(at, f"{what}{_hint(written)}")
        elif success is not None and not is_attainable(success):
            what = "a program ends with a status from 0 to 255"
            yield Finding(at, f"validator {quote(name)} can never succeed: {what}")


def _hint(written: str) -> str:
    """Return what was most likely meant; the opposite of a form is none."""
    kind, colon, argument = written.partition(":")
    near = _FORMS.nearest(kind)
    if near == kind:
        return f"; {quote(kind)} needs {_NEEDED.get(kind, 'no argument')}"
    if near is None or kind.lower().startswith(("non", "not", "!")):
        return "; there are 'empty', 'exitCode:N', 'contains:TEXT' and 'matches:PATTERN'"
    return f"; did you mean {quote(f'{near}{colon}{argument}' if near != 'empty' else near)}?"

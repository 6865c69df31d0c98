"""The frame around a plan: the digest of its bytes, at a fixed place, so that checking it needs no parsing."""

from __future__ import annotations

from hashlib import sha256

from stagec.plan.trouble import PlanError

_OPEN, _BETWEEN, _CLOSE = b'{"digest":"', b'","plan":', b"}\n"
_DIGEST = len("sha256:") + 64
_HEAD = len(_OPEN) + _DIGEST + len(_BETWEEN)


def digest(given: bytes) -> str:
    """Return the name of some bytes: `sha256:` and their digest in lower-case hexadecimal digits."""
    return f"sha256:{sha256(given).hexdigest()}"


def framed(payload: bytes) -> bytes:
    """Return the file of a plan: `{"digest":"sha256:…","plan":` the plan's bytes `}` and a line feed."""
    return b"".join((_OPEN, digest(payload).encode(), _BETWEEN, payload, _CLOSE))


def unframed(data: bytes) -> tuple[str, bytes]:
    """Return the digest in a frame, and the bytes inside it of which it is the digest; else raise `PlanError`."""
    payload = data[_HEAD : -len(_CLOSE)]
    named = data[len(_OPEN) : len(_OPEN) + _DIGEST]
    if len(data) < _HEAD + len(_CLOSE) or data[: len(_OPEN)] != _OPEN:
        raise PlanError("it does not begin as plans do")
    if data[_HEAD - len(_BETWEEN) : _HEAD] != _BETWEEN or data[-len(_CLOSE) :] != _CLOSE:
        raise PlanError("it is cut off, or something was put around it")
    found = digest(payload)
    if named != found.encode():
        raise PlanError(f"it was changed: its bytes have the digest {found}, and it names another one")
    return found, payload

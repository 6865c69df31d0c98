"""Keys: the private one that signs, and the public ones that are trusted, with the time for which they are."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from stagec.core.extras import explain_missing_extra
from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.words import quote

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


@contextmanager
def require_libraries() -> Iterator[None]:
    """Raise `Failure` where a library is missing that a signature needs."""
    try:
        yield
    except ImportError as error:
        raise explain_missing_extra("signatures need", "sign") from error


NAMESPACE = "stagec"
"""What signatures of `ssh-keygen -Y sign -n` must be for."""
_TYPE = "ssh-ed25519"


class KeyPasswordError(Exception):
    """A private key that a password protects, and none or a wrong one was given."""


@value
class TrustedKey:
    """A public Ed25519 key, 32 bytes; where it stands, as `keys/release.pub:3`; and the time for which it is valid."""

    raw: bytes
    origin: str
    owner: str = ""
    after: datetime | None = None
    before: datetime | None = None

    @property
    def fingerprint(self) -> str:
        """The name that OpenSSH gives to the key: `SHA256:` and 43 characters."""
        return fingerprint(self.raw)

    @property
    def named(self) -> str:
        """What people call the key: its owner, if one is written beside it, and its fingerprint."""
        return f"{quote(self.owner)} ({self.fingerprint})" if self.owner else self.fingerprint

    def explain_invalid(self, now: datetime) -> str | None:
        """Return why the key does not count at a time; nothing if it does."""
        if self.after is not None and now < self.after:
            return f"the key {self.named} is valid from {self.after.isoformat()} on"
        if self.before is not None and now > self.before:
            return f"the key {self.named} has expired: it was valid until {self.before.isoformat()}"
        return None

    def open(self) -> Ed25519PublicKey:
        """Return the key of the library."""
        with require_libraries():
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        return Ed25519PublicKey.from_public_bytes(self.raw)


@value
class SigningKey:
    """A private Ed25519 key, as the library has it."""

    opened: Ed25519PrivateKey

    @property
    def fingerprint(self) -> str:
        """The name that OpenSSH gives to its public key."""
        return fingerprint(self.opened.public_key().public_bytes_raw())


def fingerprint(raw: bytes) -> str:
    """Return the name that OpenSSH gives to a public key of 32 bytes."""
    wire = b"".join(struct.pack(">I", len(part)) + part for part in (_TYPE.encode(), raw))
    return f"SHA256:{base64.b64encode(hashlib.sha256(wire).digest()).decode().rstrip('=')}"


def read_private_key(data: bytes, name: str, password: bytes | None) -> SigningKey:
    """Return the private key in a PEM file or a file of OpenSSH; raise `KeyPasswordError` or `Failure`."""
    with require_libraries():
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    is_ssh = b"BEGIN OPENSSH PRIVATE KEY" in data
    load = serialization.load_ssh_private_key if is_ssh else serialization.load_pem_private_key
    try:
        key = _unlock(load, data, password)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise Failure(f"{quote(name)} holds no private key: expected PEM or OpenSSH, Ed25519") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise Failure(f"{quote(name)} holds a private key of another kind: expected Ed25519")
    return SigningKey(key)


def _unlock(load: Callable[[bytes, bytes | None], Any], data: bytes, password: bytes | None) -> Any:
    """Return the key that a function of the library reads; the password counts only if the key needs one."""
    try:
        return load(data, None)
    except TypeError as locked:
        if password is None:
            raise KeyPasswordError from locked
        try:
            return load(data, password)
        except ValueError as error:
            raise KeyPasswordError from error


def read_trusted_keys(data: bytes, name: str) -> tuple[TrustedKey, ...]:
    """Return the keys in a file: a public key in PEM or as OpenSSH writes it, or an `allowed_signers` file."""
    text = data.decode("utf-8", "replace")
    if "-----BEGIN" in text:
        return (TrustedKey(_read_pem(data, name), name),)
    lines = enumerate(text.split("\n"), 1)  # ssh-keygen knows no other end of a line
    written = ((number, line.strip(_BLANK)) for number, line in lines)
    keys = tuple(
        key for number, line in written if line and not line.startswith("#") for key in _read_line(line, name, number)
    )
    if not keys:
        raise Failure(f"{quote(name)} holds no Ed25519 key for signatures of {NAMESPACE}")
    return keys


def _read_pem(data: bytes, name: str) -> bytes:
    with require_libraries():
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if b"PRIVATE KEY" in data:
        raise Failure(f"{quote(name)} holds a private key: only the public one is needed here")
    try:
        key = serialization.load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise Failure(f"{quote(name)} holds no public key: expected PEM or OpenSSH, Ed25519") from error
    if not isinstance(key, Ed25519PublicKey):
        raise Failure(f"{quote(name)} holds a public key of another kind: expected Ed25519")
    return key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)


_BLANK = " \t\r"
_KEY = re.compile(r"(?P<type>[a-z0-9@.-]+)[ \t]+(?P<key>[^ \t]+)(?:[ \t]+(?P<comment>.*))?")
_OTHER = re.compile(r"(?:sk-)?(?:ssh|ecdsa-sha2)-[a-z0-9@.-]+")
"""The types of keys that OpenSSH knows."""
_SIGNER = re.compile(r'(?P<bare>[^" \t]*)(?:"(?P<quoted>[^"]*)"[ \t\r]*|[ \t\r]+)(?P<rest>.+)')
"""The owner of a key ends at a blank, or at the second quote in it."""
_TEXT = r'"(?:\\"|[^"])*"'
_OPTIONS = re.compile(rf'(?:{_TEXT}|[^" \t])+')
_OPTION = re.compile(
    r'(?:(?P<name>namespaces|valid-after|valid-before)=(?P<given>"(?:\\"|[^"])*?(?<!\\)"|"")|(?P<flag>cert-authority))'
    r"(?:,|$)|,",
    re.IGNORECASE,
)


def _read_line(line: str, name: str, number: int) -> Iterator[TrustedKey]:
    """Yield the key of a line: `ssh-ed25519 KEY`, or `OWNER [OPTIONS] ssh-ed25519 KEY`; another kind of key is none.

    The second form is read as ssh-keygen reads `allowed_signers`. What it refuses is a `Failure`.
    """
    where = f"{name}:{number}"
    plain = _find_key(line)
    if plain is not None:
        if plain["type"] == _TYPE:
            yield TrustedKey(_decode_key(plain["key"], where), where, plain["comment"] or "")
        return
    signer = _SIGNER.fullmatch(line)
    rest = "" if signer is None else signer["rest"]
    key, options = _find_key(rest), ""
    if key is None and (found := _OPTIONS.match(rest)) is not None:
        key, options = _find_key(rest[found.end() :].lstrip(_BLANK)), found[0]
    if signer is None or key is None:
        raise Failure(f"{where}: {quote(line)} cannot be read: expected OWNER [OPTIONS] {_TYPE} KEY")
    owner = signer["bare"] + (signer["quoted"] or "")
    trust = _read_options(options, where)
    if key["type"] != _TYPE:
        return
    raw = _decode_key(key["key"], where)
    after, before = (_read_time(trust.get(each), where) for each in ("valid-after", "valid-before"))
    if after is not None and before is not None and before <= after:
        raise Failure(f"{where}: 'valid-before' is not later than 'valid-after'")
    namespaces = trust.get("namespaces")
    is_meant = namespaces is None or _holds(namespaces, NAMESPACE)
    if "cert-authority" not in trust and is_meant and _names_somebody(owner):
        yield TrustedKey(raw, where, owner, after, before)


def _find_key(text: str) -> re.Match[str] | None:
    """Return the type, the key and the comment with which a text begins; nothing if it begins with something else."""
    found = _KEY.fullmatch(text)
    return found if found is not None and _OTHER.fullmatch(found["type"]) else None


def _holds(patterns: str, name: str) -> bool:
    """Tell whether a list of patterns of OpenSSH holds a name: one does, and none that begins with `!`."""
    matching = [each for each in patterns.split(",") if _match(each.removeprefix("!"), name)]
    return bool(matching) and not any(each.startswith("!") for each in matching)


def _names_somebody(patterns: str) -> bool:
    """Tell whether there is somebody whom a list of patterns holds, as far as one can be made of a pattern in it."""
    wanted = [each for each in patterns.split(",") if not each.startswith("!")]
    names = {each.replace("*", more).replace("?", one) for each in wanted for more in ("", "x", "yy") for one in "xyz"}
    return any(name and _holds(patterns, name) for name in names)


def _match(pattern: str, name: str) -> bool:
    """Tell whether a pattern with `*` and `?` holds a name, in time of the product of their lengths."""
    reached = {0}
    for each in pattern:
        if each == "*":
            reached = set(range(min(reached, default=len(name) + 1), len(name) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(name) and each in ("?", name[at])}
    return len(name) in reached


def _read_options(text: str, where: str) -> Mapping[str, str]:
    """Return the options of a line, or raise `Failure`: one that cannot be read may be the end of the trust."""
    options: dict[str, str] = {}
    at = 0
    while at < len(text):
        found = _OPTION.match(text, at)
        if found is None:
            raise Failure(f'{where}: {quote(text)} cannot be read: expected NAME="VALUE", separated by commas')
        at = found.end()
        name = (found["name"] or found["flag"] or "").lower()
        if name in options and found["flag"] is None:
            raise Failure(f"{where}: {quote(text)} cannot be read: {quote(name)} stands in it twice")
        if name:
            options[name] = (found["given"] or "")[1:-1].replace('\\"', '"')
    if text.endswith(","):
        raise Failure(f"{where}: {quote(text)} cannot be read: it ends with a comma")
    return options


def _decode_key(text: str, where: str) -> bytes:
    """Return the 32 bytes in a key as OpenSSH writes it, or raise `Failure`."""
    prefix = struct.pack(">I", len(_TYPE)) + _TYPE.encode() + struct.pack(">I", _RAW)
    try:
        wire = base64.b64decode(re.sub(r"[\r\v\f]", "", text), validate=True)  # OpenSSH passes over them
    except ValueError as error:
        raise Failure(f"{where}: the key is not Base64") from error
    if len(wire) != len(prefix) + _RAW or not wire.startswith(prefix):
        raise Failure(f"{where}: the key is not an Ed25519 key")
    return wire[len(prefix) :]


_RAW = 32
"""Bytes of an Ed25519 key."""
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(?P<zone>[Zz]|[Uu][Tt][Cc])?", re.ASCII)
_CEILINGS = (9999, 12, 31, 23, 59, 61)


def _read_time(text: str | None, where: str) -> datetime | None:
    """Return a time as `ssh-keygen` reads it: `YYYYMMDD[HHMM[SS]][Z]`, in the local zone without `Z`.

    The 31st of a shorter month is a day of the next one.
    """
    if text is None:
        return None
    found = _TIME.fullmatch(text)
    parts = [0] * 6 if found is None else [int(each or 0) for each in found.groups()[:-1]]
    year, month, day, hour, minute, second = parts
    try:
        in_range = day > 0 and all(part <= most for part, most in zip(parts, _CEILINGS, strict=True))
        months = datetime(year, month, 1, hour, minute, tzinfo=UTC)
        given = months + timedelta(days=day - 1, seconds=second)
        meant = given if found is not None and found["zone"] else given.replace(tzinfo=None).astimezone()
        if in_range and meant.timestamp() > 0:
            return meant
    except (ValueError, OverflowError):
        pass
    raise Failure(f"{where}: {quote(text)} is not a time: expected YYYYMMDD[HHMM[SS]][Z]")

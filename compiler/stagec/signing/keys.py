"""Keys: the private one that signs, and the public ones that are trusted, with the time for which they are."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from stagec.core.failure import Failure
from stagec.core.value import value
from stagec.core.words import quote
from stagec.signing.library import require_libraries

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

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
        if self.before is not None and now >= self.before:
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
    lines = enumerate(text.splitlines(), 1)
    written = ((number, line.strip()) for number, line in lines)
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


_KEY = re.compile(r"(?:^|\s)ssh-ed25519\s+(?P<key>[A-Za-z0-9+/]+=*)(?:\s+(?P<comment>.*))?$")
_OPTION = re.compile(
    r'(?:(?P<name>namespaces|valid-after|valid-before)="(?P<given>[^"]*)"|(?P<flag>cert-authority))(?:,|$)',
    re.IGNORECASE,
)
_OPTIONS = re.compile(rf"(?:{_OPTION.pattern})*", re.IGNORECASE)
_OWNER = re.compile(r'"[^"]*"|\S+')


def _read_line(line: str, name: str, number: int) -> Iterator[TrustedKey]:
    """Yield the key of a line: `ssh-ed25519 KEY`, or `OWNER [OPTIONS] ssh-ed25519 KEY`; another kind of key is none."""
    found = _KEY.search(line)
    if found is None:
        return
    where = f"{name}:{number}"
    raw = _decode_key(found["key"], where)
    before = line[: found.start()].strip()
    owner = _OWNER.match(before)
    if owner is None:
        yield TrustedKey(raw, where, found["comment"] or "")
        return
    options = _read_options(before.removeprefix(owner[0]).strip(), where)
    if "cert-authority" in options or NAMESPACE not in options.get("namespaces", NAMESPACE).split(","):
        return
    times = (_read_time(options.get(name), where) for name in ("valid-after", "valid-before"))
    yield TrustedKey(raw, where, owner[0].strip('"'), *times)


def _read_options(text: str, where: str) -> Mapping[str, str]:
    """Return the options of a line, or raise `Failure`: one that cannot be read may be the end of the trust."""
    if _OPTIONS.fullmatch(text) is None:
        raise Failure(f'{where}: {quote(text)} cannot be read: expected NAME="VALUE", separated by commas')
    return {(each["name"] or each["flag"]).lower(): each["given"] or "" for each in _OPTION.finditer(text)}


def _decode_key(text: str, where: str) -> bytes:
    """Return the 32 bytes in a key as OpenSSH writes it, or raise `Failure`."""
    prefix = struct.pack(">I", len(_TYPE)) + _TYPE.encode() + struct.pack(">I", _RAW)
    try:
        wire = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Failure(f"{where}: the key is not Base64") from error
    if len(wire) != len(prefix) + _RAW or not wire.startswith(prefix):
        raise Failure(f"{where}: the key is not an Ed25519 key")
    return wire[len(prefix) :]


_RAW = 32
"""Bytes of an Ed25519 key."""
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d)?)?(?P<zone>[Zz])?")


def _read_time(text: str | None, where: str) -> datetime | None:
    """Return a time as `ssh-keygen` writes it: `YYYYMMDD[HHMM[SS]][Z]`, in the local zone without `Z`."""
    if text is None:
        return None
    found = _TIME.fullmatch(text)
    parts = [0] * 6 if found is None else [int(each or 0) for each in found.groups()[:-1]]
    year, month, day, hour, minute, second = parts
    try:
        given = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError as error:
        raise Failure(f"{where}: {quote(text)} is not a time: expected YYYYMMDD[HHMM[SS]][Z]") from error
    return given if found is not None and found["zone"] else given.replace(tzinfo=None).astimezone()

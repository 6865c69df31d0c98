"""Signatures that `ssh-keygen -Y sign` has written, taken apart as OpenSSH's PROTOCOL.sshsig says."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Iterator

from stagec.core.value import value
from stagec.signing.keys import NAMESPACE

_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_MAGIC, _VERSION = b"SSHSIG", 1
_HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}
_KIND = b"ssh-ed25519"


class UnreadableSignatureError(Exception):
    """A signature that cannot be taken apart, or says that it is of another kind; `str()` is the reason."""


@value
class SshSignature:
    """The public key that it names, 32 bytes; its own 64 bytes; and the hash algorithm that it says it is for."""

    key: bytes
    signature: bytes
    algorithm: bytes

    def message(self, data: bytes) -> bytes:
        """Return the bytes that are signed when `data` is."""
        hashed = _HASHES[self.algorithm](data).digest()
        return _MAGIC + b"".join(map(_pack, (NAMESPACE.encode(), b"", self.algorithm, hashed)))


def is_ssh_signature(text: str) -> bool:
    """Tell whether a text begins as such signatures do."""
    return text.lstrip().startswith(_BEGIN)


def read_ssh_signature(text: str) -> SshSignature:
    """Return the signature in a text, or raise `UnreadableSignatureError`."""
    inside = text.strip().removeprefix(_BEGIN).removesuffix(_END)
    try:
        blob = base64.b64decode("".join(inside.split()), validate=True)
        head, rest = blob[: len(_MAGIC) + 4], blob[len(_MAGIC) + 4 :]
        if head != _MAGIC + struct.pack(">I", _VERSION):
            raise UnreadableSignatureError(f"it is not a signature of version {_VERSION}")
        key, namespace, _reserved, algorithm, signature = _split(rest)
        key_kind, *key_parts = _split(key)
        kind, *parts = _split(signature)
    except (ValueError, struct.error) as error:
        raise UnreadableSignatureError("it is cut off, or not a signature of OpenSSH") from error
    if namespace != NAMESPACE.encode():
        raise UnreadableSignatureError(f"it is for {namespace.decode('utf-8', 'replace')!r}: sign with -n {NAMESPACE}")
    if (
        (key_kind, kind) != (_KIND, _KIND)
        or list(map(len, (*key_parts, *parts))) != [32, 64]
        or algorithm not in _HASHES
    ):
        raise UnreadableSignatureError("it is of another kind: expected Ed25519")
    (raw,), (signed,) = key_parts, parts
    return SshSignature(raw, signed, algorithm)


def _pack(part: bytes) -> bytes:
    return struct.pack(">I", len(part)) + part


def _split(data: bytes) -> Iterator[bytes]:
    """Yield the parts of data in which the length of each, 4 bytes, stands before it."""
    while data:
        (length,) = struct.unpack(">I", data[:4])
        if length > len(data) - 4:
            raise ValueError("a part is longer than what is left")
        yield data[4 : 4 + length]
        data = data[4 + length :]

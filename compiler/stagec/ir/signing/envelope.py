"""Signed envelopes of plans: what they state, and how they are checked."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from stagec.core.canonical import canonical, digest
from stagec.core.json import Json, Object, object_of
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.ir.plan.loader import Loaded
from stagec.ir.signing.keys import NAMESPACE, SigningKey, TrustedKey, fingerprint, require_libraries

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


STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:stagec:predicate:plan:v1"
_ALGORITHM = "sha256"


@value
class SignerEvidence:
    """What a signer knows of the sources: findings by severity, and the git revision that has every source."""

    findings: Mapping[str, int] | None = None
    revision: str | None = None


@value
class Statement:
    """The digests that a statement is about, `sha256:…`, and its predicate."""

    digests: frozenset[str]
    predicate: Object


class UnreadableStatementError(Exception):
    """A statement of another kind, or none; `str()` is the reason."""


def write_statement(loaded: Loaded, data: bytes, name: str, evidence: SignerEvidence) -> bytes:
    """Return the statement about a plan and the bytes of its file, as canonical JSON."""
    plan = loaded.plan
    subjects: list[Json] = [_name_subject(name, digest(data)), _name_subject(f"{plan.id}.plan", loaded.digest)]
    predicate: dict[str, Json] = {
        "flow": plan.id,
        "stagec": __version__,
        "sources": dict(plan.sources),
    }
    if evidence.findings is not None:
        predicate["findings"] = dict(evidence.findings)
    if evidence.revision is not None:
        predicate["revision"] = {"git": evidence.revision}
    return canonical({"_type": STATEMENT, "subject": subjects, "predicateType": PREDICATE, "predicate": predicate})


def _name_subject(name: str, named: str) -> Json:
    return {"name": name, "digest": {_ALGORITHM: named.removeprefix(f"{_ALGORITHM}:")}}


def read_statement(payload: bytes) -> Statement:
    """Return a statement, or raise `UnreadableStatementError`."""
    try:
        given = object_of(json.loads(payload))
    except (ValueError, RecursionError) as error:
        raise UnreadableStatementError("it is not JSON") from error
    if given.get("_type") != STATEMENT or given.get("predicateType") != PREDICATE:
        raise UnreadableStatementError("it is not a statement about a plan of stagec")
    subjects = given.get("subject")
    named = (object_of(object_of(each).get("digest")) for each in (subjects if isinstance(subjects, list) else ()))
    return Statement(
        frozenset(f"{_ALGORITHM}:{each.get(_ALGORITHM)}" for each in named), object_of(given.get("predicate"))
    )


_TYPE = "application/vnd.in-toto+json"
_MOST = 64
"""Signatures of an envelope that are tried."""


@value
class SealedPayload:
    """What an envelope holds: the payload, the bytes that are signed for it, and its signatures of 64 bytes."""

    payload: bytes
    signed: bytes
    signatures: tuple[bytes, ...]

    def list_signers(self, keys: tuple[TrustedKey, ...]) -> tuple[TrustedKey, ...]:
        """Return the keys that made one of the signatures; the names of keys in envelopes are hints only."""
        return tuple(key for key in keys if any(is_signed_by(key, each, self.signed) for each in self.signatures))


def seal(payload: bytes, key: SigningKey) -> bytes:
    """Return the envelope of a payload with one signature, as a line of canonical JSON."""
    with require_libraries():
        from securesystemslib.dsse import Envelope
        from securesystemslib.signer import CryptoSigner, SSlibKey

    named = SSlibKey.from_crypto(key.opened.public_key(), keyid=key.fingerprint)
    envelope = Envelope(payload, _TYPE, {})
    envelope.sign(CryptoSigner(key.opened, named))
    return canonical(envelope.to_dict()) + b"\n"


def unseal(text: str) -> SealedPayload:
    """Return what an envelope holds, or raise `UnreadableSignatureError`; whether it is valid is another question."""
    with require_libraries():
        from securesystemslib.dsse import Envelope
        from securesystemslib.exceptions import Error

    try:
        given: Any = json.loads(text)
        listed = object_of(given).get("signatures")
        if not isinstance(listed, list) or not 0 < len(listed) <= _MOST:
            raise UnreadableSignatureError(f"it has no signatures, or more than {_MOST}")
        # one and the same key may have signed more than once, and some sign without a name
        named = [{**each, "keyid": str(number)} for number, each in enumerate(listed)]
        envelope = Envelope.from_dict({**given, "signatures": named})
        signatures = tuple(bytes.fromhex(each.signature) for each in envelope.signatures.values())
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, Error) as error:
        raise UnreadableSignatureError("it is not a DSSE envelope") from error
    if envelope.payload_type != _TYPE:
        raise UnreadableSignatureError(f"it has another payload type: expected {_TYPE}")
    return SealedPayload(envelope.payload, envelope.pae(), signatures)


def is_signed_by(key: TrustedKey, signature: bytes, signed: bytes) -> bool:
    """Tell whether a key made a signature of some bytes."""
    with require_libraries():
        from cryptography.exceptions import InvalidSignature

    try:
        key.open().verify(signature, signed)
    except InvalidSignature:
        return False
    return True


class RefusedSignatureError(Exception):
    """A signature that does not vouch for a plan; `str()` is the reason, a sentence without a full stop."""


@value
class Vouching:
    """The key that vouches for a plan, and its statement; a signature of `ssh-keygen` has none."""

    key: TrustedKey
    statement: Statement | None = None


def check_signature(text: str, data: bytes, keys: tuple[TrustedKey, ...], now: datetime) -> Vouching:
    """Return who vouches for the bytes of a plan's file, or raise `RefusedSignatureError`.

    `text` is an envelope or a signature of OpenSSH; `now` is the time at which keys must be valid.
    """
    check = _check_ssh if is_ssh_signature(text) else _check_dsse
    try:
        signers, statement = check(text, data, keys)
    except (UnreadableSignatureError, UnreadableStatementError) as error:
        raise RefusedSignatureError(f"the signature is refused: {error}") from error
    # a key may be listed more than once, for one time after the other
    invalid = [each.explain_invalid(now) for each in signers]
    valid = next((key for key, why in zip(signers, invalid, strict=True) if why is None), None)
    if valid is None:
        raise RefusedSignatureError(invalid[0])
    return Vouching(valid, statement)


_Signers = tuple[TrustedKey, ...]


def _check_ssh(text: str, data: bytes, keys: _Signers) -> tuple[_Signers, None]:
    signature = read_ssh_signature(text)
    own = tuple(key for key in keys if key.raw == signature.key)
    if not own:
        raise RefusedSignatureError(f"the key that signed, {fingerprint(signature.key)}, is none of the trusted ones")
    if not is_signed_by(own[0], signature.signature, signature.message(data)):
        raise RefusedSignatureError("the signature is one of other bytes")
    return own, None


def _check_dsse(text: str, data: bytes, keys: _Signers) -> tuple[_Signers, Statement]:
    sealed = unseal(text)
    signers = sealed.list_signers(keys)
    if not signers:
        raise RefusedSignatureError("no trusted key made a valid signature of it")
    statement = read_statement(sealed.payload)
    if digest(data) not in statement.digests:
        raise RefusedSignatureError("the statement is about another plan")
    return signers, statement

"""DSSE envelopes: a statement with its signatures."""

from __future__ import annotations

import json
from typing import Any

from stagec.core.canonical import canonical
from stagec.core.json import object_of
from stagec.core.value import value
from stagec.signing.keys import SigningKey, TrustedKey
from stagec.signing.library import require_libraries
from stagec.signing.ssh_signature import UnreadableSignatureError

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

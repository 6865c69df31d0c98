"""Whether somebody who is trusted vouches for a plan."""

from __future__ import annotations

from datetime import datetime

from stagec.core.canonical import digest
from stagec.core.value import value
from stagec.signing.envelope import is_signed_by, unseal
from stagec.signing.keys import TrustedKey, fingerprint
from stagec.signing.ssh_signature import (
    UnreadableSignatureError,
    is_ssh_signature,
    read_ssh_signature,
)
from stagec.signing.statement import Statement, UnreadableStatementError, read_statement


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

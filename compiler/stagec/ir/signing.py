"""Signed envelopes of plans: their statements, the keys that sign and are trusted, and the checks of both."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from stagec.core.canonical import canonical, digest
from stagec.core.extras import explain_missing_extra
from stagec.core.failure import Failure
from stagec.core.json import Json, Object, object_of
from stagec.core.value import value
from stagec.core.version import __version__
from stagec.core.words import quote
from stagec.ir.plan.loader import Loaded

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
"""The namespace of the signatures of `ssh-keygen -Y sign -n`."""
_KEY_TYPE = "ssh-ed25519"


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
        """The name of the key for people: its owner, if one is written beside it, and its fingerprint."""
        return f"{quote(self.owner)} ({self.fingerprint})" if self.owner else self.fingerprint

    def explain_invalid(self, now: datetime) -> str | None:
        """Return why the key does not count at a time; None if it does."""
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
    wire = b"".join(struct.pack(">I", len(part)) + part for part in (_KEY_TYPE.encode(), raw))
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
        if plain["type"] == _KEY_TYPE:
            yield TrustedKey(_decode_key(plain["key"], where), where, plain["comment"] or "")
        return
    signer = _SIGNER.fullmatch(line)
    rest = "" if signer is None else signer["rest"]
    key, options = _find_key(rest), ""
    if key is None and (found := _OPTIONS.match(rest)) is not None:
        key, options = _find_key(rest[found.end() :].lstrip(_BLANK)), found[0]
    if signer is None or key is None:
        raise Failure(f"{where}: {quote(line)} cannot be read: expected OWNER [OPTIONS] {_KEY_TYPE} KEY")
    owner = signer["bare"] + (signer["quoted"] or "")
    trust = _read_options(options, where)
    if key["type"] != _KEY_TYPE:
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
    """Return the type, the key and the comment with which a text begins; None if it begins with something else."""
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
    prefix = struct.pack(">I", len(_KEY_TYPE)) + _KEY_TYPE.encode() + struct.pack(">I", _RAW)
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
    """The signer's facts about the sources: findings by severity, and the git revision that has every source."""

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
    """The content of an envelope: the payload, the bytes that are signed for it, and its signatures of 64 bytes."""

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
    """Return the content of an envelope, or raise `UnreadableSignatureError`; this does not verify it."""
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
    """Return the signer of the bytes of a plan's file, or raise `RefusedSignatureError`.

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

"""How a record of TLS is opened: the keys that secrets come to, and the AEADs that they are for.

Rules: RFC 8446, 5.2 and 7 (TLS 1.3); RFC 5246, 5, 6.2.3.3 and 6.3, RFC 5288 and RFC 7905 (TLS 1.2).
Importing this raises ImportError where the package cryptography is not installed.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256, SHA384
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

Buffer = bytes | memoryview

Open = Callable[[int, bytes, Buffer], tuple[int, bytes] | None]
"""Of a record's number, header and body: its content type and content; None if the key is another."""

_TAG: Final = 16


class Suite(NamedTuple):
    """What a cipher suite says of records."""

    aead: type[AESGCM] | type[ChaCha20Poly1305]
    key: int
    """Bytes of the key."""
    hash: type[SHA256] | type[SHA384]

    @property
    def salt(self) -> int:
        """Bytes of the nonce that TLS 1.2 derives; the rest of the 12 stands in each record."""
        return 4 if self.aead is AESGCM else 12


_AES_128_GCM: Final = Suite(AESGCM, 16, SHA256)
_AES_256_GCM: Final = Suite(AESGCM, 32, SHA384)
_CHACHA20_POLY1305: Final = Suite(ChaCha20Poly1305, 32, SHA256)

SUITES: Final[dict[int, Suite]] = {
    # TLS 1.3: RFC 8446, B.4
    0x1301: _AES_128_GCM,
    0x1302: _AES_256_GCM,
    0x1303: _CHACHA20_POLY1305,
    # TLS 1.2: one key exchange behind the other, RFC 5288, 5487, 5289, 8442
    **dict.fromkeys((*range(0x9C, 0xAE, 2), *range(0xC02B, 0xC033, 2), 0xD001), _AES_128_GCM),
    **dict.fromkeys((*range(0x9D, 0xAE, 2), *range(0xC02C, 0xC033, 2), 0xD002), _AES_256_GCM),
    # RFC 7905
    **dict.fromkeys(range(0xCCA8, 0xCCAF), _CHACHA20_POLY1305),
}
"""Those that are read, by their number in the registry of IANA."""


def expand_label(suite: Suite, secret: bytes, label: str, length: int) -> bytes:
    """HKDF-Expand-Label without a context."""
    name = b"tls13 " + label.encode()
    info = struct.pack(">HB", length, len(name)) + name + b"\0"
    return HKDFExpand(suite.hash(), length, info).derive(secret)


def next_secret(suite: Suite, secret: bytes) -> bytes:
    """The traffic secret behind a KeyUpdate."""
    return expand_label(suite, secret, "traffic upd", suite.hash.digest_size)


def traffic(suite: Suite, secret: bytes) -> Open:
    """What opens the records of TLS 1.3 under a traffic secret."""
    decrypt = suite.aead(expand_label(suite, secret, "key", suite.key)).decrypt
    iv = int.from_bytes(expand_label(suite, secret, "iv", 12))

    def opened(number: int, header: bytes, body: Buffer) -> tuple[int, bytes] | None:
        try:
            inner = decrypt((iv ^ number).to_bytes(12), body, header)
        except InvalidTag:
            return None
        if inner[-1:] in (b"", b"\0"):  # padded
            inner = inner.rstrip(b"\0")
        return (inner[-1], inner[:-1]) if inner else (0, b"")

    return opened


def key_block(
    suite: Suite, master: bytes, client_random: bytes, server_random: bytes
) -> tuple[Open, Open]:
    """What opens the client's records of TLS 1.2, and the server's."""
    length = 2 * (suite.key + suite.salt)
    seed = server_random + client_random
    block = prf(suite, master, b"key expansion" + seed, length)
    keys, ivs = block[: 2 * suite.key], block[2 * suite.key :]
    return (
        _explicit(suite, keys[: suite.key], ivs[: suite.salt]),
        _explicit(suite, keys[suite.key :], ivs[suite.salt :]),
    )


def prf(suite: Suite, secret: bytes, seed: bytes, length: int) -> bytes:
    """P_hash of TLS 1.2; the label is part of the seed."""
    name = suite.hash.name
    found, link = b"", seed
    while len(found) < length:
        link = hmac.digest(secret, link, name)
        found += hmac.digest(secret, link + seed, name)
    return found[:length]


def _explicit(suite: Suite, key: bytes, iv: bytes) -> Open:
    decrypt = suite.aead(key).decrypt
    explicit = 12 - suite.salt

    def opened(number: int, header: bytes, body: Buffer) -> tuple[int, bytes] | None:
        length = len(body) - explicit - _TAG
        if length < 0:
            return None
        # 12 bytes of the two: RFC 7905 has no explicit part, and the number in the derived one
        derived = iv if explicit else (int.from_bytes(iv) ^ number).to_bytes(12)
        about = struct.pack(">Q3sH", number, header[:3], length)
        try:
            return header[0], decrypt(derived + body[:explicit], body[explicit:], about)
        except InvalidTag:
            return None

    return opened

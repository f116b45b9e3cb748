"""Decrypt TLS records: derive keys from secrets, and apply the AEADs of cipher suites.

Rules: RFC 8446, 5.2 and 7 (TLS 1.3); RFC 5246, 5, 6.2.3.3 and 6.3, RFC 5288 and RFC 7905 (TLS 1.2). Importing
this module raises ImportError if the package cryptography is not installed.
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
"""Takes a record's number, header and body; returns content type and content, or None if the key does not
fit."""

_TAG: Final = 16


class Suite(NamedTuple):
    """The record protection of a cipher suite."""

    aead: type[AESGCM] | type[ChaCha20Poly1305]
    key: int
    """Bytes of the key."""
    hash: type[SHA256] | type[SHA384]

    @property
    def salt(self) -> int:
        """Return the bytes of the nonce that TLS 1.2 derives; the rest of its 12 bytes is in each record."""
        return 4 if self.aead is AESGCM else 12


_AES_128_GCM: Final = Suite(AESGCM, 16, SHA256)
_AES_256_GCM: Final = Suite(AESGCM, 32, SHA384)
_CHACHA20_POLY1305: Final = Suite(ChaCha20Poly1305, 32, SHA256)

SUITES: Final[dict[int, Suite]] = {
    # TLS 1.3: RFC 8446, B.4
    0x1301: _AES_128_GCM,
    0x1302: _AES_256_GCM,
    0x1303: _CHACHA20_POLY1305,
    # TLS 1.2: one key exchange after the other, RFC 5288, 5487, 5289, 8442
    **dict.fromkeys((*range(0x9C, 0xAE, 2), *range(0xC02B, 0xC033, 2), 0xD001), _AES_128_GCM),
    **dict.fromkeys((*range(0x9D, 0xAE, 2), *range(0xC02C, 0xC033, 2), 0xD002), _AES_256_GCM),
    # RFC 7905
    **dict.fromkeys(range(0xCCA8, 0xCCAF), _CHACHA20_POLY1305),
}
"""The supported suites, by their number in IANA's registry."""


def expand_label(suite: Suite, secret: bytes, label: str, length: int) -> bytes:
    """Compute HKDF-Expand-Label without a context."""
    name = b"tls13 " + label.encode()
    info = struct.pack(">HB", length, len(name)) + name + b"\0"
    return HKDFExpand(suite.hash(), length, info).derive(secret)


def next_secret(suite: Suite, secret: bytes) -> bytes:
    """Return the traffic secret after a KeyUpdate."""
    return expand_label(suite, secret, "traffic upd", suite.hash.digest_size)


def traffic(suite: Suite, secret: bytes) -> Open:
    """Return the function that decrypts TLS 1.3 records under a traffic secret."""
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
    """Return the functions that decrypt the client's and the server's TLS 1.2 records."""
    length = 2 * (suite.key + suite.salt)
    seed = server_random + client_random
    block = prf(suite, master, b"key expansion" + seed, length)
    keys, ivs = block[: 2 * suite.key], block[2 * suite.key :]
    return (
        _explicit(suite, keys[: suite.key], ivs[: suite.salt]),
        _explicit(suite, keys[suite.key :], ivs[suite.salt :]),
    )


def prf(suite: Suite, secret: bytes, seed: bytes, length: int) -> bytes:
    """Compute P_hash of TLS 1.2; the label is part of the seed."""
    name = suite.hash.name
    output, link = b"", seed
    while len(output) < length:
        link = hmac.digest(secret, link, name)
        output += hmac.digest(secret, link + seed, name)
    return output[:length]


def _explicit(suite: Suite, key: bytes, iv: bytes) -> Open:
    decrypt = suite.aead(key).decrypt
    explicit = 12 - suite.salt

    def opened(number: int, header: bytes, body: Buffer) -> tuple[int, bytes] | None:
        length = len(body) - explicit - _TAG
        if length < 0:
            return None
        # 12 bytes in all: RFC 7905 has no explicit part, and mixes the number into the derived part
        derived = iv if explicit else (int.from_bytes(iv) ^ number).to_bytes(12)
        additional_data = struct.pack(">Q3sH", number, header[:3], length)
        try:
            return header[0], decrypt(derived + body[:explicit], body[explicit:], additional_data)
        except InvalidTag:
            return None

    return opened

"""Authentication of a replay by SASL: PLAIN (RFC 4616) and SCRAM (RFC 5802, 7677), with given credentials.

It is repeated before the live broker's session ends (KIP-368), whatever the recorded client did. Recorded
tokens are of no use: captures do not contain them, and SCRAM's are valid once.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from barnabas.peers.replay.connection import LiveConnection
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import api, key_of

HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
MECHANISMS: Final = ("PLAIN", *HASHES)

HANDSHAKE: Final = key_of("SaslHandshake")
AUTHENTICATE: Final = key_of("SaslAuthenticate")
CLIENT_ID: Final = "barnabas-replay"

RENEWED: Final = 0.85
"""The part of a session's lifetime after which Java's clients renew it at the earliest."""

ITERATIONS: Final = 1_000_000
"""The most SCRAM iterations that a broker may request."""


class AuthenticationError(ConnectionError):
    """Authentication failed: credentials were refused, or the broker does not know the password."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Username, password and SASL mechanism, which is one of MECHANISMS."""

    mechanism: str
    username: str
    password: str = field(repr=False)


def password_in(path: Path) -> str:
    """Return the first line of a file. Raises ValueError with the reason if the file can't be read."""
    try:
        return path.read_text("utf-8").split("\n")[0].removesuffix("\r")
    except OSError as problem:
        raise ValueError(problem.strerror) from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None


Tokens = Generator[bytes, bytes, None]
"""Yields tokens to send, and receives the broker's tokens."""


async def authenticate(connection: LiveConnection, credentials: Credentials) -> None:
    """Authenticate a connection, and again before its SASL session ends.

    Raises:
        AuthenticationError, ConnectionLost: The broker refused, or closed the connection.
    """
    answer = await _ask(connection, HANDSHAKE, {"mechanism": credentials.mechanism})
    if answer["error_code"]:
        offered = ", ".join(map(str, answer["mechanisms"]))
        raise AuthenticationError(
            f"the broker does not offer {credentials.mechanism}, only {offered}"
        )
    tokens = tokens_of(credentials, secrets.token_urlsafe(24))
    token = next(tokens)
    while True:
        answer = await _ask(connection, AUTHENTICATE, {"auth_bytes": token})
        if answer["error_code"]:
            raise AuthenticationError(f"not authenticated: {answer['error_message']}")
        try:
            token = tokens.send(answer["auth_bytes"])
        except StopIteration:
            break
    if answer["session_lifetime_ms"]:
        seconds = answer["session_lifetime_ms"] / 1000 * RENEWED
        connection.lasts(seconds, lambda: authenticate(connection, credentials))


def tokens_of(credentials: Credentials, nonce: str) -> Tokens:
    r"""Generate a client's SASL tokens.

    Args:
        credentials: with the mechanism.
        nonce: random text, for SCRAM.

    Raises:
        AuthenticationError: The broker's token is not valid.

    >>> next(tokens_of(Credentials("PLAIN", "alice", "x"), ""))
    b'\x00alice\x00x'
    """
    if credentials.mechanism == "PLAIN":
        yield f"\0{credentials.username}\0{credentials.password}".encode()
        return
    algorithm = HASHES[credentials.mechanism]
    name = credentials.username.replace("=", "=3D").replace(",", "=2C")
    bare = f"n={name},r={nonce}"
    first = (yield f"n,,{bare}".encode()).decode(errors="replace")
    challenge = _attributes(first)
    try:
        salt, iterations = base64.b64decode(challenge["s"]), int(challenge["i"])
    except (KeyError, ValueError):
        raise AuthenticationError("the broker's SCRAM challenge can't be read") from None
    if not challenge.get("r", "").startswith(nonce) or not 0 < iterations <= ITERATIONS:
        raise AuthenticationError("the broker's SCRAM challenge belongs to another exchange")
    salted = hashlib.pbkdf2_hmac(algorithm, credentials.password.encode(), salt, iterations)
    final = f"c=biws,r={challenge['r']}"
    signed = f"{bare},{first},{final}".encode()
    key = hmac.digest(salted, b"Client Key", algorithm)
    signature = hmac.digest(hashlib.new(algorithm, key).digest(), signed, algorithm)
    proof = bytes(
        key_byte ^ signature_byte for key_byte, signature_byte in zip(key, signature, strict=True)
    )
    last = (yield f"{final},p={base64.b64encode(proof).decode()}".encode()).decode(errors="replace")
    server = hmac.digest(salted, b"Server Key", algorithm)
    expected = base64.b64encode(hmac.digest(server, signed, algorithm)).decode()
    if not hmac.compare_digest(_attributes(last).get("v", ""), expected):
        raise AuthenticationError("the broker did not prove that it knows the password")


def _attributes(text: str) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in text.split(","))}


async def _ask(connection: LiveConnection, key: int, values: dict[str, Any]) -> dict[str, Any]:
    version = 1
    future = connection.send(
        key, version, CLIENT_ID, api(key).request.codec(version).encode(values)
    )
    assert future is not None  # noqa: S101
    try:
        return api(key).response.codec(version).decode(await future)
    except Malformed as problem:
        raise AuthenticationError(f"the broker's answer can't be read: {problem}") from None

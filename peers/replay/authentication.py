"""How a replay authenticates: PLAIN (RFC 4616) and SCRAM (RFC 5802, 7677), by what it is given.

It does so again before the live broker's session ends (KIP-368), whenever the recorded client did.

The recorded tokens are of no use: captures do not have them, and SCRAM's are good for one time.
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
"""More than these are not computed for a server that asks for them."""


class Refused(ConnectionError):
    """The broker does not let us in, or is not the one that knows the password."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who asks. mechanism is one of MECHANISMS."""

    mechanism: str
    username: str
    password: str = field(repr=False)


def password_in(path: Path) -> str:
    """The first line of a file. Raises ValueError, with what is wrong with the file."""
    try:
        return path.read_text("utf-8").split("\n")[0].removesuffix("\r")
    except OSError as problem:
        raise ValueError(problem.strerror) from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None


Tokens = Generator[bytes, bytes, None]
"""Yields what is sent, is sent what was answered."""


async def authenticate(connection: LiveConnection, credentials: Credentials) -> None:
    """The first exchanges of a connection, and again before the session ends. Raises Refused, or Gone."""
    answer = await _ask(connection, HANDSHAKE, {"mechanism": credentials.mechanism})
    if answer["error_code"]:
        offered = ", ".join(map(str, answer["mechanisms"]))
        raise Refused(f"the broker does not offer {credentials.mechanism}, only {offered}")
    tokens = tokens_of(credentials, secrets.token_urlsafe(24))
    token = next(tokens)
    while True:
        answer = await _ask(connection, AUTHENTICATE, {"auth_bytes": token})
        if answer["error_code"]:
            raise Refused(f"not authenticated: {answer['error_message']}")
        try:
            token = tokens.send(answer["auth_bytes"])
        except StopIteration:
            break
    if answer["session_lifetime_ms"]:
        seconds = answer["session_lifetime_ms"] / 1000 * RENEWED
        connection.lasts(seconds, lambda: authenticate(connection, credentials))


def tokens_of(credentials: Credentials, nonce: str) -> Tokens:
    r"""A client's tokens. nonce: random, for SCRAM. Raises Refused for what no server would answer.

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
    said = _attributes(first)
    try:
        salt, iterations = base64.b64decode(said["s"]), int(said["i"])
    except (KeyError, ValueError):
        raise Refused("the broker's SCRAM challenge can't be read") from None
    if not said.get("r", "").startswith(nonce) or not 0 < iterations <= ITERATIONS:
        raise Refused("the broker's SCRAM challenge belongs to another exchange")
    salted = hashlib.pbkdf2_hmac(algorithm, credentials.password.encode(), salt, iterations)
    final = f"c=biws,r={said['r']}"
    signed = f"{bare},{first},{final}".encode()
    key = hmac.digest(salted, b"Client Key", algorithm)
    signature = hmac.digest(hashlib.new(algorithm, key).digest(), signed, algorithm)
    proof = bytes(one ^ other for one, other in zip(key, signature, strict=True))
    last = (yield f"{final},p={base64.b64encode(proof).decode()}".encode()).decode(errors="replace")
    server = hmac.digest(salted, b"Server Key", algorithm)
    expected = base64.b64encode(hmac.digest(server, signed, algorithm)).decode()
    if not hmac.compare_digest(_attributes(last).get("v", ""), expected):
        raise Refused("the broker did not prove that it knows the password")


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
        raise Refused(f"the broker's answer can't be read: {problem}") from None

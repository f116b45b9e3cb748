"""What the tokens of SASL say that is no secret: the user, and how it went.

PLAIN (RFC 4616), SCRAM (RFC 5802), OAUTHBEARER (RFC 7628, with an authorization id or an unsigned
look at the subject of a JWT); tokens of any other mechanism (GSSAPI) are opaque.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from barnabas.captures.kafka.wording import joined, printable, shorten

NAME = 64
"""Characters of a mechanism's name that are shown."""

USER = 512
"""Characters of a user's name that are kept: that of a certificate has many parts."""

TOKEN = 64 << 10
"""Bytes of a token that are looked at; a JSON Web Token of that size fits into no HTTP header."""


def user_of(mechanism: str, token: bytes) -> str:
    r"""The user that a client's token names; empty if it names none that could be told.

    >>> user_of("PLAIN", b"\0alice\0secret"), user_of("SCRAM-SHA-256", b"n,,n=a=2Cb,r=x")
    ('alice', 'a,b')
    """
    text = token[:TOKEN].decode("utf-8", "replace")
    name = ""
    if mechanism == "PLAIN":
        parts = text.split("\0")
        name = parts[1] if len(parts) == 3 else ""
    elif mechanism.startswith("SCRAM-"):
        name = _attribute(text.split(","), "n")
    elif mechanism == "OAUTHBEARER":
        header, _, rest = text.partition("\x01")
        name = _attribute(header.split(","), "a") or _subject(rest)
    return shorten(printable(name), USER)


def name_of_user(said: object) -> str | None:
    """What a capture or a certificate says of the user, if that is a name."""
    return shorten(printable(said), USER) if isinstance(said, str) and said else None


def _attribute(parts: list[str], name: str) -> str:
    """The value of `n=...` (after the two fields of the GS2 header), with its escapes undone."""
    for part in parts[1:]:
        if part.startswith(f"{name}="):
            return part[2:].replace("=2C", ",").replace("=3D", "=")
    return ""


def _subject(rest: str) -> str:
    """Who a JSON Web Token is about, if it is one."""
    for pair in rest.split("\x01"):
        token = pair.removeprefix("auth=Bearer ").split(".")
        if len(token) == 3 and token[0] != pair:
            try:
                claims = json.loads(base64.urlsafe_b64decode(token[1] + "=" * (-len(token[1]) % 4)))
            except (ValueError, RecursionError):
                return ""
            found = claims.get("sub", "") if isinstance(claims, dict) else ""
            return found if isinstance(found, str) else ""
    return ""


@dataclass(slots=True)
class Sasl:
    """The authentication of one connection, as it goes on; a client may come again (KIP-368)."""

    mechanism: str = ""
    user: str = ""
    times: int = 0
    """How often it succeeded."""
    authenticated: str | None = None
    """Whom it last succeeded for; None: it did not yet, or for somebody who could not be told."""
    _asked: str = ""

    @property
    def who(self) -> str:
        """Mechanism and user, as far as they are known."""
        return joined(self.mechanism, self.user)

    def handshake(self, mechanism: str) -> None:
        """The client asks for a mechanism."""
        self._asked = shorten(printable(mechanism), NAME)

    def agreed(self, error: int) -> None:
        """The broker has answered that."""
        if not error:
            self.mechanism, self.user = self._asked, ""

    def asks(self, token: bytes) -> str:
        """The client sends a token: who it is."""
        self.user = user_of(self.mechanism, token) or self.user
        return self.who

    def answered(
        self, token: bytes, *, error: int = 0, message: str | None = None, lifetime_ms: int = 0
    ) -> str:
        """The broker has answered a token: what came of it.

        >>> Sasl("PLAIN", "alice").answered(b"", lifetime_ms=10_000)
        'authenticated for 10 s'
        """
        if error:
            return joined("refused:", shorten(printable(message or "no reason given"), NAME * 2))
        if self.mechanism.startswith("SCRAM-"):
            if token.startswith(b"e="):
                return "refused: " + shorten(
                    printable(token[2:TOKEN].decode("utf-8", "replace")), NAME * 2
                )
            if not token.startswith(b"v="):
                return "challenge"
        elif self.mechanism == "OAUTHBEARER" and token:
            return "refused"
        elif self.mechanism not in ("PLAIN", "OAUTHBEARER") and not lifetime_ms:
            # whether it is the last one is for those to know who can read it
            return "token" if self.mechanism else ""
        self.times += 1
        self.authenticated = self.user or None
        again = " again" if self.times > 1 else ""
        life = f" for {lifetime_ms / 1000:g} s" if lifetime_ms else ""
        return f"authenticated{again}{life}"

"""Read user and outcome, never secrets, from SASL tokens.

PLAIN (RFC 4616), SCRAM (RFC 5802) and OAUTHBEARER (RFC 7628: the authorization id, or the unverified subject
of a JWT) are read; tokens of other mechanisms (GSSAPI) are opaque.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from barnabas.captures.kafka.wording import joined, printable, shorten

NAME = 64
"""Characters of a mechanism's name that are shown."""

USER = 512
"""Characters of a user's name that are retained: a certificate's name has many parts."""

TOKEN = 64 << 10
"""Bytes of a token that are parsed; a JSON Web Token of that size fits into no HTTP header."""


def user_of(mechanism: str, token: bytes) -> str:
    r"""Return the user in a client's token; empty if it names none.

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


def name_of_user(value: object) -> str | None:
    """Return the user's name in a capture or certificate, shortened; None if it is not a name."""
    return shorten(printable(value), USER) if isinstance(value, str) and value else None


def _attribute(parts: list[str], name: str) -> str:
    """Return the unescaped value of `n=...`, after the two fields of the GS2 header."""
    for part in parts[1:]:
        if part.startswith(f"{name}="):
            return part[2:].replace("=2C", ",").replace("=3D", "=")
    return ""


def _subject(rest: str) -> str:
    """Return the subject of a JSON Web Token, if there is one."""
    for pair in rest.split("\x01"):
        token = pair.removeprefix("auth=Bearer ").split(".")
        if len(token) == 3 and token[0] != pair:
            try:
                claims = json.loads(base64.urlsafe_b64decode(token[1] + "=" * (-len(token[1]) % 4)))
            except (ValueError, RecursionError):
                return ""
            subject = claims.get("sub", "") if isinstance(claims, dict) else ""
            return subject if isinstance(subject, str) else ""
    return ""


@dataclass(slots=True)
class Sasl:
    """The authentication state of one connection; a client may authenticate again (KIP-368)."""

    mechanism: str = ""
    user: str = ""
    times: int = 0
    """How often authentication succeeded."""
    authenticated: str | None = None
    """The user of the last success; None: no success yet, or an unknown user."""
    _requested: str = ""

    @property
    def who(self) -> str:
        """Return mechanism and user, as far as they are known."""
        return joined(self.mechanism, self.user)

    def note_handshake(self, mechanism: str) -> None:
        """Note the mechanism that the client requests."""
        self._requested = shorten(printable(mechanism), NAME)

    def note_handshake_response(self, error: int) -> None:
        """Note the broker's response to the requested mechanism."""
        if not error:
            self.mechanism, self.user = self._requested, ""

    def note_token(self, token: bytes) -> str:
        """Note a token of the client, and return mechanism and user."""
        self.user = user_of(self.mechanism, token) or self.user
        return self.who

    def note_outcome(
        self, token: bytes, *, error: int = 0, message: str | None = None, lifetime_ms: int = 0
    ) -> str:
        """Note the broker's response to a token, and return a description of the outcome.

        >>> Sasl("PLAIN", "alice").note_outcome(b"", lifetime_ms=10_000)
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
            # an opaque token does not show whether it is the last one
            return "token" if self.mechanism else ""
        self.times += 1
        self.authenticated = self.user or None
        again = " again" if self.times > 1 else ""
        life = f" for {lifetime_ms / 1000:g} s" if lifetime_ms else ""
        return f"authenticated{again}{life}"

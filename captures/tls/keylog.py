"""Parse key logs, which TLS libraries write for Wireshark (SSLKEYLOGFILE).

Layout: draft-ietf-tls-keylogfile; a line is a label, the client's random and a secret, both in hex.
"""

from __future__ import annotations

import re
from typing import Final

MASTER: Final = "CLIENT_RANDOM"
"""The master secret of a TLS 1.2 connection."""
CLIENT: Final = "CLIENT_TRAFFIC_SECRET_0"
"""TLS 1.3: the first secret of the client's application data."""
SERVER: Final = "SERVER_TRAFFIC_SECRET_0"

LIMIT: Final = 1 << 18
"""Secrets that are retained; the oldest are dropped first."""

_LINE: Final = re.compile(
    rb"^[ \t]*(CLIENT_RANDOM|(?:CLIENT|SERVER)_TRAFFIC_SECRET_0)"
    rb"[ \t]+([0-9a-fA-F]{64})[ \t]+((?:[0-9a-fA-F]{2}){32,64})[ \t\r]*$",
    re.MULTILINE,
)


class KeyLog(dict[tuple[str, bytes], bytes]):
    r"""The secrets of connections, by label and by the random of their ClientHello.

    >>> log = KeyLog(b"# made by hand\nCLIENT_RANDOM " + b"07" * 32 + b" " + b"ff" * 48)
    >>> len(log), log.secret(MASTER, bytes([7] * 32)) == bytes([255] * 48)
    (1, True)
    """

    def __init__(self, text: bytes = b"") -> None:
        super().__init__()
        self.add(text)

    def add(self, text: bytes) -> None:
        """Add a key log, or more of it. Other lines are ignored."""
        for line in _LINE.finditer(text):
            label, random, secret = line.groups()
            key = label.decode(), bytes.fromhex(random.decode())
            self[key] = bytes.fromhex(secret.decode())
            if len(self) > LIMIT:
                del self[next(iter(self))]

    def secret(self, label: str, random: bytes) -> bytes | None:
        """Return a secret; None if it was not logged."""
        return self.get((label, random))

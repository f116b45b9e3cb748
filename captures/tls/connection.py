"""Decrypt one TLS connection with logged keys: bytes of both directions in, application data out.

No I/O, bounded memory. The tag of a record verifies key and record number, so an encrypted handshake need not
be parsed: application data begins at the first record that the traffic key decrypts, and a KeyUpdate precedes
the first record of the next key. After a gap all possible record numbers are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from barnabas.captures.tls.hello import (
    TLS_1_2,
    TLS_1_3,
    NoHello,
    ServerHello,
    client_random,
    server_hello,
)
from barnabas.captures.tls.keylog import CLIENT, MASTER, SERVER, KeyLog
from barnabas.captures.tls.records import (
    APPLICATION_DATA,
    CHANGE_CIPHER_SPEC,
    HANDSHAKE,
    Record,
    Records,
)
from barnabas.specs.frames import Direction

if TYPE_CHECKING:
    from barnabas.captures.tls.protection import Open, Suite

NO_KEYS: Final = "keys not logged"
NOT_WHOLE: Final = "handshake incomplete in the capture"
OTHER_KEYS: Final = "the logged keys do not match"
DAMAGED: Final = "a damaged record"
RENEGOTIATED: Final = "keys changed by renegotiation"
LOST: Final = "no record matches after a gap"
NO_CRYPTOGRAPHY: Final = (
    "the package cryptography is missing: install barnabas with the extra 'capture'"
)

_HELLO_LIMIT: Final = 1 << 16
"""Bytes of the longest hello."""
_TRIALS: Final = 1 << 14
"""Failed decryptions in a row before a direction is given up."""


class Missing(NamedTuple):
    """Missing bytes before the next ones; 0: everything from here on is missing."""

    bytes: int


@dataclass(slots=True)
class _Keys:
    """The key of a direction's records, and the next key if it can be derived."""

    open: Open
    _suite: Suite | None = None
    _secret: bytes = b""
    _next: _Keys | None = None

    @property
    def next(self) -> _Keys | None:
        if self._next is None and self._suite is not None:
            from barnabas.captures.tls.protection import next_secret

            self._next = _traffic(self._suite, next_secret(self._suite, self._secret))
        return self._next


def _traffic(suite: Suite, secret: bytes) -> _Keys:
    from barnabas.captures.tls.protection import traffic

    return _Keys(traffic(suite, secret), suite, secret)


class _Half:
    def __init__(self) -> None:
        self.records = Records()
        self.hello = bytearray()
        """The beginning of its handshake, until the hello in it is parsed."""
        self.keys: _Keys | None = None
        self.fitted = False
        """Whether its key has decrypted a record."""
        self.tried = False
        self.trouble = ""
        self.lost = 0
        """Missing bytes that were not reported yet."""
        self._number = 0
        """The number of the next record."""
        self._vain = 0

    def read(self, record: Record, modern: bool) -> bytes:
        """Return the application data in a record; `modern`: TLS 1.3."""
        encrypted = record.kind == APPLICATION_DATA or not modern
        plain = self._opened(record) if encrypted else None
        if self.records.seeking:
            if plain is None:
                self._in_vain()
            else:
                self.records.confirm(record)
        if plain is None:
            if encrypted and self.fitted and not self.records.seeking:
                self.trouble = self.trouble or DAMAGED
            return b""
        self.records.none_missing()
        content_type, content = plain
        if content_type == CHANGE_CIPHER_SPEC:
            self.trouble = RENEGOTIATED
        return content if content_type == APPLICATION_DATA else b""

    def _opened(self, record: Record) -> tuple[int, bytes] | None:
        assert self.keys is not None  # noqa: S101
        self.tried = True
        keys: _Keys | None = self.keys
        first, more = self._number, self.records.missing
        while keys is not None:
            for number in range(first, first + more + 1):
                plain = keys.open(number, record.header, record.body)
                if plain is not None:
                    if not self.fitted and number == 0:
                        self.lost = 0  # everything before it was the handshake
                    self.keys, self._number = keys, number + 1
                    self.fitted, self._vain = True, 0
                    return plain
                if self._in_vain():
                    return None
            keys, first = keys.next if self.fitted and keys is self.keys else None, 0
        return None

    def _in_vain(self) -> bool:
        """Count a failed decryption; return whether there were too many."""
        self._vain += 1
        if self._vain > _TRIALS:
            self.trouble = LOST if self.fitted else OTHER_KEYS
        return self._vain > _TRIALS


class Connection:
    """A TLS connection whose beginning was captured."""

    def __init__(self, keys: KeyLog) -> None:
        self._log = keys
        self._halves: dict[Direction, _Half] = {"request": _Half(), "response": _Half()}
        self._random: bytes | None = None
        self._server: ServerHello | None = None
        self._trouble = ""

    @property
    def read(self) -> bool:
        """Return whether any of it was decrypted."""
        return any(half.fitted for half in self._halves.values())

    @property
    def trouble(self) -> str:
        """Return why the connection, or a part of it, was not decrypted; empty if all was."""
        reason = self._trouble or next((h.trouble for h in self._halves.values() if h.trouble), "")
        if reason or self.read:
            return reason
        return OTHER_KEYS if any(half.tried for half in self._halves.values()) else NOT_WHOLE

    def feed(self, direction: Direction, data: bytes) -> Iterator[bytes | Missing]:
        """Yield the application data that the next bytes of a direction complete."""
        half = self._halves[direction]
        if self._trouble or half.trouble:
            return
        half.records.feed(data)
        while not (self._trouble or half.trouble) and (record := half.records.next()) is not None:
            if half.keys is None:
                self._greet(direction, half, record)
                continue
            assert self._server is not None  # noqa: S101
            plain = half.read(record, self._server.version == TLS_1_3)
            if plain:
                if half.lost:
                    yield Missing(half.lost)
                    half.lost = 0
                yield plain
        if half.records.broken:
            half.trouble = DAMAGED if half.fitted else NOT_WHOLE
        if half.trouble and half.fitted:
            yield Missing(0)

    def lose(self, direction: Direction, count: int) -> None:
        """Note missing bytes before the next ones of a direction."""
        half = self._halves[direction]
        if half.keys is None:
            self._trouble = self._trouble or NOT_WHOLE
            return
        half.lost += count
        half.records.lose(count)

    def _greet(self, direction: Direction, half: _Half, record: Record) -> None:
        """Handle a record before the keys are known."""
        hello = self._random if direction == "request" else self._server
        if hello is not None or record.kind != HANDSHAKE:
            return
        half.hello += record.body
        end = 4 + int.from_bytes(half.hello[1:4])
        if end > _HELLO_LIMIT:
            self._trouble = NOT_WHOLE
        if self._trouble or len(half.hello) < end:
            return
        message = bytes(half.hello[:end])
        try:
            if direction == "request":
                self._random = client_random(message)
            else:
                # a HelloRetryRequest has the same version and suite as the ServerHello after it
                self._server = server_hello(message)
                self._trouble = self._agree(self._server)
        except NoHello:
            self._trouble = NOT_WHOLE
        half.hello.clear()

    def _agree(self, server: ServerHello) -> str:
        """Look up the keys; return why they are unusable, or ""."""
        if not self._log:
            return NO_KEYS
        try:
            from barnabas.captures.tls.protection import SUITES, key_block
        except ImportError:
            return NO_CRYPTOGRAPHY
        if self._random is None:
            return NOT_WHOLE
        if server.version not in (TLS_1_2, TLS_1_3):
            return "older than TLS 1.2"
        suite = SUITES.get(server.suite)
        if suite is None or server.compression:
            return f"cipher suite {server.suite:#06x} (only AES-GCM and ChaCha20-Poly1305 are read)"
        labels = (CLIENT, SERVER) if server.version == TLS_1_3 else (MASTER,)
        secrets = [self._log.secret(label, self._random) or b"" for label in labels]
        if not all(secrets):
            return NO_KEYS
        if server.version == TLS_1_3:
            keys = [_traffic(suite, secret) for secret in secrets]
        else:
            block = key_block(suite, secrets[0], self._random, server.random)
            keys = [_Keys(opened) for opened in block]
        self._halves["request"].keys, self._halves["response"].keys = keys
        return ""

"""Define an exchange: a request and its response.

Times are ns since the epoch, sizes are bytes of a frame without its 4 size bytes, durations are ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.columns import COLUMNS, FORMS
from barnabas.captures.kafka.errors import first_error
from barnabas.specs.codec import TooLarge
from barnabas.specs.dialects.keys import error_in
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.json_forms import json_form
from barnabas.specs.jsonform import Blob, base64_text
from barnabas.specs.keys import API_VERSIONS
from barnabas.specs.malformed import Malformed
from barnabas.specs.registry import NAMES, codec_of, name_of

SASL_TOKEN: Final = -1
"""The key of a raw SASL token: a frame without a header (SaslHandshake v0, Kafka 0.9)."""

UNREADABLE: Final = -3
"""The key of a request whose header can't be read."""

HEADLESS: Final = frozenset((SASL_TOKEN, UNREADABLE))
"""Keys of requests without a readable header: the API is unknown."""

STRAY: Final = -(1 << 16)
"""The key of a response without a request (`Conversations.strays`)."""

STAND_INS: Final = {SASL_TOKEN: "SASL token", UNREADABLE: "unreadable", STRAY: "stray response"}
"""By such a key: the text shown instead of an API's name."""

GSSAPI_START: Final = 0x60
"""The first byte of a GSSAPI token (RFC 2743, 3.1). A client of Kafka 0.9 starts with a token, without a
handshake; as the first byte of an API key, this byte makes an unknown API."""

UNSUPPORTED_VERSION: Final = 35

_COLUMN_NAMES: Final = tuple(column.name for column in COLUMNS)

_REMEMBERED: Final = 8
"""Decoded bodies that are cached for each message type."""

_SHORT: Final = 2048
"""Bytes of the longest body that is cached decoded."""

ALTERED: Final = 64 << 10
"""Bytes of the largest body that is stored twice, as it arrived and as it left."""

_UNREAD: Final = object()


class DecodedBody(NamedTuple):
    """The fields of a body, or the reason why it can't be decoded. Both are empty without a body."""

    fields: dict[str, Any] | None
    reason: str = ""


_NO_BODY: Final = DecodedBody(None)


@dataclass(slots=True)
class Exchange:
    """A request and its outcome: a response, or the reason why there is none.

    Bodies are bytes; `request` and `response` decode them on first use.
    """

    ts: int
    connection: int
    client_address: str
    client_id: str | None
    broker: int | None
    key: int
    version: int
    correlation_id: int
    request_size: int
    response_size: int | None = None
    latency_ms: float | None = None
    broker_ms: float | None = None
    rules: tuple[str, ...] = ()
    request_body: bytes | None = None
    response_body: bytes | None = None
    note: str = ""
    """A remark, such as "no response (acks=0)", "dropped" or "connection closed"."""
    sasl: str = ""
    """Mechanism, user and outcome of an authentication; never a secret."""
    user: str | None = None
    """The authenticated user when the request came; None: no user, or an unknown one."""
    payload: dict[str, dict[str, str]] = field(default_factory=dict)
    """By direction and path: hashes in place of a masked payload (`captures.writing.masking`)."""
    request_packet: int = field(default=0, compare=False)
    """Number of the packet with the request's last byte, as Wireshark numbers packets; 0 for live traffic."""
    response_packet: int = field(default=0, compare=False)
    """Number of the packet with the last byte of the response to the client."""
    ordinal: int = field(default=0, compare=False)
    """The index of the request on its connection, from 0; set in captures only."""
    server_address: str = field(default="", compare=False)
    """The address that the client connected to, as ip:port; set in captures only."""
    request_place: int = field(default=-1, compare=False)
    """`CapturedFrame.place` of the request as it arrived; -1 in live traffic."""
    response_place: int = field(default=-1, compare=False)
    """`CapturedFrame.place` of the response as it arrived; -1 also if the proxy made it."""
    begun: int = field(default=0, compare=False)
    """When the previous response arrived, if that was after this request; else 0. A broker works on one
    request of a connection at a time."""
    sent: int | None = field(default=None, compare=False)
    """When the request left for the broker; 0: never; None: unknown, as in a capture of one side of the
    proxy."""
    request_left: bytes | None = field(default=None, compare=False)
    """The request's body as it left, if the proxy changed it; None also above ALTERED bytes."""
    response_came: bytes | None = field(default=None, compare=False)
    """The response's body as it arrived, if the proxy changed it; None also above ALTERED bytes."""
    controller: int | None = field(default=None, compare=False)
    """Node id of the controller, if the request went to a controller: then `broker` is None, since a broker
    may have the same id."""
    inferred: bool = field(default=False, compare=False)
    """Whether the request was not captured: then API and version are inferred from the response."""
    ended: int = field(default=0, compare=False)
    """When the exchange ended (ns since the epoch); 0: unknown. See `end`."""
    losses: int = field(default=0, compare=False)
    """How often the capture had lost bytes, on any connection, when the exchange ended. Two exchanges with
    the same number have no loss between them."""
    too_large: tuple[Direction, ...] = field(default=(), compare=False)
    """Bodies that are not decoded because that takes too much memory (`specs.codec.budget`): either dropped
    earlier, or decoding gave up."""
    facts: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    """The facts that checks extracted from the bodies, by name (`barnabas.captures.checks.facts`)."""
    _decoded: dict[Direction, DecodedBody] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _error: Any = field(default=_UNREAD, init=False, repr=False, compare=False)

    def body(self, direction: Direction) -> bytes | None:
        """Return the body of the request or the response."""
        return self.request_body if direction == "request" else self.response_body

    def leave_out(self, direction: Direction) -> None:
        """Drop a body that is too large."""
        setattr(self, f"{direction}_body", None)
        if direction not in self.too_large:
            self.too_large += (direction,)

    @property
    def node(self) -> int | None:
        """Return the node id of the broker or controller that received the request; None: unknown."""
        return self.broker if self.controller is None else self.controller

    @property
    def weight(self) -> int:
        """Return the bytes of the bodies and of the client id, which may be 32 KiB long."""
        bodies = len(self.request_body or b"") + len(self.response_body or b"")
        bodies += len(self.request_left or b"") + len(self.response_came or b"")
        return bodies + len(self.client_id or "")

    @property
    def identity(self) -> str:
        """Return a text that identifies the exchange in any reading of its capture."""
        return f"{self.ts} {self.connection} {self.key} {self.correlation_id}"

    @property
    def client(self) -> str:
        """Return the client id, or the address of a client without one."""
        return self.client_id or self.client_address

    @property
    def api(self) -> str:
        """Return the name of the API."""
        key = self.key
        return NAMES.get(key) or STAND_INS.get(key) or name_of(key) or f"key {key}"

    @property
    def end(self) -> int:
        """Return when the exchange ended, in ns since the epoch.

        That is `ended`; if it is unknown, when the response left or arrived; without a response, when the
        request arrived.
        """
        return self.ended or self.answered or self.received or self.ts

    @property
    def received(self) -> int | None:
        """Return when the response arrived from the broker; None: no response, or unknown."""
        since = self.begun or self.sent or self.ts
        return None if self.broker_ms is None else since + round(self.broker_ms * 1e6)

    @property
    def answered(self) -> int | None:
        """Return when the response left to the client; None: never."""
        return None if self.latency_ms is None else self.ts + round(self.latency_ms * 1e6)

    @property
    def request(self) -> dict[str, Any] | None:
        """Return the request's decoded body, including secrets; None if it is unavailable or undecodable.

        Do not change it: exchanges may share it.
        """
        return self.decode("request").fields

    @property
    def response(self) -> dict[str, Any] | None:
        """Return the response's decoded body, including secrets; None if it is unavailable or undecodable.

        Do not change it: exchanges may share it.
        """
        return self.decode("response").fields

    def decode(self, direction: Direction) -> DecodedBody:
        """Decode the body of the request or the response once, and return the result."""
        decoded = self._decoded.get(direction)
        if decoded is None:
            decoded = self._decoded[direction] = self._decode(direction)
        return decoded

    def known(self, direction: Direction) -> dict[str, Any] | None:
        """Return a body that was decoded before; else None."""
        decoded = self._decoded.get(direction)
        return None if decoded is None else decoded.fields

    def project(self, direction: Direction, *paths: str) -> dict[str, Any] | None:
        """Return at least these fields of a body, as far as its version has them; None without a body.

        A body that was decoded before is returned whole. Raises Malformed, LookupError.
        """
        decoded, body = self.known(direction), self.body(direction)
        if decoded is not None or body is None:
            return decoded
        version = body_version(self.key, self.version, direction, body)
        return codec_of(self.key, version, direction).project(*paths)(body)

    @property
    def decoded(self) -> bool:
        """Return whether both bodies were decoded before, so that reading them is cheap."""
        return len(self._decoded) == len(DIRECTIONS)

    @property
    def undecodable(self) -> str:
        """Decode both bodies, and return why they are undecodable; empty if neither is."""
        reasons = ((direction, self.reason(direction)) for direction in DIRECTIONS)
        return "; ".join(f"{direction}: {reason}" for direction, reason in reasons if reason)

    def reason(self, direction: Direction) -> str:
        """Decode a body, and return why it is undecodable; empty if it is decodable or absent."""
        return self.decode(direction).reason

    @property
    def error(self) -> str | None:
        """Return the name of the response's first error; empty: none; None: no response, or undecodable."""
        if self._error is _UNREAD:
            self._error = None
            if self.response_body is not None and self.key not in HEADLESS:
                try:
                    body = self.response_body
                    version = body_version(self.key, self.version, "response", body)
                    code = first_error(self.key, version, body, self.known("response"))
                    self._error = error_in(self.key, code) if code else ""
                except (Malformed, LookupError):
                    pass
        return self._error  # type: ignore[no-any-return]

    def set_error(self, error: str | None) -> None:
        """Set the response's first error, of an exchange whose bodies are stored elsewhere."""
        self._error = error

    def row(
        self, columns: Iterable[str] | None = None, blob: Blob = base64_text, *, tags: bool = True
    ) -> dict[str, Any]:
        """Return the exchange in JSON form, secrets redacted. Parts of it are shared with the decoded bodies.

        Args:
            columns: The columns to return; bodies are decoded only if they are among them. None: all, in the
                order of COLUMNS, with `controller`, `note`, `sasl`, `payload` and `too_large` where they
                have a value.
            blob: The form of bytes.
            tags: Whether unknown tagged fields are expected (`barnabas.specs.json_forms`).
        """
        names = _COLUMN_NAMES if columns is None else columns
        row = {name: getattr(self, name) for name in names}
        for name, form in FORMS.items():
            if name in row:
                row[name] = form(row[name])
        for direction in DIRECTIONS:
            if row.get(direction) is not None:
                row[direction] = self._json_body(direction, row[direction], blob, tags)
        return row if columns is not None else row | self._remarks()

    def _remarks(self) -> dict[str, Any]:
        """Return the fields in addition to the columns in JSON form, as far as they have values."""
        remarks: dict[str, Any] = {}
        if self.controller is not None:
            remarks["controller"] = self.controller
        if self.note:
            remarks["note"] = self.note
        if self.sasl:
            remarks["sasl"] = self.sasl
        if self.payload:
            remarks["payload"] = self.payload
        if self.too_large:
            remarks["too_large"] = list(self.too_large)
        return remarks

    def _json_body(
        self, direction: Direction, fields: dict[str, Any], blob: Blob, tags: bool
    ) -> dict[str, Any]:
        version = self.version
        if self.key == API_VERSIONS:
            version = body_version(self.key, version, direction, self.body(direction) or b"")
        return json_form(self.key, version, direction, tags)(fields, blob)

    def _decode(self, direction: Direction) -> DecodedBody:
        body = self.body(direction)
        if body is None or self.key in HEADLESS:
            return _NO_BODY
        try:
            version = body_version(self.key, self.version, direction, body)
            return DecodedBody(_decoder(self.key, version, direction)(body))
        except TooLarge as problem:
            self.too_large += (direction,)
            return DecodedBody(None, str(problem))
        except (Malformed, LookupError) as problem:
            return DecodedBody(None, str(problem))


@lru_cache(1024)
def _decoder(
    key: int, version: int, direction: Direction
) -> Callable[[bytes], dict[str, Any] | None]:
    """Return the decoder of a message's bodies, which caches short bodies. Raises LookupError.

    Clients and brokers repeat many messages (heartbeats, versions, metadata).
    """
    decode = codec_of(key, version, direction).decode
    remembered = lru_cache(_REMEMBERED)(decode)
    return lambda body: remembered(body) if len(body) <= _SHORT else decode(body)


def with_bodies(exchange: Exchange) -> Exchange:
    """Decode both bodies of an exchange, and return it.

    If the whole bodies are needed in the end, this saves decoding some of their fields before.
    """
    _ = exchange.request, exchange.response
    return exchange


def body_version(key: int, version: int, direction: Direction, body: bytes) -> int:
    """Return the version of a body's layout: the request's version, with one exception.

    A broker that does not support the version of an ApiVersions request answers with error 35 in v0, which
    every client can read (KIP-511). librdkafka's mock answers in the request's version, so the length must
    match, too.

    >>> body_version(18, 4, "response", bytes.fromhex("0023 00000001 0012 0000 0003"))
    0
    """
    if (
        key == API_VERSIONS
        and direction == "response"
        and int.from_bytes(body[:2]) == UNSUPPORTED_VERSION
        and len(body) == 6 + 6 * int.from_bytes(body[2:6])
    ):
        return 0
    return version

"""A request and its response.

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
"""The key that stands for a raw SASL token: a frame without a header (SaslHandshake v0, 0.9)."""

UNREADABLE: Final = -3
"""The key that stands for a request whose header can't be read, so that none is known."""

HEADLESS: Final = frozenset((SASL_TOKEN, UNREADABLE))
"""Keys of requests without a readable header: the API is unknown."""

STRAY: Final = -(1 << 16)
"""The key that stands for a response without a request (`Conversations.strays`)."""

STAND_INS: Final = {SASL_TOKEN: "SASL token", UNREADABLE: "unreadable", STRAY: "stray response"}
"""By such a key: what is shown in place of an API's name."""

GSSAPI_START: Final = 0x60
"""The first byte of a GSSAPI token (RFC 2743, 3.1). A client of 0.9 begins with a token, without a
handshake; read as the key of an API, this byte gives an unknown one."""

UNSUPPORTED_VERSION: Final = 35

_COLUMN_NAMES: Final = tuple(one.name for one in COLUMNS)

_REMEMBERED: Final = 8
"""Decoded bodies that are kept of each message."""

_SHORT: Final = 2048
"""Bytes of the longest body that is kept decoded."""

ALTERED: Final = 64 << 10
"""Bytes of the largest body that is kept twice, as it came and as it left."""

_UNREAD: Final = object()


class DecodedBody(NamedTuple):
    """The fields of a body, or the reason why it can't be decoded. Without a body there is neither."""

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
    """Number of the packet with the request's last byte in its capture file, as Wireshark numbers
    packets; 0 for live traffic."""
    response_packet: int = field(default=0, compare=False)
    """Number of the packet with the response's last byte, as the client saw it."""
    ordinal: int = field(default=0, compare=False)
    """The request's number among those of its connection, from 0; counted in captures only."""
    server_address: str = field(default="", compare=False)
    """Where the client connected, as ip:port; known in captures only."""
    request_place: int = field(default=-1, compare=False)
    """`CapturedFrame.place` of the request as it arrived; -1 in live traffic."""
    response_place: int = field(default=-1, compare=False)
    """`CapturedFrame.place` of the response as it arrived; -1 also if the proxy made it."""
    begun: int = field(default=0, compare=False)
    """When the previous response came, if that was after this request; else 0. A broker works on one
    request of a connection at a time."""
    sent: int | None = field(default=None, compare=False)
    """When the request left for the broker; 0: never; None: unknown, as in a capture without the
    proxy's other side."""
    request_left: bytes | None = field(default=None, compare=False)
    """The request's body as it left, if the proxy changed it; None also above ALTERED bytes."""
    response_came: bytes | None = field(default=None, compare=False)
    """The response's body as it came, if the proxy changed it; None also above ALTERED bytes."""
    controller: int | None = field(default=None, compare=False)
    """Node id of the controller, if the request went to a controller: then `broker` is None, since a broker
    may have the same id."""
    inferred: bool = field(default=False, compare=False)
    """Whether the request was not captured: then API and version are what fits the response."""
    ended: int = field(default=0, compare=False)
    """When the exchange was over (ns since the epoch); 0: not noted. See `end`."""
    losses: int = field(default=0, compare=False)
    """How often the capture had lost bytes, on any connection, when the exchange was over. Between two
    exchanges with the same number nothing is missing."""
    too_large: tuple[Direction, ...] = field(default=(), compare=False)
    """Bodies that are not decoded since that takes too much memory (`specs.codec.budget`), whether they
    were left out before or decoding gave up."""
    facts: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    """What checks have read of the bodies, by name of the fact (`barnabas.captures.checks.facts`)."""
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
        """Node id of the broker or controller that the request went to; None: unknown."""
        return self.broker if self.controller is None else self.controller

    @property
    def weight(self) -> int:
        """Bytes of the bodies and of the client id, which may have 32 KiB."""
        bodies = len(self.request_body or b"") + len(self.response_body or b"")
        bodies += len(self.request_left or b"") + len(self.response_came or b"")
        return bodies + len(self.client_id or "")

    @property
    def client(self) -> str:
        """The client id, or the address of a client without one."""
        return self.client_id or self.client_address

    @property
    def api(self) -> str:
        """The name of the API."""
        key = self.key
        return NAMES.get(key) or STAND_INS.get(key) or name_of(key) or f"key {key}"

    @property
    def end(self) -> int:
        """When the exchange was over, in ns since the epoch: as noted; else when the response left or came;
        without a response, when the request came."""
        return self.ended or self.answered or self.received or self.ts

    @property
    def received(self) -> int | None:
        """When the response came from the broker; None: no response, or unknown."""
        since = self.begun or self.sent or self.ts
        return None if self.broker_ms is None else since + round(self.broker_ms * 1e6)

    @property
    def answered(self) -> int | None:
        """When the response left to the client; None: it did not."""
        return None if self.latency_ms is None else self.ts + round(self.latency_ms * 1e6)

    @property
    def request(self) -> dict[str, Any] | None:
        """The request's decoded body, with its secrets; None if not kept or undecodable. Don't change it:
        exchanges may share it."""
        return self.decode("request").fields

    @property
    def response(self) -> dict[str, Any] | None:
        """The response's decoded body, with its secrets; None if there is none or undecodable."""
        return self.decode("response").fields

    def decode(self, direction: Direction) -> DecodedBody:
        """Decode the body of the request or the response, the first time that it is called."""
        decoded = self._decoded.get(direction)
        if decoded is None:
            decoded = self._decoded[direction] = self._decode(direction)
        return decoded

    def known(self, direction: Direction) -> dict[str, Any] | None:
        """Return the decoded body if it was decoded before; else None."""
        decoded = self._decoded.get(direction)
        return None if decoded is None else decoded.fields

    def project(self, direction: Direction, *paths: str) -> dict[str, Any] | None:
        """Return at least these fields of a body, as far as its version has them; None without a body.

        A body that was decoded before is returned whole. Raises Malformed, LookupError.
        """
        known, body = self.known(direction), self.body(direction)
        if known is not None or body is None:
            return known
        version = body_version(self.key, self.version, direction, body)
        return codec_of(self.key, version, direction).project(*paths)(body)

    @property
    def decoded(self) -> bool:
        """Whether both bodies were decoded before: then they cost nothing more."""
        return len(self._decoded) == len(DIRECTIONS)

    @property
    def undecodable(self) -> str:
        """Why a body could not be decoded; empty if both could (this decodes them)."""
        reasons = ((direction, self.reason(direction)) for direction in DIRECTIONS)
        return "; ".join(f"{direction}: {reason}" for direction, reason in reasons if reason)

    def reason(self, direction: Direction) -> str:
        """Why that body could not be decoded; empty if it could, or there is none (this decodes it)."""
        return self.decode(direction).reason

    @property
    def error(self) -> str | None:
        """Name of the response's first error; empty: none; None: no response, or undecodable."""
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

    def know(self, error: str | None) -> None:
        """Note the response's first error, of an exchange whose bodies are elsewhere."""
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
        """Return what stands beside the columns in JSON form, where there is anything to say."""
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
    """Return what decodes the bodies of a message. Clients and brokers repeat many messages (heartbeats,
    versions, metadata), so short bodies are remembered decoded. Raises LookupError."""
    decode = codec_of(key, version, direction).decode
    remembered = lru_cache(_REMEMBERED)(decode)
    return lambda body: remembered(body) if len(body) <= _SHORT else decode(body)


def with_bodies(exchange: Exchange) -> Exchange:
    """Decode both bodies of an exchange and return it. If the whole bodies are needed in the end, this saves
    every reader on the way decoding some fields of them."""
    _ = exchange.request, exchange.response
    return exchange


def body_version(key: int, version: int, direction: Direction, body: bytes) -> int:
    """Return the version that a body is laid out in: that of the request, with one exception.

    A broker that does not know the version of an ApiVersions request answers error 35 as v0, which
    every client can read (KIP-511). librdkafka's mock does otherwise, so the length has to fit.

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

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
"""Without a header that says which API it is."""

STRAY: Final = -(1 << 16)
"""The key that stands for a response which answers no request, where such are asked for."""

STAND_INS: Final = {SASL_TOKEN: "SASL token", UNREADABLE: "unreadable", STRAY: "stray response"}
"""What is shown in place of an API's name for the keys that stand for none."""

GSSAPI_START: Final = 0x60
"""How a GSSAPI token begins (RFC 2743, 3.1). A client of 0.9 sends one first of all, without a
handshake; as the key of an API it would be unknown."""

UNSUPPORTED_VERSION: Final = 35

_COLUMN_NAMES: Final = tuple(name for name, _ in COLUMNS)

_REMEMBERED: Final = 8
"""Decoded bodies of a message that are kept ..."""

_SHORT: Final = 2048
"""... of so many bytes at most."""

ALTERED: Final = 64 << 10
"""Bytes of a body of which both forms are kept."""

_UNREAD: Final = object()


class DecodedBody(NamedTuple):
    """The fields of a body, or the reason why it can't be decoded. Without a body there is neither."""

    fields: dict[str, Any] | None
    reason: str = ""


_NO_BODY: Final = DecodedBody(None)


@dataclass(slots=True)
class Exchange:
    """One request and what came of it. Bodies are decoded when they are asked for, and once."""

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
    """What else there is to say: "no response (acks=0)", "dropped", "connection closed" ..."""
    sasl: str = ""
    """What is known of an authentication: mechanism, user, outcome; never a secret."""
    user: str | None = None
    """Who was authenticated when the request came; None: nobody, or nobody who could be told."""
    payload: dict[str, dict[str, str]] = field(default_factory=dict)
    """By direction and path: hashes that stand for a payload which was taken out, see
    `barnabas.captures.writing.masking`."""
    request_packet: int = field(default=0, compare=False)
    """Number of the packet with the request's last byte in its capture file, as Wireshark numbers
    them; 0 if there is none, as while traffic passes."""
    response_packet: int = field(default=0, compare=False)
    """The same of the response, as the client saw it."""
    ordinal: int = field(default=0, compare=False)
    """The request's number among those of its connection, from 0; counted in captures only."""
    server_address: str = field(default="", compare=False)
    """Where the client connected, as ip:port; known in captures only."""
    request_place: int = field(default=-1, compare=False)
    """`CapturedFrame.place` of the request as it arrived; -1 if there is none."""
    response_place: int = field(default=-1, compare=False)
    """The same of the response; -1 too if the proxy made it."""
    begun: int = field(default=0, compare=False)
    """When the response before it had come, where the broker had that to do first; else 0."""
    sent: int | None = field(default=None, compare=False)
    """When the request left for the broker; 0: it never did; None: nobody knows, as in a capture without
    the proxy's other side."""
    request_left: bytes | None = field(default=None, compare=False)
    """The request's body as it left, if the proxy changed it; None of one above ALTERED bytes, too."""
    response_came: bytes | None = field(default=None, compare=False)
    """The response's body as it had come, if the proxy changed it."""
    controller: int | None = field(default=None, compare=False)
    """Node id of the controller, where a controller was asked: then `broker` is None, since a broker may have
    the same id."""
    inferred: bool = field(default=False, compare=False)
    """Whether the request was not captured, so that API and version are what fits the response."""
    ended: int = field(default=0, compare=False)
    """When it was over (ns since the epoch); 0 if nobody noted it. See `end`."""
    losses: int = field(default=0, compare=False)
    """How often the capture had lost something, anywhere, when the exchange was over: between two
    that say the same nothing is missing."""
    too_large: tuple[Direction, ...] = field(default=(), compare=False)
    """Bodies that are not decoded, as that would take too much memory (`specs.codec.budget`): those that
    were left out for it, and those of which it was found."""
    facts: dict[str, Any] | None = field(default=None, repr=False, compare=False)
    """What checks have read of its bodies, by name: see `barnabas.captures.checks.facts`."""
    _decoded: dict[Direction, DecodedBody] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _error: Any = field(default=_UNREAD, init=False, repr=False, compare=False)

    def body(self, direction: Direction) -> bytes | None:
        """The body of the request or the response."""
        return self.request_body if direction == "request" else self.response_body

    def leave_out(self, direction: Direction) -> None:
        """Keep a body no longer: it is too large."""
        setattr(self, f"{direction}_body", None)
        if direction not in self.too_large:
            self.too_large += (direction,)

    @property
    def node(self) -> int | None:
        """Node id of who was asked, a broker or a controller; None if it is not known."""
        return self.broker if self.controller is None else self.controller

    @property
    def weight(self) -> int:
        """Bytes of its bodies and of the client id, which may have 32 KiB."""
        bodies = len(self.request_body or b"") + len(self.response_body or b"")
        bodies += len(self.request_left or b"") + len(self.response_came or b"")
        return bodies + len(self.client_id or "")

    @property
    def client(self) -> str:
        """Its client id, or the address of a client that has none."""
        return self.client_id or self.client_address

    @property
    def api(self) -> str:
        """The name of the API."""
        key = self.key
        return NAMES.get(key) or STAND_INS.get(key) or name_of(key) or f"key {key}"

    @property
    def end(self) -> int:
        """When it was over, in ns since the epoch: as noted; else when the response left, or came, or
        without one when the request came."""
        return self.ended or self.answered or self.received or self.ts

    @property
    def received(self) -> int | None:
        """When the response came from the broker; None: none did, or nobody knows."""
        since = self.begun or self.sent or self.ts
        return None if self.broker_ms is None else since + round(self.broker_ms * 1e6)

    @property
    def answered(self) -> int | None:
        """When the response left to the client; None: none did."""
        return None if self.latency_ms is None else self.ts + round(self.latency_ms * 1e6)

    @property
    def request(self) -> dict[str, Any] | None:
        """The request's decoded body, with its secrets; None if not kept or undecodable. Exchanges may share
        it: nobody changes it."""
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
        """The exchange in JSON form, in the order of COLUMNS, secrets redacted, bytes as `blob` has them.

        Only the columns that are named, if any are: bodies are decoded only if they are among them.
        Without names, `controller`, `note`, `sasl`, `payload` and `too_large` stand beside them if there is
        anything to say. It shares with the decoded bodies what JSON has as they do. tags: as
        `barnabas.specs.json_forms` has it.
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
    """Decodes bodies of a message: clients and brokers say much again and again (heartbeats, versions,
    metadata), and what is short is kept for when it comes again. Raises LookupError."""
    decode = codec_of(key, version, direction).decode
    remembered = lru_cache(_REMEMBERED)(decode)
    return lambda body: remembered(body) if len(body) <= _SHORT else decode(body)


def with_bodies(exchange: Exchange) -> Exchange:
    """The same exchange, once its bodies are decoded: for who needs them whole in the end. Otherwise those
    that come before would each read some fields of them."""
    _ = exchange.request, exchange.response
    return exchange


def body_version(key: int, version: int, direction: Direction, body: bytes) -> int:
    """The version that a body is laid out in: that of the request, but for one case.

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

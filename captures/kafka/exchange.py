"""A request and its response.

Times are ns since the epoch, sizes are bytes of a frame without its 4 size bytes, durations are ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from barnabas.captures.kafka.columns import COLUMNS, FORMS
from barnabas.captures.kafka.errors import first_error
from barnabas.specs.codec import TooLarge
from barnabas.specs.codec.codegen import Source, dict_of
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
_BODIES: Final = "request_body", "response_body"


class Uncut(NamedTuple):
    """A body where it stands: from `start` in the bytes that came first, if there are any, and to `end`
    in those of the last packets. Whoever has it keeps these bytes alive."""

    begun: bytes | bytearray
    data: bytes
    start: int
    end: int

    def cut(self) -> bytes:
        """The body itself.

        >>> Uncut(b"", b"abcd", 1, 3).cut(), Uncut(b"ab", b"cd", 1, 1).cut()
        (b'bc', b'bc')
        """
        begun, data, start, end = self
        if begun:
            return b"".join((memoryview(begun)[start:], memoryview(data)[:end]))
        return data[start:end]


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
    _uncut: dict[str, Uncut] = field(default_factory=dict, init=False, repr=False, compare=False)
    _request: Any = field(default=_UNREAD, init=False, repr=False, compare=False)
    _response: Any = field(default=_UNREAD, init=False, repr=False, compare=False)
    _error: Any = field(default=_UNREAD, init=False, repr=False, compare=False)
    _reasons: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    def body(self, direction: Direction) -> bytes | None:
        """The body of the request or the response."""
        return self.request_body if direction == "request" else self.response_body

    def leave_out(self, direction: Direction) -> None:
        """Keep a body no longer: it is too large."""
        setattr(self, f"{direction}_body", None)
        if direction not in self.too_large:
            self.too_large += (direction,)

    def leave(self, name: str, body: Uncut) -> None:
        """`request_body` or `response_body` is cut out when somebody asks for it."""
        self._uncut[name] = body
        delattr(self, name)

    if not TYPE_CHECKING:  # of a name that does not exist mypy is to say so

        def __getattr__(self, name):
            body = self._uncut.pop(name, None) if name in _BODIES else None
            if body is None:
                raise AttributeError(name, name=name, obj=self)
            setattr(self, name, body.cut())
            return getattr(self, name)

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
        if self._request is _UNREAD:
            self._request = self._decoded("request", self.request_body)
        return self._request  # type: ignore[no-any-return]

    @property
    def response(self) -> dict[str, Any] | None:
        """The response's decoded body, with its secrets; None if there is none or undecodable."""
        if self._response is _UNREAD:
            self._response = self._decoded("response", self.response_body)
        return self._response  # type: ignore[no-any-return]

    def known(self, direction: Direction) -> dict[str, Any] | None:
        """The same of a direction if somebody has asked for it: None if nobody did, too."""
        found = self._request if direction == "request" else self._response
        return None if found is _UNREAD else found

    @property
    def decoded(self) -> bool:
        """Whether somebody has asked for the decoded bodies: then they cost nothing more."""
        return self._request is not _UNREAD and self._response is not _UNREAD

    @property
    def undecodable(self) -> str:
        """Why a body could not be decoded; empty if both could (this decodes them)."""
        _ = self.request, self.response
        if not self._reasons:
            return ""
        return "; ".join(f"{direction}: {reason}" for direction, reason in self._reasons.items())

    def reason(self, direction: Direction) -> str:
        """Why that body could not be decoded; empty if it could, or there is none (this decodes it)."""
        _ = self.request if direction == "request" else self.response
        return self._reasons.get(direction, "")

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
        if columns is not None:
            return _maker(tuple(columns))(self, blob, tags)
        found = _maker(_COLUMN_NAMES)(self, blob, tags)
        if self.controller is not None:
            found["controller"] = self.controller
        if self.note:
            found["note"] = self.note
        if self.sasl:
            found["sasl"] = self.sasl
        if self.payload:
            found["payload"] = self.payload
        if self.too_large:
            found["too_large"] = list(self.too_large)
        return found

    def _decoded(self, direction: Direction, body: bytes | None) -> dict[str, Any] | None:
        if body is None or self.key in HEADLESS:
            return None
        try:
            version = body_version(self.key, self.version, direction, body)
            return _decoder(self.key, version, direction)(body)
        except TooLarge as problem:
            self.too_large += (direction,)
            self._reasons[direction] = str(problem)
        except (Malformed, LookupError) as problem:
            self._reasons[direction] = str(problem)
        return None


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


@lru_cache(256)
def _maker(columns: tuple[str, ...]) -> Callable[[Exchange, Blob, bool], dict[str, Any]]:
    """What makes rows of these columns, as Python source: a loop over them takes twice as long."""
    source = Source("e", "blob", "tags", body=_body_form, **FORMS)
    values = {name: f"{name}(e.{name})" if name in FORMS else f"e.{name}" for name in columns}
    bodies = {n: f"body(e, {n!r}, e.{n}, blob, tags)" for n in columns if n in DIRECTIONS}
    source.emit(f"return {dict_of(values | bodies)}")
    return source.compile("row(e, blob, tags):", f"row of {', '.join(columns)}")


def _body_form(
    exchange: Exchange, direction: Direction, value: dict[str, Any] | None, blob: Blob, tags: bool
) -> dict[str, Any] | None:
    if value is None:
        return None
    version = exchange.version
    if exchange.key == API_VERSIONS:
        version = body_version(API_VERSIONS, version, direction, exchange.body(direction) or b"")
    return json_form(exchange.key, version, direction, tags)(value, blob)


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

"""Write exchanges without packets as a capture: frames are made anew, and the file says so.

A frame is made of the known fields of its header (without unknown tagged fields) and the bytes of its body.
Each connection is a TCP conversation; a request leaves when it arrived, a response when it left to the
client. So the broker's own time is not in the capture, and rules are only there by name.
"""

from __future__ import annotations

import ipaddress
import struct
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, Final

from barnabas.captures.conversion.repacker import written_to
from barnabas.captures.host_port import Endpoint, endpoint_of
from barnabas.captures.kafka.exchange import HEADLESS, STRAY, Exchange
from barnabas.captures.kafka.notes import UNANSWERED
from barnabas.captures.writing.flow_writer import FlowWriter
from barnabas.captures.writing.masking import Masking
from barnabas.plural import plural
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.headers import encode_header

SAID: Final = (
    "frames are reconstructed from decoded headers and bodies: these are not the captured packets"
)
"""What the file says of itself."""

PORT: Final = 9092
UNKNOWN: Final = ("192.0.2.1", "2001:db8::1")
"""Placeholders for an unknown address (RFC 5737, RFC 3849)."""

_LARGEST_KEY: Final = 32767


def reconstruct(exchanges: Iterable[Exchange], file: BinaryIO, masking: Masking) -> Counter[str]:
    """Write exchanges to a file; return how many are left out, by reason. Raises OSError."""
    left_out: Counter[str] = Counter()
    writable = []
    for exchange in exchanges:
        if reason := unwritable(exchange):
            left_out[reason] += 1
        else:
            writable.append(exchange)
    meta: dict[str, Any] = {"masked": masking.kinds, "reconstructed": SAID}
    if left_out:
        meta["left_out"] = dict(left_out)
    nodes = {each.connection: each for each in writable if each.node is not None}
    flows: dict[int, _Flow] = {}
    steps = sorted(chain.from_iterable(map(_steps, writable)), key=lambda step: step[0])
    last = {exchange.connection: ts for ts, exchange, _ in steps}
    with written_to(file, meta) as writer:
        for ts, exchange, direction in steps:
            number = exchange.connection
            if number not in flows:
                client, server = _ends(exchange)
                comment: dict[str, Any] = {"client": exchange.client_address, "broker": None}
                if number in nodes:
                    comment["broker"] = nodes[number].node
                    if nodes[number].controller is not None:
                        comment["kind"] = "controller"
                flows[number] = _Flow(writer.open(number, client, server, ts, comment), masking)
            flows[number].write(exchange, direction, ts)
        for number, flow in flows.items():
            flow.writer.close(last[number])
    return left_out


def unwritable(exchange: Exchange) -> str:
    """Return why an exchange can't be written; empty if it can.

    >>> unwritable(Exchange(0, 1, "", "a", 1, 3, 0, 0, 12, 8, request_body=b""))
    'response body not kept'
    """
    if exchange.key in HEADLESS or exchange.key == STRAY:
        return "no header that can be read"
    if exchange.key > _LARGEST_KEY:
        return "of a dialect"
    if exchange.inferred:
        return "request not captured"
    for direction in DIRECTIONS:
        has_message = direction == "request" or exchange.response_size is not None
        if has_message and exchange.body(direction) is None:
            return f"{direction} body not kept"
    return ""


def frame_of(exchange: Exchange, direction: Direction) -> bytes:
    """Make a frame with its size, with a header of the known fields."""
    key, version = exchange.key, exchange.version
    header = encode_header(direction, key, version, exchange.correlation_id, exchange.client_id)
    data = header + (exchange.body(direction) or b"")
    return struct.pack(">i", len(data)) + data


def remark(meta: dict[str, Any]) -> str:
    """Return the text for the user about a reconstructed capture; empty for any other.

    >>> remark({"reconstructed": "frames are ...", "left_out": {"request body not kept": 2}})
    'frames are ...; 2 exchanges are left out: request body not kept 2'
    """
    text, left_out = meta.get("reconstructed"), meta.get("left_out")
    if not isinstance(text, str):
        return ""
    if not isinstance(left_out, dict) or not left_out:
        return text
    count = sum(each for each in left_out.values() if isinstance(each, int))
    is_ = "is" if count == 1 else "are"
    reasons = ", ".join(f"{reason} {each}" for reason, each in left_out.items())
    return f"{text}; {plural(count, 'exchange')} {is_} left out: {reasons}"


class _Flow:
    """One connection: its writer, and the number of its frames."""

    def __init__(self, writer: FlowWriter, masking: Masking) -> None:
        self.writer = writer
        self._masking = masking
        self._written: Counter[Direction] = Counter()
        self._user: str | None = None

    def write(self, exchange: Exchange, direction: Direction, ts: int) -> None:
        """Write the next frame of a direction."""
        frame = frame_of(exchange, direction)
        masked = self._masking.frame(frame, direction, exchange.key, exchange.version)
        comment: dict[str, Any] = {"frame": self._written[direction]}
        self._written[direction] += 1
        if direction == "request" and exchange.rules:
            comment["rules"] = list(exchange.rules)
        if direction == "request" and exchange.sasl:
            comment["sasl"] = exchange.sasl
        if direction == "request" and exchange.user != self._user:
            comment["user"] = self._user = exchange.user
        if hashes := {**exchange.payload.get(direction, {}), **masked.payload}:
            comment["payload"] = hashes
        if direction == _last(exchange) and exchange.latency_ms is None:
            comment |= _never_left(exchange.note)
        cuts = [(len(masked.data), comment)] if len(comment) > 1 else []
        self.writer.arrived(direction, masked.data, ts, cuts)


def _steps(exchange: Exchange) -> Iterator[tuple[int, Exchange, Direction]]:
    yield exchange.ts, exchange, "request"
    if _last(exchange) == "response":
        yield max(exchange.end, exchange.ts), exchange, "response"


def _last(exchange: Exchange) -> Direction:
    return "request" if exchange.response_size is None else "response"


def _never_left(note: str) -> dict[str, Any]:
    """Return the comment on a frame after which nothing was sent."""
    if not note or note == UNANSWERED or note.startswith("no response:"):
        return {}
    return {"left": "never", "note": note}


def _ends(exchange: Exchange) -> tuple[Endpoint, Endpoint]:
    """Return client and listener in one address family, with placeholders for unknown addresses."""
    client, server = map(_endpoint, (exchange.client_address, exchange.server_address))
    known_end = client or server
    six = known_end is not None and ":" in known_end[0]
    if server is not None and (":" in server[0]) != six:
        server = None
    unknown = UNKNOWN[six]
    return client or (unknown, exchange.connection % 60_000 + 1024), server or (unknown, PORT)


def _endpoint(text: str) -> Endpoint | None:
    try:
        host, port = endpoint_of(text)
        return str(ipaddress.ip_address(host)), port
    except ValueError:
        return None

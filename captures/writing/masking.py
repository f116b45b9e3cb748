"""Mask secrets and payload: they are overwritten by other bytes of the same length.

Secrets (`barnabas.specs.secrets`) become asterisks. Masked payload (`barnabas.specs.records.payload`: record
keys, values and headers) becomes the digits of a hash, so that equal payload stays equal. The hash is keyed
with 32 random bytes of this run, since the preimage of an unkeyed hash of a short value could be guessed.
Checksums of batches are recomputed, or they would be such a hash. Undecodable bodies are overwritten
completely.
"""

from __future__ import annotations

import functools
import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from barnabas.captures.kafka.exchange import GSSAPI_START, HEADLESS, STRAY, Exchange
from barnabas.specs import records
from barnabas.specs.codec.spans import Span, spans
from barnabas.specs.frames import Direction, Short, request_head, response_body
from barnabas.specs.malformed import Malformed
from barnabas.specs.records.payload import payload
from barnabas.specs.registry import api, name_of
from barnabas.specs.secrets import by_field, has_secrets, secret_paths

UNSOLICITED: Final = -2
"""The key of a response without a request."""

SHOWN: Final = 8
"""Bytes of a response without a request that are shown: its size and correlation id."""

Hashes = dict[str, str]
"""By path of a record set: the payload hashes of its batches, separated by spaces."""


class Masked(NamedTuple):
    """Masked bytes, and the hashes of masked payload."""

    data: bytes
    payload: Hashes


@dataclass(frozen=True, slots=True)
class Masking:
    """A policy for masking: secrets, and with a key payload, too."""

    key: bytes | None = None

    @classmethod
    def of_payload(cls) -> Masking:
        """Return a policy that masks payload, too, with a random key."""
        return cls(secrets.token_bytes(32))

    @property
    def kinds(self) -> list[str]:
        """Return the names of the masked data."""
        return ["secrets"] if self.key is None else ["secrets", "payload"]

    def explain(self) -> list[str]:
        """Return the lines that the proxy prints at its start."""
        if self.key is None:
            return []
        return [
            "mask: log, control API and capture show a hash, keyed for this run, instead of "
            "record keys, values and headers; a compressed batch is hashed as a whole; clients "
            "and brokers get the original bytes"
        ]

    def hides(self, direction: Direction, key: int) -> bool:
        """Return whether messages of an API may have something to mask."""
        if key in HEADLESS or key == STRAY or has_secrets(key, direction):
            return True
        if self.key is None:
            return False
        return name_of(key) is None or has_payload(key, direction)

    def frame(self, frame: bytes, direction: Direction, key: int, version: int) -> Masked:
        """Mask a whole frame with its size.

        A `key` in HEADLESS has no header; with STRAY the frame may be of any API, and only its correlation id
        is shown.
        """
        if not self.hides(direction, key):
            return Masked(frame, {})
        if key == STRAY:
            return Masked(frame[:SHOWN] + b"*" * (len(frame) - SHOWN), {})
        if key in HEADLESS:
            # the tag at the beginning of every GSSAPI exchange is no secret
            begins = 5 if frame[4:5] == bytes([GSSAPI_START]) else 4
        else:
            begins = _body(frame, direction, key, version)
        body, hashes = self.body(frame[begins:], direction, key, version)
        return Masked(frame[:begins] + body, hashes)

    def body(self, body: bytes, direction: Direction, key: int, version: int) -> Masked:
        """Mask a message without its header, completely if it is undecodable."""
        if not self.hides(direction, key):
            return Masked(body, {})
        try:
            sets = record_sets(key, direction, version) if self.key is not None else ()
            layout = api(key).message(direction).layout(version)
            secrets = by_field(secret_paths(key, direction))
            telling = {*filter(None, secrets.values())}
            fields = spans(layout, body, {*secrets, *telling, *sets})
        except (Malformed, LookupError):
            return Masked(b"*" * len(body), {})
        flags = {span.path: body[span.start] for span in fields if span.field in telling}
        out, hashes = bytearray(body), {}
        for span in fields:
            if span.path in flags or not _hidden(span, secrets.get(span.field, ""), flags):
                continue
            inside = body[span.start : span.end]
            if span.field in sets:
                inside, hashes[span.path] = self._record_set(inside, direction)
            else:
                inside = b"*" * len(inside)
            out[span.start : span.end] = inside
        return Masked(bytes(out), {path: digests for path, digests in hashes.items() if digests})

    def exchange(self, exchange: Exchange) -> Exchange:
        """Mask the payload of an exchange for display. The exchange redacts its secrets itself."""
        if self.key is None:
            return exchange
        bodies: dict[Direction, bytes | None] = {
            "request": exchange.request_body,
            "response": exchange.response_body,
        }
        hashes: dict[str, Hashes] = {}
        for direction, body in bodies.items():
            if body is not None and name_of(exchange.key) is not None:
                bodies[direction], payload_hashes = self.body(
                    body, direction, exchange.key, exchange.version
                )
                if payload_hashes:
                    hashes[direction] = payload_hashes
        return replace(
            exchange,
            request_body=bodies["request"],
            response_body=bodies["response"],
            payload=hashes,
        )

    def _record_set(self, data: bytes, direction: Direction) -> tuple[bytes, str]:
        """Mask a record set, and return it with the payload hash of each batch.

        Control records in responses stay, since brokers write them. A partial batch at the end is masked
        completely.
        """
        out: list[bytes] = []
        hashes: list[str] = []
        end = 0
        try:
            for batch in records.read(data):
                end = batch.position + batch.size
                if batch.is_control and direction == "response":
                    out.append(bytes(batch.data))
                    continue
                masked = bytearray(batch.data)
                pieces = []
                for start, stop in payload(batch):
                    pieces.append(self._hash(masked[start:stop]))
                    masked[start:stop] = _filler(pieces[-1], stop - start)
                hashes.append(self._hash(b"".join(pieces))[:16].decode())
                out.append(records.with_crc(bytes(masked)) if batch.crc_ok else bytes(masked))
        except Malformed:
            pass  # mask undecodable bytes completely, like a partial batch
        if rest := data[end:]:
            hashes.append(self._hash(rest)[:16].decode())
            out.append(_filler(self._hash(rest), len(rest)))
        return b"".join(out), " ".join(hashes)

    def _hash(self, data: bytes | bytearray) -> bytes:
        assert self.key is not None  # noqa: S101 - only where payload is hidden
        return hashlib.blake2b(data, key=self.key, digest_size=16).hexdigest().encode()


def _hidden(span: Span, flag: str, flags: Mapping[str, int]) -> bool:
    """Return whether a field has to be masked.

    Args:
        span: The field.
        flag: The path of the field that says whether it is a secret; "" if it always is.
        flags: The values of such fields, by their paths with indices.
    """
    holder, _, name = flag.rpartition(".")
    steps = span.path.split(".")[: holder.count(".") + 1]
    return not flag or bool(flags[".".join((*steps, name))])


def _filler(digits: bytes, size: int) -> bytes:
    return (digits * (size // len(digits) + 1))[:size]


def _body(frame: bytes, direction: Direction, key: int, version: int) -> int:
    """Return the offset of a frame's body; if it is unknown, the offset after the fixed header fields."""
    least = min(12 if direction == "request" else 8, len(frame))
    try:
        if direction == "request":
            return 4 + request_head(frame, 4, len(frame)).body
        return 4 + response_body(frame[4:], key, version) if name_of(key) is not None else least
    except (Short, Malformed, LookupError):
        return least


@functools.cache
def has_payload(key: int, direction: Direction) -> bool:
    """Return whether messages of an API have record sets in any version.

    >>> has_payload(0, "request"), has_payload(0, "response"), has_payload(1, "response")
    (True, False, True)
    """
    first, last = api(key).versions
    return any(record_sets(key, direction, version) for version in (first, last))


@functools.cache
def record_sets(key: int, direction: Direction, version: int) -> tuple[str, ...]:
    """Return the dotted paths of the record sets in a version of a message. Raises LookupError.

    >>> record_sets(0, "request", 9)
    ('topic_data.partition_data.records',)
    """
    layout = api(key).message(direction).layout(version)
    return tuple(each.dotted for each in layout.walk() if each.slot.node.kind == "records")

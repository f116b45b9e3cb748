"""Reads one message of known name: with a version prefix, or of a given version.

Messages are read as carefully as by `specs.Codec.inspect`; offsets count from the start of the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from barnabas.specs.codec import Oddity
from barnabas.specs.embedded.registry import message
from barnabas.specs.malformed import Malformed


@dataclass(frozen=True, slots=True)
class EmbeddedMessage:
    """A message that was found inside bytes, with its oddities."""

    name: str
    version: int
    values: dict[str, Any]
    oddities: tuple[Oddity, ...] = ()


def read_versioned(name: str, data: bytes) -> EmbeddedMessage:
    r"""Read an int16 version and a body (Kafka's MessageUtil.toVersionPrefixedBytes).

    Raises:
        Malformed: The bytes are invalid.
        LookupError: The name is unknown; see `barnabas.specs.embedded.message`.

    >>> read_versioned("EndTxnMarker", b"\0\0\0\0\0\7").values
    {'coordinator_epoch': 7}
    """
    return read_body(name, integer(data, 2, "version"), data, start=2)


def read_forward(name: str, data: bytes) -> EmbeddedMessage:
    r"""Read an int16 version and a body; a version newer than all known ones is read as the newest.

    Kafka's ConsumerProtocol, ConnectProtocol and EndTransactionMarker do the same. Bytes that the newer
    version added are an oddity. Raises as `read_versioned` does.

    >>> read_forward("EndTxnMarker", b"\0\3\0\0\0\7").oddities[0].what
    'version 3, read as 0'
    """
    version = integer(data, 2, "version")
    newest = message(name).versions[1]
    if version <= newest:
        return read_body(name, version, data, start=2)
    newest_read = read_body(name, newest, data, start=2)
    odd = Oddity("version", 0, f"version {version}, read as {newest}")
    return EmbeddedMessage(name, newest, newest_read.values, (odd, *newest_read.oddities))


def read_body(
    name: str, version: int, data: bytes, *, start: int = 0, release: str | None = None
) -> EmbeddedMessage:
    """Read a body of this version that begins at `start`; `release` as in `specs.Message.codec`.

    Raises:
        Malformed: The bytes are invalid, or the version is not declared.
        LookupError: The name is unknown.
    """
    declared = message(name)
    oldest, newest = declared.versions
    if not oldest <= version <= newest:
        reason = f"{name} has versions {oldest} to {newest}, not {version}"
        raise Malformed("version", 0, reason)
    try:
        codec, body = declared.codec(version, release), data[start:]
        values = codec.regular(body)
        if values is not None:
            return EmbeddedMessage(name, version, values, ())
        values, oddities = codec.inspect(body)
    except Malformed as e:
        raise Malformed(e.path, start + e.offset, e.reason) from None
    moved = tuple(odd._replace(offset=start + odd.offset) for odd in oddities)
    return EmbeddedMessage(name, version, values, moved)


def integer(data: bytes, size: int, path: str) -> int:
    r"""Return a signed integer of `size` bytes at the start of the data. Raises Malformed.

    >>> integer(b"\xff\xfe\0", 2, "version")
    -2
    """
    if len(data) < size:
        raise Malformed(path, 0, f"{size} bytes expected, {len(data)} remain")
    return int.from_bytes(data[:size], "big", signed=True)


def within(path: str, error: Malformed) -> Malformed:
    """Return an error with the name of the field that has the data before its path.

    >>> within("key", Malformed("version", 0, "2 bytes expected, 0 remain")).path
    'key.version'
    """
    return Malformed(f"{path}.{error.path}" if error.path else path, error.offset, error.reason)

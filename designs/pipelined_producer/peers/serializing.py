"""Serialisation of keys and values, and the sizes of records and requests.

Sizes are upper bounds before compression, for every version of Produce: a request may be smaller than
counted, and never is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from barnabas.designs.pipelined_producer.peers.settings import Settings

Serializer = Callable[[Any], bytes | None]
"""Serialises a key or a value; its exception becomes the event's problem."""

RECORD: Final = 34
"""Bytes of a record without key and value: a message of magic 1. Magic 2 takes 32 at most."""
BATCH: Final = 61
"""Bytes of the header of a batch of magic 2; older message sets have none."""
PARTITION: Final = 18
"""Bytes of a partition in a request without the topic's name and the batch."""
REQUEST: Final = 32
"""Bytes of a request without the client id and the partitions."""


class Serializers(NamedTuple):
    """A serializer for keys, and one for values."""

    key: Serializer
    value: Serializer

    def serialize(self, key: Any, value: Any) -> tuple[bytes | None, bytes | None]:
        """Serialise a key and a value. Raises what the serializers raise."""
        return self.key(key), self.value(value)


def plain(value: Any) -> bytes | None:
    r"""Return bytes unchanged, and str as UTF-8. Raises TypeError for other types.

    >>> plain("ä"), plain(b"x"), plain(None)
    (b'\xc3\xa4', b'x', None)
    """
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise TypeError(f"{type(value).__name__} is neither bytes nor str: give a serializer")


PLAIN: Final = Serializers(plain, plain)
"""The serializers of keys and values that are bytes or text."""


def record_size(key: bytes | None, value: bytes | None) -> int:
    """Return the bytes of a record in a batch."""
    return RECORD + len(key or b"") + len(value or b"")


def known_size(key: Any, value: Any, serializers: Serializers) -> int:
    """Return the least bytes of a record, without serialising: `plain` bytes and text count.

    >>> known_size(b"key", "ä", PLAIN), known_size(None, 5, PLAIN)
    (39, 34)
    """
    known = RECORD
    for part, serializer in ((key, serializers.key), (value, serializers.value)):
        if serializer is plain and isinstance(part, str) and not part.isascii():
            known += len(part.encode(errors="surrogatepass"))
        elif serializer is plain and isinstance(part, bytes | str):
            known += len(part)
    return known


def request_room(settings: Settings) -> int:
    """Return the bytes that a request has for its partitions."""
    return settings.request_bytes - REQUEST - len(settings.client_id.encode())


def batch_room(settings: Settings, topic: str, room: int) -> int:
    """Return the bytes for a batch's records in a request with `room` for its partition."""
    return min(settings.batch_bytes, room - PARTITION - len(topic.encode())) - BATCH


def too_large(size: int, settings: Settings, topic: str) -> str | None:
    """Return the problem of a record that fits into no request; None if it fits."""
    most = max(0, batch_room(settings, topic, request_room(settings)))
    if size <= most:
        return None
    return f"a record of {size} bytes, {RECORD} of them around key and value: at most {most} fit"

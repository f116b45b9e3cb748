"""From objects to bytes, and how many bytes they take.

Sizes are upper bounds before compression, whatever the version of Produce: a request may be smaller
than counted, and never is larger.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from barnabas.designs.pipelined_producer.peers.settings import Settings

Serializer = Callable[[Any], bytes | None]
"""Makes bytes of a key or a value; what it raises is the event's problem."""

RECORD: Final = 34
"""Bytes of a record beside its key and value: a message of magic 1. Those of magic 2 take 32 at most."""
BATCH: Final = 61
"""Bytes of the header of a batch of magic 2; older message sets have none."""
PARTITION: Final = 18
"""Bytes of a partition in a request beside the topic's name and the batch."""
REQUEST: Final = 32
"""Bytes of a request beside the client id and the partitions."""


class Serializers(NamedTuple):
    """One for keys, one for values."""

    key: Serializer
    value: Serializer

    def serialize(self, key: Any, value: Any) -> tuple[bytes | None, bytes | None]:
        """Both as bytes. Raises what they raise."""
        return self.key(key), self.value(value)


def plain(value: Any) -> bytes | None:
    """Bytes as they are and str as UTF-8. Raises TypeError for anything else.

    >>> plain("ä"), plain(b"x"), plain(None)
    (b'\\xc3\\xa4', b'x', None)
    """
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise TypeError(f"{type(value).__name__} is neither bytes nor str: give a serializer")


PLAIN: Final = Serializers(plain, plain)
"""For keys and values that are bytes or text."""


def record_size(key: bytes | None, value: bytes | None) -> int:
    """Bytes of a record in a batch."""
    return RECORD + len(key or b"") + len(value or b"")


def known_size(key: Any, value: Any, serializers: Serializers) -> int:
    """Bytes that a record takes at least: bytes and text that stay so are counted, nothing is made of them.

    >>> known_size(b"key", "ä", PLAIN), known_size(None, 5, PLAIN)
    (39, 34)
    """
    known = RECORD
    for what, serializer in ((key, serializers.key), (value, serializers.value)):
        if serializer is plain and isinstance(what, bytes):
            known += len(what)
        elif serializer is plain and isinstance(what, str):
            known += len(what) if what.isascii() else len(what.encode(errors="surrogatepass"))
    return known


def request_room(settings: Settings) -> int:
    """Bytes of a request for its partitions."""
    return settings.request_bytes - REQUEST - len(settings.client_id.encode())


def batch_room(settings: Settings, topic: str, room: int) -> int:
    """Bytes for the records of a partition's batch in a request that has `room` for it."""
    return min(settings.batch_bytes, room - PARTITION - len(topic.encode())) - BATCH


def too_large(size: int, settings: Settings, topic: str) -> str | None:
    """What is said of a record that fits into no request; None if it does."""
    most = max(0, batch_room(settings, topic, request_room(settings)))
    if size <= most:
        return None
    return f"a record of {size} bytes, {RECORD} of them around key and value: at most {most} fit"

from __future__ import annotations

import math
from typing import Any

import pytest

from barnabas.designs.pipelined_producer.peers.settings import Settings


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"in_flight": 0}, "in_flight of 0: at least 1"),
        ({"batch_bytes": 0}, "batch_bytes of 0: at least 1"),
        ({"request_bytes": -1}, "request_bytes of -1: at least 1"),
        ({"in_flight_total": 0}, "in_flight_total of 0: at least 1, or None"),
        ({"queueing": "partitions"}, "queueing of 'partitions': one of partition, one"),
        ({"metadata": "nonblocking"}, "metadata of 'nonblocking': one of blocking, non-blocking"),
        ({"serializing": "send"}, "serializing of 'send': one of client thread, send thread"),
        ({"compression": "zip"}, "compression of 'zip': one of none, gzip, snappy, lz4, zstd"),
        ({"retries": -1}, "retries of -1: at least 0"),
        ({"linger_ms": -1}, "linger_ms of -1: at least 0"),
        ({"expiry_ms": math.nan}, "expiry_ms of nan: at least 0"),
        ({"acks": 1 << 15}, "acks of 32768: an int16"),
        ({"request_timeout_ms": 1 << 31}, "request_timeout_ms of 2147483648: an int32"),
        ({"client_id": "x" * (1 << 15)}, "client_id: at most 32767 bytes"),
        ({"produce_version": 13}, "produce_version of 13: 0 to 12"),
    ],
)
def test_what_can_t_be_is_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}"):
        Settings(**wrong)
